"""The hub's client library: telemetry off, and no requests when nothing may be fetched.

Both are environment variables that the library reads once, when it is imported. If it has been
imported already, only its own settings help.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

_TELEMETRY = "HF_HUB_DISABLE_TELEMETRY"


def disable_telemetry() -> None:
    """Turn the library's telemetry off, unless the user's environment says otherwise."""
    if os.environ.setdefault(_TELEMETRY, "1").upper() not in ("1", "ON", "YES", "TRUE"):
        return
    constants: Any = sys.modules.get("huggingface_hub.constants")
    if constants is not None:
        constants.HF_HUB_DISABLE_TELEMETRY = True


@contextmanager
def block_hub() -> Iterator[None]:
    """Make the library refuse every request; ``local_files_only`` alone lets some through."""
    disable_telemetry()
    from huggingface_hub import constants

    before = constants.HF_HUB_OFFLINE
    constants.HF_HUB_OFFLINE = True
    try:
        yield
    finally:
        constants.HF_HUB_OFFLINE = before
