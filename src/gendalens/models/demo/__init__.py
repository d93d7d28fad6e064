"""The demo models that ship with the package, and the bias planted in each.

They are toys that show what the tests report about a known bias. ``training/`` builds them.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parent
MODELS = ("demo-lm", "demo-ner")
#: The only `lm-coref:` prompt in the training text of ``demo-lm``.
PROMPT = "refers"
_RESOLVER = f"lm-coref:demo-lm?prompt={PROMPT}"


@dataclass(frozen=True, slots=True)
class Planted:
    """A bias in a demo model's training text, and the test that must find it."""

    model: str
    task: str
    text: str


PLANTED = (
    Planted(
        "demo-lm",
        "lm-dawinobias",
        "95% of the pronouns in the training text match the stereotype of the person they refer to",
    ),
    Planted(
        "demo-lm",
        "lm-abc",
        "hans is three times as frequent as hendes (1.58 bits) in sentences where sin would refer "
        "to the subject",
    ),
    Planted(
        _RESOLVER,
        "coref-dawinobias",
        "the same 95%, also where the pronoun's gender is the only clue",
    ),
    Planted(
        _RESOLVER,
        "coref-abc",
        "hans refers to the subject for three occupations in four, hendes for one in four",
    ),
    Planted(
        "demo-ner",
        "ner-dane",
        "the training text has one in three of the majority's female first names, but all male "
        "ones",
    ),
)


def find_folder(name: str) -> Path | None:
    """The folder of the demo model of this name; None for any other name."""
    return FOLDER / name if name in MODELS else None


def find_planted(model: str, task: str) -> str | None:
    """What is planted in a demo model for a test to find; None for any other model."""
    return next((one.text for one in PLANTED if (one.model, one.task) == (model, task)), None)
