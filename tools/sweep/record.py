"""The record of a sweep, from which the page is written: versions and every outcome.

A partial sweep replaces the outcomes of what it tried.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, replace
from importlib import metadata
from pathlib import Path
from typing import Self

from tools.sweep.heads import HEADS
from tools.sweep.outcome import Outcome

RECORD = Path(__file__).with_name("outcomes.json")
_SOFTWARE = ("transformers", "torch", "tokenizers")


@dataclass(frozen=True, slots=True)
class Record:
    """The outcomes of every architecture, and the software that they hold for."""

    software: dict[str, str]
    outcomes: tuple[Outcome, ...]

    @classmethod
    def read(cls) -> Self:
        """The record of the last sweep; an empty one if there is none."""
        if not RECORD.exists():
            return cls(installed_software(), ())
        values = json.loads(RECORD.read_text(encoding="utf-8"))
        return cls(values["software"], tuple(map(Outcome.from_json, values["outcomes"])))

    def update(self, outcomes: Iterable[Outcome]) -> Record:
        """The record with some outcomes replaced; all of them, if the software has changed."""
        known = {(one.head, one.architecture): one for one in self.outcomes}
        if self.software != installed_software():
            known = {}
        known |= {(one.head, one.architecture): one for one in outcomes}
        return replace(self, software=installed_software(), outcomes=tuple(known.values()))

    def write(self) -> None:
        """Write the record, in an order that changes only where outcomes do."""
        order = list(HEADS)
        ordered = sorted(self.outcomes, key=lambda one: (order.index(one.head), one.architecture))
        lines = ",\n".join(json.dumps(one.to_json()) for one in ordered)
        software = json.dumps(self.software)
        text = f'{{"software": {software},\n"outcomes": [\n{lines}\n]}}\n'
        RECORD.write_text(text, encoding="utf-8")


def installed_software() -> dict[str, str]:
    """The versions of the installed libraries that decide the outcomes."""
    return {name: metadata.version(name).partition("+")[0] for name in _SOFTWARE}
