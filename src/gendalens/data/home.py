"""Where fetched data and cached answers live on the user's machine."""

from __future__ import annotations

import os
from pathlib import Path

import platformdirs


def home() -> Path:
    """The folder named by ``GENDALENS_HOME``, else the user's cache folder."""
    named = os.environ.get("GENDALENS_HOME")
    if named:
        return Path(named).expanduser()
    return Path(platformdirs.user_cache_dir("gendalens", appauthor=False))
