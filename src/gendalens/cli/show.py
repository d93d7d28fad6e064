"""``gendalens show``: saved results, in the terminal or in an export format."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from rich.text import Text

from gendalens.errors import UserError
from gendalens.report.escape import as_json
from gendalens.report.exports.annex_iv import annex_iv
from gendalens.report.exports.every_eval_ever import every_eval_ever, write_every_eval_ever
from gendalens.report.exports.hub_metadata import hub_metadata
from gendalens.report.exports.latex_tables import to_latex
from gendalens.report.exports.model_card import model_card
from gendalens.report.exports.result_tables import long_table, short_tables
from gendalens.report.exports.tables import to_csv, to_markdown
from gendalens.report.html.overview import describe_dates, read_date
from gendalens.report.terminal import digest
from gendalens.report.terminal import result as terminal
from gendalens.report.terminal.console import PlainConsole
from gendalens.results import saved_results
from gendalens.results.result import Result
from gendalens.results.saved_results import SavedResult
from gendalens.words import Message

FORMATS: Mapping[str, Callable[[Sequence[SavedResult]], str]] = {
    "json": lambda runs: as_json([one.to_dict() for one in _list_results(runs)]),
    "csv": lambda runs: to_csv(long_table(_list_results(runs))),
    "markdown": lambda runs: to_markdown(short_tables(_list_results(runs))),
    "latex": lambda runs: to_latex(short_tables(_list_results(runs))),
    "model-card": lambda runs: model_card(_list_results(runs), _find_dates(runs)),
    "annex-iv": lambda runs: annex_iv(_list_results(runs), _find_dates(runs)),
    "hub-yaml": lambda runs: hub_metadata(_list_results(runs)),
    "every-eval-ever": every_eval_ever,
}


def show_runs(
    paths: Sequence[Path],
    wanted: Mapping[str, bool],
    out: Path | None = None,
    *,
    details: bool = False,
) -> None:
    """Print the results, as text (each model on a screen, or all figures) or in the requested format.

    Every Eval Ever can also be written into the folder ``out``.
    """
    name = choose_format(wanted)
    if name is not None and details:
        raise UserError("--{format} has all details: leave out --details.", format=name)
    if out is not None and name != "every-eval-ever":
        raise UserError("--out is only for --every-eval-ever: other formats are printed.")
    runs = saved_results.find_results(paths)
    if out is not None:
        for path in write_every_eval_ever(runs, out):
            PlainConsole(stderr=True).print(Text(str(path)), soft_wrap=True)
        return
    if name is not None:
        sys.stdout.write(FORMATS[name](runs))
        return
    console = PlainConsole()
    if not details:
        digest.show_models(console, runs)
        return
    for one in runs:
        terminal.show(console, one.result, one.folder)
    if len(runs) > 1:
        terminal.show_summary(console, _list_results(runs))


def choose_format(wanted: Mapping[str, bool]) -> str | None:
    """The requested format, or None; requesting several is an error."""
    names = [name for name, is_wanted in wanted.items() if is_wanted]
    if len(names) > 1:
        raise UserError(
            "Choose one of {formats:and}.", formats=tuple(f"--{name}" for name in names)
        )
    return names[0] if names else None


def _find_dates(runs: Sequence[SavedResult]) -> Message | None:
    return describe_dates([read_date(run.run) for run in runs])


def _list_results(runs: Sequence[SavedResult]) -> list[Result]:
    return [one.result for one in runs]
