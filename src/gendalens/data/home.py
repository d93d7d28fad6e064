"""The folder for fetched data and cached answers on the user's machine."""

from __future__ import annotations

import os
from pathlib import Path

import platformdirs

from gendalens.errors import UserError


def find_home() -> Path:
    """The folder that ``GENDALENS_HOME`` names, or else the user's cache folder."""
    named = os.environ.get("GENDALENS_HOME")
    if named:
        try:
            return Path(named).expanduser()
        except RuntimeError as error:  # the user in ~user does not exist
            raise UserError(
                "GENDALENS_HOME={folder} is not a folder ({reason}): set it to one.",
                folder=named,
                reason=str(error).rstrip("."),
            ) from error
    return Path(platformdirs.user_cache_dir("gendalens", appauthor=False))
