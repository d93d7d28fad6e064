"""The report of a run: every model, every test, what was found and what lies behind it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any

from gendalens.errors import UserError
from gendalens.report import provenance
from gendalens.report.charts import charts, name_charts
from gendalens.report.figures import quartiles
from gendalens.report.html.examples import Shown, as_plain, choose
from gendalens.report.html.page import Page, render
from gendalens.report.readings import finding
from gendalens.report.words import LANGUAGES, Both, Language, metric_name, shortened, word
from gendalens.results.result import Cell, Result
from gendalens.results.run_folder import replace_file
from gendalens.results.saved_results import RECORDS, Saved
from gendalens.tasks import get_task
from gendalens.tasks.base import HARMS, SOURCES, Card
from gendalens.tasks.shared.views import Leanings, NameTally

#: Examples on one page: about two megabytes, divided among its tests.
MOST_EXAMPLES = 8000
MOST_PER_TEST = 2000
NAMES_SHOWN = 12

Chart = Callable[[Language, charts.Width], charts.Spec]


@dataclass(frozen=True, slots=True, kw_only=True)
class Test:
    """One test of one model, prepared for the page."""

    id: str
    result: Result
    card: Card
    finding: Both
    state: str
    charts: dict[str, Chart]
    leanings: Leanings | None
    dots: int
    missed: tuple[NameTally, ...]
    least: int
    shown: Shown
    plain: dict[str, Any]
    file: str

    @property
    def metric(self) -> Both:
        """What the condition table shows."""
        return metric_name(self.result.conditions[0].metric)

    @property
    def nuance_metric(self) -> Both:
        """What the nuance table shows; protocol 1 may have another metric there."""
        return metric_name((self.result.nuance or self.result.conditions)[0].metric)

    @property
    def groups(self) -> list[str]:
        """The groups of the nuance table."""
        return list(dict.fromkeys(str(cell.group) for cell in self.result.nuance))

    @property
    def rows(self) -> list[tuple[str, list[tuple[str, Cell]]]]:
        """The table of conditions and groups: by condition the cells, with their place."""
        found: dict[str, list[tuple[str, Cell]]] = {}
        for part in ("conditions", "nuance"):
            for i, cell in enumerate(getattr(self.result, part)):
                found.setdefault(cell.condition, []).append((f"{part}.{i}", cell))
        return list(found.items())

    @property
    def quartiles(self) -> bool:
        """Whether what stands in brackets are quartiles."""
        return quartiles(self.result)


@dataclass(frozen=True, slots=True, kw_only=True)
class Model:
    """A model with its tests; ``heading`` tells it from others of its name."""

    id: str
    heading: str
    tests: tuple[Test, ...]

    @property
    def info(self) -> Any:
        """What the results say about the model."""
        return self.tests[0].result.model


def write(found: Sequence[Saved], path: Path) -> None:
    """The report of these results, written whole or not at all."""
    try:
        replace_file(path, html(found))
    except OSError as error:
        raise UserError(
            f"The report cannot be written to {path} ({error.strerror}); choose another place with -o."
        ) from None


def html(found: Sequence[Saved]) -> str:
    """The report of these results as one HTML page."""
    models = prepare(found)
    tests = [test for model in models for test in model.tests]
    drawn = {"forest": _languages(partial(charts.forest, forest_rows(models)))}
    for test in tests:
        for name, chart in test.charts.items():
            drawn[f"{test.id}-{name}"] = _languages(chart)
    examples = {test.id: test.plain for test in tests if test.shown.examples}
    cards = {test.card.id: test.card for test in tests}
    return render(
        "report.html.j2",
        Page(_title(models), drawn, examples),
        models=models,
        cards=list(cards.values()),
        limits=provenance.limits([test.result for test in tests]),
        harms=HARMS,
        sources=SOURCES,
        data={
            (name, str(one["from"]), str(one["sha256"]))
            for test in tests
            for name, one in test.result.data.items()
        },
    )


def _title(models: Sequence[Model]) -> Both:
    title = word("title")
    first = shortened(models[0].heading)
    more = f" + {len(models) - 1}" if len(models) > 1 else ""
    return Both(f"{title.en}: {first}{more}", f"{title.da}: {first}{more}")


def _languages(chart: Chart) -> dict[str, charts.Spec]:
    with charts.unchecked():
        return {language: chart(language, "container") for language in LANGUAGES}


def forest_rows(models: Sequence[Model]) -> list[charts.ForestRow]:
    """A row per test; the model is named where there are several."""
    return [
        charts.ForestRow(
            test.card.id
            if len(models) == 1
            else f"{test.card.id} · {shortened(model.heading, 40)}",
            test.result,
        )
        for model in models
        for test in model.tests
    ]


def prepare(found: Sequence[Saved]) -> list[Model]:
    """The results by model, in the order given, each with what the page shows of its records."""
    most = min(MOST_PER_TEST, max(50, MOST_EXAMPLES // max(1, len(found))))
    tests = [_test(i, one, most) for i, one in enumerate(found, 1)]
    identities = {_identity(test.result) for test in tests}
    same = Counter(title for title, _ in identities)
    ordered = list(dict.fromkeys(_identity(test.result) for test in tests))
    tests.sort(key=lambda test: ordered.index(_identity(test.result)))
    return [
        Model(
            id=f"model-{i}",
            heading=title if same[title] == 1 else f"{title} @ {revision}",
            tests=tuple(members),
        )
        for i, ((title, revision), members) in enumerate(
            groupby(tests, key=lambda test: _identity(test.result)), 1
        )
    ]


def _identity(result: Result) -> tuple[str, str]:
    return result.title, str(result.model["revision"])


def _test(place: int, one: Saved, most: int) -> Test:
    result = one.result
    task = get_task(result.task, result.protocol)
    try:
        records = one.records()
        leanings = task.leanings(records)
        if leanings:
            built_in = provenance.kind(result, leanings.data) == "built in"
            leanings = replace(leanings, builtin=built_in)
        names = task.names_found(records)
        shown = choose(partial(task.examples, records), most)
        plain = as_plain(shown, leanings.unit if leanings else "")
    except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        raise UserError(
            f"{one.folder / RECORDS} does not hold records of {task.card.id} "
            f"({type(error).__name__}: {str(error)[:80]}): run the test again."
        ) from None
    drawn: dict[str, Chart] = {"interaction": partial(charts.interaction, result)}
    dots = len(charts.leaning_rows(leanings, "en")) if leanings else 0
    if leanings and dots:
        drawn["occupations"] = partial(charts.leaning, leanings)
    if any(name.bearers for name in names):
        drawn["bearers"] = partial(name_charts.by_bearers, names)
    if names:
        drawn["length"] = partial(name_charts.by_length, names)
    least = max((name.asked for name in names), default=0) // 2 or 1
    return Test(
        id=f"test-{place}",
        result=result,
        card=task.card,
        finding=finding(result),
        state=charts.state(result.verdict),
        charts=drawn,
        leanings=leanings,
        dots=dots,
        missed=_missed(names, least),
        least=least,
        shown=shown,
        plain=plain,
        file=f"{one.folder.parent.name}/{one.folder.name}/{RECORDS}",
    )


def _missed(names: Sequence[NameTally], least: int) -> tuple[NameTally, ...]:
    """The names found least often, of those drawn often enough to say so."""
    asked = [name for name in names if name.asked >= least and name.found < name.asked]
    asked.sort(key=lambda name: (name.found / name.asked, -name.asked, name.name))
    return tuple(asked[:NAMES_SHOWN])
