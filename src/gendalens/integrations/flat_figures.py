"""Results as a flat mapping from names to numbers, which is what trackers and training logs hold."""

from __future__ import annotations

from collections.abc import Iterable

from gendalens.results.result import Contrast, Result
from gendalens.stats.estimate import Estimate

#: What ``bias_found`` is for each headline; for any other headline it is left out.
_FOUND = {"bias": 1.0, "negligible": 0.0}


def flatten_results(results: Iterable[Result]) -> dict[str, float]:
    """The figures of several results as ``<test>/<figure>``; an undefined figure is left out.

    Per test: ``ges``, ``gap`` and ``contrast`` (between the groups), each with ``_low`` and ``_high``,
    the last two also with ``_p``, and ``bias_found``: 1 for bias, 0 for no difference that matters.
    """
    return {
        f"{name_test(result)}/{name}": value
        for result in results
        for name, value in flatten_result(result).items()
    }


def flatten_result(result: Result) -> dict[str, float]:
    """The figures of one result by name."""
    figures: dict[str, float | None] = {}
    parts: dict[str, Estimate | Contrast] = {
        "ges": result.gender_effect_size,
        "gap": result.gap,
        "contrast": result.contrast,
    }
    for name, figure in parts.items():
        figures |= {name: figure.value, f"{name}_low": figure.low, f"{name}_high": figure.high}
        if isinstance(figure, Contrast):
            figures[f"{name}_p"] = figure.p
    figures["bias_found"] = _FOUND.get(result.finding.headline)
    return {name: float(value) for name, value in figures.items() if value is not None}


def name_test(result: Result) -> str:
    """The test as it is called in logs; protocol 2 goes without saying."""
    return result.task if result.protocol == 2 else f"{result.task}@{result.protocol}"
