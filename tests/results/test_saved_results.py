"""What a run wrote can be read back, and what is damaged is reported."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest
from small_data import control_tests, small_data

import gendalens
from gendalens.errors import UserError
from gendalens.results import saved_results


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("saved")
    data = small_data(folder / "data")
    gendalens.run(["control:fair", "control:always-han"], data=data, out=folder / "run")
    return folder / "run"


@pytest.fixture
def out(run: Path, tmp_path: Path) -> Path:
    """A copy of the run that a test may damage."""
    return shutil.copytree(run, tmp_path / "run")


def test_a_run_reads_back_as_it_was_written(out: Path) -> None:
    found = saved_results.find_results([out])
    assert {(one.result.model.name, one.result.task) for one in found} == {
        (model, task)
        for model in ("control:fair", "control:always-han")
        for task in control_tests()
    }
    for one in found:
        assert one.result.to_json() == (one.folder / "result.json").read_text(encoding="utf-8")
        assert [json.dumps(row, ensure_ascii=False) for row in one.records()] == (
            (one.folder / "records.jsonl").read_text(encoding="utf-8").splitlines()
        )
        assert one.run["requests"]


def test_a_folder_named_twice_or_inside_another_counts_once(out: Path) -> None:
    one = saved_results.find_results([out])[0]
    again = saved_results.find_results(
        [out, one.folder, one.folder / "result.json", one.folder.parent]
    )
    assert [other.folder for other in again] == [
        other.folder for other in saved_results.find_results([out])
    ]


def test_a_folder_without_results_is_named(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(UserError, match=r"empty holds no result\.json"):
        saved_results.find_results([tmp_path / "empty"])
    with pytest.raises(UserError, match="nowhere does not exist"):
        saved_results.find_results([tmp_path / "nowhere"])
    (tmp_path / "notes.txt").touch()
    with pytest.raises(UserError, match=r"notes\.txt is not a result\.json"):
        saved_results.find_results([tmp_path / "notes.txt"])


@pytest.mark.parametrize("name", ["a" * 300, f"{'a' * 300}/result.json"])
def test_a_path_that_cannot_be_one_is_named(name: str, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r" cannot be read \(File name too long\)|does not exist"):
        saved_results.find_results([tmp_path / name])


def test_a_folder_that_may_not_be_entered_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def forbid(_: Path) -> bool:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "is_dir", forbid)
    with pytest.raises(UserError, match=r"run cannot be read \(Permission denied\): name a run"):
        saved_results.find_results([Path("/forbidden/run")])


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"protocol": "two"}, "protocol"),
        ({"gap": {}}, "gap"),
        ({"conditions": [1]}, "conditions/0"),
        ({"surplus": 1}, "surplus"),
    ],
)
def test_a_damaged_result_is_named_with_the_place(
    out: Path, change: dict[str, Any], named: str
) -> None:
    path = saved_results.find_results([out])[0].folder / "result.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | change), encoding="utf-8")
    with pytest.raises(UserError, match=named):
        saved_results.find_results([out])


@pytest.mark.parametrize("schema", [1, 2, "3"])
def test_a_result_of_another_schema_is_refused_with_what_to_do(out: Path, schema: object) -> None:
    path = saved_results.find_results([out])[0].folder / "result.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"schema": schema}), encoding="utf-8")
    with pytest.raises(UserError) as refused:
        saved_results.find_results([out])
    assert str(refused.value) == (
        f"{path} has result schema {schema!r} and this version of GenDa Lens reads 3: run the test "
        "again, or use the version that wrote it."
    )


def test_a_finding_that_its_evidence_does_not_bear_out_is_refused(out: Path) -> None:
    path = saved_results.find_results([out])[0].folder / "result.json"
    plain = json.loads(path.read_text())
    said = plain["finding"]["headline"]
    plain["finding"]["headline"] = "negligible" if said != "negligible" else "bias"
    path.write_text(json.dumps(plain), encoding="utf-8")
    with pytest.raises(UserError, match="the finding does not follow from its evidence"):
        saved_results.find_results([out])


@pytest.mark.parametrize("bad", [b"", b"{", b"\xff", b"[]", b"[" * 100_000])
def test_what_is_no_json_is_named(out: Path, bad: bytes) -> None:
    one = saved_results.find_results([out])[0]
    (one.folder / "records.jsonl").write_bytes(bad + b"\n")
    with pytest.raises(UserError, match=r"records\.jsonl cannot be used"):
        list(one.records())
    (one.folder / "records.jsonl").write_bytes(b"{}\n" + bad + b"\n")
    with pytest.raises(UserError, match=r"line 2\b"):
        list(one.records())
    (one.folder / "result.json").write_bytes(bad)
    with pytest.raises(UserError, match=r"result\.json cannot be used"):
        saved_results.find_results([out])


def test_half_of_a_character_is_refused(out: Path) -> None:
    one = saved_results.find_results([out])[0]
    (one.folder / "records.jsonl").write_text('{}\n{"text": "d\\ud800"}\n', encoding="utf-8")
    with pytest.raises(UserError, match=r"line 2: a text in it has half of a character"):
        list(one.records())
    path = one.folder / "result.json"
    plain = json.loads(path.read_text(encoding="utf-8"))

    def save_warning(text: str) -> None:
        warning = {"code": "of_a_plugin", "values": {}, "text": text}
        path.write_text(json.dumps(plain | {"warnings": [warning]}), encoding="utf-8")

    save_warning("\U0001f600")
    (warning,) = saved_results.load_result(one.folder).result.warnings
    assert str(warning) == "\U0001f600"
    save_warning("d\ud800")
    with pytest.raises(UserError, match=r"result\.json cannot be used \(a text in it has half"):
        saved_results.find_results([out])


def test_a_message_nested_beyond_measure_is_refused(out: Path) -> None:
    path = saved_results.find_results([out])[0].folder / "result.json"
    plain = json.loads(path.read_text(encoding="utf-8"))
    deep = "[" * 400 + "]" * 400
    text = json.dumps(plain | {"problem": {"code": "x", "values": {"v": "DEEP"}, "text": "x"}})
    path.write_text(text.replace('"DEEP"', deep), encoding="utf-8")
    with pytest.raises(UserError, match=r"result\.json cannot be used \(it is nested too deeply\)"):
        saved_results.find_results([out])


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes here")
@pytest.mark.timeout(30)
def test_a_pipe_is_not_waited_for(out: Path) -> None:
    one = saved_results.find_results([out])[0]
    for name in ("records.jsonl", "result.json"):
        (one.folder / name).unlink()
        os.mkfifo(one.folder / name)
    with pytest.raises(
        UserError, match=r"records\.jsonl cannot be used \(it is not an ordinary file"
    ):
        one.records()
    with pytest.raises(
        UserError, match=r"result\.json cannot be used \(it is not an ordinary file"
    ):
        saved_results.find_results([out])
