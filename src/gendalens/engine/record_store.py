"""The records of a running test, in memory if they come at once, in a file if in portions."""

from __future__ import annotations

import json
import tempfile
from array import array
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import TracebackType
from typing import IO, Self

from gendalens.errors import UserError
from gendalens.results.result import Record
from gendalens.system.lazy_sequence import LazySequence


def as_line(row: Record) -> str:
    """A row as a line of ``records.jsonl``."""
    return json.dumps(row, ensure_ascii=False, allow_nan=False) + "\n"


class RecordStore(LazySequence[Record]):
    """Rows in order of arrival: the last portion in memory, earlier ones in an unnamed file.

    Memory does not grow with the number of portions, and nothing is left behind if the process is
    killed. ``folder`` is where the file is made: the run folder, whose disk must hold the rows anyway.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder
        self._file: IO[bytes] | None = None
        self._starts = array("q")
        self._end = 0
        self._last: list[Record] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._file:
            self._file.close()

    def extend(self, rows: Iterable[Record]) -> None:
        """Add a portion; the previous one moves to the file."""
        if self._last:
            try:
                self._move_to_file()
            except OSError as error:
                raise UserError(
                    "The records cannot be kept in {folder} ({reason}); free some space and run again: "
                    "the answers are stored.",
                    folder=str(self._folder or tempfile.gettempdir()),
                    reason=str(error.strerror),
                ) from None
        self._last = list(rows)

    def lines(self) -> Iterator[str]:
        """The rows as lines of ``records.jsonl``."""
        for place in range(len(self._starts)):
            yield self._line(place).decode()
        yield from map(as_line, self._last)

    def __len__(self) -> int:
        return len(self._starts) + len(self._last)

    def _move_to_file(self) -> None:
        if self._file is None:
            self._file = tempfile.TemporaryFile(dir=self._folder)  # noqa: SIM115 (closed by __exit__)
        self._file.seek(self._end)
        for row in self._last:
            self._starts.append(self._end)
            self._end += self._file.write(as_line(row).encode())
        self._file.flush()
        self._last = []

    def _line(self, place: int) -> bytes:
        assert self._file is not None
        # When reading in order, this stays within the read-ahead buffer.
        self._file.seek(self._starts[place])
        return self._file.readline()

    def _member_at(self, place: int) -> Record:
        if place >= len(self._starts):
            return self._last[place - len(self._starts)]
        row: Record = json.loads(self._line(place))
        return row
