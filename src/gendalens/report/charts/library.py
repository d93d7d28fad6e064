"""The chart library (vl-convert), always in a process of its own.

Its V8 aborts where memory is short, and would take a run along; alone it also has more room.
"""

from __future__ import annotations

import base64
import json
import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from gendalens.errors import UserError

WORKER = Path(__file__).with_name("worker.py")
LONGEST = 180  # seconds; it takes about three


def bundle(snippet: str) -> str:
    """The library as one script for a page, with the snippet at its end."""
    return _made({"snippet": snippet})[0]


def pictures(specs: Iterable[Mapping[str, Any]], kind: str, numbers: Any) -> list[bytes]:
    """The charts as the content of files of one kind (png, svg, pdf), with numbers in a locale."""
    made = _made({"specs": list(specs), "kind": kind, "numbers": numbers})
    return list(map(base64.b64decode, made))


def _made(job: Mapping[str, Any]) -> list[str]:
    # -P: what lies beside the script must not be taken for the standard library.
    command = [sys.executable, "-P", str(WORKER)]
    text = json.dumps(job).encode()
    try:
        done = subprocess.run(command, input=text, capture_output=True, timeout=LONGEST, check=True)
    except (OSError, subprocess.SubprocessError) as error:
        raise UserError(
            f"The chart library gave up ({_reason(error)}): see that there is enough memory and no"
            " limit on the address space (ulimit -v) below 80 GiB."
        ) from error
    made: list[str] = json.loads(done.stdout)
    return made


def _reason(error: Exception) -> str:
    """What the process said last; V8 says it before a list of addresses, behind a #."""
    said = (getattr(error, "stderr", None) or b"").decode(errors="replace").splitlines()
    lines = [line.strip("# ") for line in said if line.strip("# ")]
    fatal = [line for line in lines if line.startswith("Fatal")]
    return (fatal or lines or [str(error)])[-1]
