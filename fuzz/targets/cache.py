"""The cache of answers, damaged anywhere."""

from __future__ import annotations

import shutil
from pathlib import Path
from random import Random
from typing import ClassVar

from fuzz.target import Input, Target
from gendalens.engine.cache import Cache
from gendalens.models.requests import (
    Answer,
    Fill,
    FillAnswer,
    Reconstruct,
    ReconstructAnswer,
    Request,
    Resolve,
    ResolveAnswer,
    Score,
    ScoreAnswer,
    Tag,
    TagAnswer,
    TopToken,
    TopTokenAnswer,
)

MODEL = "model"
STORED: dict[Request, Answer] = {
    Fill("Det er ", " båd.", ("hans", "hendes")): FillAnswer((-1.25, -2.5), (1, 2), "hans"),
    Score("Hun sejler."): ScoreAnswer(-12.0625, 4, 0, 1),
    TopToken("Det er ", " båd."): TopTokenAnswer("hans"),
    Reconstruct("Hun maler sit hus.", ("sit",), "hans"): ReconstructAnswer(3.75),
    Tag("Åse bor i Ribe."): TagAnswer(((0, 3, "PER"), (10, 14, "LOC")), 7),
    Resolve("Hun sover.", ((0, 3),)): ResolveAnswer((((0, 3), (4, 9)),)),
    **{Score(f"Sætning {n}."): ScoreAnswer(-float(n), n) for n in range(1, 120)},
}
LATER = {Score("Han sejler."): ScoreAnswer(-1.5, 3)}


class Stored(Target):
    """Accepted: only answers as they were stored; new ones can be stored."""

    name: ClassVar[str] = "cache"
    share: ClassVar[float] = 12
    limit: ClassVar[float] = 20.0
    words: ClassVar[tuple[bytes, ...]] = (
        b"[-1.5, 3, 0, 0]",
        b"score",
        b"tag",
        b"null",
        b"\x00" * 9,
    )

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.path = folder / "home" / "cache.sqlite"
        with Cache(self.path) as cache:
            cache.store(MODEL, STORED.items())
        self.bases = {("sound", "cache.sqlite"): self.path.read_bytes()}

    def mangle_file(self, file: str, content: bytes, dice: Random) -> bytes:
        """Half of the time replace bytes only: inserting or deleting any makes the file no database."""
        if dice.random() < 0.5:
            return super().mangle_file(file, content, dice)
        damaged = bytearray(content)
        for _ in range(dice.choice((1, 1, 1, 2, 8, 64))):
            # The header of an SQLite page says where everything is.
            at = dice.randrange(len(damaged))
            if dice.random() < 0.3:
                at = at // 4096 * 4096 + dice.randrange(12)
            damaged[at] = dice.randrange(256)
        return bytes(damaged)

    def check_input(self, given: Input) -> None:
        """Open the cache, look up, store, and look up again."""
        shutil.rmtree(self.path.parent)
        self.path.parent.mkdir()
        self.path.write_bytes(given.content)
        with Cache(self.path) as cache:
            found = cache.lookup(MODEL, list(STORED))
            for request, answer in found.items():
                assert answer == STORED[request], "an answer that was never stored"
            cache.store(MODEL, LATER.items())
            assert cache.lookup(MODEL, list(LATER)) == LATER, "what was just stored"
