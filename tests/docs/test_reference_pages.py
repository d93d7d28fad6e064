"""The reference follows the code: commands, fields, errors, and the table of the specification."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from gendalens.tasks.base import HARMS, SOURCES
from tools.messages import build_template
from tools.site.code_blocks import ROOT
from tools.site.reference import DOCS, PAGES

HOLE = "…"


@pytest.mark.parametrize("page", PAGES)
def test_a_page_is_as_the_code_has_it(page: str) -> None:
    made = PAGES[page]().rstrip() + "\n"
    assert (DOCS / page).read_text(encoding="utf-8") == made, "run `make reference`"


def list_fields(part: dict[str, Any], path: str) -> Iterator[tuple[str, dict[str, Any]]]:
    for name, field in part.get("properties", {}).items():
        yield f"{path}.{name}", field
        yield from list_fields(field, f"{path}.{name}")
    if isinstance(part.get("additionalProperties"), dict):
        yield from list_fields(part["additionalProperties"], path)


def test_every_field_of_a_result_is_described() -> None:
    schema = json.loads((files("gendalens.results") / "result.schema.json").read_text("utf-8"))
    parts = {"result": schema, **schema["$defs"]}
    fields = [found for name, part in parts.items() for found in list_fields(part, name)]
    assert len(fields) > 80
    assert [name for name, field in fields if "description" not in field] == []


def test_every_error_on_the_page_is_one_that_is_raised() -> None:
    page = (DOCS / "reference/errors.md").read_text(encoding="utf-8")
    quoted = re.findall(r"^\| `([^`]+)` \|", page, re.MULTILINE)
    assert len(quoted) > 25
    known = [re.sub(r"\s+", " ", str(message.id)) for message in build_template() if message.id]
    missing = [one for one in quoted if not any(fits(one, text) for text in known)]
    assert missing == []


def fits(quoted: str, message: str) -> bool:
    """Whether a quoted message is this one; a hole stands for a value, or for what is left out."""
    pattern = ".*".join(re.escape(part.strip()) for part in quoted.split(HOLE))
    return re.fullmatch(pattern, message, re.DOTALL) is not None


def test_the_table_of_the_specification_names_files_and_tests_that_exist() -> None:
    page = (DOCS / "method/specification.md").read_text(encoding="utf-8")
    rows = [line for line in page.splitlines() if re.match(r"\| [A-Z]+\d+ \|", line)]
    assert len(rows) > 40
    for row in rows:
        _, _, _, implemented, tested, documented, _ = (cell.strip() for cell in row.split("|"))
        for name in re.findall(r"`([\w./]+\.\w+)`", implemented):
            assert (ROOT / "src/gendalens" / name).is_file(), row
        for name, test in re.findall(r"`([\w./]+\.py)::(\w+)`", tested):
            text = (ROOT / "tests" / name).read_text(encoding="utf-8")
            assert f"def {test}(" in text, f"{name}::{test}"
        assert "`" in implemented, row
        assert "::" in tested, row
        assert "](" in documented, row


def test_every_harm_and_source_of_the_specification_is_defined() -> None:
    assert set(HARMS) == {"stereotyping", "underrepresentation"}
    assert set(SOURCES) == {"label bias", "over-amplification", "selection bias", "semantic bias"}
    page = (DOCS / "definitions.md").read_text(encoding="utf-8")
    defined = {term.lower() for term in re.findall(r"^\*\*(.+)\*\*\n:", page, re.MULTILINE)}
    assert {*HARMS, *SOURCES} <= defined


def test_no_page_tells_where_it_was_written() -> None:
    """No paths of a machine, and no address of a private package index."""
    for path in [ROOT / "README.md", *Path(DOCS).rglob("*.md")]:
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"/(?:work|root|home/\w+|tmp|opt)/", text), path
