"""``gendalens requests`` and ``gendalens score``: a test whose answers are made elsewhere."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gendalens.cli.run import finish, shown
from gendalens.data.choice import Choice
from gendalens.engine.request_plan import configured, questions
from gendalens.engine.session import Options, run_model
from gendalens.errors import UserError
from gendalens.predictions.answer_file import AnswerFile
from gendalens.predictions.form import lines
from gendalens.report.terminal.console import PlainConsole
from gendalens.report.terminal.progress import TerminalWatcher
from gendalens.results.run_folder import check_writable
from gendalens.tasks import get_task


@dataclass(frozen=True, slots=True)
class Selection:
    """A test and the options that decide what it asks."""

    task: str
    protocol: int
    data: Mapping[str, Choice]
    seed: int
    sample: int | None
    offline: bool
    task_options: dict[str, Any]

    def options(self, out: Path | None = None) -> Options:
        """The same as a run has them."""
        return Options(
            protocol=self.protocol,
            seed=self.seed,
            sample=self.sample,
            offline=self.offline,
            data=self.data,
            out=out,
            task_options=self.task_options,
        )


def write_requests(choice: Selection, out: Path) -> None:
    """Write what a test asks, a request a line; ``-`` is standard output."""
    options = choice.options()
    task = configured(get_task(choice.task, choice.protocol), options)
    asked = questions(task, options)
    made = lines(
        task.card,
        asked.data,
        asked.requests,
        seed=options.seed,
        sample=asked.sample,
        settings=task.settings(),
    )
    if str(out) == "-":
        # Whatever the terminal's encoding and line ends: the file is UTF-8.
        sys.stdout.buffer.writelines(line.encode() for line in made)
        sys.stdout.buffer.flush()
        return
    count = _write(out, made) - 1
    sys.stderr.write(f"{task.card.id}: {count:,} distinct requests written to {out}\n")


def _write(path: Path, made: Iterable[str]) -> int:
    """Write lines to a file that appears whole or not at all; gives their number."""
    temporary = path
    count = 0
    try:
        if path.is_dir():
            raise UserError(
                f"{path} is a folder; name a file with -o, or -o - for standard output."
            )
        if path.is_file() or not path.exists():  # a pipe or a device is written to, never replaced
            temporary = path.with_name(f".{path.name}.{os.getpid()}")
        with temporary.open("w", encoding="utf-8", newline="\n") as file:
            for line in made:
                file.write(line)
                count += 1
        if temporary != path:
            temporary.replace(path)
    except OSError as error:
        raise UserError(
            f"The requests cannot be written to {path} ({error.strerror or error}); choose another "
            "place with -o, or -o - for standard output."
        ) from None
    finally:
        if temporary != path:
            with suppress(OSError):  # what could not be written need not be there
                temporary.unlink()
    return count


def score_answers(
    choice: Selection, answers: Path, *, name: str, revision: str, out: Path, as_json: bool
) -> None:
    """Measure a file of answers, print, and end with code 2 if it could not be measured."""
    options = choice.options(out)
    task = get_task(choice.task, choice.protocol)
    asked = questions(configured(task, options), options)
    model = AnswerFile(answers, asked.requests, name=name, revision=revision)
    check_writable(out)
    console, errors = PlainConsole(), PlainConsole(stderr=True)
    report = run_model(model, [task], options, watcher=TerminalWatcher(errors))
    failures = shown(console, name, report, as_json=as_json)
    finish(console, report.outcomes, failures, out=out, as_json=as_json)
