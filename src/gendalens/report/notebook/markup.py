"""HTML for notebooks: no script, no address, and no colour that only a light or a dark page can bear.

Text has the colour of the notebook, and a verdict is marked by a stripe whose colour stands out on both.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeAlias

from markupsafe import Markup

from gendalens.report.charts.style import FOUND, NONE, UNCLEAR
from gendalens.report.escape import one_line
from gendalens.report.wording import capitalize, shorten
from gendalens.stats.evidence import Verdict
from gendalens.words import current_language

Text: TypeAlias = str | Markup
LONGEST = 60  # characters of a model's name
_COLOURS = {"bias": FOUND, "negligible": NONE}
_FINDING = Markup(
    '<p style="margin:0;padding-left:.7em;border-left:.35em solid {}"><strong>{}</strong>{}</p>'
)
_LEFT = "text-align:left;vertical-align:top"
_HEAD = Markup('<th scope="{}" style="{}">{}</th>')
_CELL = Markup('<td style="{}">{}</td>')


def show_finding(verdict: Verdict, message: str, rest: Text = "") -> Markup:
    """What was found, with a stripe in the colour of the verdict."""
    colour = _COLOURS.get(verdict, UNCLEAR)
    return _FINDING.format(colour, _clean(capitalize(message)), _clean(rest))


def show_paragraph(text: Text) -> Markup:
    """A paragraph."""
    return Markup('<p style="margin:.4em 0">{}</p>').format(_clean(text))


def show_small(*texts: Text) -> Markup:
    """Lines in small print."""
    lines = Markup("<br>").join(map(_clean, texts))
    return Markup('<small style="opacity:.8;overflow-wrap:anywhere">{}</small>').format(lines)


def show_lines(*texts: Text) -> Markup:
    """A cell: a figure on one line, and what belongs to it below in small print."""
    first, *rest = texts
    line = Markup('<span style="white-space:nowrap">{}</span>').format(_clean(first))
    return Markup("{}<br>{}").format(line, show_small(*rest)) if rest else line


def show_name(name: str) -> Markup:
    """A model's name, which may be written in any direction, and is shortened if it is long."""
    return Markup("<bdi>{}</bdi>").format(shorten(name, LONGEST))


def show_signature(signature: str) -> Markup:
    """A signature, complete, so that it can be copied."""
    return Markup('<code style="overflow-wrap:anywhere">{}</code>').format(
        one_line(signature, None)
    )


def show_table(
    headings: Sequence[Text], rows: Iterable[Sequence[Text]], title: Text = ""
) -> Markup:
    """A table whose first column names its rows."""
    caption = (
        Markup('<caption style="{}">{}</caption>').format(_LEFT, _clean(title))
        if title
        else Markup("")
    )
    head = Markup("").join(_HEAD.format("col", _LEFT, _clean(heading)) for heading in headings)
    body = Markup("").join(
        Markup("<tr>{}{}</tr>").format(
            _HEAD.format("row", _LEFT, _clean(row[0])),
            Markup("").join(_CELL.format(_LEFT, _clean(cell)) for cell in row[1:]),
        )
        for row in rows
    )
    return Markup("<table>{}<thead><tr>{}</tr></thead><tbody>{}</tbody></table>").format(
        caption, head, body
    )


def fold(summary: Text, content: Markup) -> Markup:
    """Content that is shown on demand."""
    return Markup("<details><summary>{}</summary>{}</details>").format(_clean(summary), content)


def wrap(*parts: Markup) -> str:
    """The parts as one block, in the language in use."""
    block = Markup('<div class="gendalens" lang="{}">{}</div>')
    return str(block.format(current_language(), Markup("\n").join(parts)))


def _clean(text: Text) -> Text:
    """Text without control characters or direction marks, which escaping leaves as they are."""
    return text if isinstance(text, Markup) else one_line(text, None)
