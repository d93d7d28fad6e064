"""``gendalens run --shard`` and ``gendalens merge``: a run in parts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import typer
from rich.text import Text

from gendalens.api import RunReport, execute
from gendalens.cli.run import ResultPrinter, check_tests, finish
from gendalens.data.choice import Choice
from gendalens.engine.run_options import RunOptions
from gendalens.engine.session import Job
from gendalens.errors import UserError
from gendalens.models.division import Shard
from gendalens.predictions.joined_answers import is_answer_file, join_answers
from gendalens.report.terminal.console import PlainConsole
from gendalens.shards.answering import answer_shard
from gendalens.shards.merging import merge_shards
from gendalens.words import say

DEFAULT_OUT = Path("runs")


def run_shard(
    models: Sequence[str],
    tests: Sequence[str] | None,
    options: RunOptions,
    shard: str,
    *,
    as_json: bool,
) -> None:
    """Answer one shard of a model's tests and say which files were written."""
    if as_json:
        raise UserError("A shard has no result to print: leave out --json, or use it with merge.")
    check_tests(tests, options.protocol)
    jobs = [Job(name, tests) for name in dict.fromkeys(models)]
    part = answer_shard(jobs, options, Shard.parse(shard), ResultPrinter(as_json=False))
    console = PlainConsole()
    for path in part.shards:
        console.print(Text(f"{say('answers'):<10} {path}"), soft_wrap=True)
    finish(RunReport((), tuple(part.failures), None, part.interrupted), as_json=False)


def merge_places(
    places: Sequence[Path],
    data: Mapping[str, Choice],
    out: Path | None,
    *,
    offline: bool,
    as_json: bool,
) -> None:
    """Merge shards into results, and print these; or join files of answers into one."""
    if any(is_answer_file(place) for place in places):
        _join(places, out, as_json=as_json)
        return
    watcher = ResultPrinter(as_json=as_json)
    with merge_shards(places, data=data, out=out or DEFAULT_OUT, offline=offline) as merged:
        for note in merged.notes:
            watcher.notes(note)
        report = execute([merged.job], merged.options, watcher)
        finish(report, as_json=as_json, problems=watcher.problems)


def _join(places: Sequence[Path], out: Path | None, *, as_json: bool) -> None:
    if out is None or as_json:
        raise UserError(
            "Files of answers are joined into one file, which `gendalens score` reads: name it with "
            "--out, and leave out --json."
        )
    count = join_answers(places, out)
    said = say("{count:,} answers joined in {path}", count=count, path=str(out))
    typer.echo(said, err=True)
