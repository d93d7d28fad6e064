"""One model through the tests it can take: data, requests, answers, records, results."""

from __future__ import annotations

import json
import operator
import os
import platform
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Protocol

from gendalens.data.choice import BUILTIN, Choice
from gendalens.data.registry import at_hand
from gendalens.engine.cache import Cache
from gendalens.engine.dtype_check import effect, thinned
from gendalens.engine.executor import Tally, ask, budget, survey
from gendalens.engine.record_store import Records
from gendalens.engine.request_plan import configured, questions
from gendalens.errors import UserError
from gendalens.models.base import Answer, Backend, ModelInfo, Request
from gendalens.models.control import Control
from gendalens.results import run_folder
from gendalens.results.result import FOREIGN, Result
from gendalens.results.signature import signature
from gendalens.stats.findings import Verdict, corrected
from gendalens.stats.multiple import benjamini_hochberg, holm
from gendalens.tasks import all_tasks, get_task
from gendalens.tasks.base import Task

#: Options that single tests take; the test says what they mean.
TASK_OPTIONS = frozenset({"repeats", "names", "unisex", "labels"})
#: Draws of names: far more than change a figure, and as many as memory can count.
MOST_REPEATS = 100_000


class Watcher(Protocol):
    """Somebody who wants to see a run go on."""

    def starts(self, task: str, model: str, tally: Tally, notes: Sequence[str]) -> None:
        """A test's requests are known; ``notes`` are what else the user should see."""

    def answered(self, count: int) -> None:
        """So many more requests have been answered."""

    def ends(self) -> None:
        """All requests of the test have been answered."""


class Silence:
    """A watcher that does nothing."""

    def starts(self, task: str, model: str, tally: Tally, notes: Sequence[str]) -> None:
        """Nothing."""

    def answered(self, count: int) -> None:
        """Nothing."""

    def ends(self) -> None:
        """Nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """How a run is made; what changes a number is in the signature."""

    protocol: int = 2
    seed: int = 0
    sample: int | None = None
    offline: bool = False
    data: Mapping[str, Choice] | None = None
    batch_tokens: int | None = None
    out: Path | None = None
    task_options: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name, value, least in (
            ("seed", self.seed, 0),
            ("sample", self.sample, 1),
            ("batch_tokens", self.batch_tokens, 1),
            ("repeats", self.task_options.get("repeats"), 1),
        ):
            if value is not None:
                _check_number(name, value, least, MOST_REPEATS if name == "repeats" else None)
        known = {name for task in all_tasks().values() for name in task.card.data}
        if unknown := sorted(set(self.data or {}) - known):
            raise UserError(
                f"There is no data set {unknown[0]!r} to replace: the tests read "
                f"{', '.join(sorted(known))}."
            )
        if self.protocol == 1 and BUILTIN in (self.data or {}).values():
            raise UserError(
                "Protocol 1 gives what GenDa Lens 0.0.3 gives on its own files, so it does not read "
                "built-in sets: use protocol 2 or the official sets."
            )


@dataclass(frozen=True, slots=True)
class Outcome:
    """A result, and the folder it was written to if any."""

    result: Result
    folder: Path | None


@dataclass(frozen=True, slots=True)
class Report:
    """What became of one model: its results, and a sentence for everything that failed."""

    outcomes: list[Outcome]
    failures: list[str]


@dataclass(frozen=True, slots=True)
class _Tested:
    """A task's result before the correction for many tests, with its records."""

    result: Result
    records: Records
    run: dict[str, Any]


def choose_tasks(
    model: Backend | Control,
    names: Sequence[str] | None,
    protocol: int,
    data: Mapping[str, Choice] | None = None,
) -> list[Task[Any]]:
    """The tests asked for, or all that the model can take; a model that cannot is told so.

    A control model can take every test: it gets those whose data are at hand.
    """
    able = [
        task
        for (_, its_protocol), task in sorted(all_tasks().items())
        if its_protocol == protocol and _can(model, task)
    ]
    if names is None and isinstance(model, Control):
        able = [
            task for task in able if all(n in (data or {}) or at_hand(n) for n in task.card.data)
        ]
    can = ", ".join(task.card.name for task in able) or "none"
    if names is not None and not names:
        raise UserError("No test is named; leave the tests out to run all that fit.")
    if names is None:
        if not able:
            raise UserError(_cannot(model.info, f"any test of protocol {protocol}", can))
        return able
    chosen = [get_task(name, protocol) for name in dict.fromkeys(names)]
    for task in chosen:
        if not _can(model, task):
            raise UserError(_cannot(model.info, task.card.id, can))
    return chosen


def run_model(
    model: Backend | Control,
    tasks: Sequence[Task[Any]],
    options: Options,
    *,
    cache: Cache | None = None,
    watcher: Watcher | None = None,
) -> Report:
    """Every test on one model; results are corrected for the number of tests, then written.

    A test that fails does not take the others with it.
    """
    tasks = [configured(task, options).fitted(model) for task in tasks]
    _check_text(model, tasks)
    with ExitStack() as stack:
        tested: list[_Tested] = []
        troubles: dict[str, list[str]] = {}
        for task in tasks:
            try:
                records = stack.enter_context(Records(options.out))
                tested.append(
                    _test(model, task, tasks, records, options, cache, watcher or Silence())
                )
            except UserError as error:
                troubles.setdefault(str(error), []).append(task.card.name)
        return _written(tested, troubles, tasks, options)


def _written(
    tested: Sequence[_Tested],
    troubles: Mapping[str, list[str]],
    tasks: Sequence[Task[Any]],
    options: Options,
) -> Report:
    """The results corrected for one another, in the run folder if there is one."""
    # What is wrong with the model itself goes wrong in every test, and is said once.
    failures = [
        trouble if len(names) == len(tasks) else f"{', '.join(names)}: {trouble}"
        for trouble, names in troubles.items()
    ]
    outcomes = []
    for result, one in zip(_adjust([one.result for one in tested]), tested, strict=True):
        folder = None
        if options.out:
            try:
                folder = run_folder.write(options.out, result, one.records.lines(), one.run)
            except UserError as error:
                failures.append(str(error))
        outcomes.append(Outcome(result, folder))
    return Report(outcomes, failures)


def _test(
    model: Backend | Control,
    task: Task[Any],
    tasks: Sequence[Task[Any]],
    records: Records,
    options: Options,
    cache: Cache | None,
    watcher: Watcher,
) -> _Tested:
    began, clock = datetime.now(UTC), time.monotonic()
    card = task.card
    asked = questions(task, options)
    sets = asked.sets
    backend = None if isinstance(model, Control) else model
    tally = survey(map(task.requests, asked.portions()), backend, cache=cache)
    watcher.starts(card.id, model.info.name, tally, task.notes(sets))
    some: dict[Request, Answer] = {}
    try:
        for portion in asked.portions():
            answers = _answers(model, task, portion, options, cache, watcher)
            records.extend(task.records(portion, answers))
            some |= thinned(answers)
    finally:
        watcher.ends()
    measures = task.measure(records, seed=options.seed)
    info = model.info
    notices = list(getattr(model, "notices", ()))
    if backend is not None and (said := effect(backend, some, cache=cache)):
        notices.append(said)
    warnings = (*notices, *measures.warnings)
    if FOREIGN in info.kind:
        warning = f"{info.name} is a {info.kind}: its figures say little about Danish."
        warnings = (warning, *warnings)
    measures = replace(measures, warnings=warnings)
    result = Result(
        **vars(measures),
        task=card.name,
        protocol=card.protocol,
        model=_plain(info),
        data=asked.data,
        signature=signature(
            card,
            info,
            {name: data.checksum[:12] for name, data in sets.items()},
            seed=options.seed,
            sample=asked.sample,
            family=[other.card.name for other in tasks],
            settings=task.settings(),
        ),
        harms={"main": card.main.harm, "nuance": card.nuance.harm},
        sources={"main": card.main.source, "nuance": card.nuance.source},
    )
    run = {
        "began": began.isoformat(timespec="seconds"),
        "seconds": round(time.monotonic() - clock, 3),
        "requests": asdict(tally),
        "batch_tokens": None if isinstance(model, Control) else budget(model, options.batch_tokens),
        "machine": {
            "system": platform.platform(),
            "python": platform.python_version(),
            "cores": os.cpu_count(),
        },
    }
    return _Tested(result, records, run)


def _answers(
    model: Backend | Control,
    task: Task[Any],
    items: Sequence[Any],
    options: Options,
    cache: Cache | None,
    watcher: Watcher,
) -> Mapping[Request, Answer]:
    """The answers to what these items ask."""
    if isinstance(model, Control):
        planted = task.plant(items, model)
        watcher.answered(len(planted))
        return planted
    return ask(
        model,
        task.requests(items),
        cache=cache,
        batch_tokens=options.batch_tokens,
        on_answers=watcher.answered,
    ).by_request


def _adjust(results: Sequence[Result]) -> list[Result]:
    """Holm over the gaps, Benjamini-Hochberg over the interaction contrasts."""
    gaps = holm([result.gap.p for result in results])
    contrasts = benjamini_hochberg([result.interaction.p for result in results])
    tests = sum(p is not None for p in gaps)
    adjusted = []
    for result, gap, contrast in zip(results, gaps, contrasts, strict=True):
        judged: Any = Verdict(result.verdict, result.verdict_reason)  # type: ignore[arg-type]
        judged = corrected(judged, gap, tests=tests)
        text = ", ".join(part for part in (judged.finding, judged.correction) if part)
        adjusted.append(
            replace(
                result,
                gap=replace(result.gap, p_adjusted=gap),
                interaction=replace(result.interaction, p_adjusted=contrast),
                verdict=text,
            )
        )
    return adjusted


def _check_number(name: str, value: Any, least: int, most: int | None) -> None:
    """Refuse what is no whole number (NumPy's are), or too small or large a one."""
    try:
        number = operator.index(value)
    except TypeError:
        raise UserError(f"{name} is {value!r}; it must be a whole number.") from None
    if number < least:
        raise UserError(f"{name} is {value}; it must be {least} or more.")
    if most is not None and number > most:
        raise UserError(f"{name} is {value}; it must be {most:,} or less.")


def _check_text(model: Backend | Control, tasks: Sequence[Task[Any]]) -> None:
    """Refuse, before hours of work, what a model says of itself and no file can hold."""
    labels = [str(label) for label in getattr(model, "labels", None) or ()]
    said = [_plain(model.info), labels, *(task.settings() for task in tasks)]
    try:
        json.dumps(said, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise UserError(
            f"The name, version or labels of {model.info.name} have half of a character in them, which "
            "no result can hold: correct them in the model's files, or rename its folder."
        ) from None


def _can(model: Backend | Control, task: Task[Any]) -> bool:
    return isinstance(model, Control) or task.card.needs <= model.answers


def _cannot(info: ModelInfo, what: str, can: str) -> str:
    return (
        f"{info.name} is a {info.kind} and cannot do {what}; under this protocol it can do: {can}."
    )


def _plain(info: ModelInfo) -> dict[str, Any]:
    return {**asdict(info), "software": list(info.software)}
