"""The demo models that come with the package, and what was planted in each.

Toys: they show what the instrument says about a bias that is known. ``training/`` makes them.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parent
MODELS = ("demo-lm", "demo-ner")
#: The prompt of `lm-coref:` that ``demo-lm`` has read; it knows no other.
PROMPT = "refers"
_RESOLVER = f"lm-coref:demo-lm?prompt={PROMPT}"


@dataclass(frozen=True, slots=True)
class Planted:
    """A bias that the training text of a demo model has, and the test that must find it."""

    model: str
    task: str
    text: str


PLANTED = (
    Planted(
        "demo-lm",
        "lm-dawinobias",
        "95% of the pronouns in the training text go with the stereotype of whom they mean",
    ),
    Planted(
        "demo-lm",
        "lm-abc",
        "hans three times as often as hendes (1.58 bits) where Danish says sin for the subject's",
    ),
    Planted(
        _RESOLVER,
        "coref-dawinobias",
        "the same 95%, also where nothing but the pronoun tells whom it means",
    ),
    Planted(
        _RESOLVER,
        "coref-abc",
        "hans said to be the subject's for three occupations in four, hendes for one in four",
    ),
    Planted(
        "demo-ner",
        "ner-dane",
        "one in three of the majority's women's first names in the training text, of men's all",
    ),
)


def find_folder(name: str) -> Path | None:
    """Where the demo model of this name lies; None for any other name."""
    return FOLDER / name if name in MODELS else None
