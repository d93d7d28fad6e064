"""The files of a shard: one for each test, with a header and a line for each answer.

An answer has the id of its request, as in prediction files, and all its fields.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

from gendalens.engine.record_store import as_line
from gendalens.errors import UserError
from gendalens.models.answer_fields import WRONG, AnswerError
from gendalens.models.answer_rules import read_stored_answer
from gendalens.models.requests import ANSWER_TYPES, Answer, Request
from gendalens.predictions.form import request_id
from gendalens.results.run_folder import folder_name
from gendalens.shards.shard_header import ShardHeader
from gendalens.system.file_writing import make_folders, replace_file
from gendalens.words import phrase

#: What the names of the files look like.
PATTERN = "*.shard-*-of-*.jsonl"


def file_name(header: ShardHeader) -> str:
    """The name of a shard's file: it tells the test and the part."""
    test = f"{header.test.task}@{header.run.protocol}"
    return f"{test}.shard-{header.number}-of-{header.run.shards}.jsonl"


def write_shard(out: Path, header: ShardHeader, lines: Iterable[str]) -> Path:
    """Write the file of a shard, whole or not at all, below a folder of its model and run."""
    folder = out / folder_name(header.run.model.name) / header.run.key
    path = folder / file_name(header)
    try:
        make_folders(out, *folder.relative_to(out).parts)
        replace_file(path, _put_first(as_line(header.to_dict()), lines), root=out)
    except OSError as error:
        raise UserError(
            "The answers cannot be written to {folder} ({reason}): free some space or choose another "
            "folder with --out, and run again.",
            folder=str(folder),
            reason=error.strerror or str(error),
        ) from None
    return path


def digest_lines(lines: Iterable[str]) -> str:
    """The digest of the lines below a header."""
    digest = hashlib.sha256()
    for line in lines:
        digest.update(line.encode())
    return digest.hexdigest()


def write_answer(request: Request, answer: Answer) -> dict[str, Any]:
    """An answer as plain data; floats survive the round trip exactly."""
    values = {one.name: getattr(answer, one.name) for one in fields(answer)}
    return {"id": request_id(request), **values}


def read_answer_line(request: Request, plain: dict[str, Any]) -> Answer:
    """The answer that :func:`write_answer` wrote, without its id; raises if no model gives such."""
    names = [one.name for one in fields(ANSWER_TYPES[request.kind])]
    if list(plain) != names:
        missing = [name for name in names if name not in plain]
        raise AnswerError(WRONG, phrase("{name} is missing", name=missing[0]) if missing else None)
    return read_stored_answer(request, list(plain.values()))


def _put_first(first: str, lines: Iterable[str]) -> Iterator[str]:
    yield first
    yield from lines
