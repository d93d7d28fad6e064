"""What somebody contributes is checked: what was edited by hand is found out."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import gendalens
from gendalens.cli.submission import check_submission
from gendalens.engine.submission import check_results
from gendalens.errors import UserError
from gendalens.results.saved_results import load_result

Edit = Callable[[dict[str, Any]], object]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of one model through three tests, not to be changed."""
    folder = tmp_path_factory.mktemp("submission")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GENDALENS_HOME", str(folder / "home"))
        patch.setattr("gendalens.api.write_report", lambda out, folders: None)
        gendalens.run(
            "control:stereotyped",
            tasks=["coref-abc", "lm-abc", "lm-dawinobias"],
            data="builtin",
            sample=40,
            out=folder / "run",
            cache=False,
        )
    return folder / "run"


@pytest.fixture
def copy(run: Path, tmp_path: Path) -> Path:
    shutil.copytree(run, tmp_path / "run")
    return tmp_path / "run"


def find(run: Path, task: str) -> Path:
    return next(path.parent for path in run.rglob("result.json") if task in path.parent.name)


def edit(folder: Path, change: Edit) -> None:
    path = folder / "result.json"
    plain = json.loads(path.read_text(encoding="utf-8"))
    change(plain)
    path.write_text(json.dumps(plain, ensure_ascii=False), encoding="utf-8")


def list_wrong(run: Path, **options: Any) -> dict[str, list[str]]:
    """What is wrong with each result, by test."""
    return {
        one.folder.name.partition("@")[0]: [
            str(check.message) for check in one.checks if check.state == "wrong"
        ]
        for one in check_results([run], allow_control=True, **options)
    }


def test_a_run_as_it_was_written_is_right_to_the_last_digit(run: Path) -> None:
    checked = check_results([run], allow_control=True)
    assert len(checked) == 3
    for one in checked:
        messages = [str(check.message) for check in one.checks]
        assert one.is_acceptable, messages
        assert "every figure follows from the records, to the last digit" in messages
        assert any("one for every sentence" in message for message in messages)


def test_every_test_is_measured_again_to_the_last_digit(small_run: Path) -> None:
    for one in check_results([small_run], allow_control=True):
        messages = [str(check.message) for check in one.checks]
        assert "every figure follows from the records, to the last digit" in messages, one.folder


@pytest.mark.parametrize(
    ("change", "found"),
    [
        (lambda d: d["gender_effect_size"].update(value=0.0), "gender_effect_size.value 0.0 ≠"),
        (lambda d: d["gap"].update(low=-0.01), "gap.low -0.01 ≠"),
        (lambda d: d["conditions"][0].update(n=9999), "conditions.0.n 9999 ≠"),
        (lambda d: d["nuance"][1].update(high=1.5), "nuance.1.high 1.5 ≠"),
        (lambda d: d["contrast"].update(p=0.9), "contrast.p 0.9 ≠"),
        (lambda d: d["coverage"].update(items=1), "coverage.items"),
        (lambda d: d["extra"].clear(), "extra 0 ≠"),
        (lambda d: d["finding"].update(text="no difference that matters"), "finding.text no"),
        (lambda d: d["harms"].update(main="none"), "harms.main none ≠"),
    ],
)
def test_a_figure_that_was_edited_by_hand_is_found_out(
    copy: Path, change: Edit, found: str
) -> None:
    edit(find(copy, "lm-abc"), change)
    wrong = list_wrong(copy)
    assert found in " ".join(wrong.pop("lm-abc"))
    assert not any(wrong.values())


def test_evidence_that_was_edited_with_its_verdict_is_found_out(copy: Path) -> None:
    folder = find(copy, "lm-dawinobias")

    def acquit(plain: dict[str, Any]) -> None:
        for part in ("main", "groups"):
            for one in plain["finding"][part]["evidence"]:
                one.update(value=0.0, low=-0.001, high=0.001, p=0.9, p_adjusted=1.0)
        finding = gendalens.Result.from_dict(plain).finding
        plain["finding"] = finding.to_dict()

    edit(folder, acquit)
    assert load_result(folder).result.finding.headline == "negligible"
    assert any("do not follow from the records" in one for one in list_wrong(copy)["lm-dawinobias"])


def test_the_loss_of_a_warning_is_found_out(small_run: Path, tmp_path: Path) -> None:
    source = next(
        path.parent
        for path in sorted(small_run.rglob("result.json"))
        if json.loads(path.read_text(encoding="utf-8"))["warnings"]
    )
    shutil.copytree(source.parent, tmp_path / "model")
    edit(tmp_path / "model" / source.name, lambda plain: plain["warnings"].clear())
    wrong = list_wrong(tmp_path / "model")[source.name.partition("@")[0]]
    assert any("warnings 0 ≠" in one for one in wrong)


def test_records_that_were_left_out_or_changed_are_found_out(copy: Path) -> None:
    path = find(copy, "lm-abc") / "records.jsonl"
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    path.write_text("".join(lines[:-2]), encoding="utf-8")
    wrong = list_wrong(copy)["lm-abc"]
    assert any("the records are not those of the data: 78 of 80" in one for one in wrong)
    rows = [json.loads(line) for line in lines]
    rows[0]["log_likelihood"] -= 0.5
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    (wrong_figures,) = list_wrong(copy)["lm-abc"]
    assert "do not follow from the records" in wrong_figures
    path.write_text("{}\n", encoding="utf-8")
    assert "does not hold the records of lm-abc" in list_wrong(copy)["lm-abc"][0]
    path.unlink()
    assert "records.jsonl" in list_wrong(copy)["lm-abc"][0]


@pytest.mark.parametrize(
    ("change", "found"),
    [
        (lambda d: d["model"].update(name="org/other"), "test, data, model or dtype"),
        (lambda d: d["model"].update(software=["torch 2.13.0"]), "software versions"),
        (
            lambda d: d.update(
                signature=d["signature"].replace("tests:coref-abc+lm-abc", "tests:x")
            ),
            "tests of the run",
        ),
        (lambda d: d["data"]["abc"].update(sha256="0" * 64), "test, data, model or dtype"),
        (lambda d: d["data"]["abc"].update(whose="official"), "not the published data set"),
        (lambda d: d.update(schema=2), "result schema 2"),
        (lambda d: d.pop("contrast"), "'contrast' is a required property"),
    ],
)
def test_a_signature_or_data_that_do_not_match_are_found_out(
    copy: Path, change: Edit, found: str
) -> None:
    edit(find(copy, "lm-abc"), change)
    assert found in " ".join(list_wrong(copy)["lm-abc"])


def test_a_test_without_the_others_of_its_run_cannot_be_corrected_again(copy: Path) -> None:
    shutil.rmtree(find(copy, "lm-dawinobias"))
    (wrong,) = list_wrong(copy)["lm-abc"]
    assert wrong.startswith("p-values are corrected for all tests of the run"), wrong


def test_a_control_model_is_refused_unless_it_is_marked(
    run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(UserError, match="3 of 3 results are not acceptable"):
        check_submission([run], allow_control=False)
    assert "✗ it is a control model" in capsys.readouterr().out
    check_submission([run], allow_control=True)
    assert "3 of 3 results are acceptable." in capsys.readouterr().out
