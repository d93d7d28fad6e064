"""Documents about one model: the model card, the draft along Annex IV, and the command that repeats."""

from __future__ import annotations

import re
import shlex
from dataclasses import replace
from pathlib import Path

import pytest
import report_run
from small_runs import HOSTILE, renamed
from typer.testing import CliRunner

import gendalens
from gendalens.cli.app import app
from gendalens.report.exports.annex_iv import annex_iv
from gendalens.report.exports.model_card import model_card
from gendalens.report.exports.repeat_commands import list_commands
from gendalens.results.result import Result
from gendalens.results.saved_results import SavedResult, find_results
from gendalens.words import phrase

DAY = phrase("2026-11-18")


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> SavedResult:
    folder = tmp_path_factory.mktemp("documents")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GENDALENS_HOME", str(folder / "home"))
        gendalens.run(
            "control:stereotyped",
            tasks="lm-abc",
            data="builtin",
            sample=40,
            seed=3,
            negligible={"lm-abc": 0.3},
            out=folder / "run",
        )
    (one,) = find_results([folder / "run"])
    return one


def test_the_model_card_answers_first_and_ends_with_how_to_repeat(saved: SavedResult) -> None:
    card = model_card([saved.result], DAY)
    assert re.findall("^#+ .*", card, re.MULTILINE) == [
        "## Gender bias",
        "### Language models on ABC: which sentence is less surprising? (`lm-abc@2`)",
        "### What this does not show",
        "### How to repeat it",
    ]
    assert card.splitlines()[2].startswith("**Is there a gender bias?** ")
    assert "Date: 2026-11-18." in card
    assert "hans" in card
    assert "Date:" not in model_card([saved.result])


def test_a_document_names_the_version_that_has_measured(saved: SavedResult) -> None:
    old = re.sub(r"gendalens:[^|]+", "gendalens:0.9.1", saved.result.signature)
    result = replace(saved.result, signature=old)
    for text in (model_card([result]), annex_iv([result])):
        assert "GenDa Lens 0.9.1" in text
        assert f"GenDa Lens {gendalens.__version__}" not in text


def test_the_draft_says_that_it_is_one_and_leaves_open_what_only_the_user_knows(
    saved: SavedResult, danish: None
) -> None:
    text = annex_iv([saved.result], DAY)
    assert "**Udkast, som du skal gøre færdigt.**" in text
    assert "AI-forordningen" in text
    assert text.count("- [ ] **UDFYLDES**: ") == text.count("UDFYLDES") - 1 == 11


def test_the_draft_has_every_section_in_the_order_of_the_annex(saved: SavedResult) -> None:
    text = annex_iv([saved.result])
    sections = re.findall(r"^## (\d)\. .*Annex IV, points? (\d)", text, re.MULTILINE)
    assert sections == [("1", "1"), ("2", "2"), ("3", "3"), ("4", "4"), ("5", "5"), ("6", "6")]
    for held in (saved.result.signature, *(one["sha256"] for one in saved.result.data.values())):
        assert held in text
    assert str(saved.result.finding) in text.replace("**Too", "**too").replace("**Bias", "**bias")


def test_the_draft_states_the_limit_that_was_judged_by(saved: SavedResult) -> None:
    assert "negligible:" in saved.result.signature
    assert "±0.3 bits (set by the user)" in annex_iv([saved.result])
    own = re.sub(r"\|negligible:[^|]+", "", saved.result.signature)
    text = annex_iv([replace(saved.result, signature=own)])
    assert "±0.25 bits (a quarter of a bit" in text
    assert "set by the user" not in text


@pytest.mark.parametrize("name", HOSTILE, ids=["html", "signs", "marks", "formula", "long"])
def test_a_hostile_name_stays_text_in_the_draft(
    name: str, saved: SavedResult, tmp_path: Path
) -> None:
    text = annex_iv([renamed(saved, tmp_path, name).result])
    prose = "".join(text.split("```")[::2])
    assert "<" not in prose
    assert "](" not in prose.replace("\\](", "")
    assert not any(sign in text for sign in "\u202e\0")
    assert len(re.findall("^```$", text, re.MULTILINE)) == 4


def repeat(result: Result, out: Path) -> Result:
    (command,) = list_commands([result])
    program, *words = shlex.split(command)
    assert program == "gendalens"
    done = CliRunner().invoke(app, [*words, "--out", str(out)])
    assert done.exit_code == 0, done.output
    (again,) = find_results([out])
    return again.result


def test_the_command_measures_the_same_again(saved: SavedResult, tmp_path: Path) -> None:
    assert repeat(saved.result, tmp_path / "run") == saved.result


def test_the_command_leaves_the_user_s_own_files_to_be_filled_in(saved: SavedResult) -> None:
    own = {name: {**one, "whose": "own"} for name, one in saved.result.data.items()}
    (command,) = list_commands([replace(saved.result, data=own)])
    assert "--data abc=PATH" in command
    assert "PATH is the file or folder" in model_card([replace(saved.result, data=own)])
    assert "PATH is" not in model_card([saved.result])


def test_the_draft_says_each_step_once_with_its_tests_and_counts_the_answers(
    small_run: Path,
) -> None:
    results = [one.result for one in find_results(report_run.one_model(small_run))]
    steps = [line for line in annex_iv(results).splitlines() if line.startswith("- ")]
    (shared,) = (step for step in steps if "`: Too little data is no sign" in step)
    assert shared.count("@2`") > 1
    for result in results:
        (counts,) = (step for step in steps if re.match(rf"- `{result.task}@2`: \w+ \d+, ", step))
        found = [int(number) for number in re.findall(r" (\d+)", counts)]
        assert found == [cell.n for cell in result.conditions]
