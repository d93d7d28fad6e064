"""Models side by side: what is compared, what stands apart, and what their differences say."""

from __future__ import annotations

import io
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import get_args

import pytest
import small_dane
import small_names
from small_data import control_tests
from small_runs import THREE, renamed, resaved, resigned, three_runs

import gendalens
from gendalens.cli.compare import compare_runs
from gendalens.comparison.comparison import Comparison
from gendalens.comparison.groups import Group
from gendalens.comparison.pair_findings import (
    GroupsCode,
    MainCode,
    PairFinding,
    judge_differences,
)
from gendalens.errors import UserError
from gendalens.report.html import comparison_page
from gendalens.report.terminal import comparison as comparison_terminal
from gendalens.report.terminal.console import PlainConsole
from gendalens.results import saved_results
from gendalens.results.result import Contrast, Extra
from gendalens.results.saved_results import SavedResult
from gendalens.stats.evidence import VERDICTS
from gendalens.stats.multiple import holm
from gendalens.tasks import get_task
from gendalens.tasks.base import Task
from gendalens.words import phrase, write


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("three")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GENDALENS_HOME", str(folder / "home"))
        return three_runs(folder)


@pytest.fixture(scope="module")
def built_in(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same models on the built-in sets, which are large enough to tell them apart."""
    folder = tmp_path_factory.mktemp("built-in")
    tasks = ["coref-abc", "coref-dawinobias", "lm-dawinobias"]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GENDALENS_HOME", str(folder / "home"))
        gendalens.run(list(THREE), tasks=tasks, data="builtin", out=folder / "run")
    return folder / "run"


def of(found: Comparison, task: str) -> Group:
    (group,) = (group for group in found.groups if group.comparability.task == task)
    return group


def one(out: Path, task: str, model: str = "control:fair") -> SavedResult:
    return next(
        run
        for run in saved_results.find_results([out])
        if (run.result.task, run.result.model.name) == (task, model)
    )


def has_clusters(group: Group) -> bool:
    """Whether the test of a group gives differences between models, which an added one need not do."""
    task = get_task(group.comparability.task, 2)
    return type(task).clusters is not Task.clusters


def test_every_model_and_every_pair_is_there_for_each_test(out: Path) -> None:
    found = gendalens.compare(out)
    tests = [f"{name}@2" for name in control_tests()]
    assert {"coref-abc@2", "coref-dawinobias@2", "lm-abc@2", "lm-dawinobias@2"} <= set(tests)
    assert [group.test for group in found.groups] == tests
    for group in found.groups:
        assert {row.label for row in group.rows} == set(THREE)
        assert len(group.pairs) == (3 if has_clusters(group) else 0)
        assert (group.refused is None) == has_clusters(group)
        assert group.apart is None
    json.dumps(found.to_dict(), allow_nan=False)
    assert repr(found).endswith(f"{', '.join(f'{test} (3)' for test in tests)}>")


def test_a_difference_is_that_of_the_two_results(out: Path) -> None:
    compared = 0
    for group in gendalens.compare(out).groups:
        figures = {row.label: row.figures for row in group.rows}
        for pair in group.pairs:
            first, second = figures[pair.first], figures[pair.second]
            for part in ("main", "groups"):
                minuends, subtrahends = (
                    getattr(one.finding, part).evidence for one in (first, second)
                )
                # The test may have more figures than models are compared by, but not fewer.
                found = getattr(pair, part)
                assert 0 < len(found) <= len(minuends)
                for one, minuend, subtrahend in zip(found, minuends, subtrahends, strict=False):
                    assert one.name.values["figure"] == minuend.name
                    assert one.unit == minuend.unit
                    if one.value is not None:
                        assert one.value == pytest.approx(minuend.value - subtrahend.value)
                        compared += 1
            if pair.effect.value is not None:
                assert first.effect.value is not None
                assert second.effect.value is not None
                expected = first.effect.value - second.effect.value
                assert pair.effect.value == pytest.approx(expected)
    assert compared > 20


def test_a_model_against_itself_differs_by_exactly_zero(out: Path, tmp_path: Path) -> None:
    for task in ("lm-abc", "lm-dawinobias", "coref-abc", "coref-dawinobias"):
        run = one(out, task)
        twin = renamed(run, tmp_path, "twin")
        (pair,) = of(gendalens.compare(run, twin), task).pairs
        for figure in (*pair.main, *pair.groups):
            assert (figure.value, figure.low, figure.high, figure.p) == (0, 0, 0, 1)
        assert (pair.effect.value, pair.effect.low, pair.effect.high) == (0, 0, 0)
        assert (pair.finding.main, pair.finding.groups) == ("same", "same")
        assert str(pair.finding) == "cannot be told apart"


@pytest.mark.slow
def test_a_planted_difference_is_found_and_its_side_is_told(built_in: Path) -> None:
    group = of(gendalens.compare(built_in), "coref-dawinobias")
    (pair,) = (p for p in group.pairs if {p.first, p.second} == set(THREE[:2]))
    which = "first" if pair.first == THREE[1] else "second"
    assert pair.finding.main == f"{which}_leans_further"
    sentence = "leans further to the male or pro-stereotypical side"
    assert str(pair.finding).startswith(f"the {which} {sentence}")
    number = "1" if which == "first" else "2"
    assert str(pair.finding.describe("[1]", "[2]")).startswith(f"[{number}] {sentence}")
    assert write(pair.finding.describe(), "da").startswith("den ")


@pytest.mark.slow
def test_models_that_differ_only_in_groups_are_told_apart(built_in: Path) -> None:
    """control:stereotyped links hans with men's occupations and hendes with women's, as often."""
    group = of(gendalens.compare(built_in), "coref-abc")
    (pair,) = (p for p in group.pairs if {p.first, p.second} == set(THREE[:2]))
    assert (pair.finding.main, pair.finding.groups) == ("same", "differ")
    assert str(pair.finding) == (
        "cannot be told apart in the main effect, but differ in groups: "
        "FPR_M - FPR_F, male - female occupations"
    )


def make_difference(
    low: float | None, high: float | None, p: float | None = None, adjusted: float | None = None
) -> Contrast:
    value = 0.2 if low is None or high is None else (low + high) / 2
    return Contrast(
        name=phrase("gap"),
        unit="share",
        value=value,
        low=low,
        high=high,
        p=p,
        p_adjusted=p if adjusted is None else adjusted,
    )


UP, DOWN, NONE = (
    make_difference(0.1, 0.3, 0.001),
    make_difference(-0.3, -0.1, 0.002),
    make_difference(-0.1, 0.1, 0.9),
)
LEANS = "leans further to the male or pro-stereotypical side"


@pytest.mark.parametrize(
    ("main", "groups", "codes", "english"),
    [
        ([UP], [NONE], ("first_leans_further", "same"), f"the first {LEANS}"),
        ([DOWN], [NONE], ("second_leans_further", "same"), f"the second {LEANS}"),
        (
            [UP],
            [NONE, DOWN],
            ("first_leans_further", "differ"),
            f"the first {LEANS}, and they differ in groups: gap",
        ),
        ([NONE], [NONE], ("same", "same"), "cannot be told apart"),
        ([NONE], [], ("same", "unknown"), "cannot be told apart in the main effect"),
        (
            [NONE],
            [UP],
            ("same", "differ"),
            "cannot be told apart in the main effect, but differ in groups: gap",
        ),
        (
            [make_difference(None, None)],
            [UP],
            ("unknown", "differ"),
            "differ in groups: gap; the main effect cannot be compared",
        ),
        (
            [make_difference(None, None)],
            [NONE],
            ("unknown", "same"),
            "cannot be told apart in groups; the main effect cannot be compared",
        ),
        ([make_difference(None, None)], [], ("unknown", "unknown"), "cannot be told"),
        # The figure with the smallest p decides if two disagree.
        ([DOWN, UP], [], ("first_leans_further", "unknown"), f"the first {LEANS}"),
        (
            [make_difference(0.1, 0.3, 0.04, 0.06)],
            [NONE],
            ("same", "same"),
            "cannot be told apart (gap differs, but not after correction for 7 differences)",
        ),
        (
            [NONE],
            [make_difference(0.1, 0.3, 0.04, 0.06)],
            ("same", "same"),
            "cannot be told apart (gap differs, but not after correction for 7 differences)",
        ),
        (
            [make_difference(0.2, 0.2, 0.125)],
            [NONE],
            ("same", "same"),
            "cannot be told apart (gap differs, but its p is not below .05)",
        ),
    ],
)
def test_two_models_are_judged_in_main_effect_and_groups(
    main: list[Contrast], groups: list[Contrast], codes: tuple[str, str], english: str
) -> None:
    finding = judge_differences(main, groups, differences=7)
    assert (finding.main, finding.groups) == codes
    assert str(finding) == finding.to_dict()["text"] == english


def test_nothing_is_known_of_models_that_were_not_compared() -> None:
    assert str(PairFinding()) == "cannot be told"
    assert not PairFinding().is_known


def test_a_comparison_as_plain_data_has_codes_beside_its_sentences(out: Path) -> None:
    for group in gendalens.compare(out).to_dict()["groups"]:
        assert group["apart"] is None
        for model in group["models"]:
            assert model["finding"]["headline"] in VERDICTS
            assert model["finding"]["main"]["is"] in VERDICTS
            assert model["finding"]["text"] == model["verdict"]
        for pair in group["differences"]:
            assert pair["finding"]["main"] in get_args(MainCode)
            assert pair["finding"]["groups"] in get_args(GroupsCode)
            assert pair["finding"]["text"]
            for figure in (*pair["main"], *pair["groups"]):
                assert figure["name"]["code"] == "compare.difference_of"


def test_p_is_adjusted_over_all_differences_of_the_comparison(out: Path) -> None:
    found = gendalens.compare(out)
    pairs = [pair for group in found.groups for pair in group.pairs]
    figures = [figure for pair in pairs for figure in (*pair.main, *pair.groups)]
    assert found.differences == sum(figure.p is not None for figure in figures) > 16
    assert [figure.p_adjusted for figure in figures] == holm([figure.p for figure in figures])


@pytest.mark.slow
def test_a_model_that_is_not_measurable_is_compared_in_groups_alone(built_in: Path) -> None:
    """One that always says han has no main effect, but a difference between the pronouns."""
    group = of(gendalens.compare(built_in), "lm-dawinobias")
    pairs = [pair for pair in group.pairs if "control:always-han" in (pair.first, pair.second)]
    assert len(pairs) == 2
    for pair in pairs:
        assert [figure.value for figure in pair.main] == [None, None]
        assert pair.effect.value is None
        for reason in (pair.effect.reason, *(figure.reason for figure in pair.main)):
            assert reason is not None
            assert reason.code == "compare.model_not_measurable"
            assert str(reason) == "control:always-han is not measurable"
        assert all(figure.value is not None for figure in pair.groups)
        assert (pair.finding.main, pair.finding.groups) == ("unknown", "differ")


def test_shares_are_compared_in_points(out: Path) -> None:
    comparison = gendalens.compare(out, tasks="coref-abc")
    console = PlainConsole(width=80, file=io.StringIO(), highlight=False)
    comparison_terminal.show(console, comparison)
    printed = console.file.getvalue()  # type: ignore[attr-defined]
    (group,) = comparison.groups
    gap = group.pairs[0].main[0]
    assert gap.unit == "share"
    assert f"{100 * (gap.value or 0):.1f}".replace("-", "−") in printed
    assert " points" in printed
    assert " share" not in printed
    page = re.sub(r"<[^>]+>", "", comparison_page.html(comparison))
    assert "±3 points" in page
    assert "±0.03 share" not in page


def test_other_bands_stand_in_a_table_of_their_own(out: Path, tmp_path: Path) -> None:
    run = one(out, "lm-abc")
    other = resigned(run, tmp_path, "sample:all", "sample:all|negligible:0.4_bits")
    found = gendalens.compare(run, other)
    assert len(found.groups) == 2
    said = [str(group.apart) for group in found.groups]
    assert "band of negligible effects as on the card here, 0.4 bits elsewhere" in said[0]
    assert "band of negligible effects 0.4 bits here, as on the card elsewhere" in said[1]


@pytest.mark.parametrize(
    ("before", "after", "named"),
    [
        ("sample:all", "sample:5", "sample all here, 5 elsewhere"),
        ("|gendalens:", "|gendalens:9.", "gendalens"),
        ("sample:all", "sample:all|names:matched", "names none here, matched elsewhere"),
    ],
)
def test_other_options_or_versions_stand_in_a_table_of_their_own(
    out: Path, tmp_path: Path, before: str, after: str, named: str
) -> None:
    run = one(out, "lm-abc")
    other = resigned(run, tmp_path, before, after)
    found = gendalens.compare(run, other)
    assert len(found.groups) == 2
    assert all(group.pairs == () for group in found.groups)
    assert any(named in str(group.apart) for group in found.groups)
    assert all("Not compared with other results" in str(group.apart) for group in found.groups)


def test_other_data_stand_in_a_table_of_their_own(out: Path, tmp_path: Path) -> None:
    run = one(out, "lm-abc")
    data = {"abc": {**run.result.data["abc"], "sha256": "0" * 64}}
    other = resaved(
        run, tmp_path, replace(run.result, data=data, signature="x" + run.result.signature)
    )
    found = gendalens.compare(run, other)
    assert len(found.groups) == 2
    assert "data abc" in str(found.groups[0].apart)


def test_a_seed_divides_only_what_is_drawn(out: Path, tmp_path: Path) -> None:
    run = one(out, "lm-abc")
    other = resigned(run, tmp_path, "|seed:0", "|seed:1")
    assert len(gendalens.compare(run, other).groups) == 1
    drawn = resigned(run, tmp_path, "sample:all", "sample:all|repeats:2")
    again = resigned(drawn, tmp_path, "|seed:0", "|seed:1")
    assert len(gendalens.compare(drawn, again).groups) == 2


def test_protocol_one_is_never_lined_up_with_two_and_has_no_differences(
    out: Path, tmp_path: Path
) -> None:
    run = one(out, "lm-abc")
    classic = [
        replace(two.result, protocol=1, signature=two.result.signature.replace("@2", "@1", 1))
        for two in (run, renamed(run, tmp_path, "twin"))
    ]
    found = gendalens.compare(run, [resaved(run, tmp_path, result) for result in classic])
    assert [group.test for group in found.groups] == ["lm-abc@1", "lm-abc@2"]
    assert "protocol 1 here, 2 elsewhere" in str(found.groups[0].apart)
    refused = found.groups[0].refused
    assert refused is not None
    assert refused.code == "compare.no_intervals"
    assert str(refused) == "lm-abc@1 has no intervals, so differences have none; use protocol 2."
    assert not found.groups[0].failed


def test_two_models_of_one_name_are_told_apart_by_revision_then_dtype(
    out: Path, tmp_path: Path
) -> None:
    run = one(out, "lm-abc")
    made = [
        renamed(run, tmp_path / str(i), "org/danish ø", revision=revision, dtype=dtype)
        for i, (revision, dtype) in enumerate(
            [("abcdefgh1", "float32"), ("abcdefgh2", "float32"), ("abcdefgh2", "bfloat16")]
        )
    ]
    group = of(gendalens.compare(made), "lm-abc")
    assert [row.label for row in group.rows] == [
        "org/danish ø @abcdefgh1",
        "org/danish ø @abcdefgh2 @float32",
        "org/danish ø @abcdefgh2 @bfloat16",
    ]


def test_the_same_result_in_two_folders_counts_once(out: Path, tmp_path: Path) -> None:
    run = one(out, "lm-abc")
    copy = resaved(run, tmp_path, run.result)
    assert len(of(gendalens.compare(run, copy), "lm-abc").rows) == 1


def test_the_forced_reading_is_lined_up_between_masked_and_causal_models(
    out: Path, tmp_path: Path
) -> None:
    """The masked model's forced figures stand beside its headline; a causal one's are the headline."""
    run = one(out, "lm-dawinobias", THREE[1])
    extra = tuple(
        replace(one, value=0.25, low=0.2, high=0.3)
        if one.id in ("ges_forced", "gap_forced")
        else one
        for one in run.result.extra
    )
    masked = resaved(run, tmp_path / "masked", replace(run.result, extra=extra))
    causal = renamed(run, tmp_path / "causal", "causal")
    causal = resaved(
        causal,
        tmp_path / "causal",
        replace(causal.result, coverage={**causal.result.coverage, "headline_reading": "forced"}),
    )
    group = of(gendalens.compare(masked, causal), "lm-dawinobias")
    assert str(group.note) == "forced reading"
    assert group.rows[0].figures.effect.value == 0.25
    assert group.rows[1].figures.effect == causal.result.gender_effect_size
    assert isinstance(extra[0], Extra)


def test_results_without_records_have_no_differences(out: Path) -> None:
    results = [run.result for run in saved_results.find_results([out])]
    group = of(gendalens.compare(results), "lm-abc")
    assert group.pairs == ()
    assert group.refused is not None
    assert group.refused.code == "compare.no_records"
    assert "need the records" in str(group.refused)


def test_more_models_than_one_can_read_have_no_differences(out: Path, tmp_path: Path) -> None:
    run = one(out, "lm-abc")
    many = [renamed(run, tmp_path, f"model {i}") for i in range(41)]
    group = of(gendalens.compare(many), "lm-abc")
    assert len(group.rows) == 41
    assert "41 models are too many" in str(group.refused)


def test_a_test_that_no_run_holds_is_named(out: Path) -> None:
    with pytest.raises(UserError, match="hold no result of 'ner-dane'"):
        gendalens.compare(out, tasks="ner-dane")


def test_damaged_records_are_a_sentence_and_the_table_stays(out: Path, tmp_path: Path) -> None:
    run = one(out, "lm-abc")
    twin = renamed(run, tmp_path, "twin")
    (twin.folder / "records.jsonl").write_text("{", encoding="utf-8")
    group = of(gendalens.compare(run, twin), "lm-abc")
    assert len(group.rows) == 2
    assert "records.jsonl cannot be used" in str(group.refused)
    with pytest.raises(UserError, match=r"records\.jsonl cannot be used"):
        compare_runs([run.folder, twin.folder], None, {}, None)


def test_ner_models_are_paired_and_only_under_the_same_names(tmp_path: Path) -> None:
    register, minority = small_names.write(tmp_path / "lists")
    dane = small_dane.write(tmp_path / "own.conllu")
    data = {"dane": dane, "names": register, "minority-names": minority}
    models = ["control:fair", "control:male-default?strength=0.4"]
    for seed in (0, 1):
        gendalens.run(
            models, tasks="ner-dane", data=data, out=tmp_path / "run", repeats=2, seed=seed
        )
    found = gendalens.compare(tmp_path / "run")
    assert len(found.groups) == 2
    assert "seed 0 here, 1 elsewhere" in str(found.groups[0].apart)
    for group in found.groups:
        (pair,) = group.pairs
        first, second = (row.result.finding.main.evidence[0].value for row in group.rows)
        assert first is not None
        assert second is not None
        assert pair.main[0].value == pytest.approx(first - second)
        assert len(pair.groups) == 2
