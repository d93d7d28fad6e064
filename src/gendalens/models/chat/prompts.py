"""The Danish texts that put a request into words for a chat model.

They are data (``prompts.json``, with a card): a different wording is a different measurement, so the
version and digest are part of the model's signature.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

from gendalens.models.chat.respondent import Turn


@dataclass(frozen=True, slots=True)
class Prompts:
    """The paraphrases of each kind of question, and the words that they need."""

    version: int
    digest: str
    system: str
    gap: str
    someone_else: str
    someone_elses: str
    places: tuple[str, ...]
    fill: tuple[str, ...]
    whom: tuple[str, ...]
    whose: tuple[str, ...]
    choose: tuple[str, ...]
    tag: tuple[str, ...]

    @property
    def title(self) -> str:
        """Version and digest, for the signature."""
        return f"{self.version}-{self.digest[:8]}"

    def make_turns(self, text: str, *, with_system: bool) -> tuple[Turn, ...]:
        """A conversation that asks something: the user's message, perhaps after a system message."""
        asked = Turn("user", text)
        return (Turn("system", self.system), asked) if with_system else (asked,)


@cache
def get_prompts() -> Prompts:
    """The prompts of this version."""
    file = resources.files(__package__).joinpath("prompts.json")
    text = file.read_text(encoding="utf-8")
    found: dict[str, Any] = json.loads(text)
    del found["card"]
    # A comment in the card changes no answer, so it is not part of the digest.
    digest = hashlib.sha256(json.dumps(found, ensure_ascii=False).encode()).hexdigest()
    parts: dict[str, Any] = {
        key: tuple(value) if isinstance(value, list) else value for key, value in found.items()
    }
    return Prompts(digest=digest, **parts)


def quote(word: str) -> str:
    """A word in Danish quotation marks."""
    return f"»{word}«"


def list_options(options: Sequence[str]) -> str:
    """The options as a Danish sentence lists them.

    >>> list_options(["han", "hun"])
    '»han« eller »hun«'
    """
    *others, last = map(quote, options)
    return f"{', '.join(others)} eller {last}"
