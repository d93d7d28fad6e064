"""How charts write numbers in each language."""

from __future__ import annotations

from typing import Any

from gendalens.words.numbers import notation


def number_format(language: str) -> dict[str, Any]:
    """The marks of a language in the manner of d3, which draws the charts."""
    marks = notation(language)
    return {
        "decimal": marks.decimal,
        "thousands": marks.thousands,
        "grouping": [3],
        "currency": ["", ""],
        "percent": marks.percent,
    }
