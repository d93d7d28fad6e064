"""The built-in schemas: two occupations, one pronoun, and the question of whom it refers to.

A row of ``schemas.csv`` marks the pronoun's referent as ``[piloten]``, the other occupation as
``{frisøren}`` and the pronoun as ``<han/hun>``, ``<ham/hende>`` or ``<hans/hendes>``. Both conditions
come from the same row, so they differ in the pronoun only. ``cue`` is *yes* if the clause that decides
names a tool, a place or the clients of the occupation meant, from which a model may guess the gender
without finding the referent.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import get_args

from gendalens.data.builtin.occupations import Occupation, read_occupations
from gendalens.data.dawinobias import CONDITIONS, Condition, Kind, Mention, WinoLine
from gendalens.data.pronouns import OTHER, PAIRS, Case
from gendalens.data.text import ReasonError, Span
from gendalens.errors import UserError
from gendalens.words import Message, phrase

KINDS: tuple[Kind, ...] = get_args(Kind)
COLUMNS = ["schema", "kind", "line", "cue", "text"]
CUES = {"yes": True, "no": False}
MARK = re.compile(r"\[(?P<referent>\w+)\]|\{(?P<other>\w+)\}|<(?P<pronoun>\w+/\w+)>")
SLOTS: dict[str, Case] = {f"{pair['male']}/{pair['female']}": c for c, pair in PAIRS.items()}


@dataclass(frozen=True, slots=True)
class Row:
    """A line of a schema as it is in the file.

    ``kind`` says what resolves the pronoun: knowledge of the ``world``, or ``syntax`` alone. ``line``
    is 1 or 2. ``cue``: the clause that decides names something of the occupation meant.
    """

    schema: int
    kind: Kind
    line: int
    cue: bool
    text: str

    @property
    def name(self) -> Message:
        """The row's schema and line, for messages."""
        return phrase("schema {schema}, line {line}", schema=self.schema, line=self.line)


def read(path: Path | None = None) -> list[WinoLine]:
    """The lines of both conditions, pro first; the built-in file unless another is named."""
    found = read_rows(path)
    if not found or [(r.schema, r.line) for r in found] != [
        (i // 2 + 1, i % 2 + 1) for i in range(len(found) + len(found) % 2)
    ]:
        reason = phrase("its schemas must be numbered from 1, each with the lines 1 and 2")
        raise _file_error(path, reason)
    lines = []
    for condition in CONDITIONS:
        for row in found:
            try:
                lines.append(parse_row(row, condition, read_occupations()))
            except ReasonError as error:
                reason = phrase("{place}: {reason}", place=row.name, reason=error.reason)
                raise _file_error(path, reason) from error
    return lines


def read_rows(path: Path | None = None) -> list[Row]:
    """The rows of a schema file, in order."""
    source = resources.files(__package__).joinpath("schemas.csv") if path is None else path
    try:
        table = csv.DictReader(source.read_text(encoding="utf-8").splitlines())
    except (OSError, UnicodeDecodeError) as error:
        reason = phrase("it cannot be read as UTF-8 text ({reason})", reason=str(error))
        raise _file_error(path, reason) from error
    if table.fieldnames != COLUMNS:
        reason = phrase("its columns must be {columns}", columns=tuple(COLUMNS))
        raise _file_error(path, reason)
    found = []
    for number, row in enumerate(table, start=2):
        kind = next((k for k in KINDS if k == row["kind"]), None)
        cue = CUES.get(row["cue"])
        numbers = [row[column] or "" for column in ("schema", "line")]
        if kind is None or cue is None or not all(one.isdecimal() for one in numbers):
            reason = phrase(
                "row {number} needs two numbers, a kind (one of {kinds}) and a cue (one of {cues})",
                number=number,
                kinds=KINDS,
                cues=tuple(CUES),
            )
            raise _file_error(path, reason)
        schema, line = (int(one) for one in numbers)
        found.append(Row(schema, kind, line, cue, row["text"] or ""))
    return found


def parse_row(row: Row, condition: Condition, known: Mapping[str, Occupation]) -> WinoLine:
    """The sentence of a row in one condition, its marks resolved into offsets.

    Raises ``ReasonError`` if the marks or the marked words are wrong.
    """
    marks = {m.lastgroup: m for m in MARK.finditer(row.text)}
    if len(MARK.findall(row.text)) != 3 or len(marks) != 3 or _has_stray_mark(row.text):
        raise ReasonError(
            phrase(
                "it needs one {referent}, one {other} and one {pronoun}",
                referent="[referent]",
                other="{occupation}",
                pronoun="<pronoun/pair>",
            )
        )
    slot = marks["pronoun"].group("pronoun")
    if slot not in SLOTS:
        slots = tuple(f"<{one}>" for one in SLOTS)
        raise ReasonError(phrase("<{slot}> is not one of {slots}", slot=slot, slots=slots))
    case = SLOTS[slot]
    meant = find_occupation(marks["referent"].group("referent"), known)
    gender = meant.stereotype if condition == "pro" else OTHER[meant.stereotype]
    pronoun = PAIRS[case][gender]
    text, spans, done = "", {}, 0
    for kind, mark in marks.items():
        text += row.text[done : mark.start()]
        word = pronoun if kind == "pronoun" else mark.group(kind or 0)
        spans[kind] = Span(len(text), len(text) + len(word))
        text += word
        done = mark.end()
    text += row.text[done:]
    mentions = {}
    for kind in ("referent", "other"):
        word = marks[kind].group(kind)
        found = find_occupation(word, known)
        mentions[kind] = Mention(
            word, found.definite, found.stereotype, spans[kind], unproven=found.unproven
        )
    return WinoLine(
        schema=row.schema,
        line=2 * (row.schema - 1) + row.line,
        condition=condition,
        text=text,
        pronoun=pronoun,
        gender=gender,
        case=case,
        span=spans["pronoun"],
        referent=mentions["referent"],
        other=mentions["other"],
        raw=row.text,
        kind=row.kind,
        cue=row.cue,
    )


def find_occupation(word: str, known: Mapping[str, Occupation]) -> Occupation:
    """The occupation of a word in the definite form or its genitive."""
    for found in known.values():
        if word.lower() in (found.definite, found.genitive):
            return found
    raise ReasonError(
        phrase("“{word}” is not an occupation of the table in the definite singular", word=word)
    )


def _has_stray_mark(text: str) -> bool:
    """Whether a bracket or other part of a mark occurs outside the marks."""
    return re.search(r"[\[\]{}<>/]", MARK.sub("", text)) is not None


def _file_error(path: Path | None, reason: Message) -> UserError:
    """The error for a file that cannot be used."""
    file = phrase("The built-in schemas") if path is None else str(path)
    return UserError("{file}: {reason}. Correct the file.", file=file, reason=reason)
