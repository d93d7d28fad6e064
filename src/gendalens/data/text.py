"""Lines, sentences and places in a sentence: what the readers share."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from gendalens.errors import UserError


@dataclass(frozen=True, slots=True)
class Span:
    """Character offsets in a text: from ``start`` up to, not including, ``end``."""

    start: int
    end: int


def read_lines(path: Path) -> list[str]:
    """The lines of a UTF-8 file without their line ends."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise UserError(
            f"{path} cannot be read ({error.strerror}): name a folder that holds it, or fetch the "
            "official one with `gendalens data pull`."
        ) from error
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise broken(path, line, "it is not UTF-8 text") from error
    lines = text.replace("\r\n", "\n").split("\n")
    return lines[:-1] if lines[-1] == "" else lines


def sentence(text: str) -> str:
    """The text with single spaces, a capital letter first and a full stop last.

    >>> sentence("pilotens  hund sover")
    'Pilotens hund sover.'
    """
    text = " ".join(text.split())
    capital = text[:1].upper()
    if len(capital) == 1:  # some letters, ß for one, have no capital of one character
        text = capital + text[1:]
    return text if text.endswith((".", "!", "?")) else text + "."


def broken(path: Path, line: int, reason: str) -> UserError:
    """The error for a line that a reader cannot use."""
    return UserError(
        f"{path.name}, line {line}: {reason}. Mend the line, or fetch the official file with "
        "`gendalens data pull`."
    )
