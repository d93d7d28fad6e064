"""The numbers on a page: where each comes from, its exact value, and what is written."""

from __future__ import annotations

from html.parser import HTMLParser
from typing import Any

import pytest


class Numbers(HTMLParser):
    """Every number on a page: the result it stands under, its path, its exact value, by what that is
    multiplied, its text."""

    def __init__(self) -> None:
        super().__init__()
        self.results: list[str | None] = []
        self.found: list[tuple[str | None, str, str, int, str]] = []
        self.tags: list[str] = []
        self.open: tuple[str, str, int] | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        if tag in ("article", "li", "tr"):
            self.results.append(values.get("data-result") or (self.results or [None])[-1])
        self.open = None
        if "data-value" in values:
            scale = int(values.get("data-scale") or 1)
            self.open = (str(values["data-path"]), str(values["data-value"]), scale)

    def handle_endtag(self, tag: str) -> None:
        if tag in ("article", "li", "tr") and self.results:
            self.results.pop()

    def handle_data(self, data: str) -> None:
        if self.open is not None:
            self.found.append((self.results[-1] if self.results else None, *self.open, data))
            self.open = None


def read_numbers(html: str) -> list[tuple[str | None, str, str, int, str]]:
    """The numbers of a page or a part of it."""
    page = Numbers()
    page.feed(html)
    return page.found


def at(plain: Any, path: str) -> Any:
    """What stands at a path in plain data."""
    for part in path.split("."):
        plain = plain[int(part)] if isinstance(plain, list) else plain[part]
    return plain


def check_text(exact: float, scale: int, text: str) -> None:
    """What is written, in English, is the exact value times the scale, rounded to its digits."""
    if text.startswith("<"):  # only of p
        assert exact < 0.001
        return
    shown = float(text.replace(",", "").replace("−", "-"))
    digits = len(text.partition(".")[2])
    assert shown == pytest.approx(scale * exact, abs=0.5000001 * 10**-digits)
