"""How to install what an extra of this package needs.

The name of an extra works only where the package is published or a checkout is at hand; the names of the
packages themselves work anywhere.
"""

from __future__ import annotations

import re
from importlib import metadata

PACKAGE = "gendalens"
#: A requirement of an extra, as in ``torch>=2.4; extra == 'hf'``.
_OF_EXTRA = re.compile(r"(?P<what>[^;]+);.*\bextra\s*==\s*['\"](?P<extra>[^'\"]+)['\"]")
_NAME = re.compile(r"[A-Za-z0-9._-]+")
#: An extra that takes in another, as in ``gendalens[hf]``.
_OWN = re.compile(rf"{PACKAGE}\[(?P<extra>[^\]]+)\]")


def write_install_command(extra: str) -> str:
    """The command that installs what is missing of an extra; all of it if nothing seems to be."""
    needed = list(_list_requirements(extra))
    missing = [one for one in needed if not _is_installed(one)] or needed
    if not missing:  # run from source files that were never installed
        return f'pip install ".[{extra}]"'
    return "pip install " + " ".join(f'"{one}"' for one in missing)


def _list_requirements(extra: str) -> dict[str, None]:
    try:
        declared = metadata.requires(PACKAGE) or []
    except metadata.PackageNotFoundError:
        declared = []
    found: dict[str, None] = {}
    for line in declared:
        match = _OF_EXTRA.fullmatch(line)
        if match is None or match["extra"] != extra:
            continue
        what = match["what"].strip()
        own = _OWN.match(what)
        found.update(_list_requirements(own["extra"]) if own else {what: None})
    return found


def _is_installed(requirement: str) -> bool:
    name = _NAME.match(requirement)
    try:
        return name is not None and bool(metadata.version(name[0]))
    except metadata.PackageNotFoundError:
        return False
