"""What is logged to an experiment tracker about the results of one model."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeAlias

from gendalens.errors import UserError
from gendalens.integrations.flat_figures import flatten_results, name_test
from gendalens.integrations.measurement import BiasMeasurement
from gendalens.report.html import run_page
from gendalens.report.html.after_run import REPORT
from gendalens.results.result import Result
from gendalens.results.saved_results import SavedResult, find_results
from gendalens.system.file_writing import replace_file

#: A run folder, a measurement, or results in memory.
Loggable: TypeAlias = str | Path | BiasMeasurement | Result | Iterable[Result]
#: Under this, as the Trainer's reporters file evaluations.
PREFIX = "eval/gendalens/"


@dataclass(frozen=True, slots=True)
class LoggedResults:
    """The results of one model, some of them perhaps saved, as trackers take them."""

    results: tuple[Result, ...]
    saved: tuple[SavedResult, ...] = ()
    step: int | None = None

    @property
    def model(self) -> str:
        """The model's name."""
        return self.results[0].model.name

    @property
    def metrics(self) -> dict[str, float]:
        """The figures by name, such as ``eval/gendalens/lm-abc/gap``."""
        return {f"{PREFIX}{name}": value for name, value in flatten_results(self.results).items()}

    @property
    def tags(self) -> dict[str, str]:
        """What identifies the figures: the model, and for each test its finding and its signature."""
        model = self.results[0].model
        tags = {"gendalens/model": model.name, "gendalens/revision": model.revision}
        for result in self.results:
            tags[f"gendalens/{name_test(result)}/finding"] = result.finding.headline
            tags[f"gendalens/{name_test(result)}/signature"] = result.signature
        return tags

    @contextmanager
    def write_files(self) -> Iterator[list[Path]]:
        """Temporary files to store with the run: each result, and the report if records are saved."""
        with TemporaryDirectory(prefix="gendalens-") as folder:
            files = []
            for result in self.results:
                path = Path(folder) / f"{name_test(result)}.json"
                replace_file(path, result.to_json())
                files.append(path)
            if self.saved:
                run_page.write(self.saved, Path(folder) / REPORT)
                files.append(Path(folder) / REPORT)
            yield files


def read_loggable(what: Loggable, step: int | None = None) -> LoggedResults:
    """The results that a user wants to log; raises unless they are of one model, once per test."""
    saved: Sequence[SavedResult] = ()
    match what:
        case str() | Path():
            saved = find_results([Path(what)])
            results = [one.result for one in saved]
        case BiasMeasurement():
            results = list(what.results)
            saved = find_results([what.folder]) if what.folder else ()
            step = what.step if step is None else step
        case Result():
            results = [what]
        case _:
            results = list(what)
    if not results:
        raise UserError("There are no results to log.")
    _check_distinct(results)
    return LoggedResults(tuple(results), tuple(saved), step)


def _check_distinct(results: Sequence[Result]) -> None:
    """Raise if two results would be logged under the same names."""
    models = dict.fromkeys((one.model.name, one.model.revision, one.model.dtype) for one in results)
    if len(models) > 1:
        raise UserError(
            "These are the results of {count} models: log each of them to a run of its own.",
            count=len(models),
        )
    tests = [name_test(one) for one in results]
    if twice := sorted({test for test in tests if tests.count(test) > 1}):
        raise UserError(
            "There are several results of {test}: log one of them, by naming its folder.",
            test=twice[0],
        )
