"""Speed of two revisions: the head and an older one answer the same requests in turn, many short rounds.

``make bench-heads OLD=REVISION`` prints how fast the head is compared with the older revision, above 1
being faster. Each round runs old, new, new, old, so that a drift of the machine's speed cancels out; the
figure is the median over rounds, with a bootstrap interval. Both get the requests that the head makes.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from speed.subject import build

from gendalens.data.choice import BUILTIN
from gendalens.data.registry import find_source
from gendalens.engine.run_options import RunOptions
from gendalens.models.requests import Request, Score
from gendalens.tasks import get_task

HERE = Path(__file__).parent
#: The samples of the tests that are asked in part.
SAMPLES = {"lm-dawinobias": ("dawinobias", 30), "ner-dane": ("dane", 12)}
CLOCKS = ("processor time", "wall time")


class Head:
    """A process that runs one revision."""

    def __init__(self, source: Path, models: dict[str, Path], requests: Path) -> None:
        self._process = subprocess.Popen(
            [
                sys.executable,
                str(HERE / "speed" / "one_head.py"),
                str(models["lm"]),
                str(models["ner"]),
                str(requests),
            ],
            env={**os.environ, "PYTHONPATH": str(source)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        if self._read() != "ready":
            sys.exit(f"the revision in {source} does not start")

    def time(self, job: str) -> tuple[float, float]:
        """Processor and wall seconds of one job."""
        assert self._process.stdin is not None
        self._process.stdin.write(f"{job}\n")
        self._process.stdin.flush()
        processor, wall = json.loads(self._read())
        return processor, wall

    def _read(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline().strip()

    def close(self) -> None:
        """Let the process end."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()


def write_requests(file: Path, templates: int) -> list[str]:
    """The requests of each job; of lm-abc some frames, each with all occupations, as in the whole.

    The first two templates are the two tenses of a frame, so that rows repeat between occupations,
    pronouns and tenses, as they do in the whole.
    """
    triples: Any = get_task("lm-abc", 2).items({"abc": find_source("abc")})
    found: dict[str, list[Request]] = {
        "lm-abc": [
            Score(text)
            for triple in triples
            if triple.template <= templates
            for text in (triple.reflexive, triple.male, triple.female)
        ]
    }
    for task, (data, sample) in SAMPLES.items():
        settings = RunOptions(sample=sample, data={data: BUILTIN}, task_options={"repeats": 2})
        plan = settings.plan(get_task(task, 2))
        found[task] = [one for portion in plan.portions for one in portion.requests]
    written = {
        task: [(type(one).__name__, asdict(one)) for one in dict.fromkeys(requests)]
        for task, requests in found.items()
    }
    file.write_text(json.dumps(written, ensure_ascii=False), encoding="utf-8")
    return list(written)


def compare(old: Head, new: Head, job: str, rounds: int) -> dict[str, tuple[float, float, float]]:
    """The ratio old/new by each clock: the median over rounds and its 95% interval."""
    ratios: dict[str, list[float]] = {clock: [] for clock in CLOCKS}
    for _ in range(rounds):
        first, second = old.time(job), new.time(job)
        third, fourth = new.time(job), old.time(job)
        for i, clock in enumerate(CLOCKS):
            ratios[clock].append((first[i] + fourth[i]) / (second[i] + third[i]))
    return {clock: _summarise(values) for clock, values in ratios.items()}


def _summarise(values: list[float]) -> tuple[float, float, float]:
    drawn: Any = np.random.default_rng(0).choice(values, (4000, len(values)))
    low, high = np.quantile(np.median(drawn, axis=1), [0.025, 0.975])
    return statistics.median(values), float(low), float(high)


def main() -> None:
    """Check the older revision out, run both in turn, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("old", help="the revision to compare with")
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--only", nargs="*", help="the tests whose requests are answered")
    parser.add_argument("--templates", type=int, default=2, help="how many sentences of lm-abc")
    parser.add_argument("--work", type=Path, default=Path(".work/bench"))
    options = parser.parse_args()
    models = build(options.work / "models")
    with tempfile.TemporaryDirectory() as folder:
        git = ["git", "worktree"]
        checkout, requests = Path(folder) / "old", Path(folder) / "requests.json"
        jobs = write_requests(requests, options.templates)
        subprocess.run([*git, "add", "--quiet", "--detach", str(checkout), options.old], check=True)
        try:
            heads = [Head(source / "src", models, requests) for source in (checkout, HERE.parent)]
            print(f"| requests | {' | '.join(CLOCKS)} |\n|---|---|---|")
            for job in options.only or jobs:
                found = compare(*heads, job, options.rounds)
                cells = [
                    f"{ratio:.3f} [{low:.3f}, {high:.3f}]" for ratio, low, high in found.values()
                ]
                print(f"| {job} | {' | '.join(cells)} |", flush=True)
            for head in heads:
                head.close()
        finally:
            subprocess.run([*git, "remove", "--force", str(checkout)], check=True)


if __name__ == "__main__":
    main()
