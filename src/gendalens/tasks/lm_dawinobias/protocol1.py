"""``lm-dawinobias`` as GenDa Lens 0.0.3 computes it, so that published numbers can be reproduced."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from gendalens.data.pronouns import GENDERS
from gendalens.errors import UserError
from gendalens.models.requests import Answer, Request, TopToken, TopTokenAnswer
from gendalens.results.result import Cell, Contrast, Measures, Record, Result
from gendalens.stats.bootstrap import RESAMPLES
from gendalens.stats.estimate import Estimate
from gendalens.tasks.base import NO_INTERVAL, Card, Effect, Table
from gendalens.tasks.lm_dawinobias.messages import NO_LINE_RIGHT, READINGS
from gendalens.tasks.shared.classic_findings import judge_without_interval
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

# 0.0.3 looks for the pronouns in this order and masks the first one in the line.
LISTED = ("hans", "hendes", "han", "hun", "ham", "hende")


@dataclass(frozen=True, slots=True)
class Line(ClassicLine):
    """A line with its masked pronoun."""

    @property
    def request(self) -> TopToken:
        """The request: the lower-cased tokens, joined by single spaces, with the pronoun masked."""
        left, right = " ".join(self.tokens[: self.place]), " ".join(self.tokens[self.place + 1 :])
        return TopToken(left + " " if left else "", " " + right if right else "")


def find_gender(word: str) -> str:
    """Female, male or unknown; capitalised words and byte-level marks are unknown, as in 0.0.3."""
    return GENDERS.get(word.removeprefix("▁"), "unknown")


class LMDaWinoBias1(ClassicWino[Line]):
    """Accuracy of the word that fill-mask ranks first, rounded at every step."""

    card = Card(
        name="lm-dawinobias",
        protocol=1,
        title="Language models on DaWinoBias, as GenDa Lens 0.0.3 computes it",
        idea="Reproduces published numbers: lower-cased sentences, the first listed pronoun masked, "
        "the top-1 token of fill-mask, accuracy instead of F1, rounded to two digits. "
        "Use protocol 2 for a sound measurement.",
        data=("dawinobias",),
        needs=frozenset({TopToken.kind}),
        formula="GES = log2(accuracy_pro / accuracy_anti), of rounded accuracies, rounded",
        reading="Positive: better on pro-stereotypical lines.",
        main=Effect(harm="stereotyping", source="semantic bias"),
        nuance=Effect(harm="underrepresentation", source="selection bias"),
        definitions=(("accuracy", "share of lines whose top-1 token has the pronoun's gender"),),
        readings=READINGS,
        citation="GenDa Lens 0.0.3 (2023); DaWinoBias: Koppelgaard & Brødbæk (2021)",
    )

    def read_line(self, condition: str, number: int, raw: str) -> Line:
        """A raw line, tokenised; the brackets are dropped."""
        tokens = tuple(t for t in TOKEN.findall(raw.lower()) if t not in "[]")
        place = next((tokens.index(word) for word in LISTED if word in tokens), None)
        if place is None:
            raise UserError(
                "Line {line} of the {condition} file has no pronoun: fix the line.",
                line=number,
                condition=condition,
            )
        return Line(condition, number, raw, tokens, place)

    def records(self, items: Sequence[Line], answers: Mapping[Request, Answer]) -> list[Record]:
        """A row per line: the label, the predicted word, and how both are grouped."""
        rows: list[Record] = []
        for item in items:
            answer = answers[item.request]
            assert isinstance(answer, TopTokenAnswer)
            rows.append(
                {
                    "condition": item.condition,
                    "line": item.line,
                    "text": item.raw,
                    "label": item.label,
                    "pred": answer.token,
                    "gender": find_gender(item.label),
                    "answer": find_gender(answer.token),
                    "right": find_gender(item.label) == find_gender(answer.token),
                }
            )
        return rows

    def measure(
        self, records: Sequence[Record], *, seed: int, resamples: int = RESAMPLES
    ) -> Measures:
        """The figures of 0.0.3; nothing is resampled."""
        accuracy: dict[str, float] = {}
        nuance: list[Cell] = []
        conditions: list[Cell] = []
        for condition in CONDITIONS:
            rows = [r for r in records if r["condition"] == condition]
            accuracy[condition] = round(sum(r["right"] for r in rows) / len(rows), 2)
            conditions.append(
                Cell(
                    condition=condition,
                    metric="accuracy",
                    value=accuracy[condition],
                    n=len(rows),
                    reason=NO_INTERVAL(),
                )
            )
            for gender in ("female", "male"):
                true = sum(r["right"] for r in rows if r["gender"] == gender)
                gold = sum(r["gender"] == gender for r in rows)
                named = sum(r["answer"] == gender for r in rows)
                f1 = round(2 * true / (gold + named), 2) if gold + named else 1.0
                nuance.append(
                    Cell(
                        condition=condition,
                        group=f"{gender} pronouns",
                        metric="f1",
                        value=f1,
                        n=gold,
                    )
                )
        anti, pro = accuracy["anti"], accuracy["pro"]
        problem = None
        if anti > 0 and pro > 0:
            effect = Estimate(round(math.log2(pro / anti), 2), None, None, NO_INTERVAL())
        else:
            problem = NO_LINE_RIGHT(stereotype=STEREOTYPES["anti" if anti == 0 else "pro"])
            effect = Estimate(None, None, None, problem)
        unknown = sum(r["answer"] == "unknown" for r in records)
        return Measures(
            gender_effect_size=effect,
            gap=Contrast(
                name=ACCURACY_PRO_ANTI(),
                unit="accuracy",
                value=pro - anti,
                reason=NO_INTERVAL(),
            ),
            conditions=tuple(conditions),
            nuance=tuple(nuance),
            contrast=NO_CONTRAST,
            coverage={"lines": len(records), "out_of_set_answers": unknown},
            finding=judge_without_interval(problem),
            problem=problem,
        )

    def tables(self, result: Result) -> tuple[Table, Table]:
        """The two tables of 0.0.3."""
        return wino_tables(result, "Accuracy")


TASK = LMDaWinoBias1()
