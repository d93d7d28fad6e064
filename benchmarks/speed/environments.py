"""The environments of the peers: each wants versions that the others cannot live with."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

# torch first and pinned: any looser request may pull gigabytes of GPU libraries.
TORCH = "torch==2.13.0"
PEERS = {
    "classic": (
        "genda-lens==0.0.3",
        "dacy==2.7.1",
        "click==8.1.8",
        "nltk",
        "progressbar",
        "safetensors",
    ),
    "minicons": ("minicons==0.3.39", "transformers<5"),
}


def python(peer: str, folder: Path) -> Path:
    """The interpreter of a peer's environment, made on first use."""
    here = folder / peer
    interpreter = here / "bin" / "python"
    if not (here / "ready").is_file():
        subprocess.run([sys.executable, "-m", "venv", str(here)], check=True)
        pip = [str(interpreter), "-m", "pip", "install", "--quiet"]
        subprocess.run([*pip, TORCH], check=True)
        subprocess.run([*pip, TORCH, *PEERS[peer]], check=True)
        (here / "ready").touch()
    return interpreter
