"""The run of one model through its tests: requests, answers, records, results."""

from __future__ import annotations

import json
import os
import platform
import time
import traceback
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from gendalens.engine.cache import Cache
from gendalens.engine.dtype_check import describe_dtype_effect, sample_answers
from gendalens.engine.executor import Tally, ask, choose_batch_tokens, survey
from gendalens.engine.labour_market import compare_with_labour_market
from gendalens.engine.record_store import RecordStore
from gendalens.engine.request_plan import Portion, RequestPlan
from gendalens.engine.run_options import RunOptions
from gendalens.engine.trials import Trials
from gendalens.engine.watcher import SessionReport, TestOutcome, Watcher
from gendalens.errors import UserError
from gendalens.models.base import Backend, Batching
from gendalens.models.requests import Answer, Request
from gendalens.results import run_folder
from gendalens.results.result import Contrast, Result
from gendalens.results.saved_results import check_result
from gendalens.results.signature import make_signature
from gendalens.stats.findings import EffectFinding, Finding, correct_for_many
from gendalens.tasks.base import Task
from gendalens.words import Message, Template

NOT_FOR_DANISH = Template(
    "not_for_danish", "{model} is a {kind}: its figures say little about Danish."
)
EQUAL_LENGTH = Template(
    "equal_length",
    "Padding changes the answers of {model}, so only texts of equal length were run together.",
)
ONE_ROW = Template(
    "one_row",
    "The answers of {model} change when it reads several texts together, so they were run one by one.",
)
#: About how many requests are looked at to foresee what all of them cost.
COST_SAMPLE = 100
_NOTES = {Batching.EQUAL_LENGTH: EQUAL_LENGTH, Batching.ONE_ROW: ONE_ROW}


@dataclass(frozen=True, slots=True)
class _Measurement:
    """A test's result before correction for many tests, with its records."""

    result: Result
    records: RecordStore
    run: dict[str, Any]


@dataclass(frozen=True, slots=True)
class ModelRun:
    """The run of one model through its tests."""

    model: Backend
    options: RunOptions
    cache: Cache | None
    watcher: Watcher

    def run(self, tests: Sequence[RequestPlan]) -> SessionReport:
        """Run every test, correct the results for the number of tests, and write them.

        A test that fails does not stop the others.
        """
        plans = [plan.fit(self.model) for plan in tests]
        check_text(self.model, plans)
        family = [plan.card.name for plan in plans]
        with ExitStack() as stack:
            measured: list[_Measurement] = []
            troubles: dict[str, list[str]] = {}
            for plan in plans:
                try:
                    records = stack.enter_context(RecordStore(self.options.out))
                    measured.append(self._measure(plan, family, records))
                except UserError as error:
                    troubles.setdefault(str(error), []).append(plan.card.name)
                except Exception as error:
                    if not (is_plugin(plan.task) or is_plugin(self.model)):
                        raise
                    failure = explain_plugin_failure(error)
                    troubles.setdefault(str(failure), []).append(plan.card.name)
            self._note_batching(measured)
            return self._write(measured, troubles, len(plans))

    def _measure(
        self, plan: RequestPlan, family: Sequence[str], records: RecordStore
    ) -> _Measurement:
        began, clock = datetime.now(UTC), time.monotonic()
        task, card, info = plan.task, plan.card, self.model.info
        before = dict(self.model.usage)
        with ExitStack() as stack:
            trials = Trials(stack, self.options.out)
            tally, sampled = self._ask(plan, records, trials)
            measures = trials.measure(task, records, seed=self.options.seed)
        if measures.problem is None:
            builtin = {name: one.builtin for name, one in plan.sets.items()}
            more = compare_with_labour_market(task, records, builtin, seed=self.options.seed)
            measures = replace(measures, extra=(*measures.extra, *more))
        warnings = [*self.model.notices, *measures.warnings]
        if not info.for_danish:
            warnings.insert(0, NOT_FOR_DANISH(model=info.name, kind=info.kind))
        if dtype_effect := describe_dtype_effect(self.model, sampled, cache=self.cache):
            warnings.insert(len(warnings) - len(measures.warnings), dtype_effect)
        result = Result(
            **vars(replace(measures, warnings=tuple(warnings))),
            task=card.name,
            protocol=card.protocol,
            model=info,
            data=plan.data,
            signature=make_signature(
                card.id,
                info,
                {name: data["sha256"][:12] for name, data in plan.data.items()},
                seed=self.options.seed,
                sample=plan.sample,
                family=family,
                settings={**task.settings(), **task.band_settings()},
            ),
            harms={"main": card.main.harm, "nuance": card.nuance.harm},
            sources={"main": card.main.source, "nuance": card.nuance.source},
        )
        try:
            check_result(result)
        except ValueError as error:
            raise UserError(
                "The result cannot be saved ({reason}): the test {test} must be corrected.",
                reason=str(error),
                test=card.id,
            ) from error
        return _Measurement(result, records, self._describe_run(began, clock, tally, before))

    def _ask(
        self, plan: RequestPlan, records: RecordStore, trials: Trials
    ) -> tuple[Tally, dict[Request, Answer]]:
        """Ask all requests, portion by portion; return their tally and a sample of the answers."""
        backend = None if self.model.planted else self.model
        surveyed = survey((portion.requests for portion in plan.portions), backend, self.cache)
        if self.model.usage:
            self.watcher.meters(self._count_tokens)
        self.watcher.starts(
            plan.card.id, self.model.info.name, surveyed.tally, plan.task.notes(plan.sets)
        )
        known = surveyed.known if plan.has_one_portion else None
        self._note_cost(plan, surveyed.tally)
        sampled: dict[Request, Answer] = {}
        try:
            for portion in plan.portions:
                answers = self._answer(plan.task, portion, known)
                records.extend(plan.task.records(portion.items, answers))
                trials.add(plan.task, portion.items, answers)
                sampled |= sample_answers(answers)
        finally:
            self.watcher.ends()
        return surveyed.tally, sampled

    def _count_tokens(self) -> float:
        return sum(count for name, count in self.model.usage.items() if name.endswith("tokens"))

    def _note_cost(self, plan: RequestPlan, tally: Tally) -> None:
        """Tell the user what the waiting requests will cost, judged by some of them."""
        # Other models cost nothing, and their requests need not be made for this.
        if not self.model.usage:
            return
        portion = next(iter(plan.portions), None)
        requests = portion.requests if portion else ()
        sample = requests[:: max(1, len(requests) // COST_SAMPLE)]
        if cost := self.model.estimate_cost(sample, tally.distinct - tally.cached):
            self.watcher.notes(cost)

    def _answer(
        self, task: Task[Any], portion: Portion, known: Mapping[Request, Answer] | None
    ) -> Mapping[Request, Answer]:
        """The answers to the requests of one portion."""
        if self.model.planted:
            planted = task.plant(portion.items, self.model)  # type: ignore[arg-type]
            self.watcher.answered(len(planted))
            return planted
        return ask(
            self.model,
            portion.requests,
            cache=self.cache,
            known=known,
            batch_tokens=self.options.batch_tokens,
            on_answers=self.watcher.answered,
        )

    def _note_batching(self, measured: Sequence[_Measurement]) -> None:
        """Tell the user if texts could not be run together as usual."""
        batching = {one.run["batching"] for one in measured}
        for kind, note in _NOTES.items():
            if kind.value in batching:
                self.watcher.notes(note(model=self.model.info.name))

    def _describe_run(
        self, began: datetime, clock: float, tally: Tally, before: Mapping[str, float]
    ) -> dict[str, Any]:
        """The content of ``run.json``: start, duration, number of requests, and machine."""
        asked = self.options.batch_tokens
        tokens = None if self.model.planted else choose_batch_tokens(self.model, asked)
        # If all answers came from the cache, the model was not loaded, and need not be.
        ran = not self.model.planted and tally.cached < tally.distinct
        return {
            "began": began.isoformat(timespec="seconds"),
            "seconds": round(time.monotonic() - clock, 3),
            "requests": asdict(tally),
            "batch_tokens": tokens,
            "batching": self.model.batching.value if ran else None,
            **self.model.circumstances,
            **self._describe_usage(before),
            "machine": {
                "system": platform.platform(),
                "python": platform.python_version(),
                "cores": os.cpu_count(),
            },
        }

    def _describe_usage(self, before: Mapping[str, float]) -> dict[str, Any]:
        """What a model that counts its use needed for one test."""
        usage = self.model.usage
        if not usage:
            return {}
        return {"usage": {name: value - before.get(name, 0) for name, value in usage.items()}}

    def _write(
        self, measured: Sequence[_Measurement], troubles: Mapping[str, list[str]], tests: int
    ) -> SessionReport:
        """Correct the results for one another, and write them to the run folder if there is one."""
        failures = list_failures(troubles, tests)
        outcomes = []
        corrected = correct_results([one.result for one in measured])
        for result, one in zip(corrected, measured, strict=True):
            folder = None
            if self.options.out:
                try:
                    folder = run_folder.write_result(
                        self.options.out, result, one.records.lines(), one.run
                    )
                except UserError as error:
                    failures.append(str(error))
            outcomes.append(TestOutcome(result, folder))
        return SessionReport(outcomes, failures)


def list_failures(troubles: Mapping[str, Sequence[str]], tests: int) -> list[str]:
    """A sentence for each trouble, with the tests that had it."""
    # A problem with the model itself fails every test, and is reported once.
    return [
        trouble if len(names) == tests else f"{', '.join(names)}: {trouble}"
        for trouble, names in troubles.items()
    ]


def is_plugin(part: object) -> bool:
    """Whether a test or a model comes from another package."""
    return type(part).__module__.partition(".")[0] != "gendalens"


def explain_plugin_failure(error: Exception) -> UserError:
    """The error of a test or model from another package, with its place."""
    place = traceback.extract_tb(error.__traceback__)[-1]
    return UserError(
        "{kind}: {reason} ({file}, line {line}): report it to the authors of the plug-in.",
        kind=type(error).__name__,
        reason=str(error),
        file=Path(place.filename).name,
        line=place.lineno,
    )


def correct_results(results: Sequence[Result]) -> list[Result]:
    """The results of one run, judged by p adjusted for all of them."""
    findings = [result.finding for result in results]
    corrected = correct_for_many(findings)
    return [
        replace(
            result,
            finding=finding,
            gap=_copy_adjusted(result.gap, "gap", finding.main),
            contrast=_copy_adjusted(result.contrast, "contrast", finding.groups),
            warnings=(
                *result.warnings,
                *_compare_alternatives(result, finding, findings[:i], findings[i + 1 :]),
            ),
            alternatives=(),
        )
        for i, (result, finding) in enumerate(zip(results, corrected, strict=True))
    ]


def _compare_alternatives(
    result: Result, finding: Finding, before: Sequence[Finding], after: Sequence[Finding]
) -> Iterator[Message]:
    """A warning for each alternative with another verdict, judged in place of the result's finding."""
    for one in result.alternatives:
        other = correct_for_many([*before, one.finding, *after])[len(before)]
        if other.headline != finding.headline:
            yield one.warning(finding=other.message)


def _copy_adjusted(contrast: Contrast, name: str, finding: EffectFinding) -> Contrast:
    """The contrast with its adjusted p, if it is part of the evidence."""
    adjusted = {one.id: one.p_adjusted for one in finding.evidence}
    return replace(contrast, p_adjusted=adjusted.get(name))


def check_text(model: Backend, plans: Sequence[RequestPlan]) -> None:
    """Refuse model names or labels that cannot be encoded, before hours of work are lost."""
    texts = [model.info.to_dict(), model.labels, *(plan.task.settings() for plan in plans)]
    try:
        json.dumps(texts, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise UserError(
            "The name, version or labels of {model} contain half of a character (a lone "
            "surrogate), which cannot be saved: correct them in the model's files, or rename its "
            "folder.",
            model=model.info.name,
        ) from None
