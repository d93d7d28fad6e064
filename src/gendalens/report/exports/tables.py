"""Tables, and their formats for papers, wikis and spreadsheets."""

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
    """Rows under headings: raw values for CSV, formatted text for the other formats."""

    headings: tuple[str, ...]
    rows: tuple[tuple[Value, ...], ...]
    title: str = ""
    notes: tuple[str, ...] = ()


def in_english(message: Message | None) -> str | None:
    """A message for a table that programs read, which is always in English."""
    return None if message is None else str(message)


def to_csv(table: Table) -> str:
    """Comma-separated values, unrounded; undefined values are empty."""
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
            lines.append(_join_with_pipes(table.headings))
            lines.append("|" + "---|" * len(table.headings))
            lines += [_join_with_pipes(row) for row in table.rows]
        for note in table.notes:
            lines += ["", escape.markdown(note, None)]
        parts.append("\n".join(lines))
    return "\n\n".join(parts) + "\n"


def to_latex(tables: Iterable[Table]) -> str:
    """LaTeX table environments that use the booktabs package, with their notes below the table."""
    parts = []
    for table in tables:
        lines = [
            r"\begin{table}",
            r"\centering",
            rf"\caption{{{escape.latex(_join_sentences(table.title), None)}}}",
        ]
        if table.headings:
            lines += [
                rf"\begin{{tabular}}{{{'l' * len(table.headings)}}}",
                r"\toprule",
                _join_with_ampersands(table.headings),
                r"\midrule",
                *(_join_with_ampersands(row) for row in table.rows),
                r"\bottomrule",
                r"\end{tabular}",
            ]
        if table.notes:
            lines += [r"\par\smallskip", rf"{{\footnotesize {_write_notes(table.notes)}\par}}"]
        lines.append(r"\end{table}")
        parts.append("\n".join(lines))
    return "\n\n".join(["% needs \\usepackage{booktabs}", *parts]) + "\n"


def _write_notes(notes: Iterable[str]) -> str:
    """Notes in LaTeX; a signature, which is longer than a line, may break after each of its parts."""
    text = escape.latex(_join_sentences(*notes), None)
    return text.replace(r"\textbar{}", r"\textbar{}\allowbreak{}")


def _join_sentences(*texts: str) -> str:
    """Texts as sentences, each with one full stop, even where a value brought its own."""
    return " ".join(f"{text.rstrip('.')}." for text in texts)


def _join_with_pipes(row: Iterable[Value]) -> str:
    return "| " + " | ".join(escape.markdown(_to_text(value)) for value in row) + " |"


def _join_with_ampersands(row: Iterable[Value]) -> str:
    return " & ".join(escape.latex(_to_text(value)) for value in row) + r" \\"


def _to_text(value: Value) -> str:
    return "–" if value is None else str(value)
