"""The one place that starts processes: this Python, without anything from the working directory."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence


def run_python(
    arguments: Sequence[str], *, given: bytes = b"", timeout: float, check: bool = False
) -> subprocess.CompletedProcess[bytes]:
    """Run Python with these arguments, in an empty working directory, and wait for it.

    The user may have started GenDa Lens in a model's folder, and ``-m`` would import a package from there
    before any other. Paths among the arguments must be absolute.
    """
    safe = {**os.environ, "PYTHONSAFEPATH": "1"}
    with tempfile.TemporaryDirectory(prefix="gendalens-") as nowhere:
        return subprocess.run(
            [sys.executable, "-P", *arguments],
            input=given,
            capture_output=True,
            cwd=nowhere,
            env=safe,
            timeout=timeout,
            check=check,
        )
