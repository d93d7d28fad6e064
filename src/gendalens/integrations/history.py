"""Bias over the steps of a training run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Literal, TypeAlias, overload

from gendalens.integrations.flat_figures import flatten_result, name_test
from gendalens.integrations.measurement import BiasMeasurement
from gendalens.results.result import Contrast, Result
from gendalens.stats.estimate import Estimate
from gendalens.stats.findings import name_verdict
from gendalens.words import current_language, translate, write

if TYPE_CHECKING:
    import altair as alt
    import pandas as pd

    from gendalens.report.charts.training_chart import TrainingPanel, TrainingPoint

Plotted: TypeAlias = Literal["gap", "ges", "contrast"]


class BiasHistory(Sequence[BiasMeasurement]):
    """The measurements of a training run, in the order in which they were made.

    >>> history = BiasHistory()
    >>> history.append(BiasMeasurement((), seconds=1.5, step=100))
    >>> history[-1].step, history.seconds
    (100, 1.5)
    """

    def __init__(self) -> None:
        self._measurements: list[BiasMeasurement] = []

    def append(self, measurement: BiasMeasurement) -> None:
        """Add the newest measurement."""
        self._measurements.append(measurement)

    @overload
    def __getitem__(self, place: int) -> BiasMeasurement: ...
    @overload
    def __getitem__(self, place: slice) -> list[BiasMeasurement]: ...
    def __getitem__(self, place: int | slice) -> BiasMeasurement | list[BiasMeasurement]:
        return self._measurements[place]

    def __len__(self) -> int:
        return len(self._measurements)

    def __iter__(self) -> Iterator[BiasMeasurement]:
        return iter(self._measurements)

    def __repr__(self) -> str:
        return f"<BiasHistory: {len(self)} measurements, {self.seconds:.0f} s>"

    @property
    def seconds(self) -> float:
        """What all measurements took together."""
        return sum(one.seconds for one in self)

    def to_frame(self) -> pd.DataFrame:
        """A row per step and test, with the figures as columns of numbers."""
        import pandas as pd

        rows = [
            {
                "step": one.step,
                "epoch": one.epoch,
                "task": name_test(result),
                **flatten_result(result),
                "unit": result.gap.unit,
                "finding": result.finding.headline,
                "seconds": one.seconds,
            }
            for one in self
            for result in one.results
        ]
        return pd.DataFrame(rows)

    def plot(self, figure: Plotted = "gap") -> alt.VConcatChart:
        """An Altair chart of a figure over the steps, with its intervals; a panel per test."""
        import altair as alt

        from gendalens.report.charts.training_chart import draw_training

        language = current_language()
        spec = draw_training(list(self._make_panels(figure, language)), language)
        return alt.VConcatChart.from_dict(spec, validate=False)

    def _make_panels(self, figure: Plotted, language: str) -> Iterator[TrainingPanel]:
        from gendalens.report.charts.training_chart import TrainingPanel

        found: dict[str, list[tuple[int, Result]]] = {}
        for place, one in enumerate(self):
            for result in one.results:
                # Without steps, measurements are numbered.
                step = place if one.step is None else one.step
                found.setdefault(name_test(result), []).append((step, result))
        for test, results in found.items():
            points = tuple(_make_point(step, result, figure, language) for step, result in results)
            yield TrainingPanel(test, _name_axis(results[0][1], figure, language), points)


def _make_point(step: int, result: Result, figure: Plotted, language: str) -> TrainingPoint:
    from gendalens.report.charts.training_chart import TrainingPoint

    plotted: dict[Plotted, Contrast | Estimate] = {
        "gap": result.gap,
        "ges": result.gender_effect_size,
        "contrast": result.contrast,
    }
    one = plotted[figure]
    # A figure that the test is judged on has a verdict of its own; any other gets the headline.
    evidence = next((one for one in result.finding.evidence if one.id == figure), None)
    finding = result.finding
    verdict = finding.verdict_of(evidence) if evidence else finding.headline
    return TrainingPoint(
        step=step,
        value=one.value,
        low=one.low,
        high=one.high,
        state={"bias": "found", "negligible": "none"}.get(verdict, "unclear"),
        verdict=write(name_verdict(verdict), language),
        band=evidence.band if evidence else None,
    )


def _name_axis(result: Result, figure: Plotted, language: str) -> str:
    if figure == "ges":
        return "GES"
    unit = result.gap.unit if figure == "gap" else result.contrast.unit
    name = translate("gap" if figure == "gap" else "contrast", language)
    return f"{name} ({translate(unit, language)})"
