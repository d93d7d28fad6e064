"""Draws docs/run.svg: what a run looks like in a terminal. Not part of the package.

``.venv/bin/python docs/picture.py`` writes the picture anew from a control model.
"""

from __future__ import annotations

import io
import re
from pathlib import Path

from rich.console import Console

import gendalens
from gendalens.report.terminal.digest import explain_terms, show_model

TESTS = ["lm-abc", "lm-dawinobias"]


def main() -> None:
    """Run, print into a recording console, write the picture."""
    results = gendalens.run("control:stereotyped?strength=0.5", tasks=TESTS, data="builtin")
    console = Console(record=True, width=80, file=io.StringIO(), force_terminal=True)
    show_model(console, results, [])
    explain_terms(console)
    svg = console.export_svg(title="gendalens run control:stereotyped --data builtin")
    # No fonts from elsewhere: the picture must look the same without a network.
    svg = re.sub(r"@font-face \{.*?\}", "", svg, flags=re.S).replace(
        "Fira Code", "DejaVu Sans Mono"
    )
    svg = "\n".join(line.rstrip() for line in svg.splitlines()) + "\n"
    Path(__file__).with_name("run.svg").write_text(svg, encoding="utf-8")


if __name__ == "__main__":
    main()
