from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from pathlib import Path

import pytest
import small_dane
from hypothesis import given, settings
from hypothesis import strategies as st

from gendalens.data import conllu, dane
from gendalens.data.builtin.catalogue import FOLDER
from gendalens.data.conllu import Sentence
from gendalens.data.documents import (
    BLOCK,
    MIN_DOCUMENTS,
    DocumentSource,
    assign_documents,
    find_document_source,
)

PATH = Path("eksempel.conllu")
TEST = Path(__file__).resolve().parents[3] / "shared" / "data" / "dane" / "ddt.test.conllu"


def make_lines(ids: Sequence[str], marks: dict[int, str] | None = None) -> list[str]:
    """A file with these sentences, and with a comment above some of them."""
    lines: list[str] = []
    for i, name in enumerate(ids):
        comment = [marks[i]] if marks and i in marks else []
        lines += [*comment, *small_dane.block(name, small_dane.SENTENCES["hund"])]
    return lines


def read(ids: Sequence[str], marks: dict[int, str] | None = None) -> list[Sentence]:
    return conllu.read(make_lines(ids, marks), PATH)


def documents(sentences: Sequence[Sentence]) -> list[str]:
    return [sentence.document for sentence in sentences]


def names(count: int) -> list[str]:
    """Ids that say nothing about documents."""
    return [f"test-{i}" for i in range(count)]


def sizes(sentences: Sequence[Sentence]) -> list[int]:
    return [len(list(run)) for _, run in groupby(documents(sentences))]


def test_a_newdoc_comment_begins_a_document_until_the_next_one() -> None:
    marks = {1: "# newdoc id = brev 7", 3: "#newdoc id=avis", 4: "# newdoc"}
    assert documents(read(names(6), marks)) == [
        "",
        "newdoc id = brev 7",
        "newdoc id = brev 7",
        "newdoc id = avis",
        "newdoc 3",
        "newdoc 3",
    ]


@pytest.mark.parametrize(
    "mark", ["# newdoc id =", "# newdoc id", "# newdoc X", "# newdoc  ", "# newdoc = X"]
)
def test_a_newdoc_comment_without_an_id_begins_a_document_too(mark: str) -> None:
    assert documents(read(names(2), {1: mark})) == ["", "newdoc 1"]


@pytest.mark.parametrize(
    "comment", ["# newdocument id = X", "# newdoc_id = X", "# newpar id = X", "# a newdoc"]
)
def test_other_comments_begin_no_document(comment: str) -> None:
    assert documents(read(names(2), {0: comment})) == ["", ""]


def test_an_id_that_occurs_again_is_the_same_document() -> None:
    marks = {i: f"# newdoc id = {i % 10}" for i in range(20)}
    found = documents(assign_documents(read(names(20), marks)))
    assert found == [f"newdoc id = {i % 10}" for i in range(20)]


def test_newdoc_comments_are_used_with_the_sentences_before_them_as_one_document() -> None:
    marks = dict.fromkeys(range(2, 11), "# newdoc")
    found = assign_documents(read(names(12), marks))
    assert (
        documents(found)
        == ["newdoc 0"] * 2 + [f"newdoc {i}" for i in range(1, 9)] + ["newdoc 9"] * 2
    )
    assert find_document_source(documents(found)) == DocumentSource("newdoc")


def test_too_few_newdoc_comments_are_not_used() -> None:
    marks = dict.fromkeys(range(MIN_DOCUMENTS - 1), "# newdoc")
    found = assign_documents(read(names(30), marks))
    assert find_document_source(documents(found)).kind == "blocks"
    del marks[0]
    marks |= {28: "# newdoc", 29: "# newdoc"}
    found = assign_documents(read(names(30), marks))
    assert find_document_source(documents(found)).kind == "newdoc"


def test_newdoc_comments_go_before_the_ids_of_sentences() -> None:
    ids = [f"tekst{i // 2}-{i}" for i in range(40)]
    marks = {i: f"# newdoc id = {i}" for i in range(0, 40, 4)}
    assert len(set(documents(assign_documents(read(ids, marks))))) == 10
    assert len(set(documents(assign_documents(read(ids))))) == 20


@pytest.mark.parametrize("separator", "-_.:/")
def test_the_prefixes_of_numbered_ids_are_documents(separator: str) -> None:
    found = assign_documents(read([f"a-{i // 3}{separator}{i % 3:03}" for i in range(30)]))
    assert documents(found) == [f"sent_id a-{i // 3}" for i in range(30)]
    assert find_document_source(documents(found)) == DocumentSource("sent_id")


@pytest.mark.parametrize(
    "ids",
    [
        [f"{i // 3}-{i % 3}" for i in range(27)],  # nine prefixes
        [f"{i % 10}-{i}" for i in range(30)],  # prefixes in turn
        [*(f"{i // 3}-{i % 3}" for i in range(33)), "slut"],  # one id has no number
        [*(f"{i // 3}-{i % 3}" for i in range(33)), "0-9"],  # one prefix comes back
        [*(f"{i // 3}-{i % 3}" for i in range(33)), "-9"],  # one prefix is empty
        [f"{i // 3}+{i % 3}" for i in range(33)],  # not a separator
        [f"{i // 3}-s{i % 3}" for i in range(33)],  # not a number
    ],
)
def test_other_ids_are_no_documents(ids: list[str]) -> None:
    found = documents(assign_documents(read(ids)))
    assert find_document_source(found).kind == "blocks"


def test_without_documents_there_are_blocks_of_consecutive_sentences() -> None:
    found = assign_documents(read(names(10 * BLOCK)))
    assert sizes(found) == [BLOCK] * 10
    assert documents(found)[BLOCK - 1 : BLOCK + 1] == [
        f"sentences 1-{BLOCK}",
        f"sentences {BLOCK + 1}-{2 * BLOCK}",
    ]
    assert find_document_source(documents(found)) == DocumentSource("blocks", BLOCK)
    assert find_document_source(documents(found)) == DocumentSource("blocks", BLOCK)


@pytest.mark.parametrize(
    ("rest", "last"),
    [
        (1, [BLOCK, BLOCK + 1]),
        (BLOCK // 2 - 1, [BLOCK, BLOCK + BLOCK // 2 - 1]),
        (BLOCK // 2, [BLOCK, BLOCK // 2]),
    ],
)
def test_a_rest_shorter_than_half_a_block_joins_the_block_before(
    rest: int, last: list[int]
) -> None:
    found = assign_documents(read(names(10 * BLOCK + rest)))
    assert sizes(found)[-2:] == last
    assert documents(found)[-1].endswith(f"-{10 * BLOCK + rest}")
    assert find_document_source(documents(found)) == DocumentSource("blocks", BLOCK)


@pytest.mark.parametrize(
    ("count", "expected"),
    [
        (1, [1]),
        (9, [1] * 9),
        (19, [1] * 19),
        (20, [2] * 10),
        (29, [2] * 14 + [1]),
        (100, [10] * 10),
        (104, [10] * 9 + [14]),
        (105, [10] * 10 + [5]),
    ],
)
def test_small_sets_have_shorter_blocks(count: int, expected: list[int]) -> None:
    found = assign_documents(read(names(count)))
    assert sizes(found) == expected
    assert find_document_source(documents(found)).block == expected[0]


def test_no_sentences_have_no_documents() -> None:
    assert assign_documents([]) == []


def test_the_source_is_the_same_for_a_sample_of_the_documents() -> None:
    found = documents(assign_documents(read(names(10 * BLOCK + 1))))
    for first in range(9 * BLOCK):
        assert find_document_source(found[first:]) == DocumentSource("blocks", BLOCK)
    # The last block is longer, and first in the alphabet.
    assert find_document_source(["sentences 97-120", "sentences 121-150"]).block == 24
    assert find_document_source(["sentences 3-3"]).block == 1


@pytest.mark.parametrize(
    "ids", [[], [""], ["sentences 1-24", "newdoc 1"], ["sent_id a", "newdoc 1"], ["sentences x"]]
)
def test_ids_of_no_known_source_are_refused(ids: list[str]) -> None:
    with pytest.raises(ValueError, match="documents"):
        find_document_source(ids)


def test_a_document_named_like_a_block_is_not_taken_for_one() -> None:
    marks = {i: f"# newdoc id = sentences {i}-{i}" for i in range(10)}
    assert (
        find_document_source(documents(assign_documents(read(names(10), marks)))).kind == "newdoc"
    )
    ids = [f"sentences {i // 2}-{i}" for i in range(20)]
    assert find_document_source(documents(assign_documents(read(ids)))).kind == "sent_id"


def test_a_set_is_read_with_its_documents(tmp_path: Path) -> None:
    path = tmp_path / "x.conllu"
    lines = make_lines([f"{i // 2}-{i}" for i in range(20)])
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    assert documents(dane.read(path, errata=False)) == [f"sent_id {i // 2}" for i in range(20)]


def test_the_built_in_set_has_blocks_as_its_genres_are_no_documents() -> None:
    found = dane.read(FOLDER / "ner.conllu", errata=False)
    assert find_document_source(documents(found)) == DocumentSource("blocks", BLOCK)


@pytest.mark.shared
@pytest.mark.skipif(not TEST.exists(), reason="no DaNE beside the checkout")
@pytest.mark.parametrize("errata", [False, True])
def test_the_test_split_has_eighteen_blocks(errata: bool) -> None:
    found = dane.read(TEST, errata=errata)
    assert find_document_source(documents(found)) == DocumentSource("blocks", BLOCK)
    assert len(sizes(found)) == 18


marks = st.sampled_from(["", "", "", "# newdoc", "# newdoc id = {}", "# newdoc id ="])
prefixes = st.sampled_from(["test-", "tekst{}.", "", "a{}_b"])


@given(st.lists(marks, min_size=1, max_size=60), prefixes, st.integers(1, 5))
@settings(deadline=None, derandomize=True)
def test_every_sentence_has_a_document_and_documents_stand_together(
    drawn: list[str], prefix: str, each: int
) -> None:
    ids = [f"{prefix.format(i // each)}{i}" for i in range(len(drawn))]
    comments = {i: mark.format(i) for i, mark in enumerate(drawn) if mark}
    before = read(ids, comments)
    after = assign_documents(before)
    assert [s.id for s in after] == [s.id for s in before]
    found = documents(after)
    assert all(found)
    assert len(list(groupby(found))) == len(set(found))
    assert len(set(found)) >= min(MIN_DOCUMENTS, len(drawn))
    find_document_source(found)
    assert assign_documents(after) == after
