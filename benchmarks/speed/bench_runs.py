"""How scripts and programs are run and measured: each in a process of its own, and in turn."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from functools import cached_property
from pathlib import Path

from speed.environments import python
from speed.gemma import save_gemma
from speed.parts import Part, Parts
from speed.subject import build

HERE = Path(__file__).parent
#: The batch sizes of which the peers' best is taken.
SIZES = (4, 16, 64)
Run = Callable[[], dict[str, float]]


class Bench:
    """The folders of the benchmarks, and how to run and measure a script."""

    def __init__(self, work: Path, dane: Path | None, rounds: int, test: str | None) -> None:
        self.work = work
        self.dane = dane
        self.rounds = rounds
        self.test = test
        self.models = build(work / "models")
        self.parts = Parts(work / "parts", dane)
        self.threads = len(os.sched_getaffinity(0))
        self._whole = work / "whole.json"

    @property
    def whole(self) -> dict[str, float]:
        """The model's seconds for complete tests, as far as they have been measured."""
        found: dict[str, float] = {}
        if self._whole.is_file():
            found = json.loads(self._whole.read_text())
        return found

    def note_whole(self, task: str, seconds: float) -> None:
        """Save the model's seconds for a complete test."""
        self._whole.write_text(json.dumps(self.whole | {task: seconds}))

    def script(self, name: str, *arguments: object, interpreter: Path | None = None) -> Run:
        """A measurement by a script in a separate process, which prints one line of JSON."""
        command = [str(interpreter or sys.executable), str(HERE / name)]
        command += [str(argument) for argument in arguments]

        def run() -> dict[str, float]:
            done = subprocess.run(command, capture_output=True, text=True)
            if done.returncode:
                sys.exit(f"{name} failed:\n{done.stderr[-2000:]}")
            found: dict[str, float] = json.loads(done.stdout.strip().splitlines()[-1])
            return found

        return run

    def in_turn(self, *runs: Run, rounds: int | None = None) -> list[dict[str, float]]:
        """The medians of each run; the runs alternate so that a slow phase affects all of them."""
        rows = [[run() for run in runs] for _ in range(min(self.rounds, rounds or self.rounds))]
        return [
            {key: statistics.median(row[i][key] for row in rows) for key in rows[0][i]}
            for i in range(len(runs))
        ]

    def program(self, *command: str) -> Run:
        """A measurement of a whole program, from start to end."""

        def run() -> dict[str, float]:
            began = time.perf_counter()
            subprocess.run(command, capture_output=True, check=True)
            return {"seconds": time.perf_counter() - began}

        return run

    def ours(self, model: str, *arguments: object) -> Run:
        """GenDa Lens itself."""
        return self.script("ours.py", self.models[model], "--threads", self.threads, *arguments)

    def ours_on(self, part: Part) -> Run:
        """GenDa Lens itself on the sentences of a part, by the causal model."""
        arguments = ("--sentences", part.file, "--threads", self.threads)
        return self.script("ours.py", self.gemma, *arguments)

    @cached_property
    def gemma(self) -> Path:
        """The causal model, Gemma 3 270M."""
        return save_gemma(self.work / "models" / "gemma")

    def bare(self, model: str, *arguments: object) -> Run:
        """The bare model on the same inputs."""
        return self.script("bare.py", self.models[model], "--threads", self.threads, *arguments)

    def best_peer(self, script: str, environment: str, model: Path, part: Path) -> tuple[Run, int]:
        """A peer at its best batch size, and that size."""
        interpreter = python(environment, self.work / "envs")
        few = part.with_stem(f"{part.stem}-few")
        texts = json.loads(part.read_text(encoding="utf-8"))
        few.write_text(json.dumps(texts[::4], ensure_ascii=False), encoding="utf-8")

        def run(file: Path, size: int) -> Run:
            return self.script(script, model, file, self.threads, size, interpreter=interpreter)

        size = min(SIZES, key=lambda size: run(few, size)()["seconds"])
        return run(part, size), size

    def classic(self, task: str, model: str, part: Path) -> Run:
        """GenDa Lens 0.0.3 on a part of the data."""
        interpreter = python("classic", self.work / "envs")
        arguments = (task, self.models[model], part, self.threads)
        return self.script("classic.py", *arguments, interpreter=interpreter)
