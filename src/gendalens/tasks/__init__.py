"""The bias tests: one file or package each, found by looking into this folder."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

from gendalens.errors import UserError
from gendalens.tasks.base import Task


@cache
def all_tasks() -> dict[tuple[str, int], Task[Any]]:
    """Every test by name and protocol; a module here offers its tests as ``TASKS``."""
    found: dict[tuple[str, int], Task[Any]] = {}
    for module in iter_modules(__path__):
        for task in getattr(import_module(f"{__name__}.{module.name}"), "TASKS", ()):
            found[task.card.name, task.card.protocol] = task
    return found


def get_task(name: str, protocol: int) -> Task[Any]:
    """One test, or a sentence about which there are."""
    tasks = all_tasks()
    names = sorted({n for n, _ in tasks})
    if name not in names:
        raise UserError(f"There is no task {name!r}; the tasks are {', '.join(names)}.")
    if (name, protocol) not in tasks:
        known = sorted(p for n, p in tasks if n == name)
        raise UserError(
            f"{name} has no protocol {protocol}; choose {' or '.join(map(str, known))}."
        )
    return tasks[name, protocol]
