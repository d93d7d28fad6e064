"""Saved results, loaded again: the same as those of the run, and as useful."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from small_data import small_data

import gendalens
from gendalens.cli.show import show_runs
from gendalens.errors import UserError


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, gendalens.Results]:
    folder = tmp_path_factory.mktemp("loading")
    models = ["control:fair", "control:stereotyped"]
    tasks = ["lm-abc", "lm-dawinobias"]
    data = small_data(folder / "data")
    return folder / "run", gendalens.run(
        models, tasks=tasks, data=data, out=folder / "run", cache=False
    )


def test_loading_a_run_folder_gives_the_results_of_the_run(
    run: tuple[Path, gendalens.Results],
) -> None:
    folder, results = run
    loaded = gendalens.load(folder)
    assert isinstance(loaded, gendalens.Results)
    assert loaded == results
    assert [one.folder for one in loaded] == [one.folder for one in results]
    assert all(one.folder and (one.folder / "result.json").is_file() for one in loaded)


def test_a_model_folder_or_a_result_folder_or_file_gives_its_results(
    run: tuple[Path, gendalens.Results],
) -> None:
    folder, results = run
    assert gendalens.load(folder / "control_fair") == results[:2]
    assert results[3].folder is not None
    assert gendalens.load(results[3].folder) == results[3:]
    assert gendalens.load(str(results[3].folder / "result.json")) == results[3:]


def test_several_folders_are_loaded_in_the_order_they_are_named(
    run: tuple[Path, gendalens.Results],
) -> None:
    _, results = run
    first, _, third, _ = (str(one.folder) for one in results)
    assert gendalens.load(third, first) == [results[2], results[0]]


@pytest.mark.parametrize("damage", ["absent", "empty", "not a result", "damaged"])
def test_what_cannot_be_loaded_is_told_as_on_the_command_line(damage: str, tmp_path: Path) -> None:
    path = tmp_path / "run"
    if damage != "absent":
        path.mkdir()
    if damage == "damaged":
        (path / "result.json").write_text('{"schema": 3}')
    if damage == "not a result":
        path = path / "notes.txt"
        path.write_text("about it")
    with pytest.raises(UserError) as told:
        gendalens.load(path)
    with pytest.raises(UserError) as on_the_command_line:
        show_runs([path], {})
    assert str(told.value) == str(on_the_command_line.value)
    assert str(path) in str(told.value)


def test_results_on_disk_are_compared_by_their_differences(
    run: tuple[Path, gendalens.Results],
) -> None:
    folder, results = run
    by_folder = gendalens.compare(folder)
    assert all(group.pairs for group in by_folder.groups)
    # As the run gave them, loaded again, and picked one by one: the records are found.
    picked = [one for one in gendalens.load(folder) if one.task == "lm-abc"]
    for named in (results, gendalens.load(folder)):
        assert gendalens.compare(named).to_dict() == by_folder.to_dict()
    assert len(gendalens.compare(*picked).groups[0].pairs) == 1


def test_a_folder_is_found_again_from_another_working_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    models = ["control:fair", "control:stereotyped"]
    options: dict[str, Any] = {"tasks": "lm-abc", "data": "builtin", "sample": 40, "cache": False}
    ran = gendalens.run(models, out="runs/here", **options)
    loaded = gendalens.load("runs/here")
    (tmp_path / "elsewhere").mkdir()
    os.chdir("elsewhere")
    for results in (ran, loaded):
        assert gendalens.compare(results).groups[0].pairs


def test_results_of_a_run_without_a_folder_say_how_to_get_differences() -> None:
    models = ["control:fair", "control:stereotyped"]
    results = gendalens.run(models, tasks="lm-abc", data="builtin", sample=40, cache=False)
    assert [one.folder for one in results] == [None, None]
    [group] = gendalens.compare(results).groups
    assert group.pairs == ()
    assert group.refused is not None
    assert group.refused.code == "compare.no_records"
    assert "`out`" in str(group.refused)
