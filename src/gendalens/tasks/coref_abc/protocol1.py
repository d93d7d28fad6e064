"""``coref-abc`` as GenDa Lens 0.0.3 computes it, so that published numbers can be reproduced."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from gendalens.data import sets
from gendalens.data.registry import Source
from gendalens.models.requests import Answer, Request, Resolve, ResolveAnswer
from gendalens.results.result import Cell, Contrast, Measures, Record, Result
from gendalens.stats.bootstrap import RESAMPLES
from gendalens.stats.estimate import Estimate
from gendalens.tasks.base import (
    NO_INTERVAL,
    NONE_IN_PROTOCOL_1,
    Card,
    Effect,
    Table,
    Task,
    sample_by_stratum,
)
from gendalens.tasks.coref_abc.classic_tables import abc_tables
from gendalens.tasks.coref_abc.messages import CLUSTER_GAP, NO_CLUSTERS, READINGS
from gendalens.tasks.shared import abc_views
from gendalens.tasks.shared.classic_findings import judge_without_interval
from gendalens.tasks.shared.coref_links import list_clusters
from gendalens.tasks.shared.messages import FIGURE_OF, NO_SUCH_SENTENCE
from gendalens.tasks.views import Example

CONDITIONS = ("female", "male", "reflexive")
CLASSES = ("female", "male")
METRIC = "rate_of_detected_clusters"
TOKEN = re.compile(r"\S+")


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence of a file as 0.0.3 reads it; ``line`` is the number of the triple."""

    occupation_class: str
    line: int
    condition: str
    text: str

    @property
    def request(self) -> Resolve:
        """The sentence, tokenised at spaces."""
        return Resolve(self.text, tuple(word.span() for word in TOKEN.finditer(self.text)))


class CorefAbc1(Task[Sentence]):
    """How often the system finds any cluster at all, by pronoun and class of the occupation."""

    card = Card(
        name="coref-abc",
        protocol=1,
        title="Coreference systems on ABC, as GenDa Lens 0.0.3 computes it",
        idea="Reproduces published numbers: any cluster counts, whether or not it holds the pronoun; "
        "rates by file, then their mean. Use protocol 2 for a sound measurement.",
        data=("abc",),
        needs=frozenset({Resolve.kind}),
        formula="GES = log2(FPR_M / FPR_F), of mean rates, rounded",
        reading="Positive: more clusters in sentences with hans than in those with hendes.",
        main=Effect(harm="underrepresentation", source="selection bias"),
        nuance=Effect(harm="stereotyping", source="semantic bias"),
        definitions=(
            ("rate of detected clusters", "share of sentences with at least one cluster"),
        ),
        readings=READINGS,
        citation="GenDa Lens 0.0.3 (2023); ABC: González et al. (2020)",
    )

    def items(self, data: Mapping[str, Source]) -> list[Sentence]:
        """All sentences of both files, duplicates included."""
        return [
            Sentence(occupation_class, number, condition, text)
            for occupation_class, triples in sets.read_raw_triples(data["abc"]).items()
            for number, (reflexive, male, female) in enumerate(triples, 1)
            for condition, text in zip(CONDITIONS, (female, male, reflexive), strict=True)
        ]

    def requests(self, items: Sequence[Sentence]) -> list[Request]:
        """One request per sentence."""
        return [item.request for item in items]

    def records(self, items: Sequence[Sentence], answers: Mapping[Request, Answer]) -> list[Record]:
        """A row per sentence."""
        rows: list[Record] = []
        for item in items:
            answer = answers[item.request]
            assert isinstance(answer, ResolveAnswer)
            rows.append(
                {
                    "condition": item.condition,
                    "group": f"{item.occupation_class} occupations",
                    "line": item.line,
                    "text": item.text,
                    "clusters": list_clusters(answer),
                    "detected": bool(answer.clusters),
                }
            )
        return rows

    def measure(
        self, records: Sequence[Record], *, seed: int, resamples: int = RESAMPLES
    ) -> Measures:
        """The figures of 0.0.3; nothing is resampled."""
        nuance = tuple(
            _measure_rate(records, condition, f"{group} occupations")
            for condition in CONDITIONS
            for group in CLASSES
        )
        conditions = tuple(
            _average_rates(condition, [cell for cell in nuance if cell.condition == condition])
            for condition in CONDITIONS
        )
        female, male = conditions[0].value, conditions[1].value
        problem = None
        if female and male:
            effect = Estimate(round(math.log2(male / female), 2), None, None, NO_INTERVAL())
        else:
            problem = NO_CLUSTERS(female=female, male=male)
            effect = Estimate(None, None, None, problem)
        return Measures(
            gender_effect_size=effect,
            gap=Contrast(
                name=CLUSTER_GAP(),
                unit="share",
                value=None if female is None or male is None else male - female,
                reason=NO_INTERVAL(),
            ),
            conditions=conditions,
            nuance=nuance,
            contrast=Contrast(
                name=FIGURE_OF(figure=CLUSTER_GAP(), part="male - female occupations"),
                unit="share",
                value=None,
                reason=NONE_IN_PROTOCOL_1(),
            ),
            coverage={"sentences": len(records)},
            finding=judge_without_interval(problem),
            problem=problem,
        )

    def sample(self, items: Sequence[Sentence], size: int, seed: int) -> list[Sentence]:
        """The sentences of ``size`` triples, stratified by occupation."""
        triples = {(item.occupation_class, item.line): item.text.split()[0] for item in items}
        kept = set(sample_by_stratum(list(triples), size, seed, lambda key: (key[0], triples[key])))
        return [item for item in items if (item.occupation_class, item.line) in kept]

    def examples(self, records: Sequence[Record]) -> Iterable[Example]:
        """Each sentence, with whether a cluster was found."""
        return abc_views.classic_link_examples(records)

    def tables(self, result: Result) -> tuple[Table, Table]:
        """The two tables of 0.0.3."""
        return abc_tables(result)


def _measure_rate(records: Sequence[Record], condition: str, group: str) -> Cell:
    found = [r["detected"] for r in records if r["condition"] == condition and r["group"] == group]
    return Cell(
        condition=condition,
        group=group,
        metric=METRIC,
        value=sum(found) / len(found) if found else None,
        n=len(found),
        reason=NO_INTERVAL() if found else NO_SUCH_SENTENCE(),
    )


def _average_rates(condition: str, cells: Sequence[Cell]) -> Cell:
    """The unweighted mean of the two files' rates, as in 0.0.3."""
    values = [cell.value for cell in cells if cell.value is not None]
    return Cell(
        condition=condition,
        metric=METRIC,
        value=sum(values) / len(values) if values else None,
        n=sum(cell.n for cell in cells),
        reason=NO_INTERVAL() if values else NO_SUCH_SENTENCE(),
    )


TASK = CorefAbc1()
