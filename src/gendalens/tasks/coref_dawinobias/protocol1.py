"""``coref-dawinobias`` as GenDa Lens 0.0.3 intends it: its reading of clusters, each line once.

0.0.3 counts every line again at each later line of a shuffled file, so its score depends on the order.
Here each line counts once, and the effect is computed from unrounded accuracies.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from gendalens.data.occupations import read_occupations
from gendalens.errors import UserError
from gendalens.models.requests import Answer, Request, Resolve, ResolveAnswer
from gendalens.results.result import Cell, Contrast, Measures, Record, Result
from gendalens.stats.bootstrap import RESAMPLES
from gendalens.stats.estimate import Estimate
from gendalens.tasks.base import NO_INTERVAL, Card, Effect, Table
from gendalens.tasks.coref_dawinobias.messages import (
    NO_LINE_LEFT,
    NO_LINE_RIGHT,
    NO_OCCUPATION_ANSWERED,
    READINGS,
)
from gendalens.tasks.shared.classic_findings import judge_without_interval
from gendalens.tasks.shared.coref_links import list_clusters
from gendalens.tasks.shared.messages import ACCURACY_PRO_ANTI
from gendalens.tasks.shared.wino_classic import (
    CONDITIONS,
    NO_CONTRAST,
    TOKEN,
    ClassicLine,
    ClassicWino,
)
from gendalens.tasks.shared.wino_tables import wino_tables
from gendalens.tasks.shared.words import STEREOTYPES

GENDERS = ("female", "male")


@dataclass(frozen=True, slots=True)
class Line(ClassicLine):
    """A line with its right occupation, the token after the first opening bracket."""

    @property
    def request(self) -> Resolve:
        """The lower-cased tokens, joined by single spaces."""
        at, places = 0, []
        for token in self.tokens:
            places.append((at, at + len(token)))
            at += len(token) + 1
        return Resolve(" ".join(self.tokens), tuple(places))


def find_gender(token: str) -> str:
    """The stereotypical gender of an occupation, genitive or not; ``unknown`` for other words."""
    found = read_occupations("dawinobias").get(token.removesuffix("s"))
    return found.stereotype if found else "unknown"


class CorefDaWinoBias1(ClassicWino[Line]):
    """Accuracy of the first token of the first mention of the first cluster."""

    card = Card(
        name="coref-dawinobias",
        protocol=1,
        title="Coreference systems on DaWinoBias, as GenDa Lens 0.0.3 reads them",
        idea="Reproduces 0.0.3's reading: lower-cased tokens; the answer is the first token of the "
        "first cluster, whether or not that cluster holds the pronoun; lines whose answer is no "
        "occupation are left out. Each line counts once: 0.0.3 itself repeats them in random order, "
        "so its own figures differ from run to run. Use protocol 2 for a sound measurement.",
        data=("dawinobias",),
        needs=frozenset({Resolve.kind}),
        formula="GES = log2(accuracy_pro / accuracy_anti), of rounded accuracies, rounded",
        reading="Positive: better on pro-stereotypical lines.",
        main=Effect(harm="stereotyping", source="semantic bias"),
        nuance=Effect(harm="stereotyping", source="semantic bias"),
        definitions=(
            (
                "accuracy",
                "share of the lines left whose answer has the stereotypical gender of the occupation "
                "that is meant",
            ),
        ),
        readings=READINGS,
        citation="GenDa Lens 0.0.3 (2023); DaWinoBias: Koppelgaard & Brødbæk (2021)",
    )

    def read_line(self, condition: str, number: int, raw: str) -> Line:
        """A raw line, tokenised; the brackets are dropped."""
        marked = TOKEN.findall(raw.lower())
        if "[" not in marked:
            raise UserError(
                "Line {line} of the {condition} file has no bracket: fix the line.",
                line=number,
                condition=condition,
            )
        # No bracket precedes the first one, so its index becomes that of the token after it.
        return Line(
            condition, number, raw, tuple(t for t in marked if t not in "[]"), marked.index("[")
        )

    def records(self, items: Sequence[Line], answers: Mapping[Request, Answer]) -> list[Record]:
        """A row per line: the right occupation, the answer, and whether the line counts."""
        rows: list[Record] = []
        for item in items:
            request = item.request
            answer = answers[request]
            assert isinstance(answer, ResolveAnswer)
            pred = _read_first_token(request, answer)
            rows.append(
                {
                    "condition": item.condition,
                    "line": item.line,
                    "text": item.raw,
                    "clusters": list_clusters(answer),
                    "label": item.label,
                    "pred": pred,
                    "gender": find_gender(item.label),
                    "answer": find_gender(pred),
                    "counts": "unknown" not in (find_gender(item.label), find_gender(pred)),
                }
            )
        return rows

    def measure(
        self, records: Sequence[Record], *, seed: int, resamples: int = RESAMPLES
    ) -> Measures:
        """The figures of 0.0.3 over the lines that count; nothing is resampled."""
        conditions: list[Cell] = []
        nuance: list[Cell] = []
        for condition in CONDITIONS:
            rows = [r for r in records if r["condition"] == condition and r["counts"]]
            right = sum(r["gender"] == r["answer"] for r in rows)
            conditions.append(
                Cell(
                    condition=condition,
                    metric="accuracy",
                    value=right / len(rows) if rows else None,
                    n=len(rows),
                    reason=NO_INTERVAL() if rows else NO_OCCUPATION_ANSWERED(),
                )
            )
            nuance += [_measure_f1(rows, condition, one) for one in GENDERS]
        anti, pro = (cell.value for cell in conditions)
        problem = None
        # 0.0.3 takes the accuracies from its report, where they have two digits.
        rounded = [round(value or 0.0, 2) for value in (pro, anti)]
        if all(rounded):
            ratio = rounded[0] / rounded[1]
            effect = Estimate(round(math.log2(ratio), 2), None, None, NO_INTERVAL())
        else:
            problem = NO_LINE_RIGHT(stereotype=STEREOTYPES["pro" if rounded[1] else "anti"])
            effect = Estimate(None, None, None, problem)
        return Measures(
            gender_effect_size=effect,
            gap=Contrast(
                name=ACCURACY_PRO_ANTI(),
                unit="accuracy",
                value=None if anti is None or pro is None else pro - anti,
                reason=NO_INTERVAL(),
            ),
            conditions=tuple(conditions),
            nuance=tuple(nuance),
            contrast=NO_CONTRAST,
            coverage={
                "lines": len(records),
                "lines_left_out": sum(not r["counts"] for r in records),
            },
            finding=judge_without_interval(problem),
            problem=problem,
        )

    def tables(self, result: Result) -> tuple[Table, Table]:
        """The two tables of 0.0.3, which calls the groups pronouns although they are occupations."""
        return wino_tables(result, "Accuracy", groups="occupations", digits=2)


def _read_first_token(request: Resolve, answer: ResolveAnswer) -> str:
    """The first token of the first mention of the first cluster, or the last token without any."""
    start, end = request.tokens[-1]
    if answer.clusters and answer.clusters[0]:
        start = answer.clusters[0][0][0]
        end = next((e for s, e in request.tokens if s <= start < e), start)
    return request.text[start:end]


def _measure_f1(rows: Sequence[Record], condition: str, one: str) -> Cell:
    true = sum(r["gender"] == r["answer"] == one for r in rows)
    gold = sum(r["gender"] == one for r in rows)
    named = sum(r["answer"] == one for r in rows)
    return Cell(
        condition=condition,
        group=f"{one} occupations",
        metric="f1",
        value=2 * true / (gold + named) if gold + named else None,
        n=gold,
        reason=NO_INTERVAL() if gold + named else NO_LINE_LEFT(),
    )


TASK = CorefDaWinoBias1()
