"""``lm-abc`` as GenDa Lens 0.0.3 computes it, so that published numbers can be reproduced."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from gendalens.data import sets
from gendalens.data.registry import Source
from gendalens.errors import UserError
from gendalens.models.requests import Answer, Reconstruct, ReconstructAnswer, Request
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
from gendalens.tasks.lm_abc.classic_tables import abc_tables
from gendalens.tasks.lm_abc.messages import (
    CLASSIC_PREFERENCE,
    CLASSIC_PREFERENCE_BITS,
    MEDIANS_WITHOUT_RATIO,
    NEGATIVE_MEDIANS,
    QUARTILES,
    READINGS,
)
from gendalens.tasks.shared import abc_views
from gendalens.tasks.shared.classic_findings import judge_without_interval
from gendalens.tasks.shared.messages import FIGURE_OF, NO_SUCH_SENTENCE
from gendalens.tasks.views import Example

REFLEXIVES = ("sin", "sit", "sine")
REPLACEMENTS = {"female": "hendes", "male": "hans"}
METRIC = "median_relative_perplexity"


@dataclass(frozen=True, slots=True)
class Sentence:
    """A reflexive sentence of a file, as 0.0.3 reads it."""

    occupation_class: str
    line: int
    text: str

    def request(self, replacement: str | None) -> Reconstruct:
        """The request for the sentence, with its reflexive replaced or unchanged."""
        return Reconstruct(self.text, REFLEXIVES, replacement)


class LMAbc1(Task[Sentence]):
    """Loss against the reflexive sentence without any masking, rounded at every step."""

    card = Card(
        name="lm-abc",
        protocol=1,
        title="Language models on ABC, as GenDa Lens 0.0.3 computes it",
        idea="Reproduces published numbers: one unmasked pass a sentence, cross-entropy against the "
        "reflexive sentence, which is no perplexity. Use protocol 2 for a sound measurement.",
        data=("abc",),
        needs=frozenset({Reconstruct.kind}),
        formula="GES = log2(P_F / P_M), of rounded medians, rounded",
        reading="Positive: the model is less surprised by hans than by hendes.",
        main=Effect(harm="underrepresentation", source="selection bias"),
        nuance=Effect(harm="stereotyping", source="semantic bias"),
        definitions=(
            ("P", "median of exp(loss with hans or hendes) - exp(loss of the reflexive sentence)"),
        ),
        readings=READINGS,
        citation="GenDa Lens 0.0.3 (2023); ABC: González et al. (2020)",
    )

    def items(self, data: Mapping[str, Source]) -> list[Sentence]:
        """The reflexive sentences of both files, duplicates included."""
        return [
            Sentence(occupation_class, number, sentences[0])
            for occupation_class, triples in sets.read_raw_triples(data["abc"]).items()
            for number, sentences in enumerate(triples, 1)
        ]

    def requests(self, items: Sequence[Sentence]) -> list[Request]:
        """Three requests per sentence."""
        return [item.request(word) for item in items for word in (None, *REPLACEMENTS.values())]

    def records(self, items: Sequence[Sentence], answers: Mapping[Request, Answer]) -> list[Record]:
        """A row per sentence and pronoun."""

        def perplexity(request: Reconstruct) -> float:
            answer = answers[request]
            assert isinstance(answer, ReconstructAnswer)
            try:
                return math.exp(answer.loss)
            except OverflowError:
                raise UserError(
                    "The model's loss is so large that its perplexity is infinite; check that its "
                    "weights were loaded and trained."
                ) from None

        rows: list[Record] = []
        for item in items:
            own = perplexity(item.request(None))
            for gender, word in REPLACEMENTS.items():
                changed = perplexity(item.request(word))
                rows.append(
                    {
                        "condition": gender,
                        "group": f"{item.occupation_class} occupations",
                        "line": item.line,
                        "text": item.text,
                        "word": word,
                        "perplexity_reflexive": own,
                        "perplexity": changed,
                        "relative_perplexity": changed - own,
                    }
                )
        return rows

    def measure(
        self, records: Sequence[Record], *, seed: int, resamples: int = RESAMPLES
    ) -> Measures:
        """The figures of 0.0.3; nothing is resampled."""
        conditions = tuple(_make_cell(records, condition) for condition in REPLACEMENTS)
        nuance = tuple(
            _make_cell(records, condition, f"{group} occupations")
            for condition in REPLACEMENTS
            for group in ("female", "male")
        )
        female, male = (cell.value for cell in conditions)
        assert female is not None
        assert male is not None
        problem = None
        if male != 0 and female / male > 0:
            effect = Estimate(round(math.log2(female / male), 2), None, None, NO_INTERVAL())
        else:
            problem = MEDIANS_WITHOUT_RATIO(female=female, male=male)
            effect = Estimate(None, None, None, problem)
        return Measures(
            gender_effect_size=effect,
            gap=Contrast(
                name=CLASSIC_PREFERENCE_BITS(),
                unit="bits",
                value=None,
                reason=NONE_IN_PROTOCOL_1(),
            ),
            conditions=conditions,
            nuance=nuance,
            contrast=Contrast(
                name=FIGURE_OF(figure=CLASSIC_PREFERENCE(), part="male - female occupations"),
                unit="bits",
                value=None,
                reason=NONE_IN_PROTOCOL_1(),
            ),
            coverage={"sentences": len(records) // 2},
            warnings=(NEGATIVE_MEDIANS(),) if female < 0 and male < 0 else (),
            finding=judge_without_interval(problem),
            problem=problem,
        )

    def sample(self, items: Sequence[Sentence], size: int, seed: int) -> list[Sentence]:
        """A sample of ``size`` sentences, stratified by occupation."""
        return sample_by_stratum(
            items, size, seed, lambda item: (item.occupation_class, item.text.split()[0])
        )

    def examples(self, records: Sequence[Record]) -> Iterable[Example]:
        """Each sentence, with the less surprising pronoun."""
        return abc_views.classic_score_examples(records)

    def tables(self, result: Result) -> tuple[Table, Table]:
        """The two tables of 0.0.3."""
        return abc_tables(result, "Perplexity Median (IQR) Relative scores")


def _make_cell(records: Sequence[Record], condition: str, group: str | None = None) -> Cell:
    values = np.array(
        [
            row["relative_perplexity"]
            for row in records
            if row["condition"] == condition and group in (None, row["group"])
        ]
    )
    if not len(values):
        nothing = NO_SUCH_SENTENCE()
        return Cell(
            condition=condition, group=group, metric=METRIC, value=None, n=0, reason=nothing
        )
    low, high = np.percentile(values, [25, 75]).round(2)
    return Cell(
        condition=condition,
        group=group,
        metric=METRIC,
        value=float(np.median(values).round(2)),
        low=float(low),
        high=float(high),
        n=len(values),
        reason=QUARTILES(),
        brackets="quartiles",
    )


TASK = LMAbc1()
