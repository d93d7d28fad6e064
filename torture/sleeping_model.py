"""A backend of another package, for workers on a cluster: it sleeps, dies, or tells what it sees.

``sleep:ms=20`` answers a batch in 20 ms by a hash of each request, and imports no torch. ``&log=FILE``
notes each batch that it is asked, and by which process; ``&dies=WORD`` ends the worker's process on a
request with that word, ``&fits=N`` lets memory run out above N requests, ``&loads=no`` does so while it
is loaded, and ``&tells=NAME`` refuses with the value of an environment variable.
"""

from __future__ import annotations

import hashlib
import os
import signal
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, TypeAlias
from urllib.parse import parse_qsl

from gendalens.errors import UserError
from gendalens.models.base import Backend, Batching, LoadOptions
from gendalens.models.requests import Answer, Score, ScoreAnswer
from gendalens.results.model_info import ModelInfo
from gendalens.words import phrase

#: The batches that were asked, in order: the process, and the digests of the requests.
Log: TypeAlias = list[tuple[int, tuple[str, ...]]]


@dataclass(frozen=True, slots=True)
class Sized:
    """A request with its number of words."""

    request: Score
    length: int
    rows: int = 1
    positions: int = 1


class Sleeper(Backend):
    """A model that computes nothing."""

    prefix: ClassVar[str] = "sleep:"
    answers = frozenset({Score.kind})

    def __init__(self, name: str) -> None:
        self.name = name
        self.options = dict(parse_qsl(name.removeprefix(self.prefix)))

    @classmethod
    def load(cls, name: str, options: LoadOptions) -> Sleeper:
        """The model of a name."""
        return cls(name)

    @property
    def info(self) -> ModelInfo:
        """Its name."""
        return ModelInfo(self.name, phrase("sleeping model"), "1", "float32")

    def fingerprint(self) -> str:
        """Its options, apart from those that change no answer."""
        kept = {name: value for name, value in self.options.items() if name != "log"}
        return f"{self.prefix}{kept}"

    def encode(self, requests: Sequence[Any]) -> list[Sized]:
        """The requests with their number of words."""
        return [Sized(request, len(request.text.split())) for request in requests]

    @property
    def batching(self) -> Batching:
        """Any; memory runs out where it is told not to fit."""
        if self.options.get("loads") == "no":
            raise MemoryError("cannot allocate")
        return Batching.ANY_LENGTH

    def answer(self, batch: Sequence[Sized]) -> list[Answer]:
        """A hash of each request, after a while."""
        if log := self.options.get("log"):
            with Path(log).open("a", encoding="utf-8") as file:
                file.write(f"{os.getpid()} {' '.join(digest(one.request) for one in batch)}\n")
        time.sleep(float(self.options.get("ms", 0)) / 1000)
        if variable := self.options.get("tells"):
            raise UserError("It is {value}.", value=repr(os.environ.get(variable)))
        if len(batch) > int(self.options.get("fits", 1_000_000)):
            raise MemoryError
        word = self.options.get("dies")
        if word and any(word in one.request.text.split() for one in batch):
            os.kill(os.getpid(), signal.SIGKILL)
        return [answer(one.request) for one in batch]


def answer(request: Score) -> ScoreAnswer:
    """The answer to a request."""
    return ScoreAnswer(-int(digest(request)[:8], 16) / 2**28 - 10, len(request.text.split()))


def digest(request: Score) -> str:
    """What a request is noted as."""
    return hashlib.sha256(repr(request).encode()).hexdigest()[:16]


def read_log(path: Path) -> Log:
    """What was noted so far."""
    lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
    split = [line.split() for line in lines]
    return [(int(pid), tuple(requests)) for pid, *requests in split]


def install(folder: Path) -> Path:
    """A folder for the path of this process, and so of its workers, in which the backend is found."""
    info = folder / "sleeping_model-1.0.dist-info"
    info.mkdir(parents=True, exist_ok=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: sleeping-model\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[gendalens.models]\nsleeper = sleeping_model:Sleeper\n")
    module = Path(__file__)
    (folder / module.name).write_text(module.read_text(encoding="utf-8"), encoding="utf-8")
    return folder
