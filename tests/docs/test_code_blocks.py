"""Every code block and command of the documentation runs, or says why not."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import gendalens
import gendalens.api
from gendalens.cli.app import app
from gendalens.errors import UserError
from gendalens.words import use_language
from tools.site.code_blocks import RUN, SHOWN, Block, list_blocks, read_blocks

BLOCKS = list_blocks()
EXECUTED = sorted({block.page for block in BLOCKS if block.state == "executed"})
#: Files that the blocks of a page must have made.
MADE = {
    "README.md": ("runs/report.html",),
    "docs/python.md": (
        *("report.html", "comparison.html", "occupations.svg", "runs/controls/report.html"),
    ),
    "docs/howto/model-card.md": ("bias.md", "bias.tex", "bias.csv"),
    "docs/howto/gate-ci.md": ("gate.xml",),
    "docs/howto/compare-checkpoints.md": ("compare.html",),
    "docs/da/begraensninger.md": ("rapport.html", "bias.md", "tal.csv"),
}
#: The commands that take the options of a block.
ASKING = ("run", "requests", "score", "power")


@pytest.fixture(autouse=True)
def plain_run() -> Iterator[None]:
    """The function ``gendalens.run``, wrapped for some blocks, as it was."""
    yield
    gendalens.__dict__.pop("run", None)
    use_language("en")


def test_every_block_names_its_language() -> None:
    wrong = [block.place for block in BLOCKS if block.language not in (*RUN, *SHOWN)]
    assert wrong == []


def test_what_is_shown_holds_no_commands() -> None:
    """A command in a block of text would never be run."""
    command = re.compile(r"^(gendalens (?!·)\w+|pip install|make \w+) ", re.MULTILINE)
    wrong = [b.place for b in BLOCKS if b.state == "shown" and command.search(b.code)]
    assert wrong == []


def test_an_excuse_gives_a_reason_and_is_the_exception() -> None:
    excused = [block for block in BLOCKS if block.state == "excused"]
    assert all(len((block.not_run or "").split()) >= 2 for block in excused)
    assert len(excused) < len([block for block in BLOCKS if block.state == "executed"])


@pytest.mark.slow
@pytest.mark.parametrize("page", EXECUTED)
@pytest.mark.usefixtures("chart_library")
@pytest.mark.filterwarnings("ignore")
def test_the_blocks_of_a_page_run(
    page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    for block in read_blocks(page):
        if block.state != "executed":
            continue
        for command in block.before:
            run_command(command, block)
        if block.language == "python":
            run_python(block, names)
        else:
            for command in split_commands(block):
                run_command(command, block)
    for file in MADE.get(page, ()):
        assert (tmp_path / file).is_file(), f"{page} made no {file}"


def replace_words(text: str, block: Block) -> str:
    """A text with the words that the test replaces."""
    for old, new in block.replaced.items():
        text = re.sub(rf"(?<![\w-]){re.escape(old)}(?![\w-])", new.replace("\\", r"\\"), text)
    return text


def run_python(block: Block, names: dict[str, Any]) -> None:
    """Run a block after those before it, as a reader would."""
    plain: Callable[..., Any] = gendalens.api.run
    given = dict(option.removeprefix("--").split(" ", 1) for option in block.options)
    defaults = {key: int(text) if text.isdigit() else text for key, text in given.items()}

    def run(*models: Any, **options: Any) -> Any:
        return plain(*models, **(defaults | options))

    gendalens.run = run
    exec(compile(replace_words(block.code, block), block.place, "exec"), names)


def split_commands(block: Block) -> list[str]:
    """The commands of a block, continued lines joined."""
    lines = block.code.replace("\\\n", " ").splitlines()
    return [line for line in lines if line.strip() and not line.lstrip().startswith("#")]


def run_command(command: str, block: Block) -> None:
    """Run a command as the shell would: its output may go to a file, its failure may be allowed."""
    lexer = shlex.shlex(command, posix=True, punctuation_chars="|>")
    lexer.whitespace_split = True
    words = [replace_words(word, block) for word in lexer]
    codes = block.exit_codes
    if words[-2:] == ["||", "true"]:
        words, codes = words[:-2], tuple(range(4))
    target = words[-1] if words[-2:-1] == [">"] else None
    words = words[:-2] if target else words
    assert words[0] == "gendalens", f"{block.place}: say why {words[0]} is not run"
    added = [option for option in block.options if option.split()[0] not in words]
    if words[1] in ASKING:
        words += [word for option in added for word in option.split()]
    done = CliRunner().invoke(app, words[1:])
    use_language("en")  # a command may have chosen another
    code = 2 if isinstance(done.exception, UserError) else done.exit_code
    assert code in codes, f"{block.place}: {command}: {done.exception or done.stderr}"
    if target:
        Path(target).write_text(done.stdout, encoding="utf-8")
