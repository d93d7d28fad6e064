"""Bands of the user's own: from the command line and from Python, in the verdict and the signature."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from small_data import small_data
from typer.testing import CliRunner

import gendalens
from gendalens.cli.app import app
from gendalens.errors import UserError
from gendalens.results.signature import parse_signature
from gendalens.tasks import get_task
from gendalens.tasks.bands import parse_bands, read_bands


def test_a_band_of_ones_own_judges_main_effect_and_groups_and_is_signed(tmp_path: Path) -> None:
    data = small_data(tmp_path)
    (usual,) = gendalens.run("control:fair", tasks="lm-abc", data=data)
    (wide,) = gendalens.run("control:fair", tasks="lm-abc", data=data, negligible={"lm-abc": 5})
    assert usual.finding.headline == "undecided"
    assert wide.finding.headline == "negligible"
    assert [one.band for one in wide.finding.main.evidence] == [5.0]
    assert [one.band for one in wide.finding.groups.evidence] == [10.0]
    assert "negligible" not in usual.signature
    assert parse_signature(wide.signature)["negligible"] == "5_bits"
    assert wide.gap.value == usual.gap.value


def test_a_test_with_two_units_has_a_band_for_each(tmp_path: Path) -> None:
    own = {"lm-dawinobias": 0.1, "lm-dawinobias:bits": 0.7}
    (result,) = gendalens.run(
        "control:fair", tasks="lm-dawinobias", data=small_data(tmp_path), negligible=own
    )
    bands = {one.unit: one.band for one in result.finding.main.evidence}
    assert bands == {"F1": 0.1, "bits": 0.7}
    assert parse_signature(result.signature)["negligible"] == "0.1_F1+0.7_bits"


def test_answers_are_scored_by_bands_of_ones_own(tmp_path: Path) -> None:
    data = small_data(tmp_path / "data")
    where = ["--data", f"abc={data['abc']}"]
    runner = CliRunner()
    made = runner.invoke(app, ["requests", "lm-abc", "-o", str(tmp_path / "asked.jsonl"), *where])
    assert made.exit_code == 0
    _, *asked = (tmp_path / "asked.jsonl").read_text(encoding="utf-8").splitlines()
    lines = [{"format": "gendalens-answers", "version": 1}]
    for place, line in enumerate(asked):
        answer = {"log_likelihood": -20.0 - place % 7, "tokens": 9}
        lines.append({"id": json.loads(line)["id"], **answer})
    answers = tmp_path / "answers.jsonl"
    answers.write_text("\n".join(map(json.dumps, lines)) + "\n", encoding="utf-8")
    command = ["score", "lm-abc", str(answers), "--model-name", "mine", "-o", str(tmp_path / "run")]
    shown = runner.invoke(app, [*command, *where, "--negligible", "lm-abc=7", "--json"])
    assert shown.exit_code == 0, shown.output
    (result,) = json.loads(shown.stdout)
    assert result["finding"]["main"]["band"] == 7.0


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("lm-abc", "write TEST=VALUE or TEST:UNIT=VALUE"),
        ("=1", "write TEST=VALUE"),
        ("lm-abc=x", "write TEST=VALUE"),
        ("lm-abc=0", "must be a number above 0"),
        ("lm-abc=-1", "must be a number above 0"),
        ("lm-abc=nan", "must be a number above 0"),
        ("lm-abc=inf", "must be a number above 0"),
        ("lm-abc:F1=1", "is not judged in 'F1'; its bands are in: bits"),
        ("lm-abd=1", "There is no task 'lm-abd'"),
    ],
)
def test_a_band_that_cannot_be_is_one_sentence(given: str, said: str) -> None:
    command = ["run", "control:fair", "--tasks", "lm-abc", "--data", "builtin"]
    shown = CliRunner().invoke(app, [*command, "--negligible", given])
    assert isinstance(shown.exception, UserError)
    assert said in str(shown.exception)


def test_a_band_of_points_where_a_share_is_meant_is_refused() -> None:
    task = get_task("ner-dane", 2)
    with pytest.raises(UserError, match=r"3 would be 300 points: write 0\.03 for 3 points"):
        task.set_bands({"": 3})
    assert get_task("lm-abc", 2).set_bands({"": 3}).band("bits") == 3


def test_a_test_that_is_not_judged_takes_no_band() -> None:
    with pytest.raises(UserError, match=r"lm-abc@1 is not judged, so no limit can be set for it"):
        get_task("lm-abc", 1).set_bands({"": 3})


def test_python_refuses_what_is_no_number() -> None:
    with pytest.raises(UserError, match="lm-abc is 'wide'; it must be a number above 0"):
        gendalens.run("control:fair", tasks="lm-abc", negligible={"lm-abc": "wide"})  # type: ignore[dict-item]


def test_bands_are_read_back_from_a_signature() -> None:
    task = get_task("lm-dawinobias", 2)
    own = task.set_bands({"": 1 / 3, "bits": 1e17})
    assert own.band("F1") == 1 / 3
    again = task.read_bands(own.band_settings())
    assert (again.band("F1"), again.band("bits")) == (1 / 3, 1e17)
    assert task.read_bands({}).band("F1") == task.band("F1")
    assert parse_bands(["a=1", "a:F1=2"]) == read_bands({"a": 1, "a:F1": 2})
