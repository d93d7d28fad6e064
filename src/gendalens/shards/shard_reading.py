"""Reading the file of a shard: its header, and then its answers, portion by portion."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from gendalens.errors import UserError
from gendalens.models.answer_fields import AnswerError, quote_value
from gendalens.models.requests import Answer, Request
from gendalens.predictions.answer_file import NO_ID, TWICE, UNKNOWN
from gendalens.predictions.flaws import Flaws
from gendalens.predictions.reading import numbered_lines, parse_line
from gendalens.shards.shard_file import read_answer_line
from gendalens.shards.shard_header import FORMAT, VERSION, ShardHeader
from gendalens.system.file_reading import open_ordinary
from gendalens.words import Message, Template, phrase

ENDS_EARLY = Template("shards.ends_early", "answers missing at the end")
GOES_ON = Template("shards.goes_on", "surplus lines")


def read_shard_header(path: Path) -> ShardHeader:
    """The header of a shard's file; refuses any other file."""
    with _open(path) as file:
        return _read_header(path, numbered_lines(file, lambda line: None))


class ShardReader:
    """Reads the answers of one shard and collects what is wrong with them."""

    def __init__(self, path: Path, header: ShardHeader, file: BinaryIO) -> None:
        self.path = path
        self.header = header
        self._digest = hashlib.sha256()
        self._lines = numbered_lines(file, lambda line: self._digest.update(line))
        if _read_header(path, self._lines) != header:
            raise _explain_damage(path, header, phrase("it is being written to"))
        # Of the lines below the header.
        self._digest = hashlib.sha256()
        self._flaws = Flaws()

    @classmethod
    @contextmanager
    def open(cls, path: Path, header: ShardHeader) -> Iterator[ShardReader]:
        """The reader of a file whose header has been read."""
        with _open(path) as file:
            yield cls(path, header, file)

    def read(
        self,
        count: int,
        wanted: Mapping[str, Request],
        read_line: Callable[[Request, dict[str, Any]], Answer] = read_answer_line,
    ) -> dict[Request, Answer]:
        """The next ``count`` answers, which must be to requests among the ``wanted`` ones, by id."""
        found: dict[Request, Answer] = {}
        for done in range(count):
            numbered = next(self._lines, None)
            if numbered is None:
                self._flaws.add(
                    ENDS_EARLY, phrase("{left:,} of {count:,}", left=count - done, count=count)
                )
                break
            number, line = numbered
            try:
                plain = parse_line(line)
                name = plain.pop("id", None)
                if not isinstance(name, str):
                    raise AnswerError(NO_ID)
                if name not in wanted:
                    raise AnswerError(UNKNOWN, quote_value(name))
                request = wanted[name]
                if request in found:
                    raise AnswerError(TWICE, quote_value(name))
                found[request] = read_line(request, plain)
            except AnswerError as flaw:
                place = phrase("line {number}", number=number)
                if flaw.detail is not None:
                    place = phrase("{place}: {reason}", place=place, reason=flaw.detail)
                self._flaws.add(flaw.kind, place)
        return found

    def finish(self) -> None:
        """Raise if something was wrong, or if there is more in the file."""
        if (numbered := next(self._lines, None)) is not None:
            self._flaws.add(GOES_ON, phrase("line {number}", number=numbered[0]))
        if self._flaws:
            raise _explain_damage(self.path, self.header, self._flaws.clauses)
        if self._digest.hexdigest() != self.header.sha256:
            changed = phrase("its answers are not those that its checksum was made from")
            raise _explain_damage(self.path, self.header, changed)


@contextmanager
def _open(path: Path) -> Iterator[BinaryIO]:
    try:
        with open_ordinary(path) as file:
            yield file
    except OSError as error:
        raise UserError(
            "{path} cannot be read ({reason}): name folders that `gendalens run --shard` wrote.",
            path=str(path),
            reason=error.strerror or str(error),
        ) from None


def _read_header(path: Path, lines: Iterator[tuple[int, bytes]]) -> ShardHeader:
    try:
        plain = parse_line(next(lines, (1, b""))[1])
    except AnswerError:
        plain = {}
    if plain.get("format") != FORMAT:
        raise UserError(
            "{path} is no shard: its first line must be the header that `gendalens run --shard` writes.",
            path=str(path),
        )
    if plain.get("version") != VERSION:
        raise UserError(
            "{path} is a shard of another version of the format ({found} instead of {version}): run its "
            "shards again.",
            path=str(path),
            found=quote_value(plain.get("version")),
            version=VERSION,
        )
    try:
        return ShardHeader.from_dict(plain)
    except (
        ArithmeticError,
        AttributeError,
        LookupError,
        RecursionError,
        TypeError,
        UserError,
        ValueError,
    ):
        raise UserError(
            "{path} is damaged (line 1 is not the header of a shard): run the shard again, and merge "
            "again.",
            path=str(path),
        ) from None


def _explain_damage(path: Path, header: ShardHeader, reason: Message | str) -> UserError:
    return UserError(
        "{path} is damaged ({reason}): run it again with --shard {shard}, and merge again.",
        path=str(path),
        reason=reason,
        shard=str(header.shard),
    )
