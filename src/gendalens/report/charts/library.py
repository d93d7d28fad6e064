"""The chart library (vl-convert), always run in a separate process.

Its V8 engine aborts when memory runs out, which would kill the run; a separate process also has more
memory.
"""

from __future__ import annotations

import base64
import json
import subprocess
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from gendalens.errors import UserError
from gendalens.report.charts.number_format import number_format
from gendalens.system.python_process import run_python

WORKER = Path(__file__).with_name("worker.py")
LONGEST = 180  # seconds; about three are typical


def bundle_scripts(snippet: str) -> str:
    """The library as one script for a page, followed by the snippet."""
    return _run_worker({"snippet": snippet})[0]


def draw_pictures(specs: Iterable[Mapping[str, Any]], kind: str, language: str) -> list[bytes]:
    """The charts as file contents of one kind (png, svg, pdf), with numbers in a language."""
    job = {"specs": list(specs), "kind": kind, "numbers": number_format(language)}
    return list(map(base64.b64decode, _run_worker(job)))


def _run_worker(job: Mapping[str, Any]) -> list[str]:
    text = json.dumps(job).encode()
    try:
        done = run_python([str(WORKER)], given=text, timeout=LONGEST, check=True)
    except (OSError, subprocess.SubprocessError) as error:
        raise UserError(
            "The chart library failed ({reason}): make sure that there is enough memory and no "
            "limit on the address space (ulimit -v) below 80 GiB.",
            reason=_find_reason(error),
        ) from error
    results: list[str] = json.loads(done.stdout)
    return results


def _find_reason(error: Exception) -> str:
    """The last message of the process; V8 prints it behind a #, before a list of addresses."""
    output = (getattr(error, "stderr", None) or b"").decode(errors="replace").splitlines()
    lines = [line.strip("# ") for line in output if line.strip("# ")]
    fatal = [line for line in lines if line.startswith("Fatal")]
    return (fatal or lines or [str(error)])[-1]
