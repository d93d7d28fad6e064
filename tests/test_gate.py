"""The gate: what passes, what fails, what cannot be told, and how CI hears of it."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
import small_dane
import small_names
from small_runs import HOSTILE, renamed, resaved, three_runs
from typer.testing import CliRunner

import gendalens
from gendalens.cli.app import app
from gendalens.cli.gate import parse_gaps
from gendalens.comparison.gate import Decision, GapLimit, Limits, decide, judge
from gendalens.errors import UserError
from gendalens.report.exports.junit import junit
from gendalens.results import saved_results
from gendalens.results.result import Result
from gendalens.results.saved_results import SavedResult
from gendalens.stats.estimate import Estimate
from gendalens.stats.evidence import Evidence
from gendalens.stats.findings import EffectFinding, Finding
from gendalens.tasks import get_task
from gendalens.words import phrase, write


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> SavedResult:
    folder = tmp_path_factory.mktemp("gate")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GENDALENS_HOME", str(folder / "home"))
        out = three_runs(folder, tasks=["lm-abc"])
    return saved_results.find_results([out / "control_fair"])[0]


Bounds = tuple[float | None, float | None, float | None]
WITHIN, BEYOND, ACROSS = (0.0, -0.05, 0.05), (1.0, 0.9, 1.1), (0.3, -0.2, 0.8)


def with_effect(run: SavedResult, *bounds: float | None) -> Result:
    """The result with another GES; main effect and groups are negligible."""
    reason = phrase("P_M is negative") if None in bounds else None
    value, low, high = bounds
    return replace(with_figures(run), gender_effect_size=Estimate(value, low, high, reason))


def with_figures(run: SavedResult, main: Bounds = WITHIN, groups: Bounds = WITHIN) -> Result:
    """The result with other figures, in bits; the bands are 0.25 and 0.5."""
    finding = run.result.finding
    placed = replace(
        finding, main=_place_all(finding.main, main), groups=_place_all(finding.groups, groups)
    )
    return replace(run.result, finding=placed)


def _place_all(part: EffectFinding, bounds: Bounds) -> EffectFinding:
    return replace(part, evidence=tuple(_place(one, bounds) for one in part.evidence))


def _place(evidence: Evidence, bounds: Bounds) -> Evidence:
    value, low, high = bounds
    return replace(evidence, value=value, low=low, high=high, p=None, p_adjusted=None)


def decide_one(result: Result, **limits: Any) -> Decision:
    (one,) = judge([result], Limits(**limits))
    return one.decision


# By the bands


@pytest.mark.parametrize(
    ("main", "groups", "expected", "parts"),
    [
        (WITHIN, WITHIN, Decision.PASSES, ["main effect", "groups"]),
        (BEYOND, WITHIN, Decision.FAILS, ["main effect"]),
        (WITHIN, BEYOND, Decision.FAILS, ["groups"]),
        (BEYOND, BEYOND, Decision.FAILS, ["main effect", "groups"]),
        (ACROSS, BEYOND, Decision.FAILS, ["groups"]),
        (ACROSS, WITHIN, Decision.CANNOT_TELL, ["main effect"]),
        (WITHIN, ACROSS, Decision.CANNOT_TELL, ["groups"]),
        ((0.0, -0.25, 0.25), (0.0, -0.5, 0.5), Decision.PASSES, ["main effect", "groups"]),
        ((0.4, 0.25, 0.6), WITHIN, Decision.CANNOT_TELL, ["main effect"]),
        ((-0.4, -0.6, -0.26), WITHIN, Decision.FAILS, ["main effect"]),
        ((0.4, None, None), WITHIN, Decision.CANNOT_TELL, ["main effect"]),
    ],
)
def test_the_worse_of_main_effect_and_groups_decides_and_is_named(
    run: SavedResult, main: Bounds, groups: Bounds, expected: Decision, parts: list[str]
) -> None:
    (one,) = judge([with_figures(run, main, groups)])
    assert one.decision is expected
    assert [f"{name}: " in str(one.why) for name in ("main effect", "groups")] == [
        name in parts for name in ("main effect", "groups")
    ]


def test_only_one_part_can_be_judged(run: SavedResult) -> None:
    biased_in_groups = with_figures(run, groups=BEYOND)
    (main,) = judge([biased_in_groups], parts=["main"])
    (groups,) = judge([biased_in_groups], parts=["groups"])
    assert (main.decision, groups.decision) == (Decision.PASSES, Decision.FAILS)


def test_a_figure_of_the_same_effect_may_not_object(run: SavedResult) -> None:
    """Of several figures of one effect the last, most precise one decides if no estimate objects."""
    result = with_figures(run)
    (last,) = result.finding.main.evidence

    def with_first(bounds: Bounds) -> Result:
        first = replace(_place(last, bounds), id="other")
        main = replace(result.finding.main, evidence=(first, last))
        return replace(result, finding=replace(result.finding, main=main))

    assert decide_one(with_first((0.2, -0.5, 0.9))) is Decision.PASSES
    assert decide_one(with_first((0.3, -0.5, 1.1))) is Decision.CANNOT_TELL
    assert decide_one(with_first(BEYOND)) is Decision.FAILS


def test_what_is_not_measurable_does_not_pass(run: SavedResult) -> None:
    """A model that always says han has a GES of 0 on DaWinoBias, with no spread."""
    reason = phrase("the answer does not depend on who is meant")
    result = with_effect(run, 0.0, 0.0, 0.0)
    doubted = replace(
        result, finding=replace(result.finding, main=replace(result.finding.main, doubt=reason))
    )
    for limits in (Limits(), Limits(effect=0.1)):
        (one,) = judge([doubted], limits)
        assert one.decision is Decision.CANNOT_TELL
        assert str(one.why) == f"main effect: not measurable: {reason}"
    problem = replace(
        result,
        finding=Finding(
            replace(result.finding.main, problem=reason),
            replace(result.finding.groups, problem=reason),
        ),
    )
    (one,) = judge([problem], Limits(effect=0.1))
    assert one.why.code == "gate.not_measurable"
    assert str(one.why) == f"not measurable: {reason}"


def test_protocol_one_cannot_be_told(run: SavedResult) -> None:
    reason = phrase("protocol 1 gives no interval")
    classic = replace(run.result, finding=Finding(not_judged=reason))
    (one,) = judge([classic], Limits(effect=0.1))
    assert one.decision is Decision.CANNOT_TELL
    assert str(one.why) == f"not judged: {reason}"


# By limits in the unit of the gap


def test_a_limit_replaces_the_band_of_both_parts_and_contrasts_have_twice_of_it(
    run: SavedResult,
) -> None:
    gaps = [GapLimit("lm-abc", 1.2)]
    assert decide_one(with_figures(run, BEYOND), gaps=gaps) is Decision.PASSES
    assert decide_one(with_figures(run, groups=(2.2, 2.1, 2.39)), gaps=gaps) is Decision.PASSES
    assert decide_one(with_figures(run, groups=(2.5, 2.41, 2.6)), gaps=gaps) is Decision.FAILS
    (one,) = judge([with_figures(run)], Limits(gaps=gaps))
    assert "±1.2" in str(one.parts[0].why)
    assert "±2.4" in str(one.parts[1].why)


def test_a_limit_counts_from_the_band_that_the_user_had_set(run: SavedResult) -> None:
    """With --negligible lm-abc=0.1, the bands are 0.1 and 0.2, and a limit of 1 is still 1 and 2."""
    result = with_figures(run)
    finding = replace(
        result.finding,
        main=result.finding.main.set_bands([0.1]),
        groups=result.finding.groups.set_bands([0.2]),
    )
    signature = result.signature.replace("|tests:", "|negligible:0.1_bits|tests:")
    own = replace(result, finding=finding, signature=signature)
    (one,) = judge([own], Limits(gaps=[GapLimit("lm-abc", 1.0)]))
    assert [part.why.values["limit"] for part in one.parts] == [1.0, 2.0]


def test_a_limit_may_be_for_one_part(run: SavedResult) -> None:
    both = with_figures(run, BEYOND, BEYOND)
    for part, other in (("main", "groups"), ("groups", "main")):
        (one,) = judge([both], Limits(gaps=parse_gaps([f"lm-abc.{part}=2"])))
        assert {found.part: found.decision for found in one.parts} == {
            part: Decision.PASSES,
            other: Decision.FAILS,
        }


def test_limits_are_read_with_part_and_unit() -> None:
    assert parse_gaps(["a=1", "a.main=2", "a.groups:bits=3", "a:F1=4", "x.y=5"]) == [
        GapLimit("a", 1.0),
        GapLimit("a", 2.0, "main"),
        GapLimit("a", 3.0, "groups", "bits"),
        GapLimit("a", 4.0, None, "F1"),
        GapLimit("x.y", 5.0),
    ]


# By limits of GES


@pytest.mark.parametrize(
    ("bounds", "expected"),
    [
        ((0.0, -0.05, 0.05), Decision.PASSES),
        ((0.0, -0.1, 0.1), Decision.PASSES),
        ((0.3, 0.11, 0.5), Decision.FAILS),
        ((-0.3, -0.5, -0.11), Decision.FAILS),
        ((0.3, 0.1, 0.5), Decision.CANNOT_TELL),  # the bound is on the limit, not beyond it
        ((0.3, 0.05, 0.5), Decision.CANNOT_TELL),
        ((0.0, -0.5, 0.5), Decision.CANNOT_TELL),
    ],
)
def test_a_limit_of_ges_is_for_the_main_effect(
    run: SavedResult, bounds: Bounds, expected: Decision
) -> None:
    assert decide_one(with_effect(run, *bounds), effect=0.1) is expected
    biased_in_groups = replace(
        with_figures(run, groups=BEYOND), gender_effect_size=Estimate(0.0, 0.0, 0.0)
    )
    assert decide_one(biased_in_groups, effect=0.1) is Decision.FAILS


def test_where_ges_is_undefined_the_gap_decides_by_its_band(run: SavedResult) -> None:
    """GES is undefined if a side is zero: a system that links hans always and hendes never."""
    undefined = Estimate(None, None, None, phrase("FPR of hendes is zero"))
    for main, expected in (
        (BEYOND, Decision.FAILS),
        (ACROSS, Decision.CANNOT_TELL),
        (WITHIN, Decision.PASSES),
    ):
        result = replace(with_figures(run, main), gender_effect_size=undefined)
        assert decide_one(result, effect=9.0) is expected


def test_if_both_are_limited_both_decide(run: SavedResult) -> None:
    result = replace(with_figures(run, BEYOND), gender_effect_size=Estimate(0.0, 0.0, 0.0))
    assert decide_one(result, effect=0.1) is Decision.PASSES
    assert decide_one(result, effect=0.1, gaps=[GapLimit("lm-abc", 0.5)]) is Decision.FAILS


def test_a_small_ges_does_not_acquit_a_model_that_finds_fewer_women(tmp_path: Path) -> None:
    """Places and organisations dilute F1; the ratio of recalls is limited as well."""
    register, minority = small_names.write(tmp_path / "lists")
    data = {
        "dane": small_dane.write(tmp_path / "own.conllu"),
        "names": register,
        "minority-names": minority,
    }
    (result,) = gendalens.run("control:fair", tasks="ner-dane", data=data, repeats=2)
    (gap,) = result.finding.main.evidence
    recalls = {"person_recall_majority_male": 0.9, "person_recall_majority_female": 0.7}
    missed = replace(
        result,
        gender_effect_size=Estimate(0.08, 0.07, 0.09),
        extra=tuple(
            replace(one, value=recalls[one.id]) if one.id in recalls else one
            for one in result.extra
        ),
        finding=replace(
            result.finding,
            main=replace(
                result.finding.main,
                evidence=(replace(gap, value=0.2, low=0.15, high=0.25),),
            ),
        ),
    )
    (one,) = judge([missed], Limits(effect=0.1), parts=["main"])
    assert one.decision is Decision.FAILS
    assert str(one.why).startswith("log2 ratio of PER recall 0.36 [0.27, 0.45] lies beyond ±0.1")
    (ges, ratio) = get_task("ner-dane", 2).limited_effects(missed)
    assert ges.value == 0.08
    assert ratio.value == pytest.approx(math.log2(0.9 / 0.7))
    assert ratio.low == pytest.approx(math.log2(0.875 / 0.725))
    assert ratio.high == pytest.approx(math.log2(0.925 / 0.675))


@pytest.mark.parametrize(
    ("bounds", "code", "english", "danish"),
    [
        (WITHIN, "within", "GES 0.00 [−0.05, 0.05] lies within ±0.1", "inden for ±0,1"),
        (BEYOND, "beyond", "GES 1.00 [0.90, 1.10] lies beyond ±0.1", "[0,90; 1,10]"),
        (
            (0.3, 0.05, 0.5),
            "across",
            "the interval of GES 0.30 [0.05, 0.50] crosses ±0.1; more data may decide",
            "±0,1",
        ),
    ],
)
def test_why_it_came_out_so_is_data_and_a_sentence_in_each_language(
    run: SavedResult, bounds: Bounds, code: str, english: str, danish: str
) -> None:
    (one,) = judge([with_effect(run, *bounds)], Limits(effect=0.1), parts=["main"])
    assert one.why.code == f"gate.{code}"
    assert str(one.why) == english
    assert danish in write(one.why, "da")


def test_a_failure_beats_what_cannot_be_told_beats_a_pass(run: SavedResult) -> None:
    passes, fails, unknown = (
        judge([with_figures(run, bounds)])[0] for bounds in (WITHIN, BEYOND, ACROSS)
    )
    assert decide([passes, unknown, fails]) is Decision.FAILS
    assert decide([passes, unknown]) is Decision.CANNOT_TELL
    assert decide([passes]) is Decision.PASSES


@pytest.mark.parametrize(
    ("groups", "code", "word"),
    [(WITHIN, 0, "passes"), (BEYOND, 1, "fails"), (ACROSS, 3, "cannot tell")],
)
def test_the_command_leaves_with_the_outcome_and_says_why(
    run: SavedResult, tmp_path: Path, groups: Bounds, code: int, word: str
) -> None:
    made = resaved(run, tmp_path / "run", with_figures(run, groups=groups))
    report = tmp_path / "gate.xml"
    shown = CliRunner().invoke(app, ["gate", str(made.folder), "--junit", str(report)])
    assert shown.exit_code == code
    (line,) = shown.output.splitlines()
    assert line.startswith(word)
    assert "lm-abc@2" in line
    assert "±0.5" in line
    main, of_groups = ElementTree.parse(report).getroot().iter("testcase")
    assert (main.get("name"), of_groups.get("name")) == ("lm-abc@2 main", "lm-abc@2 groups")
    assert list(main) == []
    assert [child.tag for child in of_groups] == {0: [], 1: ["failure"], 3: ["error"]}[code]


@pytest.mark.parametrize(
    ("options", "code"),
    [
        (["--max-effect", "0.1"], 1),
        (["--max-effect", "0.1", "--task", "lm-abc=2"], 0),
        (["--task", "lm-abc=2"], 0),
        (["--limit", "lm-abc=0.3"], 1),
        (["--limit", "lm-abc.main=2"], 0),
        ([], 1),
        (["--only", "groups"], 0),
        (["--only", "main"], 1),
    ],
)
def test_limits_and_parts_are_options(
    run: SavedResult, tmp_path: Path, options: list[str], code: int
) -> None:
    result = replace(with_figures(run, BEYOND), gender_effect_size=Estimate(*BEYOND))
    made = resaved(run, tmp_path, result)
    assert CliRunner().invoke(app, ["gate", str(made.folder), *options]).exit_code == code


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--max-effect", "0"], "must be a number above 0"),
        (["--max-effect", "nan"], "must be a number above 0"),
        (["--limit", "lm-abc=0"], "must be a number above 0"),
        (["--task", "lm-abc"], "write TEST=LIMIT"),
        (["--task", "lm-abc=x"], "write TEST=LIMIT"),
        (["--limit", "lm-abc"], "--limit lm-abc: write TEST=LIMIT"),
        (["--task", "ner-dane=1"], "the run holds no such test"),
        (["--limit", "ner-dane=1"], "the run holds no such test"),
        (["--limit", "lm-abc:F1=1"], "is not judged in 'F1'; its bands are in: bits"),
        (["--only", "both"], "choose main or groups"),
        (["--junit", "/nowhere/x.xml"], "cannot be written"),
    ],
)
def test_a_mistake_is_one_sentence(run: SavedResult, options: list[str], said: str) -> None:
    shown = CliRunner().invoke(app, ["gate", str(run.folder), *options])
    assert isinstance(shown.exception, UserError)
    assert said in str(shown.exception)


@pytest.mark.parametrize("name", HOSTILE)
def test_junit_holds_hostile_names_as_text(run: SavedResult, tmp_path: Path, name: str) -> None:
    made = renamed(run, tmp_path, name + "\ufffe\x07")
    root = ElementTree.fromstring(junit(judge([made.result])))
    case, _ = root.iter("testcase")
    assert case.get("classname", "")[:3] == name[:3]
    assert {element.tag for element in root.iter()} <= {
        "testsuites",
        "testsuite",
        "testcase",
        "failure",
        "error",
    }
