"""Refuses options that can have no effect in a run, so that nobody takes a run for what it is not.

``--data`` names files for whichever tests read them, and options for loading models may accompany a
control model that stands in for another; both are taken as they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from gendalens.engine.request_plan import RequestPlan
from gendalens.engine.run_options import RunOptions
from gendalens.errors import UserError
from gendalens.models.detect import takes_endpoint
from gendalens.models.endpoint_options import as_endpoint
from gendalens.tasks import all_options, all_tasks, get_task
from gendalens.tasks.base import Task

Named = str | Task[Any] | type[Task[Any]] | RequestPlan


def check_named_tests(tests: Iterable[Named], options: RunOptions) -> None:
    """Refuse a test's option, or a band, that none of the tests has."""
    found = [_find_task(test, options.protocol) for test in tests]
    cards = tuple(dict.fromkeys(task.card.id for task in found))
    for name in find_idle_options(found, options):
        raise UserError(
            "{flag} has no effect on {tests}: it is an option of {owners}. Leave it out, or name that"
            " test.",
            flag=all_options()[name].flag,
            tests=cards,
            owners=_list_owners(name),
        )
    names = {task.card.name for task in found}
    for name in options.negligible:
        if name not in names:
            raise UserError(
                "--negligible {test} has no effect on {tests}: leave it out, or name that test.",
                test=name,
                tests=cards,
            )


def check_model_tests(model: str, plans: Sequence[RequestPlan], options: RunOptions) -> None:
    """Refuse a test's option that none of the tests has which were chosen for the only model."""
    for name in find_idle_options([plan.task for plan in plans], options):
        raise explain_idle_option(name, model)


def find_idle_options(tests: Iterable[Task[Any]], options: RunOptions) -> list[str]:
    """The options of tests that are given although none of these tests declares them."""
    declared = {option.name for task in tests for option in task.options}
    given = [name for name, value in options.task_options.items() if value is not None]
    return [name for name in given if name not in declared]


def explain_idle_option(name: str, *models: str) -> UserError:
    """Why an option of a test cannot be used with these models."""
    return UserError(
        "{flag} has no effect on {models}: it is an option of {owners}, which none of them takes here."
        " Leave it out, or name a model that takes that test.",
        flag=all_options()[name].flag,
        models=models,
        owners=_list_owners(name),
    )


def check_endpoint(models: Sequence[str], options: RunOptions) -> None:
    """Refuse an endpoint that none of the models is behind, and a way to answer that there is not."""
    if options.load.endpoint is None:
        return
    from gendalens.models.endpoint.ladder import check_wanted

    check_wanted(as_endpoint(options.load.endpoint).answer_by)
    if not any(map(takes_endpoint, models)):
        raise UserError(
            "An endpoint has no effect on {models}: name the model behind it openai:MODEL, or leave the"
            " endpoint out.",
            models=tuple(models),
        )


def _find_task(test: Named, protocol: int) -> Task[Any]:
    if isinstance(test, RequestPlan):
        return test.task
    if isinstance(test, str):
        return get_task(test, protocol)
    return test() if isinstance(test, type) else test


def _list_owners(name: str) -> tuple[str, ...]:
    """The tests that declare an option."""
    return tuple(
        task.card.id
        for _, task in sorted(all_tasks().items())
        if any(option.name == name for option in task.options)
    )
