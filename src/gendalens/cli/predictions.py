"""``gendalens requests`` and ``gendalens score``: tests answered by other systems."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from gendalens.api import execute
from gendalens.cli.run import ResultPrinter, finish
from gendalens.engine.applicability import check_named_tests
from gendalens.engine.run_options import RunOptions
from gendalens.engine.session import Job
from gendalens.errors import UserError
from gendalens.models.division import Shard
from gendalens.predictions.answer_file import AnswerFile
from gendalens.predictions.form import format_requests
from gendalens.system.file_writing import write_target
from gendalens.tasks import get_task
from gendalens.words import say


def write_requests(name: str, options: RunOptions, out: Path, shard: str | None = None) -> None:
    """Write the requests of a test, or a shard of them, one per line; ``-`` is standard output."""
    part = None if shard is None else Shard.parse(shard)
    check_named_tests([name], options)
    plan = options.plan(get_task(name, options.protocol))
    written = format_requests(
        plan.card,
        plan.data,
        (request for portion in plan.portions for request in portion.requests),
        seed=options.seed,
        sample=plan.sample,
        settings=plan.task.settings(),
        shard=part,
    )
    if str(out) == "-":
        # Bytes, because the file is UTF-8 whatever encoding and line ends the terminal uses.
        sys.stdout.buffer.writelines(line.encode() for line in written)
        sys.stdout.buffer.flush()
        return
    count = _write_lines(out, written) - 1
    said = say(
        "{test}: {count:,} distinct requests written to {path}",
        test=plan.card.id,
        count=count,
        path=str(out),
    )
    sys.stderr.write(f"{said}\n")


def _write_lines(path: Path, lines: Iterable[str]) -> int:
    """Write lines to a file atomically; return their number."""
    count = 0

    def count_lines() -> Iterator[str]:
        nonlocal count
        for line in lines:
            count += 1
            yield line

    try:
        if path.is_dir():
            raise UserError(
                "{path} is a folder; name a file with -o, or -o - for standard output.",
                path=str(path),
            )
        write_target(path, count_lines())
    except OSError as error:
        raise UserError(
            "The requests cannot be written to {path} ({reason}); choose another place with -o, or -o - "
            "for standard output.",
            path=str(path),
            reason=str(error.strerror or error),
        ) from None
    return count


def score_answers(
    task: str,
    options: RunOptions,
    answers: Path,
    *,
    name: str,
    revision: str,
    as_json: bool,
    details: bool,
) -> None:
    """Score a file of answers and print the result; exit with code 2 if it is not measurable."""
    check_named_tests([task], options)
    plan = options.plan(get_task(task, options.protocol))
    asked = (request for portion in plan.portions for request in portion.requests)
    model = AnswerFile(answers, asked, name=name, revision=revision)
    watcher = ResultPrinter(as_json=as_json, details=details)
    report = execute([Job(model, [plan])], options, watcher)
    finish(report, as_json=as_json, details=details, problems=watcher.problems)
