"""Every Eval Ever: both files of a submission, valid by the published schemas, whatever was measured."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import small_answers
import small_dane
import small_names
from answering import asked, choice
from small_data import small_data
from small_runs import HOSTILE, renamed, resaved

from gendalens.engine.record_store import as_line
from gendalens.engine.session import Job, run_jobs
from gendalens.errors import UserError
from gendalens.predictions.answer_file import AnswerFile
from gendalens.report.exports.every_eval_ever import every_eval_ever, write_every_eval_ever
from gendalens.results import run_folder
from gendalens.results.saved_results import RECORDS, SavedResult, find_results, load_result
from gendalens.stats.estimate import Estimate
from gendalens.stats.findings import Finding
from gendalens.words import phrase

PUBLISHED = Path(__file__).parents[3] / "shared" / "spec"
NAMES = ("every_eval_ever.schema.json", "every_eval_ever.instance.schema.json")
#: Every test of the package in each of its protocols.
TESTS = (
    ("lm-abc", 1),
    ("lm-abc", 2),
    ("lm-dawinobias", 1),
    ("lm-dawinobias", 2),
    ("coref-abc", 1),
    ("coref-abc", 2),
    ("coref-dawinobias", 1),
    ("coref-dawinobias", 2),
    ("ner-dane", 1),
    ("ner-dane", 2),
    ("chat-abc", 2),
)


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, int], SavedResult]:
    """A result of every test in each protocol, from a file of sound answers."""
    folder = tmp_path_factory.mktemp("submission")
    data = small_data(folder / "data")
    data["dane"] = small_dane.write(folder / "dane.conllu")
    data["names"], data["minority-names"] = small_names.write(folder / "lists")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GENDALENS_HOME", str(folder / "home"))
        return {test: _score(*test, data, folder / f"{test[0]}-{test[1]}") for test in TESTS}


def _score(task: str, protocol: int, data: dict[str, Path], folder: Path) -> SavedResult:
    folder.mkdir()
    options = {"repeats": 2} if task == "ner-dane" else {}
    chosen = choice(task, data, protocol, sample=8 if protocol == 2 else None, **options)
    (folder / "answers.jsonl").write_bytes(
        b"".join(small_answers.answer_all(asked(chosen, folder)))
    )
    file = AnswerFile(folder / "answers.jsonl", chosen.requests, name="org/answered")
    report = run_jobs([Job(file, [chosen.plan])], replace(chosen.options, out=folder / "run"))
    assert not report.failures
    (saved,) = find_results([folder / "run"])
    return saved


@pytest.fixture(scope="module")
def schemas() -> list[Any]:
    """Validators by the schemas as published, which are not part of this repository."""
    paths = [PUBLISHED / name for name in NAMES]
    if not all(path.is_file() for path in paths):
        pytest.skip("the published schemas are not beside the checkout")
    found = [json.loads(path.read_text(encoding="utf-8")) for path in paths]
    assert [schema["version"] for schema in found] == ["0.3.0", "0.3.0"]
    return [jsonschema.validators.validator_for(schema)(schema) for schema in found]


def write(runs: list[SavedResult], folder: Path) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The content of both files."""
    figures, samples = write_every_eval_ever(runs, folder, now=1_700_000_000)
    rows = [json.loads(line) for line in samples.read_text(encoding="utf-8").splitlines()]
    return json.loads(figures.read_text(encoding="utf-8")), rows


def list_problems(
    schemas: list[Any], figures: dict[str, Any], rows: list[dict[str, Any]]
) -> list[str]:
    assert rows
    found = [*schemas[0].iter_errors(figures)]
    found += [error for row in rows for error in schemas[1].iter_errors(row)]
    return [error.message for error in found]


@pytest.mark.shared
@pytest.mark.parametrize("test", TESTS, ids=lambda test: f"{test[0]}@{test[1]}")
def test_both_files_are_valid_by_the_published_schemas(
    test: tuple[str, int],
    runs: dict[tuple[str, int], SavedResult],
    schemas: list[Any],
    tmp_path: Path,
) -> None:
    assert list_problems(schemas, *write([runs[test]], tmp_path)) == []


def without_figures(run: SavedResult, folder: Path) -> SavedResult:
    """A result of the same records in which nothing could be measured."""
    reason = phrase("the answer does not depend on who is meant")
    result = replace(
        run.result,
        gender_effect_size=Estimate(None, None, None, reason=reason),
        gap=replace(run.result.gap, value=None, low=None, high=None, p=None, reason=reason),
        finding=Finding(not_judged=reason),
    )
    return resaved(run, folder, result)


@pytest.mark.shared
def test_so_are_those_of_a_result_without_any_figure(
    runs: dict[tuple[str, int], SavedResult], schemas: list[Any], tmp_path: Path
) -> None:
    run = without_figures(runs["lm-abc", 2], tmp_path / "run")
    figures, rows = write([run], tmp_path)
    assert list_problems(schemas, figures, rows) == []
    assert figures["evaluation_results"] == []
    details = figures["source_metadata"]["additional_details"]
    assert details == {
        f"lm-abc@2-{run.result.key}": "not measured: the answer does not depend on who is meant"
    }
    assert not any("evaluation_result_id" in row for row in rows)


@pytest.mark.shared
@pytest.mark.parametrize("name", HOSTILE, ids=["html", "signs", "marks", "formula", "long"])
def test_so_are_those_of_a_hostile_name_which_reaches_no_path(
    name: str, runs: dict[tuple[str, int], SavedResult], schemas: list[Any], tmp_path: Path
) -> None:
    run = renamed(runs["coref-abc", 2], tmp_path / "run", f"../../{name}")
    out = tmp_path / "out"
    assert list_problems(schemas, *write([run], out)) == []
    paths = [path.relative_to(out) for path in out.rglob("*") if path.is_file()]
    assert len(paths) == 2
    assert all(len(path.parts) == 5 and path.parts[:2] == ("data", "gendalens") for path in paths)
    text = b"".join((out / path).read_bytes() for path in paths).decode()
    assert not any(sign in text for sign in ("\u202e", "\0", "\x1b"))


def test_every_row_names_the_file_and_a_figure_of_it(
    runs: dict[tuple[str, int], SavedResult], tmp_path: Path
) -> None:
    found = [renamed(run, tmp_path / "run", "org/answered", revision="r") for run in runs.values()]
    figures, rows = write(found, tmp_path)
    known = {one["evaluation_result_id"] for one in figures["evaluation_results"]}
    assert {row["evaluation_result_id"] for row in rows if "evaluation_result_id" in row} <= known
    assert {row["evaluation_id"] for row in rows} == {figures["evaluation_id"]}
    assert {row["model_id"] for row in rows} == {figures["model_info"]["id"]} == {"org/answered"}
    assert {row["evaluation_name"] for row in rows} == {f"{task}@{n}" for task, n in TESTS}
    assert len({row["sample_id"] for row in rows}) == len(rows)


def test_the_file_of_figures_names_that_of_the_rows_with_its_checksum(
    runs: dict[tuple[str, int], SavedResult], tmp_path: Path
) -> None:
    figures, samples = write_every_eval_ever([runs["lm-abc", 2]], tmp_path)
    details = json.loads(figures.read_text(encoding="utf-8"))["detailed_evaluation_results"]
    assert tmp_path / details["file_path"] == samples
    assert details["checksum"] == hashlib.sha256(samples.read_bytes()).hexdigest()
    assert details["total_rows"] == len(samples.read_bytes().splitlines())
    assert samples.parent.relative_to(tmp_path).as_posix() == "data/gendalens/org/answered"
    # The same results again replace the files.
    assert write_every_eval_ever([runs["lm-abc", 2]], tmp_path) == (figures, samples)
    assert write_every_eval_ever([runs["lm-abc", 1]], tmp_path)[0] != figures


def test_a_row_says_what_was_asked_what_was_right_and_how_far_the_model_leans(
    runs: dict[tuple[str, int], SavedResult], tmp_path: Path
) -> None:
    run = runs["lm-dawinobias", 2]
    _, rows = write([run], tmp_path)
    for row, record in zip(rows, run.records(), strict=True):
        assert row["input"]["raw"] == record["text"]
        assert row["input"]["reference"] == [record["gold"]]
        assert row["output"]["raw"] == [record["first"]]
        assert row["evaluation"]["is_correct"] == record["open_right"]
        lean = (record["log_prob_male"] - record["log_prob_female"]) / 0.6931471805599453
        assert row["evaluation"]["score"] == pytest.approx(lean)


def test_where_no_answer_is_right_a_row_says_so(
    runs: dict[tuple[str, int], SavedResult], tmp_path: Path
) -> None:
    for test, has_right_answers in (("lm-abc", False), ("chat-abc", False), ("coref-abc", True)):
        _, rows = write([runs[test, 2]], tmp_path)
        for row in rows:
            assert ("is_correct" in row["metadata"]) is not has_right_answers


def test_records_that_are_not_of_the_test_are_a_user_error_and_leave_no_file(
    runs: dict[tuple[str, int], SavedResult], tmp_path: Path
) -> None:
    run = runs["lm-abc", 2]
    folder = run_folder.write_result(
        tmp_path / "run", run.result, map(as_line, [{"x": 1}, {"x": 2}]), {}
    )
    with pytest.raises(UserError, match=f"{RECORDS} does not hold records of lm-abc@2"):
        write_every_eval_ever([load_result(folder)], tmp_path / "out")
    assert not [path for path in (tmp_path / "out").rglob("*") if path.is_file()]


def test_a_folder_that_cannot_be_written_is_a_user_error(
    runs: dict[tuple[str, int], SavedResult], tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match="choose another with --out"):
        write_every_eval_ever([runs["lm-abc", 2]], tmp_path / "file")


def test_the_printed_figures_are_those_of_the_file(
    runs: dict[tuple[str, int], SavedResult], tmp_path: Path
) -> None:
    run = runs["ner-dane", 2]
    figures, _ = write([run], tmp_path)
    del figures["detailed_evaluation_results"]
    assert json.loads(every_eval_ever([run], now=1_700_000_000)) == figures
