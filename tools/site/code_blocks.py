"""The code blocks of the documentation: which are run by the tests, and which say why not.

``python -m tools.site.code_blocks`` counts them. Comments right before a block say how it is tested:

- ``<!-- not run: REASON -->``: the block is not run.
- ``<!-- tested with: MODEL=control:fair, --data builtin -->``: words of the block are replaced, and
  options are added to every command that asks a model (in Python, to ``gendalens.run``).
- ``<!-- before: COMMAND -->``: what must have been run before.
- ``<!-- exit codes: 0 3 -->``: how the commands may end; 0 otherwise.
- ``<!-- code: PATH#NAME -->``: the block is a copy of tested code (``tools/include_code.py``).

Blocks of other languages (``text``, ``json``, …) show what a program prints or reads. A block must name
its language.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = (
    *("README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md", "examples/plugin/README.md"),
    "src/gendalens/data/builtin/SCHEMAS.md",
    *sorted(str(path.relative_to(ROOT)) for path in (ROOT / "docs").rglob("*.md")),
)
RUN = ("bash", "python")
SHOWN = ("text", "json", "toml", "yaml")
FENCE = re.compile(
    r"(?P<comments>(?:^[ ]*<!-- [^\n]* -->\n)*)"
    r"^(?P<indent>[ ]*)```(?P<language>\w*)\n(?P<code>.*?)^[ ]*```",
    re.DOTALL | re.MULTILINE,
)
COMMENT = re.compile(
    r"<!-- (?P<key>not run|tested with|before|exit codes|code): (?P<value>.*?) -->"
)


@dataclass(frozen=True)
class Block:
    """A code block, where it stands, and what the comments before it say."""

    page: str
    line: int
    language: str
    code: str
    not_run: str | None = None
    copy_of: str | None = None
    before: tuple[str, ...] = ()
    replaced: dict[str, str] = field(default_factory=dict)
    options: tuple[str, ...] = ()
    exit_codes: tuple[int, ...] = (0,)

    @property
    def place(self) -> str:
        """Page and line, for messages."""
        return f"{self.page}:{self.line}"

    @property
    def state(self) -> str:
        """How the block is tested."""
        if self.language not in RUN:
            return "shown"
        if self.copy_of:
            return "copied"
        return "excused" if self.not_run else "executed"


def read_blocks(page: str) -> list[Block]:
    """The code blocks of a page, in order."""
    text = (ROOT / page).read_text(encoding="utf-8")
    return [_read_block(page, text, fence) for fence in FENCE.finditer(text)]


def _read_block(page: str, text: str, fence: re.Match[str]) -> Block:
    told: dict[str, list[str]] = {}
    for comment in COMMENT.finditer(fence["comments"]):
        told.setdefault(comment["key"], []).append(comment["value"])
    words = [word.strip() for value in told.get("tested with", ()) for word in value.split(", ")]
    indent = len(fence["indent"])
    return Block(
        page=page,
        line=text.count("\n", 0, fence.start("code")),
        language=fence["language"],
        code="\n".join(line[indent:] for line in fence["code"].splitlines()) + "\n",
        not_run=next(iter(told.get("not run", ())), None),
        copy_of=next(iter(told.get("code", ())), None),
        before=tuple(told.get("before", ())),
        replaced=dict(word.split("=", 1) for word in words if not word.startswith("--")),
        options=tuple(word for word in words if word.startswith("--")),
        exit_codes=tuple(int(code) for code in " ".join(told.get("exit codes", ["0"])).split()),
    )


def list_blocks() -> list[Block]:
    """The code blocks of all pages."""
    return [block for page in PAGES for block in read_blocks(page)]


def main() -> None:
    """Print how many blocks there are of each state, and why some are not run."""
    blocks = list_blocks()
    counts = Counter(block.state for block in blocks)
    sys.stdout.write(
        f"{len(blocks)} blocks on {len({block.page for block in blocks})} pages: "
        f"{counts['executed']} executed, {counts['excused']} excused, {counts['copied']} copies of "
        f"tested code, {counts['shown']} that show what is printed or read\n"
    )
    for block in blocks:
        if block.state == "excused":
            sys.stdout.write(f"  {block.place}: {block.not_run}\n")


if __name__ == "__main__":
    main()
