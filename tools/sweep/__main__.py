"""The command line of the sweep."""

from __future__ import annotations

import argparse
import json
import sys
import time
import warnings
from pathlib import Path

from tools.sweep.heads import HEADS
from tools.sweep.outcome import Outcome, Verdict
from tools.sweep.runner import list_jobs, run_jobs, try_in_process

_PAGE = Path(__file__).parents[2] / "docs" / "models.md"


def main() -> int:
    """Try the architectures, print each outcome, and write the page if all were tried."""
    parser = argparse.ArgumentParser(prog="python -m tools.sweep", description=__doc__)
    parser.add_argument("--heads", default=",".join(HEADS), help="comma-separated heads to try")
    parser.add_argument("--only", default="", help="comma-separated architectures to try")
    parser.add_argument("--workers", type=int, default=2, help="trials at once")
    parser.add_argument("--json", type=Path, help="a file for the outcomes, one per line")
    chosen = parser.parse_args()
    warnings.simplefilter("ignore")
    jobs = list_jobs(chosen.heads.split(","), [name for name in chosen.only.split(",") if name])
    start = time.monotonic()
    outcomes: list[Outcome] = []
    for outcome in run_jobs(jobs, chosen.workers, try_in_process):
        outcomes.append(outcome)
        print(describe(outcome), flush=True)
        if chosen.json:
            with chosen.json.open("a") as stream:
                stream.write(json.dumps(outcome.to_json()) + "\n")
    bad = [one for one in outcomes if one.verdict in (Verdict.WRONG, Verdict.FAILED)]
    print(f"{len(outcomes)} tried in {(time.monotonic() - start) / 60:.0f} minutes, {len(bad)} bad")
    return 1 if bad else 0


def describe(outcome: Outcome) -> str:
    """An outcome on one line."""
    figures = f"{outcome.difference:.1e} {outcome.batching}" if outcome.batching else ""
    signs = "early " * outcome.early + "shared" * outcome.shared
    parts = (
        f"{outcome.head:6} {outcome.architecture:26} {outcome.verdict.value:9} {outcome.seconds:5.1f} s",
        figures,
        signs,
        outcome.reason,
    )
    return "  ".join(part for part in parts if part)


if __name__ == "__main__":
    sys.exit(main())
