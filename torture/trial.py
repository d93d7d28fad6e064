"""One disturbance and its outcome."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from torture.place import Ended, Place
from torture.sameness import TOLERANCE, runs_differ

Outcome = Literal["same", "sentence", "lost", "skipped"]


@dataclass(frozen=True, slots=True)
class Trial:
    """A disturbance, the seed to repeat it, and its outcome; ``note`` says why it was lost."""

    what: str
    seed: int
    outcome: Outcome
    note: str = ""


def judge(
    what: str,
    seed: int,
    end: Ended,
    place: Place,
    arguments: Sequence[str],
    whole: Path,
    *,
    tolerance: float = TOLERANCE,
) -> Trial:
    """The trial: lost unless the run, or a retry after a clear error, gives the undisturbed result."""
    if end.fault:
        return Trial(what, seed, "lost", end.fault)
    if end.code == 0:
        difference = runs_differ(whole, place.out, tolerance)
        return Trial(what, seed, "lost" if difference else "same", difference or "")
    again = place.run(arguments)
    difference = (
        again.fault or again.errors if again.code else runs_differ(whole, place.out, tolerance)
    )
    if difference:
        return Trial(what, seed, "lost", f"after {end.sentences}: {difference}")
    note = end.sentences[0] if end.sentences else f"exit code {end.code}"
    return Trial(what, seed, "sentence", note)
