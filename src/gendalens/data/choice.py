"""The user's replacement for an official set: their own files, or the built-in set.

The built-in sets are used only if the user asks for them with ``builtin``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal, get_args

from gendalens.data.builtin import catalogue
from gendalens.errors import UserError

Builtin = Literal["builtin"]
Choice = Path | Builtin
BUILTIN: Builtin = get_args(Builtin)[0]


def read_choices(data: Mapping[str, str | Path] | str | None) -> dict[str, Choice]:
    """The choices of the Python interface by set; ``"builtin"`` stands for every built-in set.

    >>> read_choices({"abc": "builtin"})
    {'abc': 'builtin'}
    """
    if isinstance(data, str):
        if data != BUILTIN:
            raise UserError(
                "data={value} is not a choice: pass {builtin}, or a mapping of sets to paths.",
                value=repr(data),
                builtin=repr(BUILTIN),
            )
        return dict.fromkeys(catalogue.SETS, BUILTIN)
    return {name: _read_choice(path) for name, path in (data or {}).items()}


def parse_choices(
    parts: Sequence[str], sets: Sequence[str] = tuple(catalogue.SETS)
) -> dict[str, Choice]:
    """The choices of the command line: ``builtin`` (for all ``sets``) or ``NAME=PATH``.

    A set that is named individually takes precedence over ``builtin``, whichever comes first.
    """
    found: dict[str, Choice] = dict.fromkeys(sets, BUILTIN) if BUILTIN in parts else {}
    for part in parts:
        if part == BUILTIN:
            continue
        name, equals, path = part.partition("=")
        if not equals or not name or not path:
            raise UserError(
                "--data {part}: write NAME=PATH, for instance abc=./my-abc, or {builtin}.",
                part=part,
                builtin=BUILTIN,
            )
        found[name] = _read_choice(path)
    return found


def _read_choice(path: str | Path) -> Choice:
    return BUILTIN if path == BUILTIN else Path(path)
