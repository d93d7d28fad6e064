"""The report of a run: the findings of every model and test, with the figures behind them.

Examples, and charts of occupations and names, need the records; a result that is not on disk is shown
without them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import TypeAlias

from gendalens.errors import UserError
from gendalens.models.demo import find_planted
from gendalens.report import provenance
from gendalens.report.charts import charts, name_charts
from gendalens.report.checked_records import checked_records
from gendalens.report.html.examples import ExampleSelection, choose_examples, list_examples
from gendalens.report.html.gauge import Gauge, draw_gauge
from gendalens.report.html.glossary import list_symbols
from gendalens.report.html.overview import (
    answer_overall,
    count_verdicts,
    describe_dates,
    describe_sets,
    describe_sides,
    find_deciding,
    name_ends,
    read_date,
)
from gendalens.report.html.page import Chart, Page, Site, draw_all, render
from gendalens.report.html.texts import PageTexts
from gendalens.report.next_steps import NextSteps, list_next_steps, summarize_next_steps
from gendalens.report.wording import explain_finding, has_quartiles, picture_result, shorten
from gendalens.results.model_info import ModelInfo
from gendalens.results.result import Cell, Result
from gendalens.results.saved_results import RECORDS, SavedResult
from gendalens.stats.evidence import Evidence
from gendalens.system.file_writing import replace_file, write_target
from gendalens.tasks import get_task
from gendalens.tasks.base import HARMS, SOURCES, Card
from gendalens.tasks.views import Leanings, NameTally
from gendalens.words import ENGLISH, Message, Value, phrase

#: The most examples on one page (about two megabytes), shared by its tests.
MOST_EXAMPLES = 8000
MOST_PER_TEST = 2000
NAMES_SHOWN = 12
PROTOCOL_1 = phrase(
    "Protocol 1 reproduces GenDa Lens 0.0.3, quirks and rounding included. Use protocol 2 for a sound "
    "measurement."
)
#: A result with its records, or without.
Shown: TypeAlias = SavedResult | Result


@dataclass(frozen=True, slots=True, kw_only=True)
class Test:
    """One test of one model, prepared for the page."""

    id: str
    result: Result
    card: Card
    meaning: tuple[Message, ...]
    pictures: tuple[Message, ...]
    state: str
    charts: dict[str, Chart]
    leanings: Leanings | None
    dots: int
    missed: tuple[NameTally, ...]
    least: int
    shown: ExampleSelection
    unit: str
    file: str | None
    date: str | None
    planted: str | None
    next_steps: NextSteps

    @property
    def deciding(self) -> tuple[str, Evidence] | None:
        """The figure that the headline rests on, with its path in the result."""
        return find_deciding(self.result.finding)

    @property
    def gauge(self) -> Gauge | None:
        """That figure against its band."""
        return draw_gauge(self.deciding[1]) if self.deciding else None

    @property
    def ends(self) -> tuple[Message, Message] | None:
        """What lies at the ends of the gauge."""
        return name_ends(self.deciding[1]) if self.deciding else None

    @property
    def sides_explained(self) -> list[tuple[str, str]]:
        """The sides of its figures that its card explains, such as *minority names*."""
        sides = {side for _, _, one in self.evidence for side in one.sides}
        return [(name, meaning) for name, meaning in self.card.terms if name in sides]

    @property
    def notes(self) -> list[Message]:
        """What the reader must note before using the figures."""
        old = [PROTOCOL_1] if self.result.protocol == 1 else []
        return [*old, *self.reasons, *self.result.warnings]

    @property
    def symbols(self) -> list[tuple[str, str]]:
        """The symbols of the formula, with their meaning."""
        return list_symbols(self.card)

    @property
    def metric(self) -> str:
        """The metric of the condition table."""
        return self.result.conditions[0].metric

    @property
    def nuance_metric(self) -> str:
        """The metric of the nuance table, which may differ in protocol 1."""
        return (self.result.nuance or self.result.conditions)[0].metric

    @property
    def reasons(self) -> list[Message]:
        """The reason of the effect, if the meaning of the finding does not already state it."""
        warned = any(warning.code == "ges_unstable" for warning in self.result.warnings)
        of_effect = None if warned else self.result.gender_effect_size.reason
        return [] if of_effect is None or of_effect == self.result.finding.reason else [of_effect]

    @property
    def evidence(self) -> list[tuple[str, str, Evidence]]:
        """The figures that the verdict rests on, each with its effect and its path in the result."""
        effects = (("main", self.result.finding.main), ("groups", self.result.finding.groups))
        return [
            (part, f"finding.{part}.evidence.{i}", one)
            for part, effect in effects
            for i, one in enumerate(effect.evidence)
        ]

    @property
    def groups(self) -> list[str]:
        """The groups of the nuance table."""
        return list(dict.fromkeys(str(cell.group) for cell in self.result.nuance))

    @property
    def rows(self) -> list[tuple[str, list[tuple[str, Cell]]]]:
        """The rows of the table: the cells of each condition, with their path in the result."""
        found: dict[str, list[tuple[str, Cell]]] = {}
        for part in ("conditions", "nuance"):
            for i, cell in enumerate(getattr(self.result, part)):
                found.setdefault(cell.condition, []).append((f"{part}.{i}", cell))
        return list(found.items())

    @property
    def quartiles(self) -> bool:
        """Whether the brackets hold quartiles instead of intervals."""
        return has_quartiles(self.result.conditions)


@dataclass(frozen=True, slots=True, kw_only=True)
class Model:
    """A model with its tests; ``heading`` is distinct even if models share a name."""

    id: str
    heading: str
    tests: tuple[Test, ...]

    @property
    def info(self) -> ModelInfo:
        """What the results say about the model."""
        return self.tests[0].result.model

    @property
    def answer(self) -> Message:
        """Whether the tests of the model found a bias."""
        return answer_overall([test.result.finding for test in self.tests])

    @property
    def sides(self) -> list[Message]:
        """Whom the biases favour."""
        return describe_sides([test.result for test in self.tests])

    @property
    def verdicts(self) -> list[tuple[str, Message, int]]:
        """How many of its tests have each verdict."""
        return count_verdicts([test.result.finding for test in self.tests])

    @property
    def measured(self) -> Message | None:
        """The day or days of its tests."""
        return describe_dates([test.date for test in self.tests])

    @property
    def sets(self) -> Message:
        """The data sets of its tests."""
        return describe_sets([test.result for test in self.tests])


def write(found: Sequence[Shown], path: Path, *, typed: bool = False) -> None:
    """Write the report of these results, atomically; ``typed`` if the user named the file."""
    put = write_target if typed else replace_file
    try:
        put(path, html(found))
    except OSError as error:
        raise UserError(
            "The report cannot be written to {path} ({reason}); choose another place.",
            path=str(path),
            reason=str(error.strerror),
        ) from None


def html(found: Sequence[Shown]) -> str:
    """The report of these results as one HTML page."""
    return render_models(prepare(found))


def render_models(models: Sequence[Model], site: Site | None = None) -> str:
    """The report of prepared models, as one HTML page or as a page of a site."""
    texts = PageTexts.in_all_languages()
    tests = [test for model in models for test in model.tests]
    drawn: dict[str, Chart] = {"forest": partial(charts.draw_forest, forest_rows(models))}
    for test in tests:
        drawn |= {f"{test.id}-{name}": chart for name, chart in test.charts.items()}
    examples = {
        test.id: list_examples(test.shown, test.unit, texts)
        for test in tests
        if test.shown.examples
    }
    cards = {test.card.id: test.card for test in tests}
    return render(
        "report.html.j2",
        Page(_title(models), texts, draw_all(drawn, texts), examples),
        site,
        models=models,
        cards=list(cards.values()),
        limits=provenance.list_limits([test.result for test in tests]),
        harms=HARMS,
        sources=SOURCES,
        states=charts.STATES,
        next_steps=summarize_next_steps([test.result for test in tests]),
        planted=[test for test in tests if test.planted],
        measured=describe_dates([test.date for test in tests]),
        data={
            (name, str(one["from"]), str(one["whose"]), str(one["sha256"]))
            for test in tests
            for name, one in test.result.data.items()
        },
    )


def _title(models: Sequence[Model]) -> Message:
    more = f" + {len(models) - 1}" if len(models) > 1 else ""
    values: dict[str, Value] = {
        "title": phrase("Gender bias report"),
        "models": shorten(models[0].heading) + more,
    }
    return Message("", "{title}: {models}", values)


def forest_rows(models: Sequence[Model]) -> list[charts.ForestRow]:
    """The rows of the forest plot, one per test; models are named if there are several."""
    return [
        charts.ForestRow(test.card.id, test.result, model.heading if len(models) > 1 else "")
        for model in models
        for test in model.tests
    ]


def prepare(found: Sequence[Shown], most_examples: int = MOST_EXAMPLES) -> list[Model]:
    """The results grouped by model, in the given order, prepared for the page."""
    most = min(MOST_PER_TEST, max(50, most_examples // max(1, len(found))))
    tests = [_prepare_test(i, one, most) for i, one in enumerate(found, 1)]
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
    return result.title, result.model.revision


@dataclass(frozen=True, slots=True)
class _Views:
    """What the page shows of a result's records."""

    leanings: Leanings | None
    names: Sequence[NameTally]
    shown: ExampleSelection


_NO_RECORDS = _Views(None, (), ExampleSelection((), 0))


def _prepare_test(place: int, one: Shown, most: int) -> Test:
    if isinstance(one, Result):
        result, views, file, date = one, _NO_RECORDS, None, None
    else:
        result, views, file = _open(one, most)
        date = read_date(one.run)
    task = get_task(result.task, result.protocol)
    leanings, names = views.leanings, views.names
    drawn: dict[str, Chart] = {"interaction": partial(charts.draw_interaction, result)}
    dots = len(charts.list_leanings(leanings, ENGLISH)) if leanings else 0
    if leanings and dots:
        drawn["occupations"] = partial(charts.draw_leanings, leanings)
    if any(name.bearers for name in names):
        drawn["bearers"] = partial(name_charts.draw_by_bearers, names)
    if names:
        drawn["length"] = partial(name_charts.draw_by_length, names)
    least = max((name.asked for name in names), default=0) // 2 or 1
    return Test(
        id=f"test-{place}",
        result=result,
        card=task.card,
        meaning=tuple(explain_finding(result, task.card)),
        pictures=tuple(picture_result(result)),
        state=charts.find_state(result.finding),
        charts=drawn,
        leanings=leanings,
        dots=dots,
        missed=_find_missed(names, least),
        least=least,
        shown=views.shown,
        unit=leanings.unit if leanings else "",
        file=file,
        date=date,
        planted=find_planted(result.model.name, result.task),
        next_steps=list_next_steps(result, task.card),
    )


def _open(one: SavedResult, most: int) -> tuple[Result, _Views, str]:
    """A result, the views of its records, and their file."""
    result = one.result
    task = get_task(result.task, result.protocol)
    with checked_records(one, task.card) as records:
        leanings = task.leanings(records)
        if leanings and leanings.data in result.data:
            owner = provenance.find_owner(result, leanings.data)
            leanings = replace(leanings, builtin=owner == "builtin")
        names = task.name_tallies(records)
        shown = choose_examples(partial(task.examples, records), most)
    file = f"{one.folder.parent.name}/{one.folder.name}/{RECORDS}"
    return result, _Views(leanings, names, shown), file


def _find_missed(names: Sequence[NameTally], least: int) -> tuple[NameTally, ...]:
    """The names with the lowest recall, among those drawn often enough."""
    asked = [name for name in names if name.asked >= least and name.found < name.asked]
    asked.sort(key=lambda name: (name.found / name.asked, -name.asked, name.name))
    return tuple(asked[:NAMES_SHOWN])
