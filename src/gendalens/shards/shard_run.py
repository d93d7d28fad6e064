"""The run of one shard: a model answers its share of each test, and the answers are written."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from gendalens.engine.dtype_check import needs_dtype_check, sample_answers
from gendalens.engine.executor import Tally, ask
from gendalens.engine.model_run import (
    ModelRun,
    check_text,
    explain_plugin_failure,
    is_plugin,
    list_failures,
)
from gendalens.engine.record_store import RecordStore
from gendalens.engine.request_plan import Portion, RequestPlan
from gendalens.engine.watcher import SessionReport
from gendalens.errors import UserError
from gendalens.models.division import Shard
from gendalens.models.requests import Request
from gendalens.predictions.form import request_id
from gendalens.shards.first_asked import FirstAsked
from gendalens.shards.plain_messages import write_message
from gendalens.shards.shard_file import digest_lines, write_answer, write_shard
from gendalens.shards.shard_header import ExactAnswers, ShardHeader, WholeTest
from gendalens.shards.share import Share, answer_share, plant_share
from gendalens.shards.whole_run import WholeRun, describe_run
from gendalens.words import say


@dataclass(slots=True)
class _Progress:
    """What a shard has done of one test so far."""

    answers: list[int] = field(default_factory=list)
    requests: int = 0
    made: int = 0
    cached: int = 0
    asked: Any = field(default_factory=hashlib.sha256)
    batches: Any = field(default_factory=hashlib.sha256)
    #: The requests that are repeated in float32 if the model uses a smaller format.
    sampled: dict[Request, None] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ShardRun(ModelRun):
    """The run of one shard of a model's tests.

    Its answers are those of a run without shards to the last digit, where cores and device are alike:
    all requests are planned into batches, and a shard takes some of these.
    """

    shard: Shard

    def run(self, tests: Sequence[RequestPlan]) -> SessionReport:
        """Answer the shard's share of every test; a test that fails does not stop the others."""
        if not self.model.cacheable and not self.model.planted:
            raise UserError(
                "{model} cannot be told from other models, so its shards could not be checked when they "
                "are merged: run it whole, or divide its requests with `gendalens requests --shard`.",
                model=self.model.info.name,
            )
        plans = [plan.fit(self.model) for plan in tests]
        check_text(self.model, plans)
        whole = describe_run(
            self.model,
            shards=self.shard.count,
            tests=tuple(plan.card.name for plan in plans),
            options=self.options,
        )
        first_asked = FirstAsked()
        files: list[Path] = []
        troubles: dict[str, list[str]] = {}
        for turn, plan in enumerate(plans):
            try:
                with RecordStore(self.options.out) as lines:
                    progress = _Progress()
                    path = self._answer_test(plan, whole, first_asked, lines, progress, turn)
                files.append(path)
            except UserError as error:
                troubles.setdefault(str(error), []).append(plan.card.name)
            except Exception as error:
                if not (is_plugin(plan.task) or is_plugin(self.model)):
                    raise
                failure = explain_plugin_failure(error)
                troubles.setdefault(str(failure), []).append(plan.card.name)
        return SessionReport(failures=list_failures(troubles, len(plans)), shards=files)

    def _answer_test(
        self,
        plan: RequestPlan,
        whole: WholeRun,
        first_asked: FirstAsked,
        lines: RecordStore,
        progress: _Progress,
        turn: int,
    ) -> Path:
        """Answer the share of one test; return the file with the answers."""
        began, clock = datetime.now(UTC), time.monotonic()
        before, damaged = dict(self.model.usage), self.cache.damaged if self.cache else 0
        if self.model.usage:
            self.watcher.meters(self._count_tokens)
        try:
            for portion in plan.portions:
                fresh = first_asked.take(portion.requests)
                share = self._answer_share(
                    plan, portion, fresh, progress, turn + len(progress.answers)
                )
                lines.extend(write_answer(*pair) for pair in share.answers.items())
                progress.answers.append(len(share.answers))
                progress.cached += share.cached
                progress.requests += len(fresh)
                progress.made += len(portion.requests)
                for request in fresh:
                    progress.asked.update(request_id(request).encode())
                progress.batches.update(share.batches.encode())
                progress.sampled |= sample_answers(dict.fromkeys(portion.requests))
        finally:
            self.watcher.ends()
        exact = self._answer_exactly(progress, lines)
        tally = Tally(
            progress.made,
            sum(progress.answers),
            progress.cached,
            self.cache.damaged - damaged if self.cache else 0,
        )
        assert self.options.out is not None
        header = ShardHeader(
            run=whole,
            test=WholeTest(
                task=plan.card.name,
                data=plan.data,
                requests=progress.requests,
                asked=progress.asked.hexdigest(),
                batches=progress.batches.hexdigest(),
            ),
            number=self.shard.number,
            answers=tuple(progress.answers),
            exact=exact,
            sha256=digest_lines(lines.lines()),
            choices={
                name: str(choice)
                for name, choice in self.options.data.items()
                if name in plan.card.data
            },
            circumstances=self._describe_run(began, clock, tally, before),
        )
        return write_shard(self.options.out, header, lines.lines())

    def _answer_share(
        self,
        plan: RequestPlan,
        portion: Portion,
        fresh: Sequence[Request],
        progress: _Progress,
        turn: int,
    ) -> Share:
        """The share of one portion; the first one starts the progress display."""

        def show(distinct: int, cached: int) -> None:
            if progress.answers:
                self.watcher.answered(cached)
                return
            # Of a test with several portions, how many there are of the others is not known yet.
            scale = len(plan.items) / max(1, len(portion.items))
            tally = Tally(len(portion.requests), round(distinct * scale), cached)
            notes = [say("shard {shard}", shard=str(self.shard)), *plan.task.notes(plan.sets)]
            self.watcher.starts(plan.card.id, self.model.info.name, tally, notes)
            if self.model.usage:
                self._note_cost(plan, tally)

        if self.model.planted:
            planted = plan.task.plant(portion.items, self.model)  # type: ignore[arg-type]
            share = plant_share(planted, fresh, self.shard, turn)
            show(len(share.answers), 0)
            self.watcher.answered(len(share.answers))
            return share
        return answer_share(
            self.model,
            portion.requests,
            fresh,
            self.shard,
            turn,
            cache=self.cache,
            batch_tokens=self.options.batch_tokens,
            on_share=show,
            on_answers=self.watcher.answered,
        )

    def _answer_exactly(self, progress: _Progress, lines: RecordStore) -> ExactAnswers | None:
        """The first shard's answers in float32 to the sample of a model with a smaller format."""
        if self.shard.number > 1 or self.model.planted or not needs_dtype_check(self.model):
            return None
        asked = list(sample_answers(progress.sampled))
        try:
            exact = self.model.exact
            if exact is None or not asked:
                return None
            answers = ask(exact, asked, cache=self.cache)
        except UserError as error:
            return ExactAnswers(problem=write_message(error.message))
        lines.extend(write_answer(*pair) for pair in answers.items())
        return ExactAnswers(count=len(answers))
