"""The number format of charts in each language."""

from __future__ import annotations

from typing import Any

from gendalens.words.numbers import notation


def number_format(language: str) -> dict[str, Any]:
    """The notation of a language as a d3 format locale."""
    marks = notation(language)
    return {
        "decimal": marks.decimal,
        "thousands": marks.thousands,
        "grouping": [3],
        "currency": ["", ""],
        "percent": marks.percent,
    }
