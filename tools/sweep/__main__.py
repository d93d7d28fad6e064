"""Try every architecture of the installed transformers and write docs/models.md."""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections import Counter

from tools.sweep.heads import HEADS
from tools.sweep.outcome import Outcome, Verdict
from tools.sweep.page import PAGE, write_page
from tools.sweep.record import Record
from tools.sweep.runner import list_jobs, run_jobs, try_in_process


def main() -> int:
    """The exit code: 1 if an architecture is wrong or fails."""
    parser = argparse.ArgumentParser(prog="python -m tools.sweep", description=__doc__)
    parser.add_argument("--heads", default=",".join(HEADS), help="comma-separated heads to try")
    parser.add_argument("--only", default="", help="comma-separated architectures to try")
    parser.add_argument("--workers", type=int, default=2, help="trials at once")
    chosen = parser.parse_args()
    warnings.simplefilter("ignore")
    jobs = list_jobs(chosen.heads.split(","), [name for name in chosen.only.split(",") if name])
    start = time.monotonic()
    outcomes: list[Outcome] = []
    for outcome, seconds in run_jobs(jobs, chosen.workers, try_in_process):
        outcomes.append(outcome)
        print(f"{describe(outcome)}  ({seconds:.0f} s)", flush=True)
    record = Record.read().update(outcomes)
    record.write()
    PAGE.write_text(write_page(record), encoding="utf-8")
    counts = Counter(outcome.verdict for outcome in outcomes)
    print(
        f"{len(outcomes)} tried in {(time.monotonic() - start) / 60:.0f} minutes: "
        + ", ".join(f"{counts[verdict]} {verdict.value}" for verdict in Verdict)
    )
    return 1 if counts[Verdict.WRONG] or counts[Verdict.FAILED] else 0


def describe(outcome: Outcome) -> str:
    """An outcome on one line."""
    figures = f"{outcome.difference:.1e} {outcome.batching}" if outcome.batching else ""
    signs = "early " * outcome.early + "shared " * outcome.shared + "tree" * outcome.tree
    parts = (
        f"{outcome.head:6} {outcome.architecture:26} {outcome.verdict.value:9}",
        figures,
        signs,
        outcome.reason,
    )
    return "  ".join(part for part in parts if part)


if __name__ == "__main__":
    sys.exit(main())
