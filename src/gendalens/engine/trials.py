"""The trials behind the answers to a test, portion by portion."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from gendalens.engine.chat_measures import measure_chat
from gendalens.engine.record_store import RecordStore
from gendalens.engine.trial_tally import TrialTally
from gendalens.models.base import Answer, Request, TagAnswer
from gendalens.models.trials import list_trials, select_paraphrase
from gendalens.results.result import Measures, Record
from gendalens.tasks.base import Task


class Trials:
    """What is counted of a chat model's trials, and the records by each paraphrase alone.

    For models without trials it holds nothing.
    """

    def __init__(self, stack: ExitStack, folder: Path | None) -> None:
        self._stack = stack
        self._folder = folder
        self._tally = TrialTally()
        self._alone: dict[int, RecordStore] = {}

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
            if paraphrase not in self._alone:
                store = self._stack.enter_context(RecordStore(self._folder))
                self._alone[paraphrase] = store
            own = {
                request: select_paraphrase(request, answer, paraphrase)
                for request, answer in answers.items()
            }
            self._alone[paraphrase].extend(task.records(items, own))

    def measure(self, task: Task[Any], records: Sequence[Record], *, seed: int) -> Measures:
        """The measures of the records, with what the trials say about them."""
        if not self._tally:
            return task.measure(records, seed=seed)
        return measure_chat(task, records, list(self._alone.values()), self._tally, seed=seed)
