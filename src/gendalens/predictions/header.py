"""The first line of a file of answers: its form and version, and what the user says of the model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gendalens.errors import UserError
from gendalens.predictions.flaws import shown
from gendalens.predictions.form import ANSWERS, ANSWERS_HEADER, REQUESTS, VERSION

_KEYS = ("format", "version", "labels", "software")


@dataclass(frozen=True, slots=True)
class Header:
    """What a file of answers says before the first answer.

    ``labels`` are all types of entity that the model knows, found or not; None where it does not
    say. ``software`` names packages with their versions, for the signature.
    """

    labels: tuple[str, ...] | None = None
    software: tuple[str, ...] = ()


def read(path: object, plain: object) -> Header:
    """The header in the first object of a file; refuses a file of another form or version."""
    found = plain.get("format") if isinstance(plain, Mapping) else None
    if found == REQUESTS:
        raise UserError(
            f"{path} is a file of requests: answer it, and score the answers "
            "(docs/prediction-files.md shows how)."
        )
    if not isinstance(plain, Mapping) or found != ANSWERS:
        raise UserError(f"{path} has no header: its first line must be {ANSWERS_HEADER}.")
    version = plain.get("version")
    if isinstance(version, bool) or not isinstance(version, int) or version != VERSION:
        raise UserError(
            f"{path} says that it is version {shown(version)} of the form, and this GenDa Lens reads "
            f"version {VERSION}: write the answers anew to requests of this version."
        )
    if unknown := [key for key in plain if key not in _KEYS]:
        raise UserError(
            f"{path}, line 1: {shown(unknown[0])} is no part of a header, which may hold "
            f"{', '.join(_KEYS)}."
        )
    labels = plain.get("labels")
    return Header(
        None if labels is None else _strings(path, "labels", labels),
        _strings(path, "software", plain.get("software", [])),
    )


def _strings(path: object, name: str, value: Any) -> tuple[str, ...]:
    """A list of different printable texts; ``|`` divides the parts of a signature."""
    if not isinstance(value, list) or not all(
        isinstance(text, str) and text and text.isprintable() and "|" not in text for text in value
    ):
        raise UserError(f"{path}, line 1: {name} is {shown(value)}, which is no list of words.")
    if len(set(value)) < len(value):
        raise UserError(f"{path}, line 1: {name} holds a word twice: name each once.")
    return tuple(value)
