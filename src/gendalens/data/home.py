"""Where fetched data and cached answers live on the user's machine."""

from __future__ import annotations

import os
from pathlib import Path

import platformdirs

from gendalens.errors import UserError


def home() -> Path:
    """The folder named by ``GENDALENS_HOME``, else the user's cache folder."""
    named = os.environ.get("GENDALENS_HOME")
    if named:
        try:
            return Path(named).expanduser()
        except RuntimeError as error:  # ~ of a user that nobody knows
            raise UserError(
                f"GENDALENS_HOME={named} is no folder ({str(error).rstrip('.')}): set it to one."
            ) from error
    return Path(platformdirs.user_cache_dir("gendalens", appauthor=False))
