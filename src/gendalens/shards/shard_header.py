"""The first line of a shard's file: what it is a part of, and what must be in it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Self

from gendalens.models.division import Shard
from gendalens.shards.plain_messages import read_message
from gendalens.shards.whole_run import WholeRun

FORMAT = "gendalens-shard"
#: It changes whenever an older file could be misread.
VERSION = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class WholeTest:
    """What the shards of one test have in common: what is asked, and in which batches.

    ``requests`` is the number of requests that the test is the first to ask, ``asked`` and ``batches``
    digests of these and of how they were divided.
    """

    task: str
    data: Mapping[str, Mapping[str, str]]
    requests: int
    asked: str
    batches: str

    def to_dict(self) -> dict[str, Any]:
        """The test as plain data."""
        return {one.name: getattr(self, one.name) for one in fields(self)}


@dataclass(frozen=True, slots=True, kw_only=True)
class ExactAnswers:
    """A sample of requests, answered again in float32 by the first shard; or why it could not be."""

    count: int = 0
    problem: Mapping[str, Any] | None = None

    def to_dict(self) -> dict[str, Any]:
        """The sample as plain data."""
        return {one.name: getattr(self, one.name) for one in fields(self)}


@dataclass(frozen=True, slots=True, kw_only=True)
class ShardHeader:
    """The description of a shard of one test.

    ``answers`` are the numbers of answers by portion of the test, ``sha256`` is the digest of the lines
    below. ``choices`` say where data was read, and ``circumstances`` when, where and how fast it ran;
    they may differ between the shards of a run.
    """

    run: WholeRun
    test: WholeTest
    number: int
    answers: tuple[int, ...]
    exact: ExactAnswers | None
    sha256: str
    choices: Mapping[str, str]
    circumstances: Mapping[str, Any]

    @property
    def shard(self) -> Shard:
        """Which part it is."""
        return Shard(self.number, self.run.shards)

    @property
    def title(self) -> str:
        """The shard and its test, in messages."""
        return f"{self.shard} · {self.test.task}@{self.run.protocol}"

    def to_dict(self) -> dict[str, Any]:
        """The header as plain data."""
        return {
            "format": FORMAT,
            "version": VERSION,
            "shard": str(self.shard),
            "test": self.test.to_dict(),
            "run": self.run.to_dict(),
            "answers": list(self.answers),
            "exact": None if self.exact is None else self.exact.to_dict(),
            "sha256": self.sha256,
            "choices": dict(self.choices),
            "circumstances": dict(self.circumstances),
        }

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Self:
        """The header that :meth:`to_dict` described; raises if it is none."""
        run, shard = WholeRun.from_dict(plain["run"]), Shard.parse(plain["shard"])
        test = WholeTest(**plain["test"])
        exact = plain["exact"]
        if exact is not None and exact["problem"] is not None:
            read_message(exact["problem"])
        header = cls(
            run=run,
            test=test,
            number=shard.number,
            answers=tuple(plain["answers"]),
            exact=None if exact is None else ExactAnswers(**exact),
            sha256=plain["sha256"],
            choices=dict(plain["choices"]),
            circumstances=dict(plain["circumstances"]),
        )
        counts = (test.requests, *header.answers, *([header.exact.count] if header.exact else []))
        digests = (test.asked, test.batches, header.sha256)
        texts = (test.task, *header.choices, *header.choices.values())
        if not (
            shard.count == run.shards
            and test.task in run.tests
            and all(type(count) is int and count >= 0 for count in counts)
            and all(re.fullmatch("[0-9a-f]{64}", digest) for digest in digests)
            and all(isinstance(text, str) for text in texts)
            and all(isinstance(one["sha256"], str) for one in test.data.values())
        ):
            raise ValueError("not the header of a shard")
        return header
