"""The results of the five tests on the demo models and on their counterparts with nothing planted.

``python -m training.check`` trains the counterparts for the seeds 0, 1 and 2, runs the tests on all of
them and on the packaged models, and writes the table into ``docs/demo-models.md``.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import gendalens
from gendalens.cli.demo import REPEATS
from gendalens.models.demo import FOLDER, MODELS, PLANTED
from gendalens.results.figures import show_interval
from gendalens.results.result import Result

SEEDS = (0, 1, 2)
PAGE = Path(__file__).parent.parent / "docs" / "demo-models.md"
MARK = "<!-- what follows is written by `make demo-models-check` -->\n"


def main() -> None:
    """Train the counterparts, run the tests and write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--work", type=Path, default=Path("runs/demo-models"))
    work = parser.parse_args().work
    found = list(rows("planted, seed 0 (packaged)", FOLDER))
    for seed in SEEDS:
        folder = work / f"none-{seed}"
        if not (folder / "demo-ner" / "README.md").exists():
            options = ("--planted", "none", "--seed", str(seed), "--out", str(folder))
            subprocess.run([sys.executable, "-m", "training.build", *options], check=True)
        found += rows(f"nothing planted, seed {seed}", folder)
    head = ("| text | test | GES | gap | verdict |", "|---|---|---|---|---|")
    before = PAGE.read_text(encoding="utf-8").partition(MARK)[0]
    PAGE.write_text(before + MARK + "\n" + "\n".join((*head, *found)) + "\n", encoding="utf-8")


def rows(label: str, folder: Path) -> Iterator[str]:
    """The table's rows for the two models in a folder."""
    for planted in PLANTED:
        name = next(name for name in MODELS if name in planted.model)
        model = planted.model.replace(name, str(folder / name))
        results: list[Result] = gendalens.run(
            model, tasks=planted.task, data="builtin", offline=True, repeats=REPEATS
        )
        result = results[0]
        reason = result.finding.reason
        verdict = f"{result.finding}: {reason}" if reason else str(result.finding)
        effect, gap = show_interval(result.gender_effect_size), show_interval(result.gap, 3)
        row = f"| {label} | `{result.task}` | {effect} | {gap} {result.gap.unit} | {verdict} |"
        print(row, flush=True)
        yield row


if __name__ == "__main__":
    main()
