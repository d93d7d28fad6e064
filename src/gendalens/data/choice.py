"""What a user puts in place of an official set: files of their own, or the built-in set.

The built-in sets are never swapped in silently: only where somebody says ``builtin``.
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


def choices(data: Mapping[str, str | Path] | str | None) -> dict[str, Choice]:
    """The choices of the Python interface by the set's name; ``"builtin"`` is every built-in set.

    >>> choices({"abc": "builtin"})
    {'abc': 'builtin'}
    """
    if isinstance(data, str):
        if data != BUILTIN:
            raise UserError(f"data={data!r}: say {BUILTIN!r}, or name the sets one by one.")
        return dict.fromkeys(catalogue.SETS, BUILTIN)
    return {name: _choice(path) for name, path in (data or {}).items()}


def parse(parts: Sequence[str], sets: Sequence[str] = tuple(catalogue.SETS)) -> dict[str, Choice]:
    """The choices of the command line, ``builtin`` (for all ``sets``) or ``NAME=PATH``.

    A set that is named by itself goes before ``builtin``, whichever comes first.
    """
    found: dict[str, Choice] = dict.fromkeys(sets, BUILTIN) if BUILTIN in parts else {}
    for part in parts:
        if part == BUILTIN:
            continue
        name, divider, path = part.partition("=")
        if not divider or not name or not path:
            raise UserError(
                f"--data {part}: write NAME=PATH, for instance abc=./my-abc, or {BUILTIN}."
            )
        found[name] = _choice(path)
    return found


def _choice(path: str | Path) -> Choice:
    return BUILTIN if path == BUILTIN else Path(path)
