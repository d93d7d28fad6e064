"""Addresses of pages: safe file names, distinct even if names are not, on every host and file system."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Sequence

LONGEST = 48  # characters of a name in an address
DIGITS = 8  # of the hash that keeps names apart


def name_file(name: str, *parts: str) -> str:
    """A file name without its extension: lower-case letters, digits and hyphens, then a hash.

    The hash is over the whole name and the further parts, so that no two things share a file.

    >>> name_file("../../etc/passwd")
    'etc-passwd-3754d6cb'
    >>> name_file("NbAiLab/nb-bert-base", "main")[:21]
    'nbailab-nb-bert-base-'
    """
    plain = unicodedata.normalize("NFKD", name.lower().translate(_DANISH))
    slug = re.sub(r"[^a-z0-9]+", "-", plain.encode("ascii", "ignore").decode())[:LONGEST].strip("-")
    return f"{slug or 'page'}-{_hash([name, *parts])}"


_DANISH = str.maketrans({"æ": "ae", "ø": "oe", "å": "aa"})


def _hash(parts: Sequence[str]) -> str:
    text = "\0".join(parts)
    return hashlib.sha256(text.encode(errors="replace")).hexdigest()[:DIGITS]
