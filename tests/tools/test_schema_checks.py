from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from importlib import resources
from pathlib import Path

import pytest

from gendalens.data import registry
from gendalens.data.builtin import abc, schemas
from gendalens.data.builtin.catalogue import SETS
from gendalens.data.builtin.occupations import read_occupations
from gendalens.data.builtin.schemas import Row
from gendalens.data.dawinobias import FILES
from tools.builtin_sets import schema_balance
from tools.builtin_sets.schema_checks import validate_schemas

ROWS = schemas.read_rows()


def planted(*defects: tuple[int, str, str]) -> list[Row]:
    """The built-in rows with words replaced, by place in the file; each must have been there."""
    rows = list(ROWS)
    for place, old, new in defects:
        assert old in rows[place].text
        rows[place] = replace(rows[place], text=rows[place].text.replace(old, new, 1))
    return rows


def test_the_built_in_schemas_are_sound() -> None:
    assert validate_schemas(ROWS) == []


@pytest.mark.network
def test_no_built_in_sentence_is_in_the_official_set(official_home: Path) -> None:
    assert validate_schemas(ROWS, official=registry.locate("dawinobias")) == []


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("<han/hun>", "han", "it needs one [referent]"),
        ("[Elektrikeren]", "Elektrikeren", "it needs one [referent]"),
        ("[Elektrikeren]", "[El-elektrikeren]", "it needs one [referent]"),
        ("<han/hun>", "<han/hende>", "<han/hende> is not one of"),
        ("<han/hun>", "<hun/han>", "<hun/han> is not one of"),
        ("[Elektrikeren]", "[Elektriker]", "“Elektriker” is not an occupation"),
        ("[Elektrikeren]", "[Brandmanden]", "“Brandmanden” is not an occupation"),
        ("[Elektrikeren]", "[Frisøren]", "its two occupations are of the same class"),
        ("nede fra kælderen", "om hendes dør", "“hendes” reveals the gender too"),
        ("nede fra kælderen", "for en kvinde", "“kvinde” reveals the gender too"),
        ("nede fra kælderen", "fra mureren", "it names 3 occupations"),
        ("nede fra kælderen", "om naboens kælder", "“naboens” may be the one"),
        ("[Elektrikeren]", "[elektrikeren]", "it does not begin with a capital"),
        ("sikringsskabet.", "sikringsskabet", "it is not one sentence"),
        ("sikringsskabet.", "skabet. Det var låst.", "it is not one sentence"),
        ("måtte ringe", "måtte  ringe", "its spaces are wrong"),
        ("kælderen,", "kælderen ,", "its spaces are wrong"),
    ],
)
def test_a_defect_in_a_line_is_found(old: str, new: str, problem: str) -> None:
    found = [
        p for p in validate_schemas(planted((0, old, new))) if p.startswith("schema 1, line 1")
    ]
    assert len(found) == 1
    assert problem in found[0]


def test_two_lines_about_different_occupations_are_found() -> None:
    assert validate_schemas(planted((1, "[bibliotekaren]", "[frisøren]"))) == [
        "schema 1: its lines name different occupations"
    ]


def test_two_lines_that_mean_the_same_occupation_are_found() -> None:
    swapped = ((1, "{Elektrikeren}", "[Elektrikeren]"), (1, "[bibliotekaren]", "{bibliotekaren}"))
    assert validate_schemas(planted(*swapped)) == ["schema 1: both lines mean elektrikeren"]


def test_two_lines_of_different_kinds_are_found() -> None:
    rows = [replace(ROWS[0], kind="syntax", cue=False), *ROWS[1:]]
    assert validate_schemas(rows) == ["schema 1: its lines are of different kinds"]


def test_two_world_lines_that_do_not_begin_alike_are_found() -> None:
    assert validate_schemas(planted((1, "måtte ringe", "ringede"))) == [
        "schema 1: its lines do not begin alike"
    ]


def test_a_cue_in_a_line_that_grammar_resolves_is_found() -> None:
    rows = [*ROWS[:-1], replace(ROWS[-1], cue=True)]
    (problem,) = validate_schemas(rows)
    assert problem.endswith("line 2: only a line that knowledge of the world resolves has a cue")


def test_a_set_whose_world_lines_mostly_have_a_cue_is_found() -> None:
    rows = [replace(row, cue=row.kind == "world") for row in ROWS]
    (problem,) = validate_schemas(rows)
    assert problem == "414 of 414 world lines have a cue: half may"


def test_a_small_set_with_few_occupations_of_which_one_is_everywhere_is_found() -> None:
    some = {row.schema for row in ROWS if "frisøren" in row.text.lower()}
    found = " ".join(validate_schemas(renumbered([row for row in ROWS if row.schema in some])))
    assert "schemas, 360 are needed" in found
    assert "occupations, 80 are needed" in found
    assert "frisøren is in 14 of 14 schemas: 4% may be" in found
    assert "occupations are male-typed" in found


def test_a_case_or_a_place_that_goes_with_one_class_is_found() -> None:
    lines = {(x.schema, 2 - x.line % 2): x for x in schemas.read() if x.condition == "pro"}
    uneven = {
        row.schema
        for row in ROWS
        if row.kind == "syntax"
        and (line := lines[row.schema, row.line]).referent.stereotype == "male"
        and line.case == "object"
        and lines[row.schema, 3 - row.line].case != "object"
    }
    first = {
        row.schema
        for row in ROWS
        if row.kind == "world"
        and (line := lines[row.schema, row.line]).referent.stereotype == "male"
        and line.referent.span.start > line.other.span.start
    }
    found = " ".join(
        validate_schemas(renumbered([row for row in ROWS if row.schema not in first])),
    )
    assert "the male-typed occupation meant comes first in 100% of world lines" in found
    found = " ".join(validate_schemas(renumbered([r for r in ROWS if r.schema in uneven])))
    assert "object pronouns differ by -100% between the classes in syntax lines" in found


def test_a_missing_line_is_found() -> None:
    problem = "schema 1: it must be number 1 and have the lines 1 and 2"
    assert problem in validate_schemas(ROWS[1:])


def test_a_sentence_that_returns_with_other_occupations_is_found() -> None:
    rows = [*ROWS[:4], replace(ROWS[4], text=ROWS[0].text), *ROWS[5:]]
    assert (
        "schema 3, line 1: it repeats schema 1, line 1 apart from the occupations"
        in validate_schemas(rows)
    )


def test_an_occupation_whose_word_carries_gender_is_found() -> None:
    known = dict(read_occupations())
    known["sygeplejersken"] = replace(
        known["frisøren"],
        indefinite="sygeplejerske",
        definite="sygeplejersken",
        genitive="sygeplejerskens",
    )
    assert validate_schemas(ROWS, known) == ["the word sygeplejersken carries gender"]


def test_a_sentence_of_the_official_set_is_found_whatever_its_occupations(tmp_path: Path) -> None:
    # An own sentence in the layout of the official files.
    theirs = (
        ROWS[0].text.replace("Elektrikeren", "Direktøren").replace("{bibliotekaren}", "revisoren")
    )
    for name, pronoun in zip(FILES.values(), ("[han]", "[hun]"), strict=True):
        text = theirs.replace("<han/hun>", pronoun) + "\n"
        (tmp_path / name).write_text(text, encoding="utf-8")
    assert validate_schemas(ROWS, official=tmp_path) == ["schema 1, line 1: it is in DaWinoBias"]


def renumbered(rows: list[Row]) -> list[Row]:
    return [replace(row, schema=i // 2 + 1) for i, row in enumerate(rows)]


def test_a_set_in_which_the_male_typed_occupation_mostly_comes_first_is_unbalanced() -> None:
    lines = [line for line in schemas.read() if line.condition == "pro"]
    male_first = {
        line.schema
        for line in lines
        if (line.referent.span.start < line.other.span.start)
        == (line.referent.stereotype == "male")
    }
    problems = validate_schemas(renumbered([row for row in ROWS if row.schema in male_first]))
    assert len(problems) >= 1
    assert any("the male-typed occupation comes first: about half" in p for p in problems)


def test_a_set_in_which_the_one_meant_mostly_comes_first_is_unbalanced() -> None:
    lines = {(x.schema, x.line): x for x in schemas.read() if x.condition == "pro"}
    first = {
        schema
        for (schema, _), line in lines.items()
        if line.referent.span.start < line.other.span.start
    }
    second = {
        schema
        for (schema, _), line in lines.items()
        if line.referent.span.start > line.other.span.start
    }
    problems = validate_schemas(renumbered([r for r in ROWS if r.schema in first - second]))
    assert any("the occupation meant comes first: about half" in p for p in problems)


def test_a_set_short_of_one_case_or_kind_is_unbalanced() -> None:
    genitive = {row.schema for row in ROWS if "<hans/hendes>" in row.text}
    rows = renumbered([r for r in ROWS if r.schema not in genitive and r.kind == "world"])
    found = " ".join(validate_schemas(rows))
    assert "pronouns are genitive: a quarter should be" in found
    assert "resolved by knowledge of the world: about half should be" in found


def test_the_data_card_tells_the_balance_and_the_occupations_as_they_are() -> None:
    folder = resources.files("gendalens.data.builtin")
    card = folder.joinpath("SCHEMAS.md").read_text(encoding="utf-8")
    counts = schema_balance.count_balance(ROWS)
    assert schema_balance.format_table(counts) in card
    assert schema_balance.format_parts(counts) in card
    assert f"{counts.schemas} Danish Winograd schemas" in card
    assert f"{2 * counts.lines} sentences in all" in card
    classes = [o.stereotype for o in read_occupations().values()]
    number = {g: classes.count(g) for g in ("female", "male")}
    assert f"{number['female']} female-typed and {number['male']} male-typed occupations" in card
    uses = [x.referent.occupation for x in schemas.read() if x.condition == "pro"]
    per_schema = {uses.count(o) for o in read_occupations()}
    assert f"each is in {min(per_schema)} to {max(per_schema)} schemas" in card


def test_the_data_card_tells_the_schemas_of_each_kind_as_they_are() -> None:
    file = resources.files("gendalens.data.builtin").joinpath("SCHEMAS.md")
    card = " ".join(file.read_text(encoding="utf-8").split())
    pro = [line for line in schemas.read() if line.condition == "pro"]
    uses = Counter(line.referent.occupation for line in pro)
    proven = [uses[name] for name, o in read_occupations().items() if not o.unproven]
    assert f"those that the headline rests on in {min(proven)} to {max(proven)}." in card
    unproven = {x.schema for x in pro if x.referent.unproven or x.other.unproven}
    assert f"The {len(unproven)} schemas with one of them are asked" in card
    kept = [re.sub(r"\w+(?=[]}])", "", row.text) for row in ROWS if row.kind == "syntax"]
    trading = sum(one == two for one, two in zip(kept[::2], kept[1::2], strict=True))
    assert f"In {trading} of these schemas the two occupations trade places" in card


def test_other_documents_count_the_built_in_sets_right() -> None:
    docs = Path(__file__).parents[2] / "docs"
    count = len({row.schema for row in ROWS})
    triples, jobs, frames = len(abc.read()), len(read_occupations()), len(abc.read_frames())
    told = {
        "method/data.md": (
            f"[{count} schemas]",
            f"[{triples:,} triples](../builtin-abc.md), {jobs} occupations, {frames} frames",
        ),
        "guide/lm-dawinobias.md": (f"With `--data builtin`, {count} schemas",),
        "guide/lm-abc.md": (f"With `--data builtin`, {triples:,} triples over {jobs} occupations",),
    }
    for name, phrases in told.items():
        text = " ".join((docs / name).read_text(encoding="utf-8").split())
        for phrase in phrases:
            assert phrase in text, name
    assert SETS["dawinobias"].holds.startswith(f"{count} schemas")
