"""A backend whose answers came from the shards of a run."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from gendalens.engine.cache import Cache
from gendalens.engine.record_store import as_line
from gendalens.errors import UserError
from gendalens.models.answer_fields import AnswerError
from gendalens.models.base import Backend
from gendalens.models.control import Control
from gendalens.models.requests import Answer, Request
from gendalens.predictions.answer_file import AnsweredRequest
from gendalens.results.model_info import ModelInfo
from gendalens.shards.plain_messages import read_message
from gendalens.shards.shard_file import read_answer_line, write_answer
from gendalens.shards.shard_set import ShardSet
from gendalens.shards.whole_run import WholeRun
from gendalens.tasks.base import Task
from gendalens.words import Message, Template

LineReader: TypeAlias = Callable[[Request, dict[str, Any]], Answer]
NOT_PLANTED = Template("shards.not_planted", "answers that the control model does not give")
#: Under which names a merge keeps the answers of the shards, and those in float32.
OWNER, EXACT = "shards", "shards in float32"


class StoredAnswers(Backend):
    """Answers that are kept in a database, described as those of the model that gave them."""

    def __init__(self, run: WholeRun, store: Cache, owner: str) -> None:
        self.run = run
        self.store = store
        self.owner = owner

    @property
    def info(self) -> ModelInfo:
        """The model's info, as it was when it answered."""
        return self.run.model

    @property
    def answers(self) -> frozenset[str]:
        """The kinds of request that the model can answer."""
        return frozenset(self.run.kinds)

    @property
    def labels(self) -> tuple[str, ...] | None:
        """The model's entity types."""
        return self.run.labels

    @property
    def cacheable(self) -> bool:
        """False: the answers are stored already."""
        return False

    def fingerprint(self) -> str:
        """The model's fingerprint."""
        return self.run.fingerprint

    def encode(self, requests: Sequence[Request]) -> list[AnsweredRequest]:
        """The requests as they are."""
        return [AnsweredRequest(request) for request in requests]

    def answer(self, batch: Sequence[AnsweredRequest]) -> list[Answer]:
        """The stored answers."""
        found = self.store.lookup(self.owner, [item.request for item in batch])
        return [found[item.request] for item in batch]


class ExactSample(StoredAnswers):
    """The model in float32: a sample of answers by the first shard, or why there are none."""

    def __init__(self, run: WholeRun, store: Cache, problem: Message | None) -> None:
        super().__init__(run, store, EXACT)
        self._problem = problem

    def answer(self, batch: Sequence[AnsweredRequest]) -> list[Answer]:
        """The stored answers; raises what the first shard met if it could not give any."""
        found = self.store.lookup(self.owner, [item.request for item in batch])
        if self._problem is not None and len(found) < len(batch):
            raise UserError(self._problem)
        return [found[item.request] for item in batch]


class MergedModel(StoredAnswers):
    """The model of a run in shards."""

    def __init__(self, shards: ShardSet, store: Cache) -> None:
        super().__init__(shards.run, store, OWNER)
        self._shards = shards

    @property
    def notices(self) -> tuple[Message, ...]:
        """The notices that the model itself gives."""
        return self.run.notices

    @property
    def circumstances(self) -> Mapping[str, Any]:
        """Each shard with when, where and how fast it ran."""
        return self._shards.circumstances

    @property
    def exact(self) -> Backend | None:
        """The first shard's sample in float32."""
        samples = [files[0].header.exact for files in self._shards.tests.values()]
        given = [one for one in samples if one is not None]
        problems = [read_message(one.problem) for one in given if one.problem is not None]
        return ExactSample(self.run, self.store, next(iter(problems), None)) if given else None

    def read_lines(self, task: Task[Any], items: Sequence[Any]) -> LineReader:
        """How to read the answers to a portion of a test."""
        return read_answer_line

    def keep(self, answers: Mapping[Request, Answer], *, exact: bool = False) -> None:
        """Store answers of a shard, or those in float32."""
        self.store.store(EXACT if exact else OWNER, answers.items())


@dataclass(frozen=True)
class MergedControl(Control):
    """The control model of a run in shards: it answers again, and the shards must say the same.

    Its answers are not those of a language model, so they would not pass as such.
    """

    shards: ShardSet | None = None

    @property
    def circumstances(self) -> Mapping[str, Any]:
        """Each shard with when, where and how fast it ran."""
        return self.shards.circumstances if self.shards else {}

    def read_lines(self, task: Task[Any], items: Sequence[Any]) -> LineReader:
        """How to compare the answers of the shards with its own."""
        planted = task.plant(items, self)

        def compare(request: Request, plain: dict[str, Any]) -> Answer:
            own = json.loads(as_line(write_answer(request, planted[request])))
            if {"id": own["id"], **plain} != own:
                raise AnswerError(NOT_PLANTED)
            return planted[request]

        return compare

    def keep(self, answers: Mapping[Request, Answer], *, exact: bool = False) -> None:
        """Nothing: it has them."""


def merge_model(shards: ShardSet, store: Cache) -> MergedModel | MergedControl:
    """The model of the shards; ``store`` holds its answers."""
    if not shards.run.planted:
        return MergedModel(shards, store)
    control = Control.parse(shards.run.fingerprint)
    return MergedControl(
        control.kind, control.strength, control.seed, control.clustered, shards=shards
    )
