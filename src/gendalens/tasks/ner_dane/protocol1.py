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
from gendalens.models.base import Answer, Request, Tag
from gendalens.models.control import Control
from gendalens.results.result import Cell, Contrast, Measures, Result
from gendalens.stats.estimate import Estimate
from gendalens.stats.paired import Clusters
from gendalens.tasks.base import NO_INTERVAL, Card, Effect, Record, Table, Task
from gendalens.tasks.ner_dane.classic_tables import ner_layout
from gendalens.tasks.ner_dane.measures import f1s
from gendalens.tasks.ner_dane.protocol2 import NERDane, record
from gendalens.tasks.ner_dane.tally import GENDERS, GROUPS, ORIGINS, tabulate
from gendalens.tasks.ner_dane.versions import Version, Versions

SPREAD = "spread over name draws"


@dataclass(frozen=True)
class NERDane1(NERDane):
    """Mean and spread of the micro F1 over draws, rounded at every step."""

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
        citation="GenDa Lens 0.0.3 (2023); Lassen et al. (2023)",
    )

    def configured(self, options: Mapping[str, Any]) -> Self:
        """The test with --repeats and --labels; 0.0.3 has one way to draw names."""
        if options.get("unisex") or options.get("names", "top") != "top":
            raise UserError(
                "Protocol 1 draws names as GenDa Lens 0.0.3 does; leave out --names and --unisex."
            )
        return super().configured(options)

    def settings(self) -> dict[str, str]:
        """Draws and labels."""
        return {name: text for name, text in super().settings().items() if name != "names"}

    def items(self, data: Mapping[str, Source]) -> Versions:
        """Every version of every sentence, names drawn as 0.0.3 does."""
        sentences = dane.read(data["dane"].files[0], errata=False)
        return Versions(sentences, self._pools(data), self.repeats, self.seed, protocol=1)

    def _pools(self, data: Mapping[str, Source]) -> dict[Group, NamePool]:
        return names.classic(data["names"].folder, data["minority-names"].folder)

    def requests(self, items: Sequence[Version]) -> list[Request]:
        """As in protocol 2, in the reading of 0.0.3."""
        return [Tag(request.text, averaged=True) for request in super().requests(items)]  # type: ignore[union-attr]

    def records(self, items: Sequence[Version], answers: Mapping[Request, Answer]) -> list[Record]:
        """A row per version."""
        return [
            record(item, answers[Tag(item.renamed.text, averaged=True)], self.label_map)
            for item in items
        ]

    def measure(self, records: Sequence[Record], *, seed: int, resamples: int = 2000) -> Measures:
        """0.0.3's figures; nothing is resampled."""
        table = tabulate(records)
        per_draw = f1s(table.of(GROUPS).draws)
        means = {group: round(float(per_draw[:, i].mean()), 4) for i, group in enumerate(GROUPS)}
        spreads = {
            group: round(float(np.std(per_draw[:, i], ddof=1)), 2) if len(per_draw) > 1 else None
            for i, group in enumerate(GROUPS)
        }
        male, female = means["majority", "male"], means["majority", "female"]
        problem = None
        if male > 0 and female > 0:
            effect = Estimate(round(math.log2(male / female), 2), None, None, NO_INTERVAL)
        else:
            problem = "the model finds nothing under one group's names, so the effect is undefined"
            effect = Estimate(None, None, None, problem)
        n = len(table.names)
        return Measures(
            gender_effect_size=effect,
            gap=Contrast(
                name="F1_male - F1_female, majority names",
                unit="F1",
                value=male - female,
                reason=NO_INTERVAL,
            ),
            conditions=tuple(
                Cell(
                    condition=gender,
                    metric="f1",
                    value=means["majority", gender],
                    n=n,
                    reason=f"{SPREAD}: SD {spreads['majority', gender]}",
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
                    reason=f"{SPREAD}: SD {spreads[origin, gender]}",
                )
                for gender in GENDERS
                for origin in ORIGINS
            ),
            interaction=Contrast(
                name="(F1_male - F1_female) of minority names - of majority names",
                unit="F1",
                value=None,
                reason="protocol 1 has none",
            ),
            coverage={"sentences": n, "repeats": len(per_draw)},
            verdict="not judged" if problem is None else "not measurable",
            verdict_reason=problem or NO_INTERVAL,
            problem=problem,
        )

    def plant(self, items: Sequence[Version], control: Control) -> dict[Request, Answer]:
        """Nothing: control models are for protocol 2."""
        raise UserError(
            f"{control.name} is a control model, and {self.card.id} has none; use protocol 2."
        )

    def paired(self, records: Sequence[Record]) -> Clusters:
        """Nothing: there are no intervals."""
        return Task.paired(self, records)

    def tables(self, result: Result) -> tuple[Table, Table]:
        """0.0.3's two tables."""
        cells = {
            (str(cell.group).removesuffix(" names"), cell.condition): (
                f"{cell.value} ({str(cell.reason).removeprefix(f'{SPREAD}: SD ')})"
            )
            for cell in result.nuance
        }
        return ner_layout(result, "Macro F1 (SD)", cells)


TASK = NERDane1()
