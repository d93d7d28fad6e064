"""What the documents promise is tested: ``promises.toml`` names the tests of each promise.

Every sentence of the sections below is either a promise, with the tests that would notice if it were
broken, or an explanation that promises nothing.
"""

from __future__ import annotations

import ast
import re
import tomllib
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
TABLE = tomllib.loads((ROOT / "tests/promises.toml").read_text(encoding="utf-8"))
#: The sections of each document that make promises.
SECTIONS = {
    "SECURITY.md": ("What GenDa Lens trusts", "What it does not trust", "What is not promised"),
    "docs/reference/output.md": ("Output of a run",),
    "docs/method/data.md": ("Data",),
    "docs/method/validation.md": ("Validation",),
    "docs/findings.md": (
        "How a finding is made",
        "What each test is judged on",
        "What a result could have seen",
        "What the intervals are about",
    ),
    "docs/gate.md": ("A gate for CI", "Limits"),
    "docs/compare.md": ("Which results are compared", "Differences"),
}
#: Whose table holds sentences; in the others a row is one statement.
SENTENCES_IN_CELLS = "SECURITY.md"
SENTENCE_END = re.compile(r"(?<=[.:!?])\s+(?=[A-Z“\"*`(])|;\s+")


@cache
def sentences(document: str) -> tuple[str, ...]:
    """The sentences of a document's sections: of paragraphs and lists, and the rows of tables."""
    text = (ROOT / document).read_text(encoding="utf-8")
    text = re.sub(r"```.*?```|<!--.*?-->", "", text, flags=re.DOTALL)
    parts = re.split(r"^#+ (.*)$", text, flags=re.MULTILINE)
    found = dict(zip(parts[1::2], parts[2::2], strict=True))
    listed: list[str] = []
    for section in SECTIONS[document]:
        for block in re.split(r"\n\s*\n|\n(?=\s*- )", found[section]):
            rows = [line for line in block.splitlines() if line.startswith("|")]
            if rows and document == SENTENCES_IN_CELLS:
                cells = [cell for row in rows[2:] for cell in row.split(" | ")[1:]]
                listed += [one for cell in cells for one in SENTENCE_END.split(_clean(cell))]
            elif rows:
                listed += [_flatten(row) for row in rows[2:]]
            else:
                listed += SENTENCE_END.split(_flatten(block.strip().removeprefix("- ")))
    return tuple(one for one in listed if len(one.split()) > 1)


def _clean(cell: str) -> str:
    return _flatten(cell.strip(" |–"))


def _flatten(text: str) -> str:
    return " ".join(text.split())


def promises(document: str) -> list[tuple[str, list[str]]]:
    """The quotes of a document, with their tests."""
    return [(quote, names) for quote, names in TABLE[document]["promises"].items()]


EVERY = [
    pytest.param(document, quote, names, id=f"{document}: {quote[:60]}")
    for document in SECTIONS
    for quote, names in promises(document)
]


def test_the_table_is_of_these_documents() -> None:
    assert set(TABLE) == set(SECTIONS)


@pytest.mark.parametrize("document", SECTIONS)
def test_every_sentence_is_a_promise_with_a_test_or_explains(document: str) -> None:
    quotes = [*TABLE[document]["promises"], *TABLE[document].get("explanations", [])]
    left = [one for one in sentences(document) if not any(quote in one for quote in quotes)]
    assert not left, "name their tests in tests/promises.toml:\n" + "\n".join(left)


@pytest.mark.parametrize("document", SECTIONS)
def test_every_quote_is_in_its_document(document: str) -> None:
    quotes = [*TABLE[document]["promises"], *TABLE[document].get("explanations", [])]
    assert len(set(quotes)) == len(quotes)
    for quote in quotes:
        assert any(quote in one for one in sentences(document)), (
            f"{document} no longer says: {quote}"
        )


@pytest.mark.parametrize(("document", "quote", "names"), EVERY)
def test_every_promise_names_tests_that_exist(document: str, quote: str, names: list[str]) -> None:
    assert names, f"{quote}: no test"
    for name in names:
        path, _, function = name.partition("::")
        function, _, case = function.partition("[")
        assert function in list_tests(path), f"{name} is no test"
        if case:  # a row of a table test
            files = (ROOT / "tests" / path).parent.glob("*.py")
            assert any(f'"{case[:-1]}"' in file.read_text(encoding="utf-8") for file in files), name


@cache
def list_tests(path: str) -> frozenset[str]:
    """The test functions of a file."""
    tree = ast.parse((ROOT / "tests" / path).read_text(encoding="utf-8"))
    functions = (node for node in tree.body if isinstance(node, ast.FunctionDef))
    return frozenset(one.name for one in functions if one.name.startswith("test_"))
