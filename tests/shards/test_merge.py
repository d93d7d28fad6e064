"""What merging refuses, and what it takes: every flaw in one sentence that names it."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from scripted import Scripted
from small_data import small_data, write_abc
from whole import Machines, files, shard_files

import gendalens
from gendalens.errors import UserError
from gendalens.results.model_info import ModelInfo

TESTS = ["lm-abc", "lm-dawinobias"]


@pytest.fixture(autouse=True)
def _no_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gendalens.api.write_report", lambda out, folders: None)


@pytest.fixture
def machines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machines:
    """A scripted model, with batches so small that there are many."""
    data = small_data(tmp_path / "data")
    options = {"data": data, "tasks": TESTS, "batch_tokens": 400, "sample": 12}
    return Machines(tmp_path, monkeypatch, Scripted(), **options)


def fail(machines: Machines, *places: Path) -> str:
    """What merging says; nothing may be written."""
    with pytest.raises(UserError) as caught:
        machines.merge(*places)
    assert not (machines.folder / f"merged-{len(places)}").exists()
    said = str(caught.value)
    assert "\n" not in said
    return said


def change_header(path: Path, change: Callable[[dict[str, Any]], Any]) -> None:
    first, rest = path.read_text(encoding="utf-8").split("\n", 1)
    header = json.loads(first)
    change(header)
    path.write_text(json.dumps(header) + "\n" + rest, encoding="utf-8")


# What it takes


def test_shards_ask_every_request_once_and_about_as_much_each(machines: Machines) -> None:
    asked = []
    for number in (1, 2, 3):
        machines.model.asked.clear()
        machines.run_shard(f"{number}/3")
        asked.append(list(machines.model.asked))
    machines.model.asked.clear()
    machines.run_whole()
    together = [one for some in asked for one in some]
    assert len(set(together)) == len(together)
    assert set(together) == set(machines.model.asked)
    sizes = [sum(one.length for one in machines.model.encode(some)) for some in asked]
    assert max(sizes) < 1.6 * min(sizes)


def test_all_shards_may_be_written_to_one_folder(machines: Machines) -> None:
    whole = machines.run_whole()
    one = machines.run_shard("1/2")
    other = machines.run_shard("2/2")
    shutil.copytree(other, one, dirs_exist_ok=True)
    assert machines.merge(one)[1] == whole


def test_only_run_json_names_the_shards(machines: Machines) -> None:
    parts = [machines.run_shard(f"{number}/2") for number in (1, 2)]
    machines.merge(*parts)
    (told, *_) = [
        json.loads(path.read_text())["shards"]
        for path in sorted(machines.folder.rglob("merged-2/**/run.json"))
    ]
    assert [(one["shard"], one["test"]) for one in told] == [
        (shard, test) for test in TESTS for shard in ("1/2", "2/2")
    ]
    assert all(one["seconds"] >= 0 and one["machine"]["cores"] for one in told)


def test_a_shard_that_was_stopped_goes_on_where_it_was(machines: Machines) -> None:
    whole = machines.run_whole()
    answer = Scripted.answer
    machines.model.asked.clear()

    def stop(self: Scripted, batch: Any) -> Any:
        if len(self.asked) > 20:
            raise KeyboardInterrupt
        return answer(self, batch)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Scripted, "answer", stop)
        with pytest.raises(KeyboardInterrupt):
            machines.run_shard("2/2")
    stored = set(machines.model.asked)
    machines.model.asked.clear()
    parts = [machines.run_shard("2/2")]
    assert len(stored) > 20
    assert not stored & set(machines.model.asked)
    machines.model.asked.clear()
    machines.run_shard("2/2")
    assert not machines.model.asked
    assert machines.merge(*parts, machines.run_shard("1/2"))[1] == whole


def test_a_shard_that_is_there_twice_is_used_once_and_noted(
    machines: Machines, capsys: pytest.CaptureFixture[str]
) -> None:
    parts = [machines.run_shard(f"{number}/2") for number in (1, 2)]
    again = shutil.copytree(parts[0], machines.folder / "again")
    whole = machines.run_whole()
    machines.set_home("merge")
    gendalens.merge(*parts, again, out=machines.folder / "merged", progress=True)
    assert files(machines.folder / "merged") == whole
    said = capsys.readouterr().err
    assert "Shard 1/2 of lm-abc is there twice with the same answers" in said
    # The same folder twice is no double.
    assert machines.merge(*parts, parts[0])[1] == whole


# What it refuses


def test_missing_shards_are_named(machines: Machines) -> None:
    parts = [machines.run_shard(f"{number}/4") for number in (1, 3)]
    assert "Of 4 shards of scripted, 2/4, 4/4 are missing" in fail(machines, *parts)


def test_a_missing_test_of_a_shard_is_named(machines: Machines) -> None:
    parts = [machines.run_shard(f"{number}/2") for number in (1, 2)]
    next(parts[1].rglob("lm-abc*")).unlink()
    assert "Of 2 shards of scripted, 2/2 of lm-abc are missing" in fail(machines, *parts)


def test_a_shard_with_other_answers_is_no_double(machines: Machines) -> None:
    parts = [machines.run_shard(f"{number}/2") for number in (1, 2)]
    again = shutil.copytree(parts[0], machines.folder / "again")
    path = next(again.rglob("lm-abc*"))
    change_header(path, lambda header: header.update(sha256="0" * 64))
    said = fail(machines, *parts, again)
    assert "are both shard 1/2 of lm-abc and hold different answers" in said


class Other(Scripted):
    """The same answers by a model that says something else of itself."""

    told: dict[str, Any] = {}

    @property
    def info(self) -> ModelInfo:
        return replace(super().info, **self.told)


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({"model": Scripted("another")}, "the model: scripted and another"),
        ({"revision": "2"}, "the model's revision: 1 and 2"),
        ({"dtype": "bfloat16"}, "the number format: float32 and bfloat16"),
        ({"software": ("torch 9",)}, 'the software: [] and ["torch 9"]'),
        ({"fingerprint": "other"}, "the model's content: scripted and other"),
        ({"seed": 1}, "the seed: 0 and 1"),
        ({"sample": 8}, "the sample: 12 and 8"),
        ({"tasks": TESTS[:1]}, 'the list of tests: ["lm-abc", "lm-dawinobias"] and ["lm-abc"]'),
        ({"batch_tokens": 500}, "the number of tokens per batch: 400 and 500"),
        ({"negligible": {"lm-abc": 0.5}}, "the negligible effects: {} and"),
        ({"shards": "2/3"}, "the number of shards: 2 and 3"),
        ({"data": "abc"}, "are not shards of the same run (other data: abc)"),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_a_shard_of_another_run_is_refused_and_the_difference_named(
    machines: Machines, change: dict[str, Any], what: str
) -> None:
    one = machines.run_shard("1/2")
    (name, value) = next(iter(change.items()))
    shard = "2/2"
    if name == "model":
        machines.model = value
    elif name in ("revision", "dtype", "software"):
        machines.model = Other()
        machines.model.told = {name: value}
    elif name == "fingerprint":
        machines.model = Scripted()
        machines.patch.setattr(Scripted, "fingerprint", lambda self: value)
    elif name == "data":
        folder = write_abc(machines.folder / "other")
        for path in folder.iterdir():
            path.write_text(path.read_text().replace("kokken", "smeden"))
        machines.options["data"] = {**machines.options["data"], "abc": folder}
    elif name == "shards":
        shard = value
    else:
        machines.options[name] = value
    other = machines.run_shard(shard)
    said = fail(machines, one, other)
    assert "not shards of the same run" in said
    assert what in said
    assert str(shard_files(one)[0]) in said


def test_shards_of_another_version_are_refused(machines: Machines) -> None:
    parts = [machines.run_shard(f"{number}/2") for number in (1, 2)]
    machines.patch.setattr("gendalens.shards.shard_set.__version__", "9.9")
    assert "were made by GenDa Lens" in fail(machines, *parts)


def test_shards_that_were_planned_on_other_machines_are_refused(machines: Machines) -> None:
    one = machines.run_shard("1/2")
    # As a machine with more cores does.
    machines.patch.setattr(Scripted, "workers", 2)
    other = machines.run_shard("2/2")
    assert "planned their batches differently" in fail(machines, one, other)


def test_data_that_have_changed_since_are_refused(machines: Machines) -> None:
    parts = [machines.run_shard(f"{number}/2") for number in (1, 2)]
    for path in machines.options["data"]["abc"].iterdir():
        path.write_text(path.read_text().replace("kokken", "smeden"))
    assert "The data set abc here (" in fail(machines, *parts)


def spoil(path: Path, change: Callable[[list[str]], Any]) -> None:
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    change(lines)
    path.write_text("".join(lines), encoding="utf-8")


@pytest.mark.parametrize(
    ("change", "what"),
    [
        (lambda lines: lines.__setitem__(2, "{\n"), "lines that are not JSON: 1 (line 3: "),
        (lambda lines: lines.__setitem__(2, "\n"), "blank lines: 1 (line 3)"),
        (
            lambda lines: lines.__setitem__(3, lines[2]),
            "requests answered twice: 1 (line 4: score:",
        ),
        (lambda lines: lines.pop(), "answers missing at the end: 1 (1 of "),
        (lambda lines: lines.append(lines[-1]), "surplus lines: 1 (line "),
        (
            lambda lines: lines.__setitem__(-1, lines[-1][:30]),
            "the file ends in the middle of the line",
        ),
        (
            lambda lines: lines.__setitem__(1, lines[1].replace("score:", "score:0")),
            "answers that match no request of this test: 1 (line 2: score:0",
        ),
        (
            lambda lines: lines.__setitem__(1, lines[1].replace('"tokens"', '"pieces"')),
            "answers with a wrong field: 1 (line 2: tokens is missing)",
        ),
        (
            lambda lines: lines.__setitem__(1, lines[1].replace(": -", ": -1")),
            "its answers are not those that its checksum was made from",
        ),
        (lambda lines: lines.__setitem__(0, lines[0][:90] + "\n"), "is no shard"),
        (
            lambda lines: lines.__setitem__(0, lines[0].replace('"seed": 0', '"seed": "0"')),
            "is damaged (line 1 is not the header of a shard)",
        ),
        (
            lambda lines: lines.__setitem__(0, lines[0].replace('"version": 1', '"version": 2', 1)),
            "is a shard of another version of the format (2 instead of 1)",
        ),
    ],
)
def test_a_damaged_line_is_named(
    machines: Machines, change: Callable[[list[str]], Any], what: str
) -> None:
    parts = [machines.run_shard(f"{number}/2") for number in (1, 2)]
    path = next(parts[1].rglob("lm-abc*"))
    spoil(path, change)
    said = fail(machines, *parts)
    assert str(path) in said
    assert what in said


def test_a_planted_answer_that_was_changed_is_refused(machines: Machines) -> None:
    machines.model = "control:fair"
    parts = [machines.run_shard(f"{number}/2") for number in (1, 2)]
    path = next(parts[0].rglob("lm-abc*"))
    spoil(path, lambda lines: lines.__setitem__(1, lines[1].replace(": -", ": -1")))
    assert "answers that the control model does not give: 1 (line 2)" in fail(machines, *parts)


@pytest.mark.parametrize("kind", ["empty", "run", "gone", "file"])
def test_what_is_no_shard_is_refused(machines: Machines, kind: str) -> None:
    place = machines.folder / kind
    if kind == "run":
        place.mkdir()
        (place / "result.json").write_text("{}")
    elif kind == "file":
        place.write_text("no shard")
    elif kind == "empty":
        place.mkdir()
    said = fail(machines, place)
    assert str(place) in said
    assert "gendalens run --shard" in said


def test_a_template_from_a_file_can_only_name_its_values(machines: Machines) -> None:
    """A format can read attributes, and one with a width can take all memory."""
    parts = [machines.run_shard(f"{number}/2") for number in (1, 2)]
    for template in ("{x.__class__}", "{x:>9999999999}", "{x!r}", "{"):
        for path in [path for part in parts for path in shard_files(part)]:
            change_header(
                path,
                lambda header: header["run"]["model"]["kind"].update(
                    template=template,  # noqa: B023 (called at once)
                    values={"x": "y"},
                ),
            )
        assert "line 1 is not the header of a shard" in fail(machines, *parts)


def test_nothing_is_no_run(machines: Machines) -> None:
    assert "No shards are named" in fail(machines)


class Unknown(Scripted):
    """A model that nothing identifies."""

    cacheable = False


def test_a_model_that_nothing_identifies_has_no_shards(machines: Machines) -> None:
    machines.model = Unknown()
    with pytest.raises(UserError, match=r"cannot be told from other models.*requests --shard"):
        machines.run_shard("1/2")


def test_a_shard_is_of_one_model_and_needs_a_folder(machines: Machines) -> None:
    machines.model = ["control:fair", "control:always-han"]
    with pytest.raises(UserError, match="--shard divides the run of one model"):
        machines.run_shard("1/2")
    with pytest.raises(UserError, match="A shard needs a folder"):
        gendalens.run("control:fair", data="builtin", shard="1/2")
