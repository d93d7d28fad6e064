"""Lines, sentences and spans, shared by the readers."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from gendalens.errors import UserError
from gendalens.system.file_reading import read_ordinary
from gendalens.words import Message, phrase


@dataclass(frozen=True, slots=True)
class Span:
    """Character offsets in a text: from ``start`` up to, but not including, ``end``."""

    start: int
    end: int


def read_lines(path: Path) -> list[str]:
    """The lines of a UTF-8 file without their line ends."""
    try:
        data = read_ordinary(path)
    except OSError as error:
        raise UserError(
            "{path} cannot be read ({reason}): name a folder that holds it, or fetch the official one "
            "with `gendalens data pull`.",
            path=str(path),
            reason=error.strerror or str(error),
        ) from error
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise line_error(path, line, phrase("it is not UTF-8 text")) from error
    lines = text.replace("\r\n", "\n").split("\n")
    return lines[:-1] if lines[-1] == "" else lines


def format_sentence(text: str) -> str:
    """The text with single spaces, an initial capital and a final full stop.

    >>> format_sentence("pilotens  hund sover")
    'Pilotens hund sover.'
    """
    text = " ".join(text.split())
    capital = text[:1].upper()
    if len(capital) == 1:  # some letters, ß for one, have no capital of one character
        text = capital + text[1:]
    return text if text.endswith((".", "!", "?")) else text + "."


class ReasonError(ValueError):
    """A defect in a piece of data; the reader that catches it adds where the piece is from."""

    def __init__(self, reason: Message) -> None:
        super().__init__(reason)
        self.reason = reason


def line_error(path: Path, line: int, reason: Message) -> UserError:
    """The error for a line that a reader cannot use."""
    return UserError(
        "{file}, line {line}: {reason}. Correct the line, or fetch the official file with "
        "`gendalens data pull`.",
        file=path.name,
        line=line,
        reason=reason,
    )


def columns_error(path: Path, line: int, *, found: int, needed: int) -> UserError:
    """The error for a line with the wrong number of columns."""
    reason = phrase("it has {found} columns instead of {needed}", found=found, needed=needed)
    return line_error(path, line, reason)
