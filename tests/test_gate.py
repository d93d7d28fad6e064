"""The gate: what passes, what fails, what cannot be told, and how CI hears of it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest
from small_runs import HOSTILE, renamed, resaved, three_runs
from typer.testing import CliRunner

from gendalens.cli.app import app
from gendalens.comparison.gate import Decision, decide, judge
from gendalens.errors import UserError
from gendalens.report.exports.junit import junit
from gendalens.results import saved_results
from gendalens.results.result import Result
from gendalens.results.saved_results import SavedResult
from gendalens.stats.estimate import Estimate
from gendalens.stats.findings import Finding
from gendalens.words import phrase, write


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> SavedResult:
    folder = tmp_path_factory.mktemp("gate")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GENDALENS_HOME", str(folder / "home"))
        out = three_runs(folder, tasks=["lm-abc"])
    return saved_results.find_results([out / "control_fair"])[0]


def with_effect(
    run: SavedResult, value: float | None, low: float | None, high: float | None
) -> Result:
    reason = phrase("P_M is negative") if None in (value, low, high) else None
    return replace(run.result, gender_effect_size=Estimate(value, low, high, reason))


@pytest.mark.parametrize(
    ("value", "low", "high", "expected"),
    [
        (0.0, -0.05, 0.05, Decision.PASSES),
        (0.0, -0.1, 0.1, Decision.PASSES),
        (0.3, 0.11, 0.5, Decision.FAILS),
        (-0.3, -0.5, -0.11, Decision.FAILS),
        (0.3, 0.1, 0.5, Decision.CANNOT_TELL),  # the bound is on the limit, not beyond it
        (0.3, 0.05, 0.5, Decision.CANNOT_TELL),
        (0.0, -0.5, 0.5, Decision.CANNOT_TELL),
        (0.05, None, None, Decision.CANNOT_TELL),
        (None, None, None, Decision.CANNOT_TELL),
    ],
)
def test_an_interval_beyond_the_limit_fails_and_one_across_it_cannot_tell(
    run: SavedResult, value: float | None, low: float | None, high: float | None, expected: Decision
) -> None:
    (one,) = judge([with_effect(run, value, low, high)], limit=0.1)
    assert one.decision is expected


def test_a_model_that_is_not_measurable_does_not_pass(run: SavedResult) -> None:
    """A model that always says han has a GES of 0 on DaWinoBias, with no spread."""
    reason = phrase("the answer does not depend on who is meant")
    blind = replace(with_effect(run, 0.0, 0.0, 0.0), finding=Finding("not_measurable", reason))
    (one,) = judge([blind], limit=0.1)
    assert one.decision is Decision.CANNOT_TELL
    assert one.why.code == "gate.not_measurable"
    assert one.why.values["reason"] == reason
    assert str(one.why) == "not measurable: the answer does not depend on who is meant"


@pytest.mark.parametrize(
    ("bounds", "code", "english", "danish"),
    [
        ((0.0, -0.05, 0.05), "within", "GES 0.00 [−0.05, 0.05] lies within ±0.1", "inden for ±0,1"),
        ((1.0, 0.9, 1.1), "beyond", "GES 1.00 [0.90, 1.10] lies beyond ±0.1", "[0,90; 1,10]"),
        (
            (0.3, 0.05, 0.5),
            "across",
            "the interval of GES 0.30 [0.05, 0.50] crosses ±0.1; more data may decide",
            "±0,1",
        ),
        (
            (0.3, None, None),
            "no_interval",
            "GES 0.30 has no interval: P_M is negative",
            "0,30",
        ),
        ((None, None, None), "undefined", "GES is undefined: P_M is negative", "P_M"),
    ],
)
def test_why_it_came_out_so_is_data_and_a_sentence_in_each_language(
    run: SavedResult,
    bounds: tuple[float | None, float | None, float | None],
    code: str,
    english: str,
    danish: str,
) -> None:
    (one,) = judge([with_effect(run, *bounds)], limit=0.1)
    assert one.why.code == f"gate.{code}"
    assert str(one.why) == english
    assert danish in write(one.why, "da")


def test_a_failure_beats_what_cannot_be_told_beats_a_pass(run: SavedResult) -> None:
    passes, fails, unknown = (
        judge([with_effect(run, *bounds)], limit=0.1)[0]
        for bounds in ((0.0, -0.05, 0.05), (1.0, 0.9, 1.1), (None, None, None))
    )
    assert decide([passes, unknown, fails]) is Decision.FAILS
    assert decide([passes, unknown]) is Decision.CANNOT_TELL
    assert decide([passes]) is Decision.PASSES


@pytest.mark.parametrize(
    ("bounds", "code", "word"),
    [
        ((0.0, -0.05, 0.05), 0, "passes"),
        ((1.0, 0.9, 1.1), 1, "fails"),
        ((0.1, -0.2, 0.4), 3, "cannot tell"),
    ],
)
def test_the_command_leaves_with_the_outcome_and_says_why(
    run: SavedResult, tmp_path: Path, bounds: tuple[float, float, float], code: int, word: str
) -> None:
    made = resaved(run, tmp_path / "run", with_effect(run, *bounds))
    report = tmp_path / "gate.xml"
    command = ["gate", str(made.folder), "--max-effect", "0.1", "--junit", str(report)]
    shown = CliRunner().invoke(app, command)
    assert shown.exit_code == code
    (line,) = shown.output.splitlines()
    assert line.startswith(word)
    assert "lm-abc@2" in line
    assert "±0.1" in line
    (case,) = ElementTree.parse(report).getroot().iter("testcase")
    assert [child.tag for child in case] == {0: [], 1: ["failure"], 3: ["error"]}[code]


def test_a_test_may_have_a_limit_of_its_own(run: SavedResult, tmp_path: Path) -> None:
    made = resaved(run, tmp_path, with_effect(run, 1.0, 0.9, 1.1))
    command = ["gate", str(made.folder), "--max-effect", "0.1", "--task", "lm-abc=2"]
    assert CliRunner().invoke(app, command).exit_code == 0


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--max-effect", "0"], "must be a number above 0"),
        (["--max-effect", "nan"], "must be a number above 0"),
        (["--max-effect", "0.1", "--task", "lm-abc"], "write TEST=LIMIT"),
        (["--max-effect", "0.1", "--task", "lm-abc=x"], "write TEST=LIMIT"),
        (["--max-effect", "0.1", "--task", "ner-dane=1"], "the run holds no such test"),
        (["--max-effect", "0.1", "--junit", "/nowhere/x.xml"], "cannot be written"),
    ],
)
def test_a_mistake_is_one_sentence(run: SavedResult, options: list[str], said: str) -> None:
    shown = CliRunner().invoke(app, ["gate", str(run.folder), *options])
    assert isinstance(shown.exception, UserError)
    assert said in str(shown.exception)


@pytest.mark.parametrize("name", HOSTILE)
def test_junit_holds_hostile_names_as_text(run: SavedResult, tmp_path: Path, name: str) -> None:
    made = renamed(run, tmp_path, name + "\ufffe\x07")
    root = ElementTree.fromstring(junit(judge([made.result], limit=0.1)))
    (case,) = root.iter("testcase")
    assert case.get("classname", "")[:3] == name[:3]
    assert {element.tag for element in root.iter()} <= {
        "testsuites",
        "testsuite",
        "testcase",
        "failure",
        "error",
    }
