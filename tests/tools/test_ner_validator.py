"""The validator of the built-in NER sentences finds every kind of defect, and none in the shipped set."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from gendalens.data import dane
from gendalens.data.builtin import names
from gendalens.data.conllu import Sentence
from gendalens.data.renaming import tells_gender
from gendalens.data.text import read_lines
from tools.builtin_sets import marked_text
from tools.builtin_sets.ner_features import count_features, count_genders
from tools.builtin_sets.ner_validator import find_sentence_problems

CARD = Path(__file__).parents[2] / "docs" / "builtin-ner.md"
ROWS = names.read()
LINES = read_lines(marked_text.TARGET)
Lines = list[str]


@cache
def sentences() -> list[Sentence]:
    return dane.read(marked_text.TARGET, errata=False)


def test_the_shipped_sentences_have_no_problem() -> None:
    assert find_sentence_problems(LINES, ROWS) == []


# Planted defects: each kind is found.


def block(lines: Lines, name: str) -> tuple[int, int]:
    start = lines.index(f"# sent_id = {name}")
    return start, lines.index("", start) + 1


def edited(name: str, old: str, new: str) -> Callable[[Lines], Lines]:
    """One sentence with a piece of its lines replaced."""

    def edit(lines: Lines) -> Lines:
        start, end = block(lines, name)
        text = "\n".join(lines[start:end])
        assert text.count(old) == 1
        return [*lines[:start], *text.replace(old, new).split("\n"), *lines[end:]]

    return edit


def copied(name: str, edit: Callable[[str], str]) -> Callable[[Lines], Lines]:
    """One sentence once more, under another number."""

    def copy(lines: Lines) -> Lines:
        start, end = block(lines, name)
        text = edit("\n".join(lines[start:end])).replace(f"= {name}", "= news-999")
        return [*lines, *text.split("\n")]

    return copy


def without(wanted: Callable[[Sentence], bool]) -> Callable[[Lines], Lines]:
    """The file without some sentences."""

    def cut(lines: Lines) -> Lines:
        for sentence in sentences():
            if wanted(sentence):
                start, end = block(lines, sentence.id)
                lines = [*lines[:start], *lines[end:]]
        return lines

    return cut


def tagged(name: str, tags: str) -> Callable[[Lines], Lines]:
    """One sentence with other tags for its first words."""

    def tag_anew(lines: Lines) -> Lines:
        start, _ = block(lines, name)
        fixed = list(lines)
        for i, tag in enumerate(tags.split(), start=start + 2):
            fixed[i] = re.sub(r"name=[^|]+", f"name={tag}", fixed[i])
        return fixed

    return tag_anew


def first_word_cut(name: str, at: int) -> Callable[[Lines], Lines]:
    """One sentence with its first word in two, the second half outside the entity."""

    def cut(lines: Lines) -> Lines:
        start, end = block(lines, name)
        head, words = lines[start : start + 2], lines[start + 2 : end - 1]
        columns = words[0].split("\t")
        form = columns[1]
        one = ["", form[:at], *columns[2:9], f"{columns[9]}|SpaceAfter=No"]
        two = ["", form[at:], *columns[2:9], "name=O"]
        rows = [one, two, *(word.split("\t") for word in words[1:])]
        numbered = ["\t".join([str(i), *row[1:]]) for i, row in enumerate(rows, start=1)]
        return [*lines[:start], *head, *numbered, *lines[end - 1 :]]

    return cut


def without_tags(*labels: str) -> Callable[[Lines], Lines]:
    """The file without the entities of some labels."""
    pattern = re.compile(rf"name=[BI]-({'|'.join(labels)})\b")
    return lambda lines: [pattern.sub("name=O", line) for line in lines]


def respelled(old: str, new: str) -> Callable[[Lines], Lines]:
    """The file with one word in place of another."""
    return lambda lines: [re.sub(rf"(?<=[\t ]){old}(?=[\t .])", new, line) for line in lines]


def has_genitive(sentence: Sentence) -> bool:
    return any(token.genitive for token in sentence.tokens)


def starts(sentence: Sentence) -> bool:
    return bool(sentence.entities) and sentence.entities[0].span.start == 0


# news-1: Mette Kjærulff overtager den 1. august posten som direktør for Vejle Havn.
DEFECTS: dict[str, tuple[Callable[[Lines], Lines], str]] = {
    "a space too many": (edited("news-1", "|SpaceAfter=No", ""), "structure: .*# text"),
    "a space in the text": (edited("news-1", "Mette Kjærulff ov", "Mette  Kjærulff ov"), "text: "),
    "an entity that continues none": (tagged("news-1", "I-PER I-PER"), "structure: .*continue"),
    "a label inside another": (tagged("news-1", "B-PER I-LOC"), "structure: .*continue"),
    "an unknown label": (tagged("news-1", "B-PERS I-PERS"), "PERS is not a label"),
    "a span one word short": (tagged("news-1", "B-PER O"), "“Kjærulff” .*outside the entities"),
    "a span that begins a word late": (tagged("news-1", "O B-PER"), "“Mette” is a name outside"),
    "a span one word long": (tagged("news-1", "B-PER I-PER I-PER"), "has a small letter"),
    "a place one word long": (tagged("everyday-4", "O O O O B-LOC I-LOC"), "has a small letter"),
    "a span that ends with punctuation": (
        tagged("letters-1", "O B-PER I-PER"),
        "“Margrethe!” begins or ends with punctuation",
    ),
    "a span one letter short": (first_word_cut("news-37", -1), "“Kathrine” .* inside a word"),
    "a span two letters short": (first_word_cut("everyday-6", -2), "“Alfr” .* inside a word"),
    "a compound taken for a name": (
        tagged("everyday-77", "B-PER O O O B-MISC"),
        "“wienerbrød” holds a common word",
    ),
    "a place that is not marked": (tagged("everyday-4", "O O O O O"), "“Nørreport” has a capital"),
    "an apostrophe too many": (respelled("Mikkels", "Mikkel's"), "genitive: “Mikkel's”"),
    "an apostrophe too few": (respelled("Jonas'", "Jonass"), "genitive: “Jonass”"),
    "the same sentence twice": (copied("news-1", str), "duplicate: “mette kjærulff"),
    "the same but for the names": (
        copied("news-1", lambda text: text.replace("Kjærulff", "Holm")),
        "duplicate: “PER overtager",
    ),
    "too few sentences": (without(lambda s: s.id.startswith("news")), r"count: 258 sentences"),
    "too few persons": (without(starts), r"count: \d+ PER"),
    "no other names": (without_tags("MISC"), "count: 0 MISC"),
    "a genre too small": (without(lambda s: s.id.startswith("letters")), "of the genre “letters”"),
    "a genre of its own": (edited("news-1", "= news-1", "= poems-1"), "of the genre “poems”"),
    "too many sentences without names": (without_tags("LOC", "ORG"), "are without a name"),
    "too many told genders": (respelled("i", "hun"), "reveal the person's gender"),
    "no genitives": (without(has_genitive), "feature: genitive with s: 0 times"),
    "no names at the start": (without(starts), "feature: name at the start: 0 times"),
}


@pytest.mark.parametrize("defect", DEFECTS)
def test_a_planted_defect_is_found(defect: str) -> None:
    plant, message = DEFECTS[defect]
    found = find_sentence_problems(plant(list(LINES)), ROWS)
    assert any(re.search(message, problem) for problem in found), found[:5]


FEATURES = ["initials", "list of three", "title before", "three parts", "apostrophe", "compound"]


@pytest.mark.parametrize("feature", FEATURES)
def test_a_missing_feature_is_found(feature: str) -> None:
    (name,) = [known for known in count_features(sentences()) if feature in known]
    cut = without(lambda sentence: count_features([sentence])[name] > 0)
    found = find_sentence_problems(cut(list(LINES)), ROWS)
    assert any(problem.startswith(f"feature: {name}: 0 times") for problem in found), found


def test_a_set_of_men_is_unbalanced() -> None:
    women = {row.name for row in ROWS if row.gender == "female"}
    cut = without(lambda s: any(t.text in women for t in s.tokens))
    found = find_sentence_problems(cut(list(LINES)), ROWS)
    assert any(re.search(r"balance: \d+% of the persons are women", p) for p in found)


# The card.


def card() -> dict[str, str]:
    rows = re.findall(r"^\| ([^|]+) \| ([\d,/ ]+) \|$", CARD.read_text(encoding="utf-8"), re.M)
    return {name: value.strip() for name, value in rows}


def test_the_card_counts_right() -> None:
    said, found = card(), sentences()
    labels = Counter(entity.label for sentence in found for entity in sentence.entities)
    assert said.pop("sentences") == str(len(found))
    for name, label in (
        ("persons (PER)", "PER"),
        ("places (LOC)", "LOC"),
        ("organisations (ORG)", "ORG"),
        ("other names (MISC)", "MISC"),
    ):
        assert said.pop(name) == str(labels[label])
    genres = Counter(sentence.id.split("-")[0] for sentence in found)
    assert said.pop("sentences of news / letters / minutes / everyday") == " / ".join(
        str(genres[genre]) for genre in ("news", "letters", "minutes", "everyday")
    )
    whose = count_genders(found, ROWS)
    assert said.pop("persons with a woman's / a man's / another first word") == " / ".join(
        str(whose[gender]) for gender in ("female", "male", "other")
    )
    assert said == {name: str(times) for name, times in count_features(found).items()}
    text = CARD.read_text(encoding="utf-8")
    telling = sum(tells_gender(s) for s in found if any(e.label == "PER" for e in s.entities))
    assert f"- {telling} sentences contain a pronoun or a title" in text
