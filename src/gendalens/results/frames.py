"""Results as data frames: a row per figure, and a row per finding."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from gendalens.results.figure_rows import FigureRow, list_figures
from gendalens.words import Message

if TYPE_CHECKING:
    import pandas as pd

    from gendalens.results.result import Result

_MODEL = ("model", "revision", "dtype", "task", "protocol")
#: The columns of the frame of figures, in order.
FIGURES = (
    *_MODEL,
    *("part", "condition", "group", "figure", "name", "unit"),
    *("value", "low", "high", "bounds", "sd", "p", "p_adjusted", "n"),
    *("band", "could_have_seen", "could_have_acquitted", "finding", "direction", "size"),
    *("reason", "headline", "signature"),
)
#: The columns of the frame of findings, in order.
FINDINGS = (
    *_MODEL,
    *("headline", "direction", "size", "main", "main_direction", "main_size"),
    *("groups", "groups_direction", "groups_size"),
    *("gender_effect_size", "low", "high", "unstable"),
    *("warnings", "verdict", "reason", "signature"),
)
#: The types of columns; all others hold text. In ``Int64`` and ``boolean``, values may be missing.
_TYPES = {
    **dict.fromkeys(("value", "low", "high", "sd", "p", "p_adjusted", "band"), "float64"),
    **dict.fromkeys(("could_have_seen", "could_have_acquitted"), "float64"),
    "gender_effect_size": "float64",
    "n": "Int64",
    **dict.fromkeys(("protocol", "warnings"), "int64"),
    "unstable": "bool",
    "differs": "boolean",
}


def frame_figures(results: Iterable[Result]) -> pd.DataFrame:
    """A frame with a row per figure; :meth:`Result.to_frame` explains the columns."""
    names = [one.name for one in fields(FigureRow)]
    return make_frame(
        FIGURES,
        [
            _describe_model(result)
            | {name: getattr(row, name) for name in names}
            | {"headline": result.finding.headline}
            for result in results
            for row in list_figures(result)
        ],
    )


def frame_findings(results: Iterable[Result]) -> pd.DataFrame:
    """A frame with a row per result and what it found."""
    return make_frame(FINDINGS, list(map(_describe_finding, results)))


def make_frame(columns: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """A frame whose numbers are numbers and whose messages are English; undefined values are missing."""
    import pandas as pd

    def make_column(name: str) -> pd.Series[Any]:
        values = [row.get(name) for row in rows]
        if name in _TYPES:
            return pd.Series(values, dtype=_TYPES[name])
        return pd.Series([str(v) if isinstance(v, Message) else v for v in values], dtype="string")

    return pd.DataFrame({name: make_column(name) for name in columns})


def _describe_model(result: Result) -> dict[str, Any]:
    model = result.model
    return {
        "model": model.name,
        "revision": model.revision,
        "dtype": model.dtype,
        "task": result.task,
        "protocol": result.protocol,
        "signature": result.signature,
    }


def _describe_finding(result: Result) -> dict[str, Any]:
    finding, ges = result.finding, result.gender_effect_size
    return _describe_model(result) | {
        "headline": finding.headline,
        "direction": finding.leading.direction,
        "size": finding.leading.size,
        "main": finding.main.verdict,
        "main_direction": finding.main.direction,
        "main_size": finding.main.size,
        "groups": finding.groups.verdict,
        "groups_direction": finding.groups.direction,
        "groups_size": finding.groups.size,
        "gender_effect_size": ges.value,
        "low": ges.low,
        "high": ges.high,
        "unstable": ges.unstable,
        "warnings": len(result.warnings),
        "verdict": finding.message,
        "reason": result.problem or finding.reason,
    }
