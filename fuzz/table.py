"""The table of a run, as it stands in ``benchmarks/FUZZ.md``."""

from __future__ import annotations

import platform
import re
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

from fuzz.campaign import Counts
from gendalens.version import __version__

HEAD = """# Fuzzing

Written by `make fuzz`. Each input is a sound file with something wrong in it (bytes, lines, fields,
numbers, letters, JSON values), seeded, so that the same seed gives the same inputs. An input must be
*refused* with one sentence, or *accepted* and then read rightly, within its time. Another exception, a
hang, a crash or a wrong reading is a failure. What earlier runs found was mended; it lies in
`tests/fuzz/corpus/`, which the quick tests replay.
"""


HEADINGS = (
    "| target | inputs | accepted | refused | failed | seconds | seed | what must hold of the accepted |",
    "|---|--:|--:|--:|--:|--:|--:|---|",
)
ROW = re.compile(r"^\| (?P<target>[\w-]+) \|.*", re.MULTILINE)


def markdown(counts: Sequence[Counts], *, seed: int, before: str = "") -> str:
    """The page; of targets that were not run now, the rows that it had ``before`` are kept."""
    rows = {found["target"]: found.group() for found in ROW.finditer(before)}
    rows.pop("target", None)
    rows |= {one.target: _row(one, seed) for one in counts}
    return "\n".join([HEAD, *HEADINGS, *rows.values(), _sum(rows.values()), "", _made(), ""])


def _row(one: Counts, seed: int) -> str:
    numbers = (one.inputs, one.accepted, one.refused, one.failed, round(one.seconds), seed)
    cells = [one.target, *(f"{number:,}" for number in numbers), one.meaning.rstrip(".")]
    return f"| {' | '.join(cells)} |"


def _sum(rows: Iterable[str]) -> str:
    columns = zip(*(row.split(" | ")[1:6] for row in rows), strict=True)
    sums = [sum(int(cell.replace(",", "")) for cell in column) for column in columns]
    return f"| **all** | {' | '.join(f'{number:,}' for number in sums)} | | |"


def _made() -> str:
    return (
        f"gendalens {__version__}, Python {platform.python_version()}, one process, "
        f"{datetime.now(UTC):%d %B %Y}."
    )
