"""Danish for what results and cards say in English; None for what is not known.

``danish.tsv`` holds whole phrases, and sentences with parts that vary. Such a part is put into Danish in
turn where it can be, and a number gets a decimal comma.
"""

from __future__ import annotations

import re
from functools import cache
from importlib import resources

NUMBER = re.compile(r"[−-]?\d[\d,]*(?:\.\d+)?%?")
VARIES, KNOWN = "{}", "{!}"
LONGEST = 2000  # no text of ours is as long, and to match others would only cost time


def rows(name: str) -> list[list[str]]:
    """The lines of a table of words, split at its tabs; comments and empty lines left out."""
    text = resources.files(__package__).joinpath(name).read_text(encoding="utf-8")
    return [line.split("\t") for line in text.splitlines() if line and not line.startswith("#")]


@cache
def danish(text: str) -> str | None:
    """A text of a result or a card in Danish."""
    phrases, patterns = _table()
    if text in phrases or len(text) > LONGEST:
        return phrases.get(text)
    for pattern, known, template in patterns:
        if (found := pattern.fullmatch(text)) is None:
            continue
        parts = [_part(part) for part in found.groups()]
        if not known:
            return template.format(
                *(new or old for new, old in zip(parts, found.groups(), strict=True))
            )
        if None not in parts:
            return template.format(*parts)
    return None


@cache
def _table() -> tuple[dict[str, str], list[tuple[re.Pattern[str], bool, str]]]:
    """Whole phrases; and patterns, whether their parts must be known, and their Danish."""
    phrases: dict[str, str] = {}
    patterns = []
    for english, translated in rows("danish.tsv"):
        if VARIES not in english and KNOWN not in english:
            phrases[english] = translated
            continue
        regex = re.escape(english)
        for sign in (VARIES, KNOWN):
            regex = regex.replace(re.escape(sign), "(.+)")
        patterns.append((re.compile(regex, re.DOTALL), KNOWN in english, translated))
    return phrases, patterns


def _part(text: str) -> str | None:
    if NUMBER.fullmatch(text):
        return text.translate(str.maketrans(",.", ".,")).replace("%", " %")
    return danish(text)
