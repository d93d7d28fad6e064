"""Fuzz targets: a reader, valid files for it, and what must hold for every input it accepts."""

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
    """A valid base with one of its files mangled; a target without files has one called ``text``."""

    base: str
    file: str
    content: bytes


class Target(ABC):
    """A reader under test. Inputs are numbered: the same seed and number give the same input."""

    name: ClassVar[str]
    #: Its share of inputs, per thousand.
    share: ClassVar[float]
    #: The time limit for one input in seconds.
    limit: ClassVar[float] = 5.0
    words: ClassVar[tuple[bytes, ...]] = ()

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.bases: Mapping[tuple[str, str], bytes] = {}
        self._mangler = Mangler(self.words)

    def draw_input(self, dice: Random) -> Input:
        """One input."""
        base, file = dice.choice(list(self.bases))
        return Input(base, file, self.mangle_file(file, self.bases[base, file], dice))

    def mangle_file(self, file: str, content: bytes, dice: Random) -> bytes:
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
    def check_input(self, given: Input) -> None:
        """Read an input; raises UserError if it is refused, AssertionError if it is misread."""
