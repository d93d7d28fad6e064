"""Seals: by them a file that this user wrote is told from one that somebody else put there.

A digest beside a file says that the file is whole, not who made it. A seal is a digest with a key, and
the key lies apart from the caches, in a file that only the user can read.
"""

from __future__ import annotations

import hmac
import secrets
from pathlib import Path

import platformdirs

from gendalens.system.file_reading import read_ordinary
from gendalens.system.file_writing import make_private_folder, replace_file

_LENGTH = 32  # bytes


def find_key() -> Path:
    """The file of the key, in the user's folder for the state of programs."""
    return Path(platformdirs.user_state_dir("gendalens", appauthor=False)) / "seal.key"


def make_seal(text: str) -> str:
    """The seal of a text; OSError if there is no key and none can be stored."""
    key = _read_key()
    if key is None:
        key = secrets.token_bytes(_LENGTH)
        make_private_folder(find_key().parent)
        replace_file(find_key(), key, mode=0o600)
    return _compute(key, text)


def is_genuine(text: str, seal: str) -> bool:
    """Whether a text has a seal of this user's."""
    key = _read_key()
    return key is not None and hmac.compare_digest(_compute(key, text).encode(), seal.encode())


def _compute(key: bytes, text: str) -> str:
    return hmac.digest(key, text.encode(), "sha256").hex()


def _read_key() -> bytes | None:
    try:
        key = read_ordinary(find_key(), _LENGTH)
    except OSError:
        return None
    return key if len(key) == _LENGTH else None
