"""``make fuzz``: mangled inputs for every reader, and a table of the outcomes."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from fuzz import campaign, table
from fuzz.targets.all import TARGETS

PLACE = Path(__file__).parents[1] / "benchmarks" / "FUZZ.md"


def main() -> int:
    """Run the campaign; exit code 1 if an input was neither refused nor read correctly."""
    parser = argparse.ArgumentParser(prog="fuzz", description=__doc__)
    parser.add_argument("targets", nargs="*", help=f"of {', '.join(TARGETS)}; all if left out")
    parser.add_argument(
        "--inputs", type=int, default=1_000_000, help="total number, divided by share"
    )
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--failures", type=Path, default=Path("fuzz-failures"))
    parser.add_argument("--table", type=Path, default=PLACE)
    given = parser.parse_args()
    if unknown := set(given.targets) - set(TARGETS):
        parser.error(f"there is no target {sorted(unknown)[0]}")
    chosen = [TARGETS[name] for name in given.targets or TARGETS]
    whole = sum(target.share for target in chosen)
    before = given.table.read_text(encoding="utf-8") if given.table.exists() else ""
    counts = []
    for target in chosen:
        number = max(1, round(given.inputs * target.share / whole))
        one = campaign.run(target, number, seed=given.seed, kept=given.failures)
        sys.stdout.write(f"{one}\n")
        sys.stdout.flush()
        counts.append(one)
        # Written after every target; the rows of other targets are kept.
        page = table.format_page(counts, seed=given.seed, before=before)
        given.table.write_text(page, encoding="utf-8")
    return int(any(one.failed for one in counts))


if __name__ == "__main__":
    sys.exit(main())
