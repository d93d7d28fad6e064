from __future__ import annotations

from pathlib import Path

import pytest

from gendalens.data.builtin import schemas
from gendalens.errors import UserError

HEAD = "schema,kind,line,cue,text\n"
ONE = '1,world,1,no,"[Smeden] vinkede til {frisøren}, da <han/hun> cyklede forbi."\n'
TWO = '1,world,2,yes,"Måske lånte {smeden} [frisørens] saks, for <hans/hendes> var bedst."\n'


def write(folder: Path, text: str) -> Path:
    path = folder / "schemas.csv"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_row_gives_the_sentence_its_pronoun_and_both_occupations(tmp_path: Path) -> None:
    line = schemas.read(write(tmp_path, HEAD + ONE + TWO))[1]
    assert line.text == "Måske lånte smeden frisørens saks, for hendes var bedst."
    assert (line.schema, line.line, line.condition) == (1, 2, "pro")
    assert (line.kind, line.cue) == ("world", True)
    assert (line.referent.unproven, line.other.unproven) == (False, True)
    assert (line.pronoun, line.gender, line.case) == ("hendes", "female", "genitive")
    assert (line.referent.text, line.referent.occupation) == ("frisørens", "frisøren")
    assert (line.other.occupation, line.other.stereotype) == ("smeden", "male")
    assert line.gap == ("Måske lånte smeden frisørens saks, for ", " var bedst.")


def test_offsets_cut_the_marked_words_out_of_every_built_in_sentence() -> None:
    for line in schemas.read():
        for span, word in (
            (line.span, line.pronoun),
            (line.referent.span, line.referent.text),
            (line.other.span, line.other.text),
        ):
            assert line.text[span.start : span.end] == word


def test_pro_goes_with_the_stereotype_and_anti_differs_in_the_pronoun_alone() -> None:
    lines = schemas.read()
    half = len(lines) // 2
    assert half == 828
    for pro, anti in zip(lines[:half], lines[half:], strict=True):
        assert (pro.condition, anti.condition) == ("pro", "anti")
        assert (pro.schema, pro.line, pro.gap, pro.case) == (
            *(anti.schema, anti.line, anti.gap, anti.case),
        )
        assert pro.gender == pro.referent.stereotype != anti.gender


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("nonsense\n", "its columns must be"),
        (HEAD, "numbered from 1"),
        (HEAD + ONE, "each with the lines 1 and 2"),
        (HEAD + ONE + TWO.replace("1,", "2,", 1), "numbered from 1"),
        (HEAD + ONE.replace("world", "guess") + TWO, "row 2 needs two numbers, a kind"),
        (HEAD + ONE.replace(",no,", ",maybe,") + TWO, "row 2 needs .* a cue .one of yes, no"),
        (HEAD + ONE.replace("<han/hun>", "<han/hende>") + TWO, "schema 1, line 1: <han/hende>"),
        (HEAD + ONE.replace("[Smeden]", "[Kongen]") + TWO, "“Kongen” is not an occupation"),
        (HEAD + ONE + "1,world,2,no\n", "schema 1, line 2: it needs one"),
    ],
)
def test_a_file_that_cannot_be_used_is_refused_with_the_reason(
    tmp_path: Path, text: str, reason: str
) -> None:
    with pytest.raises(UserError, match=reason):
        schemas.read(write(tmp_path, text))


def test_a_missing_file_and_one_that_is_not_text_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="cannot be read"):
        schemas.read(tmp_path / "none.csv")
    (tmp_path / "schemas.csv").write_bytes(b"\xff\xfe")
    with pytest.raises(UserError, match="cannot be read as UTF-8"):
        schemas.read(tmp_path / "schemas.csv")
