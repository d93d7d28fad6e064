"""How long and how large a site and a comparison of 10 and of 30 models are.

Thirty control models take every test on a sample of the built-in sets, which needs a few minutes. The
site and the comparisons are then made and timed, in seconds of wall clock and of this process's work.

    python benchmarks/leaderboard.py FOLDER
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import gendalens
from gendalens.data.choice import read_choices
from gendalens.engine.run_options import RunOptions
from gendalens.engine.session import Job, run_jobs
from gendalens.report.html import comparison_page

MODELS = 30
SAMPLE = 120


def name_models() -> Iterator[str]:
    """Control models of three kinds, each with a strength and a seed of its own."""
    for i in range(MODELS):
        kind = ("fair", "stereotyped", "male-default")[i % 3]
        strength = "" if kind == "fair" else f"&strength={0.03 * i + 0.02:.2f}"
        yield f"control:{kind}?seed={i}{strength}"


@contextmanager
def timed(what: str) -> Iterator[Callable[[str], None]]:
    notes: list[str] = []
    wall, own = time.perf_counter(), time.process_time()
    yield notes.append
    spent = f"{time.perf_counter() - wall:.1f} s, {time.process_time() - own:.1f} s of work"
    print(f"{what}: {spent}; {', '.join(notes)}", flush=True)


def main(folder: Path) -> None:
    runs = folder / "runs"
    if not runs.exists():
        with timed("runs") as note:
            options = RunOptions(
                data=read_choices("builtin"),
                out=runs,
                sample=SAMPLE,
                use_cache=False,
                task_options={"repeats": 1},
            )
            report = run_jobs([Job(name) for name in name_models()], options)
            note(f"{len(report.outcomes)} results, failures: {report.failures}")
    with timed("site") as note:
        site = gendalens.build_site(runs, folder / "public")
        note(f"{site.results} results, {site.files} files, {site.bytes / 1e6:.1f} MB")
    models = sorted(path for path in runs.iterdir() if path.is_dir())
    for count in (10, MODELS):
        with timed(f"compare {count}") as note:
            comparison = gendalens.compare(*models[:count])
            note(f"{comparison.differences} differences")
        with timed(f"page of {count}") as note:
            page = comparison_page.html(comparison)
            note(f"{len(page.encode()) / 1e6:.2f} MB")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
