"""docs/run.svg: what a run looks like in a terminal."""

from __future__ import annotations

import html
import io
import re
from pathlib import Path

from rich.console import Console

import gendalens
from gendalens.report.terminal.digest import explain_terms, show_model

FILE = Path(__file__).parents[3] / "docs" / "run.svg"
MODEL = "control:stereotyped?strength=0.5"
_TEXT = re.compile(r"<text[^>]*>(.*?)</text>", re.DOTALL)


def draw() -> str:
    """The picture of a run of a control model, as SVG."""
    results = gendalens.run(MODEL, tasks="lm-dawinobias", data="builtin")
    console = Console(record=True, width=80, file=io.StringIO(), force_terminal=True)
    show_model(console, results, [None])
    explain_terms(console)
    svg = console.export_svg(title=f"gendalens run '{MODEL}' --data builtin", unique_id="run")
    # No fonts from elsewhere: the picture must look the same without a network.
    svg = re.sub(r"@font-face \{.*?\}", "", svg, flags=re.DOTALL)
    svg = svg.replace("Fira Code", "DejaVu Sans Mono")
    return "\n".join(line.rstrip() for line in svg.splitlines()) + "\n"


def read_text(svg: str) -> str:
    """What the picture says."""
    return " ".join(html.unescape(" ".join(_TEXT.findall(svg))).split())
