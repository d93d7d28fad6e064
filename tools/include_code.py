"""Copy code from tested files into the documentation: ``python tools/include_code.py``.

A comment ``<!-- code: PATH#NAME -->`` before a code block says what the block contains: the class, method
(``Class.method``) or function of that name, or the whole file without ``#NAME``.
"""

from __future__ import annotations

import ast
import re
import textwrap
from pathlib import Path

ROOT = Path(__file__).parent.parent
PAGES = ("CONTRIBUTING.md",)
BLOCK = re.compile(
    r"(<!-- code: (?P<path>[\w./-]+)(?:#(?P<name>[\w.]+))? -->\n```\w*\n).*?(```)", re.S
)


def read_code(path: Path, name: str | None) -> str:
    """The source of one definition, or of the whole file."""
    text = path.read_text(encoding="utf-8")
    if name is None:
        return text
    found: ast.ClassDef | ast.FunctionDef | ast.Module = ast.parse(text)
    for part in name.split("."):
        found = next(
            node
            for node in found.body
            if isinstance(node, ast.ClassDef | ast.FunctionDef) and node.name == part
        )
    assert not isinstance(found, ast.Module)
    first = min([found.lineno, *(one.lineno for one in found.decorator_list)])
    lines = text.splitlines()[first - 1 : found.end_lineno]
    return textwrap.dedent("\n".join(lines)) + "\n"


def include_code(page: str) -> str:
    """A page with every code block brought up to date."""

    def fill(block: re.Match[str]) -> str:
        code = read_code(ROOT / block["path"], block["name"])
        return f"{block[1]}{code}{block[4]}"

    return BLOCK.sub(fill, page)


def main() -> None:
    """Bring the pages up to date."""
    for name in PAGES:
        path = ROOT / name
        path.write_text(include_code(path.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
