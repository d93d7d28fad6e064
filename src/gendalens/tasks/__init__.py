"""The bias tests: one file or package each in this folder, and those that other packages bring."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

from gendalens.errors import UserError
from gendalens.system.plugins import Plugin, load_plugins
from gendalens.tasks.base import Task
from gendalens.tasks.options import Option
from gendalens.words import Message, add_words, phrase

#: The entry points by which another package brings tests.
GROUP = "gendalens.tasks"


@dataclass(frozen=True, slots=True)
class Registry:
    """Every test by name and protocol, and a sentence for each plug-in that was left out."""

    tasks: dict[tuple[str, int], Task[Any]] = field(default_factory=dict)
    problems: list[Message] = field(default_factory=list)

    def add(self, task: Task[Any]) -> None:
        """Add one test; a name or an option that stands for something else already is refused."""
        card = task.card
        known = self.tasks.get((card.name, card.protocol))
        if known is not None and type(known) is not type(task):
            raise UserError("there is a test {test} already", test=card.id)
        options = self.options()
        for option in task.options:
            if options.get(option.name, option) != option:
                raise UserError("another test has an option {option}", option=option.flag)
        self.tasks[card.name, card.protocol] = task
        add_words(task.words)

    def options(self) -> dict[str, Option]:
        """Every option of every test by name."""
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
            for task in _tasks_of(plugin):
                registry.add(task)
        except UserError as error:
            registry.problems.append(plugin.reject(error.message))
    return registry


def _tasks_of(plugin: Plugin) -> Iterator[Task[Any]]:
    """What an entry point names: a test, a class of tests, or several."""
    several = plugin.value if isinstance(plugin.value, Iterable) else [plugin.value]
    for one in several:
        task = one() if isinstance(one, type) and issubclass(one, Task) else one
        if not isinstance(task, Task):
            raise UserError("{value} is no test", value=repr(one)[:80])
        yield task


def all_tasks() -> dict[tuple[str, int], Task[Any]]:
    """Every test by name and protocol."""
    return _registry().tasks


def all_options() -> dict[str, Option]:
    """Every option that a test declares, by name."""
    return _registry().options()


def plugin_problems() -> tuple[Message, ...]:
    """A sentence for each plug-in that was left out."""
    return tuple(_registry().problems)


def register(task: Task[Any]) -> None:
    """Make a test known for the life of this process, so that reports and comparisons find it."""
    try:
        _registry().add(task)
    except UserError as error:
        raise UserError(
            "The test {test} cannot be run ({reason}): give it another name.",
            test=task.card.id,
            reason=error.message,
        ) from None


def get_task(name: str, protocol: int) -> Task[Any]:
    """One test, or a sentence about which there are."""
    tasks = all_tasks()
    names = sorted({n for n, _ in tasks})
    if name not in names:
        raise UserError(
            "There is no task {task}; the tasks are {tasks}.", task=repr(name), tasks=tuple(names)
        )
    if (name, protocol) not in tasks:
        known = tuple(str(p) for n, p in sorted(tasks) if n == name)
        raise UserError(
            "{task} has no protocol {protocol}; choose {known}.",
            task=name,
            protocol=protocol,
            known=known[0] if len(known) == 1 else phrase("{a} or {b}", a=known[0], b=known[-1]),
        )
    return tasks[name, protocol]
