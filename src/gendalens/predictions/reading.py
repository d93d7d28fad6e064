"""Reading an answer file line by line: from bytes to objects."""

from __future__ import annotations

import errno
import json
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO

from gendalens.models.answer_fields import AnswerError
from gendalens.words import Template, phrase, say

# An answer takes a few hundred bytes, so a longer line cannot be one.
LONGEST = 16 * 1024 * 1024
_MOST_SKIPPED = 64  # pieces of that length, of one line
BLANK = Template("answers.blank_line", "blank lines")
TOO_LONG = Template("answers.line_too_long", "lines that are too long")
NOT_UTF8 = Template("answers.line_not_utf8", "lines that are not UTF-8")
NOT_JSON = Template("answers.line_not_json", "lines that are not JSON")
NO_OBJECT = Template("answers.line_no_object", "lines that hold no JSON object")

_BOM = b"\xef\xbb\xbf"


def numbered_lines(file: BinaryIO, see: Callable[[bytes], None]) -> Iterator[tuple[int, bytes]]:
    """Each line with its number; ``see`` is called with all bytes as they are read."""
    number = 0
    while line := file.readline(LONGEST):
        see(line)
        # The rest of an over-long line is skipped, not kept in memory.
        rest, skipped = line, 0
        while len(rest) == LONGEST and not rest.endswith(b"\n"):
            rest = file.readline(LONGEST)
            see(rest)
            if (skipped := skipped + 1) > _MOST_SKIPPED:
                raise OSError(errno.EFBIG, say("a line never ends"))
        number += 1
        yield number, line.removeprefix(_BOM) if number == 1 else line


def parse_line(line: bytes) -> dict[str, Any]:
    """The object in a line."""
    if not line.strip():
        raise AnswerError(BLANK)
    if len(line) == LONGEST:
        raise AnswerError(TOO_LONG, phrase("over {limit} MB", limit=LONGEST // 1024**2))
    try:
        text = line.decode("utf-8")
    except UnicodeDecodeError as error:
        raise AnswerError(NOT_UTF8, phrase("byte {number}", number=error.start + 1)) from None
    try:
        value = json.loads(text, object_pairs_hook=_build_object, parse_constant=_refuse_constant)
    except RecursionError:
        raise AnswerError(NOT_JSON, phrase("nested too deeply")) from None
    except ValueError as error:
        reason = str(getattr(error, "msg", None) or str(error).partition(";")[0])
        if line.endswith(b"\n"):
            raise AnswerError(NOT_JSON, reason) from None
        raise AnswerError(
            NOT_JSON, phrase("the file ends in the middle of the line: {reason}", reason=reason)
        ) from None
    if not isinstance(value, dict):
        raise AnswerError(NO_OBJECT)
    return value


def _build_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object, refusing duplicate names, of which Python would keep the last."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise AnswerError(NOT_JSON, phrase("a name occurs twice in one object"))
    return found


def _refuse_constant(name: str) -> None:
    raise AnswerError(NOT_JSON, phrase("{name} is not a JSON number", name=name))
