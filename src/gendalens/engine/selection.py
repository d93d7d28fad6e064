"""The selection of the tests that a model takes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from gendalens.data.registry import is_available
from gendalens.engine.request_plan import RequestPlan
from gendalens.engine.run_options import RunOptions
from gendalens.errors import UserError
from gendalens.models.base import Backend
from gendalens.tasks import all_tasks, get_task, register
from gendalens.tasks.base import Task
from gendalens.words import Message, Template, say

#: A test by name, as an object, or as a plan of its requests.
Test: TypeAlias = str | Task[Any] | type[Task[Any]] | RequestPlan

NO_CONTROLS = Template(
    "no_controls", "{test} is left out: it has no answers for control models such as {model}."
)


def choose_tests(
    model: Backend,
    wanted: Sequence[Test] | None,
    options: RunOptions,
    note: Callable[[Message], None] = lambda message: None,
) -> list[RequestPlan]:
    """The requested tests, or all that the model can take; raises if it cannot take one of them.

    By default, a control model takes every test that has answers for it and whose data are available.
    """
    if wanted is None:
        return _choose_all(model, options, note)
    if not wanted:
        raise UserError("No test is named; leave the tests out to run all that fit.")
    chosen = [_plan(test, options) for test in dict.fromkeys(wanted)]
    for plan in chosen:
        if not plan.card.needs <= model.answers:
            raise _refuse(model, plan.card.id, options.protocol, plan.card.needs)
        if model.planted and not plan.task.has_controls:
            raise _refuse_control(model, plan.card.id, plan.card.protocol)
    return chosen


def _choose_all(
    model: Backend, options: RunOptions, note: Callable[[Message], None]
) -> list[RequestPlan]:
    tasks = [
        task
        for task in _find_suitable(model, options.protocol)
        if task.card.needs <= model.usual_answers
    ]
    if not tasks:
        what = say("any test of protocol {protocol}", protocol=options.protocol)
        raise _refuse(model, what, options.protocol)
    if model.planted:
        with_controls = [task for task in tasks if task.has_controls]
        if not with_controls:
            what = say("protocol {protocol}", protocol=options.protocol)
            raise _refuse_control(model, what, options.protocol)
        for task in tasks:
            if not task.has_controls:
                note(NO_CONTROLS(test=task.card.id, model=model.info.name))
        tasks = [task for task in with_controls if _has_data(task, options)]
    return [options.plan(task) for task in tasks]


def _find_suitable(model: Backend, protocol: int) -> list[Task[Any]]:
    """The tests of a protocol whose requests the model can answer, ordered by name."""
    return [
        task
        for (_, its_protocol), task in sorted(all_tasks().items())
        if its_protocol == protocol and task.card.needs <= model.answers
    ]


def _has_data(task: Task[Any], options: RunOptions) -> bool:
    return all(name in options.data or is_available(name) for name in task.card.data)


def _plan(test: Test, options: RunOptions) -> RequestPlan:
    if isinstance(test, RequestPlan):
        return test
    if isinstance(test, Task):
        register(test)
        return options.plan(test)
    if isinstance(test, type) and issubclass(test, Task):
        return _plan(test(), options)
    return options.plan(get_task(test, options.protocol))


def _refuse(
    model: Backend, what: str, protocol: int, needs: frozenset[str] = frozenset()
) -> UserError:
    able = tuple(task.card.name for task in _find_suitable(model, protocol)) or say("none")
    if (cause := model.explain_refusal(needs)) is not None:
        return UserError(
            "{model} is a {kind} and cannot take {what}: {cause}.",
            model=model.info.name,
            kind=model.info.kind,
            what=what,
            cause=cause,
        )
    return UserError(
        "{model} is a {kind} and cannot take {what}; under this protocol it can take: {able}.",
        model=model.info.name,
        kind=model.info.kind,
        what=what,
        able=able,
    )


def _refuse_control(model: Backend, what: str, protocol: int) -> UserError:
    if protocol == 1:
        return UserError(
            "{model} is a control model, and {what} has no answers for control models; use "
            "protocol 2.",
            model=model.info.name,
            what=what,
        )
    return UserError(
        "{model} is a control model, and {what} has no answers for control models; leave the test "
        "out.",
        model=model.info.name,
        what=what,
    )
