"""The command line called in this process, and the table in which each option has its row."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from scripted import Scripted
from typer.testing import CliRunner

from gendalens.cli.app import app
from gendalens.cli.first_sign import remove_first_sign
from gendalens.data import registry
from gendalens.errors import UserError
from gendalens.models.base import LoadOptions
from gendalens.results.signature import parse_signature
from gendalens.words import use_language

PULLED = "the index was asked for"


@dataclass(frozen=True)
class Done:
    """What a command left: its exit code and what it wrote."""

    code: int
    out: str
    err: str

    @property
    def plain(self) -> Any:
        """Standard output as JSON."""
        return json.loads(self.out)

    @property
    def result(self) -> Any:
        """The only result on standard output."""
        (result,) = self.plain
        return result

    def signed(self, name: str) -> str | None:
        """A field of the signature of the only result."""
        return parse_signature(self.result["signature"]).get(name)

    @property
    def words(self) -> str:
        """Standard output as one line of text."""
        return " ".join(self.out.split())

    @property
    def lines(self) -> list[Any]:
        """Standard output as JSON Lines."""
        return [json.loads(line) for line in self.out.splitlines()]


@dataclass
class CommandLine:
    """The command line, in a folder of its own."""

    folder: Path
    small_run: Path
    patch: pytest.MonkeyPatch
    loaded: list[LoadOptions] = field(default_factory=list)

    def __call__(self, *arguments: str | Path, fails: bool | None = False) -> Done:
        """Run a command; it must succeed unless it is said to fail (None: it may)."""
        try:
            done = CliRunner().invoke(app, [str(argument) for argument in arguments])
            code, err = done.exit_code, done.stderr
            if isinstance(done.exception, UserError):  # which the entry point prints so
                code, err = 2, f"{err}gendalens: {done.exception}\n"
            elif done.exception is not None and not isinstance(done.exception, SystemExit):
                raise done.exception
        finally:
            use_language("en")
            remove_first_sign()
        assert fails in (None, code == 2), f"{arguments}: {err}"
        return Done(code, done.stdout, err)

    def skip_pages(self) -> None:
        """Have runs write no page, which takes longer than all else that they do here."""
        self.patch.setattr("gendalens.api.write_report", lambda out, folders: None)

    def copy_of(self, run: Path) -> Path:
        """A copy of a run folder, which may be written to."""
        return shutil.copytree(run, self.folder / "copies" / run.name)

    def spy_on_loading(self) -> Scripted:
        """Have every name load this model, and keep the options that came with it."""
        model = Scripted()

        def load(name: str, options: LoadOptions) -> Scripted:
            self.loaded.append(options)
            return model

        self.patch.setattr("gendalens.engine.session.load_model", load)
        return model

    def forbid_fetching(self) -> None:
        """Have the package index refuse, in words of its own."""

        def pull(name: str) -> Path:
            raise UserError(f"{PULLED} {name}")

        self.patch.setattr(registry, "pull", pull)

    def answer(self, *options: str) -> Path:
        """Answers to the requests that ``gendalens requests`` writes with these options."""
        header, *asked = self("requests", *options, "--out", "-").lines
        path = self.folder / "answers.jsonl"
        lines = [{"format": "gendalens-answers", "version": 1}]
        lines += [{"id": one["id"], **_answer(one)} for one in asked]
        path.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
        assert header["requests"] == len(asked) > 0
        return path


def _answer(request: dict[str, Any]) -> dict[str, Any]:
    """An answer that depends on the request alone; a tagger takes capitalised words for names."""
    chance = sha256(request["id"].encode()).digest()[0] / 255
    match request["kind"]:
        case "score":
            return {"log_likelihood": -20 - 9 * chance, "tokens": len(request["text"].split())}
        case "reconstruct":
            return {"loss": 2 + chance}
    text, entities, at = request["text"], [], 0
    for word in text.split():
        at = text.index(word, at)
        if word[0].isupper():
            label = "PER" if at == 0 or chance < 0.5 else "LOC"
            entities.append([at, at + len(word), label])
        at += len(word)
    return {"entities": entities}


Row: TypeAlias = Callable[[CommandLine, str], None]


class Table(dict[str, Row]):
    """The rows by command and option."""

    def row(self, *keys: str) -> Callable[[Row], Row]:
        """Have a function show what these options do; it is called with the command of each."""

        def keep(show: Row) -> Row:
            for key in keys:
                assert key not in self, f"two rows for {key}"
                self[key] = show
            return show

        return keep


def files_in(folder: Path) -> set[str]:
    """The files in a folder, by their paths in it."""
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
