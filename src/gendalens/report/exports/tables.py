"""Tables, and the formats that papers, wikis and spreadsheets take."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeAlias

from gendalens.report import escape
from gendalens.words import Message

Value: TypeAlias = str | float | int | None


@dataclass(frozen=True, slots=True)
class Table:
    """Rows under headings. CSV takes values as they are, the other formats text made for the eye."""

    headings: tuple[str, ...]
    rows: tuple[tuple[Value, ...], ...]
    title: str = ""
    notes: tuple[str, ...] = ()


def in_english(message: Message | None) -> str | None:
    """A message in a table for programs, which do not care for the reader's language."""
    return None if message is None else str(message)


def to_csv(table: Table) -> str:
    """Comma-separated values, unrounded; undefined is empty."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(table.headings)
    for row in table.rows:
        writer.writerow([escape.csv(value) if isinstance(value, str) else value for value in row])
    return text.getvalue()


def to_markdown(tables: Iterable[Table]) -> str:
    """Pipe tables, each under its title."""
    parts = []
    for table in tables:
        lines = [f"**{escape.markdown(table.title, None)}**", ""] if table.title else []
        if table.headings:
            lines.append(_pipes(table.headings))
            lines.append("|" + "---|" * len(table.headings))
            lines += [_pipes(row) for row in table.rows]
        for note in table.notes:
            lines += ["", escape.markdown(note, None)]
        parts.append("\n".join(lines))
    return "\n\n".join(parts) + "\n"


def to_latex(tables: Iterable[Table]) -> str:
    """Table environments with the rules of the booktabs package."""
    parts = []
    for table in tables:
        lines = [
            r"\begin{table}",
            r"\centering",
            rf"\caption{{{escape.latex(_join_sentences(table.title, *table.notes), None)}}}",
        ]
        if table.headings:
            lines += [
                rf"\begin{{tabular}}{{{'l' * len(table.headings)}}}",
                r"\toprule",
                _ampersands(table.headings),
                r"\midrule",
                *(_ampersands(row) for row in table.rows),
                r"\bottomrule",
                r"\end{tabular}",
            ]
        lines.append(r"\end{table}")
        parts.append("\n".join(lines))
    return "\n\n".join(["% needs \\usepackage{booktabs}", *parts]) + "\n"


def _join_sentences(*texts: str) -> str:
    return " ".join(text if text.endswith(".") else f"{text}." for text in texts)


def _pipes(row: Iterable[Value]) -> str:
    return "| " + " | ".join(escape.markdown(_text(value)) for value in row) + " |"


def _ampersands(row: Iterable[Value]) -> str:
    return " & ".join(escape.latex(_text(value)) for value in row) + r" \\"


def _text(value: Value) -> str:
    return "–" if value is None else str(value)
