"""Tables, and their formats for wikis and spreadsheets."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeAlias

from gendalens.report import escape
from gendalens.words import Message

Value: TypeAlias = str | float | int | None
MOST_IN_CELL = 240  # characters of a cell for readers: whole sentences, and no endless name


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


def _join_with_pipes(row: Iterable[Value]) -> str:
    return "| " + " | ".join(escape.markdown(to_text(value), MOST_IN_CELL) for value in row) + " |"


def to_text(value: Value) -> str:
    """A value in a cell for readers."""
    return "–" if value is None else str(value)
