"""The options of a run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gendalens.data.choice import BUILTIN, Choice
from gendalens.engine.ray_options import RayOptions
from gendalens.engine.request_plan import RequestPlan
from gendalens.errors import UserError
from gendalens.models.base import LoadOptions
from gendalens.tasks import all_options, all_tasks, get_task
from gendalens.tasks.base import Task
from gendalens.tasks.options import check_number, check_options


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    """The options of a run; those that affect a figure are in its signature.

    ``task_options`` are the options that individual tests declare, by name. ``negligible`` are bands of
    the user's own, by test and unit; an empty unit is that of the test's gap. ``executor`` None means
    that models are loaded and answer in this process.
    """

    protocol: int = 2
    seed: int = 0
    sample: int | None = None
    data: Mapping[str, Choice] = field(default_factory=dict)
    batch_tokens: int | None = None
    out: Path | None = None
    use_cache: bool = True
    task_options: Mapping[str, Any] = field(default_factory=dict)
    negligible: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    load: LoadOptions = field(default_factory=LoadOptions)
    executor: RayOptions | None = None

    def __post_init__(self) -> None:
        check_number("seed", self.seed, 0)
        for name, value in (("sample", self.sample), ("batch_tokens", self.batch_tokens)):
            if value is not None:
                check_number(name, value, 1)
        check_options(tuple(all_options().values()), self.task_options)
        known = {name for task in all_tasks().values() for name in task.card.data}
        if unknown := sorted(set(self.data) - known):
            raise UserError(
                "There is no data set {name} to replace: the tests read {known}.",
                name=repr(unknown[0]),
                known=tuple(sorted(known)),
            )
        for name, bands in self.negligible.items():
            get_task(name, self.protocol).set_bands(
                bands
            )  # raises if there is no such test or unit
        if self.protocol == 1 and BUILTIN in self.data.values():
            raise UserError(
                "Protocol 1 reproduces GenDa Lens 0.0.3 on its own files, so it does not read "
                "built-in sets: use protocol 2 or the official sets."
            )

    def plan(self, task: Task[Any]) -> RequestPlan:
        """The request plan of a test under these options."""
        configured = task.configure(self.task_options, seed=self.seed)
        return RequestPlan(
            configured.set_bands(self.negligible.get(task.card.name, {})),
            data=self.data,
            sample=self.sample,
            offline=self.load.offline,
        )
