"""Two results whose every figure is a different number, so that none can stand in another's place."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import count
from typing import Any

from gendalens.results.model_info import ModelInfo
from gendalens.results.result import Cell, Contrast, Result
from gendalens.results.saved_results import SavedResult
from gendalens.stats.estimate import Estimate
from gendalens.stats.evidence import Evidence
from gendalens.stats.findings import EffectFinding, Finding
from gendalens.words import phrase

MODEL = ModelInfo(
    "org/first", phrase("masked language model"), "rev-1", "bfloat16", "tok-1", ("torch 9.1",)
)
PRONOUNS = ("male pronouns", "female pronouns")
STEREOTYPE = ("pro-stereotypical", "anti-stereotypical")


def make_result(saved: SavedResult) -> SavedResult:
    """A result of lm-dawinobias, made of numbers; the words are those of a real one."""
    result = saved.result
    fresh = count(1)
    extra = tuple(
        replace(
            one,
            value=(number := next(fresh)) / 1000 + 0.4001,
            low=number / 1000 + 0.3002,
            high=number / 1000 + 0.5003,
            n=400 + number,
            reason=None,
        )
        for one in result.extra
    )
    coverage = {
        name: 500 + next(fresh) if isinstance(value, int) else value
        for name, value in result.coverage.items()
    }
    pieces = {"female": 1.61, "male": 1.72}
    return replace(
        saved,
        result=replace(
            result,
            model=MODEL,
            signature=result.signature.replace("dtype:none", "dtype:bfloat16"),
            gender_effect_size=Estimate(1.234, 0.876, 1.592),
            gap=Contrast(
                name=result.gap.name,
                unit="F1",
                **_figure(0.231, 0.142, 0.320, 0.005, 0.017),
            ),
            contrast=Contrast(
                name=result.contrast.name,
                unit="F1",
                **_figure(-0.172, -0.263, -0.081, 0.0008, 0.0032),
            ),
            conditions=(
                Cell(condition="pro", metric="f1", value=0.812, low=0.763, high=0.861, n=301),
                Cell(condition="anti", metric="f1", value=0.581, low=0.522, high=0.641, n=302),
            ),
            nuance=(
                _cell("pro", "female pronouns", 0.795, 0.736, 0.854, 151),
                _cell("pro", "male pronouns", 0.829, 0.771, 0.887, 152),
                _cell("anti", "female pronouns", 0.493, 0.424, 0.562, 153),
                _cell("anti", "male pronouns", 0.669, 0.601, 0.737, 154),
            ),
            finding=_make_finding(result),
            extra=extra,
            coverage={**coverage, "pieces_per_pronoun": pieces},
            warnings=(phrase("A warning of its own."),),
        ),
    )


def _make_finding(result: Result) -> Finding:
    names = {one.id: one.name for one in result.finding.evidence}

    def judged(name: str, effect: str, unit: str, band: float, *numbers: float) -> Evidence:
        *figure, seen, acquitted = numbers
        return Evidence(
            id=name,
            effect=effect,
            name=names[name],
            unit=unit,
            sides=STEREOTYPE if effect == "stereotype" else PRONOUNS,
            band=band,
            seen=seen,
            acquitted=acquitted,
            **_figure(*figure),
        )

    main = (
        judged("gap", "stereotype", "F1", 0.051, 0.233, 0.144, 0.322, 0.006, 0.018, 0.127, 0.148),
        judged(
            "log_odds_gap", "stereotype", "bits", 0.252, 1.51, 0.92, 2.11, 0.007, 0.021, 0.84, 0.97
        ),
    )
    groups = (
        judged(
            "contrast", "pronoun", "F1", 0.053, -0.174, -0.265, -0.083, 0.0009, 0.0036, 0.131, 0.156
        ),
        judged("log_odds", "pronoun", "bits", 0.254, 0.41, -0.12, 0.94, 0.129, 0.258, 0.76, 0.88),
    )
    return Finding(EffectFinding(main, tests=4), EffectFinding(groups, tests=4))


def _figure(value: float, low: float, high: float, p: float, adjusted: float) -> dict[str, Any]:
    return {"value": value, "low": low, "high": high, "p": p, "p_adjusted": adjusted}


def _cell(condition: str, group: str, value: float, low: float, high: float, n: int) -> Cell:
    return Cell(condition=condition, group=group, metric="f1", value=value, low=low, high=high, n=n)


def list_numbers(plain: Any) -> Iterator[float]:
    """Every number in plain data, but those of the finding that repeat its evidence."""
    if isinstance(plain, bool) or plain is None:
        return
    if isinstance(plain, int | float):
        yield plain
    for one in (
        plain.values() if isinstance(plain, dict) else plain if isinstance(plain, list) else ()
    ):
        yield from list_numbers(one)
