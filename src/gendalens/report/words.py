"""The fixed words of pages and charts in English and Danish, and numbers as both write them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any, Literal, get_args

from gendalens.report.danish import danish, rows

Language = Literal["en", "da"]
LANGUAGES: tuple[Language, ...] = get_args(Language)
#: How Danish writes numbers, in the manner of d3: for charts.
DANISH_NUMBERS: dict[str, Any] = {
    "decimal": ",",
    "thousands": ".",
    "grouping": [3],
    "currency": ["", "\u00a0kr."],
}


@dataclass(frozen=True, slots=True)
class Both:
    """A text in both languages; ``da`` is None where there is only the English one."""

    en: str
    da: str | None

    @property
    def capital(self) -> Both:
        """The text with a capital letter first."""
        return Both(capital(self.en), None if self.da is None else capital(self.da))

    def of(self, language: Language) -> str:
        """The text in one language, in English where there is no other."""
        return self.da if language == "da" and self.da is not None else self.en


def capital(text: str) -> str:
    """A text with a capital letter first."""
    return text[:1].upper() + text[1:]


def word(name: str, **parts: object) -> Both:
    """A fixed text of the page by its name, its parts filled in (a ``Both`` in its language)."""
    english, danish_text = _words()[name]

    def filled(text: str, language: Language) -> str:
        values = {k: v.of(language) if isinstance(v, Both) else v for k, v in parts.items()}
        return text.format(**values) if values else text

    return Both(filled(english, "en"), filled(danish_text, "da"))


@cache
def _words() -> dict[str, tuple[str, str]]:
    return {name: (english, danish_text) for name, english, danish_text in rows("words.tsv")}


def said(text: str) -> Both:
    """A text that a result or a card holds, in English, with its Danish where that is known."""
    return Both(text, danish(text))


def metric_name(metric: str) -> Both:
    """What the figures of a table are, in words."""
    return said(metric.replace("_", " ").replace("f1", "F1"))


def number(value: float | None, digits: int = 2, language: Language = "en") -> str:
    """A figure for the eye: fixed digits, a true minus sign, a dash for undefined."""
    if value is None:
        return "–"
    text = f"{value:,.{digits}f}"
    if not float(text.replace(",", "")):
        text = text.lstrip("-")
    text = text.replace("-", "−")
    return text if language == "en" else text.translate(str.maketrans(",.", ".,"))


def shortened(name: str, most: int = 60) -> str:
    """A name that fits on a line: no control or direction marks, its middle left out if too long."""
    plain = "".join(c if c.isprintable() else " " for c in name)
    plain = " ".join(plain.split()) or "?"
    if len(plain) <= most:
        return plain
    return f"{plain[: most * 2 // 3]}…{plain[-(most // 3 - 1) :]}"
