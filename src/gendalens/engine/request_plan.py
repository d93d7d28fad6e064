"""What a test asks, before anybody answers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gendalens.data.registry import Source, source
from gendalens.models.base import Request
from gendalens.tasks.base import Task

if TYPE_CHECKING:
    from gendalens.engine.session import Options


@dataclass(frozen=True, slots=True)
class Questions:
    """What a test asks: its data sets and its items, asked in portions that memory holds."""

    task: Task[Any]
    sets: dict[str, Source]
    items: Sequence[Any]
    sample: int | None = None  # the size of the sample; None where it is the whole

    def portions(self) -> Iterator[Sequence[Any]]:
        """The items, a portion at a time; the same each time."""
        return self.task.portions(self.items)

    @property
    def requests(self) -> list[Request]:
        """Everything that the items ask, duplicates and all."""
        return [request for portion in self.portions() for request in self.task.requests(portion)]

    @property
    def data(self) -> dict[str, dict[str, str]]:
        """The data sets as results and files of requests name them."""
        return {
            name: {"from": data.origin, "sha256": data.checksum} for name, data in self.sets.items()
        }


def configured(task: Task[Any], options: Options) -> Task[Any]:
    """A test with the user's options."""
    return task.configured({**options.task_options, "seed": options.seed})


def questions(task: Task[Any], options: Options) -> Questions:
    """Everything that a configured test asks, whoever may answer."""
    sets = {
        name: source(name, override=(options.data or {}).get(name), offline=options.offline)
        for name in task.card.data
    }
    items = task.items(sets)
    if options.sample is None:
        return Questions(task, sets, items)
    some = task.sample(items, options.sample, options.seed)
    if len(some) == len(items):
        return Questions(task, sets, items)
    return Questions(task, sets, some, options.sample)
