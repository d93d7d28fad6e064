"""The first line of an answer file: its format and version, and the user's description of the model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gendalens.errors import UserError
from gendalens.models.answer_fields import quote_value
from gendalens.models.division import Shard
from gendalens.predictions.form import ANSWERS, ANSWERS_HEADER, REQUESTS, VERSION

_KEYS = ("format", "version", "labels", "software", "shard")


@dataclass(frozen=True, slots=True)
class Header:
    """The header of an answer file.

    ``labels`` are all entity types of the model, whether it found any or not; None if the file does not
    list them. ``software`` names packages with their versions, for the signature. ``shard`` is the part
    of the requests that the file answers, if it says so.
    """

    labels: tuple[str, ...] | None = None
    software: tuple[str, ...] = ()
    shard: Shard | None = None


def read_header(path: Path, plain: object) -> Header:
    """The header in a file's first object; refuses another format or version."""
    found = plain.get("format") if isinstance(plain, Mapping) else None
    if found == REQUESTS:
        raise UserError(
            "{path} is a file of requests: answer it, and score the answers (docs/prediction-files.md "
            "shows how).",
            path=str(path),
        )
    if not isinstance(plain, Mapping) or found != ANSWERS:
        raise UserError(
            "{path} has no header: its first line must be {header}.",
            path=str(path),
            header=ANSWERS_HEADER,
        )
    version = plain.get("version")
    if isinstance(version, bool) or not isinstance(version, int) or version != VERSION:
        raise UserError(
            "{path} says that it is version {found} of the format, and this GenDa Lens reads version "
            "{version}: write the requests again, and answer those.",
            path=str(path),
            found=quote_value(version),
            version=VERSION,
        )
    if unknown := [key for key in plain if key not in _KEYS]:
        raise UserError(
            "{path}, line 1: {key} is not part of a header, which may hold {keys}.",
            path=str(path),
            key=quote_value(unknown[0]),
            keys=_KEYS,
        )
    labels = plain.get("labels")
    return Header(
        None if labels is None else _read_words(path, "labels", labels),
        _read_words(path, "software", plain.get("software", [])),
        _read_shard(path, plain.get("shard")),
    )


def _read_shard(path: Path, value: Any) -> Shard | None:
    try:
        return None if value is None else Shard.parse(str(value))
    except UserError:
        raise UserError(
            "{path}, line 1: {value} is no shard; copy what the requests say, such as 2/7.",
            path=str(path),
            value=quote_value(value),
        ) from None


def _read_words(path: Path, name: str, value: Any) -> tuple[str, ...]:
    """A list of distinct printable texts, without the ``|`` that separates the parts of a signature."""
    if not isinstance(value, list) or not all(
        isinstance(text, str) and text and text.isprintable() and "|" not in text for text in value
    ):
        raise UserError(
            "{path}, line 1: {name} is {value}, which is not a list of words.",
            path=str(path),
            name=name,
            value=quote_value(value),
        )
    if len(set(value)) < len(value):
        raise UserError(
            "{path}, line 1: {name} holds a word twice: name each once.", path=str(path), name=name
        )
    return tuple(value)
