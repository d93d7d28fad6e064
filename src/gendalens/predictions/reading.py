"""A file of answers, line by line: bytes to objects, and every line that is none told."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO

from gendalens.predictions.flaws import LineError

# A sentence's answer has some hundred bytes; a longer line is no line of ours.
LONGEST = 16 * 1024 * 1024

_BOM = b"\xef\xbb\xbf"


def numbered_lines(file: BinaryIO, see: Callable[[bytes], None]) -> Iterator[tuple[int, bytes]]:
    """Each line with its number; ``see`` gets all bytes as they pass."""
    number = 0
    while line := file.readline(LONGEST):
        see(line)
        # What is left of a line that is too long is passed over without being kept.
        rest = line
        while len(rest) == LONGEST and not rest.endswith(b"\n"):
            rest = file.readline(LONGEST)
            see(rest)
        number += 1
        yield number, line.removeprefix(_BOM) if number == 1 else line


def parse(line: bytes) -> dict[str, Any]:
    """The object in a line."""
    if not line.strip():
        raise LineError("blank lines")
    if len(line) == LONGEST:
        raise LineError("lines that are too long", f"over {LONGEST // 1024**2} MB")
    try:
        text = line.decode("utf-8")
    except UnicodeDecodeError as error:
        raise LineError("lines that are not UTF-8", f"byte {error.start + 1}") from None
    try:
        value = json.loads(text, object_pairs_hook=_once, parse_constant=_refuse)
    except RecursionError:
        raise LineError("lines that are not JSON", "nested too deeply") from None
    except ValueError as error:
        cut = "" if line.endswith(b"\n") else "the file ends in the middle of the line: "
        reason = getattr(error, "msg", None) or str(error).partition(";")[0]
        raise LineError("lines that are not JSON", f"{cut}{reason}") from None
    if not isinstance(value, dict):
        raise LineError("lines that hold no JSON object")
    return value


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object whose names are all different; Python would keep the last of each."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a name stands twice in one object")
    return found


def _refuse(name: str) -> None:
    raise ValueError(f"{name} is no JSON number")
