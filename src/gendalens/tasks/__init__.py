"""The bias tests: one file or package each in this folder, and those of plug-ins."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

from gendalens.errors import UserError
from gendalens.models.requests import ANSWER_TYPES
from gendalens.system.plugins import Plugin, load_plugins
from gendalens.tasks.base import Task
from gendalens.tasks.options import RESERVED, Option
from gendalens.words import Message, add_words

#: The entry point group for tests of other packages.
GROUP = "gendalens.tasks"
NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")  # it stands in signatures and names folders


@dataclass(frozen=True, slots=True)
class Registry:
    """All tests by name and protocol, and a message for each plug-in that could not be loaded."""

    tasks: dict[tuple[str, int], Task[Any]] = field(default_factory=dict)
    problems: list[Message] = field(default_factory=list)

    def add(self, task: Task[Any]) -> None:
        """Add a test; raises if its name or one of its options is already taken."""
        card = task.card
        if not NAME.fullmatch(card.name):
            raise UserError(
                "{name} cannot name a test: use lower-case letters, digits and hyphens",
                name=repr(card.name),
            )
        if unknown := sorted(card.needs - ANSWER_TYPES.keys()):
            raise UserError("there is no kind of request called {kind}", kind=repr(unknown[0]))
        known = self.tasks.get((card.name, card.protocol))
        if known is not None and type(known) is not type(task):
            raise UserError("a test {test} already exists", test=card.id)
        options = self.options()
        for option in task.options:
            if option.name in RESERVED:
                raise UserError("{option} is an option of the program", option=option.flag)
            if options.get(option.name, option) != option:
                raise UserError("another test has an option {option}", option=option.flag)
        self.tasks[card.name, card.protocol] = task
        add_words(task.words)

    def options(self) -> dict[str, Option]:
        """All options of all tests, by name."""
        return {option.name: option for task in self.tasks.values() for option in task.options}


@cache
def _registry() -> Registry:
    registry = Registry()
    for module in iter_modules(__path__):
        for task in getattr(import_module(f"{__name__}.{module.name}"), "TASKS", ()):
            registry.add(task)
    plugins, problems = load_plugins(GROUP)
    registry.problems.extend(problems)
    for plugin in plugins:
        try:
            for task in _read_tasks(plugin):
                registry.add(task)
        except UserError as error:
            registry.problems.append(plugin.reject(error.message))
    return registry


def _read_tasks(plugin: Plugin) -> Iterator[Task[Any]]:
    """The tests of an entry point, which names a test, a class of tests, or several."""
    several = plugin.value if isinstance(plugin.value, Iterable) else [plugin.value]
    for one in several:
        task = one() if isinstance(one, type) and issubclass(one, Task) else one
        if not isinstance(task, Task):
            raise UserError("{value} is not a test", value=repr(one)[:80])
        yield task


def all_tasks() -> dict[tuple[str, int], Task[Any]]:
    """All tests by name and protocol."""
    return _registry().tasks


def all_options() -> dict[str, Option]:
    """All options declared by tests, by name."""
    return _registry().options()


def plugin_problems() -> tuple[Message, ...]:
    """A message for each plug-in that could not be loaded."""
    return tuple(_registry().problems)


def register(task: Task[Any]) -> None:
    """Register a test for the rest of this process, so that reports and comparisons find it."""
    try:
        _registry().add(task)
    except UserError as error:
        raise UserError(
            "The test {test} cannot be run ({reason}): give it another name.",
            test=task.card.id,
            reason=error.message,
        ) from None


def get_task(name: str, protocol: int) -> Task[Any]:
    """A test by name and protocol; raises with the known ones if it does not exist."""
    tasks = all_tasks()
    names = sorted({n for n, _ in tasks})
    if name not in names:
        raise UserError(
            "There is no task {task}: choose one of {tasks}, or install the package that brings it.",
            task=repr(name),
            tasks=tuple(names),
        )
    if (name, protocol) not in tasks:
        raise UserError(
            "{task} has no protocol {protocol}; choose {known:or}.",
            task=name,
            protocol=protocol,
            known=tuple(protocol for known, protocol in sorted(tasks) if known == name),
        )
    return tasks[name, protocol]
