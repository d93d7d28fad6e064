"""What became of one architecture in a trial."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from enum import Enum
from typing import Any, Self


class Verdict(Enum):
    """How a trial ended."""

    RIGHT = "right"
    WRONG = "wrong"
    REFUSED = "refused"
    FAILED = "failed"
    NOT_BUILT = "not built"


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The outcome of one architecture with one head.

    ``reason`` is the sentence of a refusal, or why the model was not built or fails. ``difference`` is
    the largest difference from the plain model in nats (logits of a token classifier), ``relative`` the
    largest in units of the number itself, if that is above 1. ``batching`` says
    which texts run together; ``early``, whether positions are picked within the last layer; ``tree``,
    whether texts are read as trees; ``shared``, whether at least the beginnings that all questions share
    run once. ``model_class`` is the class of transformers.
    """

    head: str
    architecture: str
    verdict: Verdict
    model_class: str = ""
    reason: str = ""
    difference: float = 0.0
    relative: float = 0.0
    batching: str = ""
    early: bool = False
    shared: bool = False
    tree: bool = False

    def to_json(self) -> dict[str, Any]:
        """The outcome as plain values."""
        return asdict(self) | {
            "verdict": self.verdict.value,
            "difference": float(f"{self.difference:.1e}"),
            "relative": float(f"{self.relative:.1e}"),
        }

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> Self:
        """The outcome of plain values."""
        return cls(**values | {"verdict": Verdict(values["verdict"])})
