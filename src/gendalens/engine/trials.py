"""The trials behind the answers to a test, portion by portion."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

from gendalens.engine.chat_measures import measure_chat
from gendalens.engine.record_store import RecordStore
from gendalens.engine.trial_tally import TrialTally
from gendalens.models.requests import Answer, Request, TagAnswer
from gendalens.models.trials import list_trials, select_paraphrases
from gendalens.results.result import Measures, Record
from gendalens.stats.findings import EffectFinding, Finding
from gendalens.stats.paraphrases import Paraphrase
from gendalens.tasks.base import Task


class Trials:
    """What is counted of a chat model's trials, and the records by some of the paraphrases.

    For models without trials it holds nothing.
    """

    def __init__(self, stack: ExitStack, folder: Path | None) -> None:
        self._stack = stack
        self._folder = folder
        self._tally = TrialTally()
        self._stores: dict[int, Paraphrase[RecordStore]] = {}

    def add(self, task: Task[Any], items: Sequence[Any], answers: Mapping[Request, Answer]) -> None:
        """Take in the answers to a portion of the items."""
        self._tally.add(answers)
        paraphrases = {
            trial.paraphrase
            for answer in answers.values()
            if not isinstance(answer, TagAnswer)
            for trial in list_trials(answer)
        }
        for paraphrase in sorted(paraphrases):
            if paraphrase not in self._stores:
                self._stores[paraphrase] = Paraphrase(self._make_store(), self._make_store())
            stores = self._stores[paraphrase]
            for store, chosen in (
                (stores.alone, {paraphrase}),
                (stores.without, paraphrases - {paraphrase}),
            ):
                own = {
                    request: select_paraphrases(request, answer, chosen)
                    for request, answer in answers.items()
                }
                store.extend(task.records(items, own))

    def _make_store(self) -> RecordStore:
        return self._stack.enter_context(RecordStore(self._folder))

    def measure(self, task: Task[Any], records: Sequence[Record], *, seed: int) -> Measures:
        """The measures of the records, with what the trials say about them."""
        if not self._tally:
            return forget_draws(task.measure(records, seed=seed))
        stores = list(self._stores.values())
        return forget_draws(measure_chat(task, records, stores, self._tally, seed=seed))


def forget_draws(measures: Measures) -> Measures:
    """The measures without the resamples behind them, which nothing after this needs."""

    def forget(part: EffectFinding) -> EffectFinding:
        evidence = tuple(
            one
            if one.estimate is None
            else replace(one, estimate=replace(one.estimate, draws=None))
            for one in part.evidence
        )
        return replace(part, evidence=evidence)

    def strip(finding: Finding) -> Finding:
        return replace(finding, main=forget(finding.main), groups=forget(finding.groups))

    others = tuple(replace(one, finding=strip(one.finding)) for one in measures.alternatives)
    return replace(measures, finding=strip(measures.finding), alternatives=others)
