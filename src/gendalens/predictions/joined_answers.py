"""Files of answers to the shards of a request file, joined into the file that answers all of it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gendalens.errors import UserError
from gendalens.models.answer_fields import AnswerError, quote_value
from gendalens.models.division import Shard
from gendalens.predictions.answer_file import NO_ID, TWICE
from gendalens.predictions.flaws import Flaws
from gendalens.predictions.form import ANSWERS, REQUESTS
from gendalens.predictions.header import Header, read_header
from gendalens.predictions.reading import numbered_lines, parse_line
from gendalens.system.file_reading import open_given
from gendalens.system.file_writing import write_target
from gendalens.words import phrase


@dataclass(frozen=True, slots=True)
class _Part:
    path: Path
    header: Header
    #: The header as it was written, without the shard.
    plain: dict[str, Any]


def is_answer_file(path: Path) -> bool:
    """Whether a path is a file of answers, or of requests that somebody took for one."""
    return path.is_file() and _read_first(path).get("format") in (ANSWERS, REQUESTS)


def join_answers(paths: Sequence[Path], out: Path) -> int:
    """Write the answers of all files to one, in the order of the shards; return their number.

    Refuses missing shards, shards of different divisions or systems, and requests answered twice. That
    every request has an answer is checked when the file is scored.
    """
    parts = _order([_read_part(path) for path in dict.fromkeys(paths)])
    count = 0

    def count_lines() -> Iterator[bytes]:
        nonlocal count
        yield (json.dumps(parts[0].plain, ensure_ascii=False) + "\n").encode()
        for line in _join_lines(parts):
            count += 1
            yield line

    try:
        write_target(out, count_lines())
    except OSError as error:
        raise UserError(
            "The answers cannot be written to {path} ({reason}); choose another place with -o.",
            path=str(out),
            reason=str(error.strerror or error),
        ) from None
    return count


def _read_part(path: Path) -> _Part:
    plain = _read_first(path)
    header = read_header(path, plain)
    return _Part(path, header, {name: one for name, one in plain.items() if name != "shard"})


def _read_first(path: Path) -> dict[str, Any]:
    """The object in the first line; an empty one if there is none."""
    try:
        with open_given(path) as file:
            return parse_line(next(numbered_lines(file, lambda line: None), (1, b""))[1])
    except AnswerError:
        return {}
    except OSError as error:
        raise UserError(
            "{path} cannot be read ({reason}): name the file of answers.",
            path=str(path),
            reason=error.strerror or str(error),
        ) from None


def _order(parts: Sequence[_Part]) -> list[_Part]:
    """The parts in the order of their shards, checked to be complete and of one system."""
    first = parts[0]
    for part in parts[1:]:
        if (part.header.labels, part.header.software) != (
            first.header.labels,
            first.header.software,
        ):
            raise UserError(
                "{one} and {other} name different labels or software in their first lines: join answers "
                "of one system.",
                one=str(first.path),
                other=str(part.path),
            )
    shards = [part.header.shard for part in parts]
    if all(shard is None for shard in shards):
        return list(parts)
    by_shard: dict[Shard, _Part] = {}
    for part, shard in zip(parts, shards, strict=True):
        if shard is None or shard.count != (shards[0] or shard).count:
            raise UserError(
                "{one} and {other} are not parts of the same division: join the shards of one.",
                one=str(first.path),
                other=str(part.path),
            )
        if by_shard.setdefault(shard, part) is not part:
            raise UserError(
                "{one} and {other} both say that they are shard {shard}: leave one out.",
                one=str(by_shard[shard].path),
                other=str(part.path),
                shard=str(shard),
            )
    count = next(iter(by_shard)).count
    numbers = {shard.number for shard in by_shard}
    if missing := [str(Shard(n, count)) for n in range(1, count + 1) if n not in numbers]:
        raise UserError(
            "Of {count} shards, {missing} are missing: answer these, and merge again.",
            count=count,
            missing=tuple(missing[:8]),
        )
    return [by_shard[shard] for shard in sorted(by_shard)]


def _join_lines(parts: Iterable[_Part]) -> Iterator[bytes]:
    """The lines below the headers, each of which must answer another request."""
    places: dict[str, str] = {}
    for part in parts:
        flaws = Flaws()
        with open_given(part.path) as file:
            lines = numbered_lines(file, lambda line: None)
            next(lines, None)
            for number, line in lines:
                place = phrase("line {number}", number=number)
                try:
                    name = parse_line(line).get("id")
                    if not isinstance(name, str):
                        raise AnswerError(NO_ID)
                    here = f"{part.path.name}:{number}"
                    if (earlier := places.setdefault(name, here)) != here:
                        raise AnswerError(TWICE, quote_value(f"{name}, {earlier}"))
                except AnswerError as flaw:
                    if flaw.detail is not None:
                        place = phrase("{place}: {reason}", place=place, reason=flaw.detail)
                    flaws.add(flaw.kind, place)
                yield line if line.endswith(b"\n") else line + b"\n"
        if flaws:
            raise UserError(
                "{path} cannot be joined with the others ({flaws}): correct it, and merge again.",
                path=str(part.path),
                flaws=flaws.clauses,
            )
