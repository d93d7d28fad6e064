"""What is fuzzed: a reader, sound files for it, and what must hold of whatever it accepts."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import ClassVar

from fuzz import json_values
from fuzz.mangle import Mangler


@dataclass(frozen=True, slots=True)
class Input:
    """A sound base with one of its files mangled; a target without files has one called ``text``."""

    base: str
    file: str
    content: bytes


class Target(ABC):
    """A reader under test. Inputs are numbered: the same seed and number give the same input."""

    name: ClassVar[str]
    #: Its inputs of every thousand.
    share: ClassVar[float]
    #: Seconds that one input may take.
    limit: ClassVar[float] = 5.0
    words: ClassVar[tuple[bytes, ...]] = ()

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.bases: Mapping[tuple[str, str], bytes] = {}
        self._mangler = Mangler(self.words)

    def mangled(self, dice: Random) -> Input:
        """One input."""
        base, file = dice.choice(list(self.bases))
        return Input(base, file, self.changed(file, self.bases[base, file], dice))

    def changed(self, file: str, content: bytes, dice: Random) -> bytes:
        """The content of one file, changed."""
        if file.endswith(".json") and dice.random() < 0.7:
            return json_values.change(content, dice)
        if file.endswith(".jsonl") and dice.random() < 0.6:
            lines = content.split(b"\n")
            at = dice.randrange(len(lines))
            lines[at] = json_values.change(lines[at], dice)
            return b"\n".join(lines)
        other = self.bases[dice.choice(list(self.bases))]
        return self._mangler.change(content, dice, other)

    @abstractmethod
    def take(self, given: Input) -> None:
        """Read an input: UserError where it is refused, AssertionError where it is read wrongly."""
