"""``ner-dane`` as GenDa Lens 0.0.3 computes it, so that published numbers can be reproduced."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from gendalens.data import dane, names
from gendalens.data.names import Group, NamePool
from gendalens.data.registry import Source
from gendalens.errors import UserError
from gendalens.models.requests import Tag
from gendalens.results.result import Cell, Contrast, Measures, Record, Result
from gendalens.stats.bootstrap import RESAMPLES
from gendalens.stats.estimate import Estimate
from gendalens.tasks.base import NO_INTERVAL, NONE_IN_PROTOCOL_1, Card, Effect, Table
from gendalens.tasks.ner_dane.classic_tables import ner_layout
from gendalens.tasks.ner_dane.messages import (
    GAP_NAME,
    NOTHING_IN_ONE_GROUP,
    ORIGIN_CONTRAST,
    READINGS,
    SPREAD_OVER_DRAWS,
)
from gendalens.tasks.ner_dane.renamed_persons import LABELS, REPEATS, RenamedPersons
from gendalens.tasks.ner_dane.tally import GENDERS, GROUPS, ORIGINS, micro_f1, tabulate
from gendalens.tasks.ner_dane.versions import Versions
from gendalens.tasks.shared.classic_findings import judge_without_interval


@dataclass(frozen=True)
class NERDane1(RenamedPersons):
    """The mean and spread of micro F1 over draws, rounded at every step."""

    options = (REPEATS, LABELS)
    averaged = True

    card = Card(
        name="ner-dane",
        protocol=1,
        title="NER models on DaNE, persons renamed, as GenDa Lens 0.0.3 computes it",
        idea="Reproduces published numbers: a pattern at random whatever the original's length, "
        "genitives lost, the mean F1 over draws, rounded (draws are seeded here, so figures agree up "
        "to chance). Use protocol 2 for a sound measurement.",
        data=("dane", "names", "minority-names"),
        needs=frozenset({Tag.kind}),
        formula="GES = log2(F1_male / F1_female), majority names, of rounded means, rounded",
        reading="Positive: men's names are found better.",
        main=Effect(harm="underrepresentation", source="selection bias"),
        nuance=Effect(harm="underrepresentation", source="selection bias"),
        definitions=(("F1", "micro-averaged over PER, LOC and ORG (0.0.3 calls it macro)"),),
        readings=READINGS,
        citation="GenDa Lens 0.0.3 (2023); Lassen et al. (2023)",
    )

    @property
    def draws(self) -> str:
        """The one way in which 0.0.3 draws names."""
        return "0.0.3"

    def configure(self, options: Mapping[str, Any], *, seed: int = 0) -> Self:
        """The test with --repeats and --labels; raises for options that 0.0.3 does not have."""
        if options.get("unisex") or (options.get("names") or "top") != "top":
            raise UserError(
                "Protocol 1 draws names as GenDa Lens 0.0.3 does; leave out --names and --unisex."
            )
        return super().configure(options, seed=seed)

    def items(self, data: Mapping[str, Source]) -> Versions:
        """Every version of every sentence, with names drawn as in 0.0.3."""
        sentences = dane.read(data["dane"].files[0], errata=False)
        return Versions(sentences, self.read_pools(data), self.repeats, self.seed, protocol=1)

    def read_pools(self, data: Mapping[str, Source]) -> dict[Group, NamePool]:
        """The name lists of 0.0.3, defects and duplicates included."""
        return names.read_classic(data["names"].folder, data["minority-names"].folder)

    def measure(
        self, records: Sequence[Record], *, seed: int, resamples: int = RESAMPLES
    ) -> Measures:
        """The figures of 0.0.3; nothing is resampled."""
        table = tabulate(records)
        per_draw = micro_f1(table.select(GROUPS).draws)
        means = {group: round(float(per_draw[:, i].mean()), 4) for i, group in enumerate(GROUPS)}
        spreads = {
            group: round(float(np.std(per_draw[:, i], ddof=1)), 2) if len(per_draw) > 1 else None
            for i, group in enumerate(GROUPS)
        }
        male, female = means["majority", "male"], means["majority", "female"]
        problem = None
        if male > 0 and female > 0:
            effect = Estimate(round(math.log2(male / female), 2), None, None, NO_INTERVAL())
        else:
            problem = NOTHING_IN_ONE_GROUP()
            effect = Estimate(None, None, None, problem)
        n = len(table.sentences)
        return Measures(
            gender_effect_size=effect,
            gap=Contrast(
                name=GAP_NAME(),
                unit="F1",
                value=male - female,
                reason=NO_INTERVAL(),
            ),
            conditions=tuple(
                Cell(
                    condition=gender,
                    metric="f1",
                    value=means["majority", gender],
                    n=n,
                    reason=SPREAD_OVER_DRAWS(sd=spreads["majority", gender]),
                    sd=spreads["majority", gender],
                )
                for gender in GENDERS
            ),
            nuance=tuple(
                Cell(
                    condition=gender,
                    group=f"{origin} names",
                    metric="f1",
                    value=means[origin, gender],
                    n=n,
                    reason=SPREAD_OVER_DRAWS(sd=spreads[origin, gender]),
                    sd=spreads[origin, gender],
                )
                for gender in GENDERS
                for origin in ORIGINS
            ),
            contrast=Contrast(
                name=ORIGIN_CONTRAST(),
                unit="F1",
                value=None,
                reason=NONE_IN_PROTOCOL_1(),
            ),
            coverage={"sentences": n, "repeats": len(per_draw)},
            finding=judge_without_interval(problem),
            problem=problem,
        )

    def tables(self, result: Result) -> tuple[Table, Table]:
        """The two tables of 0.0.3."""
        cells = {
            (str(cell.group).removesuffix(" names"), cell.condition): f"{cell.value} ({cell.sd})"
            for cell in result.nuance
        }
        return ner_layout(result, "Macro F1 (SD)", cells)


TASK = NERDane1()
