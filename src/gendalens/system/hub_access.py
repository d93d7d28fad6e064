"""The hub's library: its telemetry off, and the hub out of reach where nothing may be fetched.

Both are decided by variables of the environment that the library reads once, when it is imported: if
somebody else has imported it before, only its own settings help.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

_TELEMETRY = "HF_HUB_DISABLE_TELEMETRY"


def without_telemetry() -> None:
    """Turn the library's telemetry off, unless the user's environment says otherwise."""
    if os.environ.setdefault(_TELEMETRY, "1").upper() not in ("1", "ON", "YES", "TRUE"):
        return
    constants: Any = sys.modules.get("huggingface_hub.constants")
    if constants is not None:
        constants.HF_HUB_DISABLE_TELEMETRY = True


@contextmanager
def closed() -> Iterator[None]:
    """Have the library refuse every request; `local_files_only` alone leaves some of them."""
    without_telemetry()
    from huggingface_hub import constants

    before = constants.HF_HUB_OFFLINE
    constants.HF_HUB_OFFLINE = True
    try:
        yield
    finally:
        constants.HF_HUB_OFFLINE = before
