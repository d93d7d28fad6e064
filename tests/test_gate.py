"""The gate: what passes, what fails, what cannot be told, and how CI hears of it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest
from small_runs import HOSTILE, renamed, resaved, three_runs
from typer.testing import CliRunner

from gendalens.cli.app import app
from gendalens.comparison.gate import Outcome, judge, overall
from gendalens.errors import UserError
from gendalens.report.exports.junit import junit
from gendalens.results import saved_results
from gendalens.results.result import Result
from gendalens.results.saved_results import Saved
from gendalens.stats.estimate import Estimate


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Saved:
    folder = tmp_path_factory.mktemp("gate")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GENDALENS_HOME", str(folder / "home"))
        out = three_runs(folder, tasks=["lm-abc"])
    return saved_results.find([out / "control_fair"])[0]


def with_effect(run: Saved, value: float | None, low: float | None, high: float | None) -> Result:
    reason = "P_M is negative" if None in (value, low, high) else None
    return replace(run.result, gender_effect_size=Estimate(value, low, high, reason))


@pytest.mark.parametrize(
    ("value", "low", "high", "expected"),
    [
        (0.0, -0.05, 0.05, Outcome.PASSES),
        (0.0, -0.1, 0.1, Outcome.PASSES),
        (0.3, 0.11, 0.5, Outcome.FAILS),
        (-0.3, -0.5, -0.11, Outcome.FAILS),
        (0.3, 0.1, 0.5, Outcome.CANNOT_TELL),  # the bound is on the limit, not beyond it
        (0.3, 0.05, 0.5, Outcome.CANNOT_TELL),
        (0.0, -0.5, 0.5, Outcome.CANNOT_TELL),
        (0.05, None, None, Outcome.CANNOT_TELL),
        (None, None, None, Outcome.CANNOT_TELL),
    ],
)
def test_an_interval_beyond_the_limit_fails_and_one_across_it_cannot_tell(
    run: Saved, value: float | None, low: float | None, high: float | None, expected: Outcome
) -> None:
    (one,) = judge([with_effect(run, value, low, high)], limit=0.1)
    assert one.outcome is expected


def test_a_model_that_is_not_measurable_does_not_pass(run: Saved) -> None:
    """A model that always says han has a GES of 0 on DaWinoBias, with no spread."""
    blind = replace(
        with_effect(run, 0.0, 0.0, 0.0),
        verdict="not measurable",
        verdict_reason="the answer does not depend on who is meant",
    )
    (one,) = judge([blind], limit=0.1)
    assert one.outcome is Outcome.CANNOT_TELL
    assert "does not depend on who is meant" in one.why


def test_a_failure_beats_what_cannot_be_told_beats_a_pass(run: Saved) -> None:
    passes, fails, unknown = (
        judge([with_effect(run, *bounds)], limit=0.1)[0]
        for bounds in ((0.0, -0.05, 0.05), (1.0, 0.9, 1.1), (None, None, None))
    )
    assert overall([passes, unknown, fails]) is Outcome.FAILS
    assert overall([passes, unknown]) is Outcome.CANNOT_TELL
    assert overall([passes]) is Outcome.PASSES


@pytest.mark.parametrize(
    ("bounds", "code", "word"),
    [
        ((0.0, -0.05, 0.05), 0, "passes"),
        ((1.0, 0.9, 1.1), 1, "fails"),
        ((0.1, -0.2, 0.4), 3, "cannot tell"),
    ],
)
def test_the_command_leaves_with_the_outcome_and_says_why(
    run: Saved, tmp_path: Path, bounds: tuple[float, float, float], code: int, word: str
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


def test_a_test_may_have_a_limit_of_its_own(run: Saved, tmp_path: Path) -> None:
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
def test_a_mistake_is_one_sentence(run: Saved, options: list[str], said: str) -> None:
    shown = CliRunner().invoke(app, ["gate", str(run.folder), *options])
    assert isinstance(shown.exception, UserError)
    assert said in str(shown.exception)


@pytest.mark.parametrize("name", HOSTILE)
def test_junit_holds_hostile_names_as_text(run: Saved, tmp_path: Path, name: str) -> None:
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
