"""GenDa Lens itself, timed from the loaded model to the finished results, with an empty cache.

One process per measurement, so that peak memory is the run's own. Prints one line of JSON.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import torch
from memory import peak_mb

from gendalens.api import load_model
from gendalens.engine import model_run
from gendalens.engine.cache import Cache
from gendalens.engine.executor import ask
from gendalens.engine.run_options import RunOptions
from gendalens.engine.selection import choose_tests
from gendalens.engine.watcher import SilentWatcher
from gendalens.models.huggingface.trie import count_nodes
from gendalens.models.requests import Score
from gendalens.report.html.after_run import write_report


def main() -> None:
    """Time one test on one model, or the scores of a file of sentences."""
    parser = argparse.ArgumentParser()
    parser.add_argument("model")
    parser.add_argument("--task")
    parser.add_argument("--protocol", type=int, default=2)
    parser.add_argument("--sample", type=int)
    parser.add_argument("--repeats", type=int, default=20)
    parser.add_argument("--dane", type=Path)
    parser.add_argument("--sentences", type=Path, help="score these instead of running a test")
    parser.add_argument("--files", action="store_true", help="write results and report as well")
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    model: Any = load_model(options.model)
    weights = model.network if hasattr(type(model), "network") else model.model
    # The model is loaded before the clock starts, and so is its digest, which identifies it in results.
    assert weights is not None
    assert model.info.revision
    if options.sentences:
        texts = json.loads(options.sentences.read_text(encoding="utf-8"))
        touch(weights)
        loaded = peak_mb()
        tokens = count_tokens(weights)
        began = time.perf_counter()
        answers = ask(model, [Score(text) for text in texts])
        total = sum(answers[Score(text)].log_likelihood for text in texts)  # type: ignore[union-attr]
        seconds, peak = time.perf_counter() - began, peak_mb()
        rows = {row for item in model.encode(list(answers)) for row in item.inputs}
        found = {"total": total, "tokens": sum(tokens), "least": count_nodes(rows)}
        report(seconds, peak, items=len(texts), above_mb=peak - loaded, **found)
        return
    with tempfile.TemporaryDirectory() as folder:
        test(model, options, Path(folder))


def test(model: Any, options: argparse.Namespace, folder: Path) -> None:
    """Time one test, with a cache in the folder and, on request, with its files."""
    settings = RunOptions(
        protocol=options.protocol,
        sample=options.sample,
        data={"dane": options.dane} if options.dane else {},
        task_options={"repeats": options.repeats},
        out=folder / "run" if options.files else None,
    )
    tests = choose_tests(model, [options.task], settings)
    asking = Stopwatch()
    model_run.ask = asking.around(model_run.ask)  # type: ignore[attr-defined]
    with Cache(folder / "cache.sqlite") as cache:
        began = time.perf_counter()
        if settings.out:
            settings.out.mkdir()
        found = model_run.ModelRun(model, settings, cache, SilentWatcher()).run(tests)
        if settings.out:
            write_report(settings.out, [outcome.folder for outcome in found.outcomes])
        seconds = time.perf_counter() - began
    if found.failures:
        sys.exit(found.failures[0])
    report(seconds, peak_mb(), asking=asking.seconds, distinct=asking.distinct)


class Stopwatch:
    """The time spent asking the model; the rest of a run is data and statistics."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self.distinct = 0

    def around(self, function: Any) -> Any:
        """The function, timed."""

        def timed(*args: Any, **kwargs: Any) -> Any:
            began = time.perf_counter()
            answers = function(*args, **kwargs)
            self.seconds += time.perf_counter() - began
            self.distinct += len(answers)
            return answers

        return timed


def report(seconds: float, peak: float, **more: float) -> None:
    """Print one line of JSON for ``bench.py``."""
    sys.stdout.write(json.dumps({"seconds": seconds, "peak_mb": peak, **more}) + "\n")


def count_tokens(weights: Any) -> list[int]:
    """A list that grows by the number of tokens, padding included, of every pass from now on."""
    passes: list[int] = []

    def note(_model: Any, _args: Any, inputs: dict[str, Any]) -> None:
        passes.append(inputs["input_ids"].numel())

    weights._model.register_forward_pre_hook(note, with_kwargs=True)
    return passes


def touch(weights: Any) -> None:
    """Read every weight once, because mapped weights take memory only then."""
    for parameter in weights._model.parameters():
        parameter.sum()


if __name__ == "__main__":
    main()
