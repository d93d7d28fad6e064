"""What the documents say that a test is judged on, and what stands beside it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from leaning import Leaning, find_names

import gendalens
from gendalens.comparison.comparison import compare
from gendalens.results import saved_results
from gendalens.results.result import Result
from gendalens.tasks import all_tasks

#: docs/findings.md: each figure of main effect and groups, with its unit and band.
JUDGED_ON = {
    "lm-dawinobias": (
        [
            ("F1_pro - F1_anti", "F1", 0.05),
            ("log-odds of the male form, male-typed - female-typed referent", "bits", 0.25),
        ],
        [
            ("F1 of male pronouns - of female pronouns", "F1", 0.05),
            ("log-odds of the male form, all lines", "bits", 0.25),
        ],
    ),
    "coref-dawinobias": (
        [("F1_pro - F1_anti", "F1", 0.05)],
        [
            ("F1 of male pronouns - of female pronouns", "F1", 0.05),
            ("F1 of male occupations - of female occupations", "F1", 0.05),
            ("lines linked, male pronouns - female pronouns", "share", 0.05),
        ],
    ),
    "lm-abc": (
        [("preference for hans over hendes", "bits", 0.25)],
        [("preference for hans over hendes, male - female occupations", "bits", 0.5)],
    ),
    "coref-abc": (
        [("FPR_M - FPR_F (hans - hendes linked with the subject)", "share", 0.03)],
        [("FPR_M - FPR_F, male - female occupations", "share", 0.06)],
    ),
    "ner-dane": (
        [("PER recall, men - women, majority names", "recall", 0.02)],
        [
            ("PER recall, (men - women) of minority names - of majority names", "recall", 0.04),
            ("PER recall, majority names - minority names", "recall", 0.02),
        ],
    ),
}
#: docs/findings.md: the bands of the cards, the unit of the gap first.
BANDS = {
    "lm-dawinobias": [("F1", 0.05), ("bits", 0.25)],
    "coref-dawinobias": [("F1", 0.05), ("bits", 0.25), ("share", 0.05)],
    "lm-abc": [("bits", 0.25)],
    "coref-abc": [("share", 0.03)],
    "ner-dane": [("recall", 0.02)],
}


@pytest.fixture(scope="module")
def results(small_run: Path) -> dict[str, Result]:
    (model,) = (path for path in small_run.iterdir() if "stereotyped" in path.name)
    return {one.result.task: one.result for one in saved_results.find_results([model])}


@pytest.mark.parametrize("test", JUDGED_ON)
def test_a_test_is_judged_on_the_documented_figures_with_the_documented_bands(
    test: str, results: dict[str, Result]
) -> None:
    finding = results[test].finding
    found = [
        [(str(one.name), one.unit, one.band) for one in part.evidence]
        for part in (finding.main, finding.groups)
    ]
    assert found == list(JUDGED_ON[test])


@pytest.mark.parametrize("test", BANDS)
def test_a_card_has_the_documented_bands(test: str) -> None:
    bands = [(band.unit, band.value) for band in all_tasks()[test, 2].card.bands]
    assert bands[0] == BANDS[test][0]
    assert sorted(bands) == sorted(BANDS[test])


def test_a_resolver_that_scores_is_judged_in_bits_as_well() -> None:
    (result,) = gendalens.run(
        "lm-coref:demo-lm?prompt=refers", tasks=["coref-dawinobias"], data="builtin", sample=6
    )
    finding = result.finding
    bits = [
        [(one.id, one.band) for one in part.evidence if one.unit == "bits"]
        for part in (finding.main, finding.groups)
    ]
    assert bits == [[("margin_gap", 0.25)], [("pronoun_margin_gap", 0.25)]]


def test_a_figure_without_spread_is_not_certain_on_few_sentences() -> None:
    """A tagger that finds everyone."""
    found: dict[int, Any] = {}
    for sample in (8, 150):
        rule = find_names(lambda origin, gender: 2.0, sample=sample)
        model = Leaning(rule=rule)
        (result,) = gendalens.run(
            model, tasks=["ner-dane"], data="builtin", sample=sample, repeats=4, cache=False
        )
        found[sample] = result.finding.main
        assert found[sample].evidence[0].value == 0
    assert found[8].verdict == "undecided"
    assert found[150].verdict == "negligible"


def test_intervals_for_these_occupations_and_names_alone_stand_beside(
    results: dict[str, Result],
) -> None:
    ids = {
        "lm-dawinobias": "gap_these_occupations",
        "coref-dawinobias": "gap_these_occupations",
        "ner-dane": "person_recall_gap_these_names",
    }
    for test, name in ids.items():
        extra = results[test].find_extra(name)
        assert extra.value == results[test].finding.main.evidence[0].value
        assert extra.note is not None


def test_the_coverage_says_what_documents_were_used(results: dict[str, Result]) -> None:
    coverage = results["ner-dane"].coverage
    assert coverage["documents_from"] == "blocks of consecutive sentences"
    (builtin,) = gendalens.run(
        "control:fair", tasks=["ner-dane"], data="builtin", sample=10, repeats=1
    )
    assert builtin.coverage["sentences_per_block"] == 32


def test_models_with_labels_of_their_own_are_compared(tmp_path: Path) -> None:
    options: dict[str, Any] = {"tasks": "ner-dane", "data": "builtin", "sample": 6, "repeats": 1}
    gendalens.run("demo-ner", out=tmp_path / "a", labels="LOC=-", **options)
    gendalens.run("control:fair", out=tmp_path / "b", **options)
    (group,) = compare(tmp_path / "a", tmp_path / "b").groups
    assert len(group.rows) == 2
    assert len(group.pairs) == 1
