"""A model that favours one side is said to favour that side: from its answers to the sentence.

What each model of ``leaning.py`` is told to be is looked up in ``sentences.toml``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import small_data
from leaning import FEMALE, MALE, Leaning, choose, fill, find_names, link, link_subject, prefer
from test_sentences import LANGUAGES, READINGS, print_result

import gendalens
from gendalens.results.result import Result
from gendalens.words import ENGLISH, use_language

#: For each test: part, figure and side, and the rule that favours that side.
CASES: list[tuple[str, str, str, str, Callable[[], Any]]] = [
    ("lm-abc", "main", "gap", "above", lambda: prefer(lambda word, male: word == "hans")),
    ("lm-abc", "main", "gap", "below", lambda: prefer(lambda word, male: word == "hendes")),
    (
        *("lm-abc", "groups", "contrast", "above"),
        lambda: prefer(lambda word, male: word == ("hans" if male else "hendes")),
    ),
    (
        *("lm-abc", "groups", "contrast", "below"),
        lambda: prefer(lambda word, male: word == ("hendes" if male else "hans")),
    ),
    ("chat-abc", "main", "gap", "above", lambda: choose(lambda male: True)),
    ("chat-abc", "main", "gap", "below", lambda: choose(lambda male: False)),
    ("chat-abc", "groups", "contrast", "above", lambda: choose(lambda male: male)),
    ("chat-abc", "groups", "contrast", "below", lambda: choose(lambda male: not male)),
    ("coref-abc", "main", "gap", "above", lambda: link_subject(lambda word, male: word == "hans")),
    (
        "coref-abc",
        "main",
        "gap",
        "below",
        lambda: link_subject(lambda word, male: word == "hendes"),
    ),
    (
        *("coref-abc", "groups", "contrast", "above"),
        lambda: link_subject(lambda word, male: word == ("hans" if male else "hendes")),
    ),
    (
        *("coref-abc", "groups", "contrast", "below"),
        lambda: link_subject(lambda word, male: word == ("hendes" if male else "hans")),
    ),
    ("lm-dawinobias", "main", "gap", "above", lambda: fill(lambda means_male: means_male)),
    ("lm-dawinobias", "main", "gap", "below", lambda: fill(lambda means_male: not means_male)),
    ("lm-dawinobias", "groups", "contrast", "above", lambda: fill(lambda means_male: True)),
    ("lm-dawinobias", "groups", "contrast", "below", lambda: fill(lambda means_male: False)),
    ("coref-dawinobias", "main", "gap", "above", lambda: link(lambda his, male: his == male)),
    ("coref-dawinobias", "main", "gap", "below", lambda: link(lambda his, male: his != male)),
    ("coref-dawinobias", "groups", "contrast", "above", lambda: link(lambda his, male: his)),
    ("coref-dawinobias", "groups", "contrast", "below", lambda: link(lambda his, male: not his)),
    ("coref-dawinobias", "groups", "occupation_gap", "above", lambda: link(lambda his, male: male)),
    (
        *("coref-dawinobias", "groups", "occupation_gap", "below"),
        lambda: link(lambda his, male: not male),
    ),
    (
        *("ner-dane", "main", "person_recall_gap", "above"),
        lambda: find_names(lambda origin, gender: 0.95 if gender == "male" else 0.2),
    ),
    (
        *("ner-dane", "main", "person_recall_gap", "below"),
        lambda: find_names(lambda origin, gender: 0.95 if gender == "female" else 0.2),
    ),
    (
        *("ner-dane", "groups", "person_recall_contrast", "above"),
        lambda: find_names(
            lambda origin, gender: (
                0.6 if origin == "majority" else 0.95 if gender == "male" else 0.25
            )
        ),
    ),
    (
        *("ner-dane", "groups", "person_recall_contrast", "below"),
        lambda: find_names(
            lambda origin, gender: (
                0.6 if origin == "majority" else 0.95 if gender == "female" else 0.25
            )
        ),
    ),
    (
        *("ner-dane", "groups", "person_recall_origin_gap", "above"),
        lambda: find_names(lambda origin, gender: 0.95 if origin == "majority" else 0.2),
    ),
    (
        *("ner-dane", "groups", "person_recall_origin_gap", "below"),
        lambda: find_names(lambda origin, gender: 0.95 if origin == "minority" else 0.2),
    ),
]


STEREOTYPE = ("pro-stereotypical", "anti-stereotypical")
MAIN_SIDES = {
    "lm-dawinobias": STEREOTYPE,
    "coref-dawinobias": STEREOTYPE,
    "lm-abc": ("male", "female"),
    "chat-abc": ("male", "female"),
    "coref-abc": ("male", "female"),
    "ner-dane": ("male", "female"),
}


@pytest.fixture(autouse=True)
def english() -> Iterator[None]:
    yield
    use_language(ENGLISH)


def measure(test: str, rule: Any, folder: Path) -> Result:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(small_data, "MALE", MALE)
        patch.setattr(small_data, "FEMALE", FEMALE)
        options: dict[str, Any] = {"data": small_data.small_data(folder)}
    if test == "ner-dane":
        options = {"data": "builtin", "sample": 60, "repeats": 4}
    (result,) = gendalens.run(Leaning(rule=rule), tasks=[test], cache=False, **options)
    return result


@pytest.mark.parametrize(
    ("test", "part", "figure", "side", "rule"), CASES, ids=[" ".join(case[:4]) for case in CASES]
)
def test_a_model_is_told_to_lean_the_way_it_does(
    test: str, part: str, figure: str, side: str, rule: Callable[[], Any], tmp_path: Path
) -> None:
    result = measure(test, rule(), tmp_path)
    found = result.finding.main if part == "main" else result.finding.groups
    assert found.verdict == "bias"
    if part == "main":  # as JSON, the hub and Every Eval Ever name it
        assert found.direction == MAIN_SIDES[test][0 if side == "above" else 1]
    row = next(
        one for one in READINGS if (one["test"], one["part"], one["figure"]) == (test, part, figure)
    )
    other = "below" if side == "above" else "above"
    for language in LANGUAGES:
        shown = print_result(result, language)
        assert row[side][language] in shown
        assert row[other][language] not in shown


def test_every_reading_has_a_model_that_it_fits() -> None:
    told = {
        row[side]["en"]
        for test, part, figure, side, _ in CASES
        for row in READINGS
        if (row["test"], row["part"], row["figure"]) == (test, part, figure)
    }
    assert told == {row[side]["en"] for row in READINGS for side in ("above", "below")}
