"""The environments of the peers, which need mutually incompatible versions."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

# torch comes first and is pinned: a looser requirement may pull in gigabytes of GPU libraries.
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
    "lm-eval": ("lm_eval[hf]==0.4.13",),
    "minicons": ("minicons==0.3.39", "transformers<5"),
}


def python(peer: str, folder: Path) -> Path:
    """The interpreter of a peer's environment, which is created on first use."""
    here = folder / peer
    interpreter = here / "bin" / "python"
    if not (here / "ready").is_file():
        subprocess.run([sys.executable, "-m", "venv", str(here)], check=True)
        pip = [str(interpreter), "-m", "pip", "install", "--quiet"]
        subprocess.run([*pip, TORCH], check=True)
        subprocess.run([*pip, TORCH, *PEERS[peer]], check=True)
        (here / "ready").touch()
    return interpreter
