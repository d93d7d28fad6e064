"""The command line: what it prints, and that a user's mistake is one sentence and exit code 2."""

from __future__ import annotations

import inspect
import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import tiny
from small_data import control_tests, small_data

from gendalens.cli import app, describing, measuring, reporting
from gendalens.models.huggingface.transformer import TOKENS_ON_CARD, TOKENS_ON_PROCESSOR

pytestmark = pytest.mark.usefixtures("chart_library")


@pytest.fixture
def data(tmp_path: Path) -> list[str]:
    folders = small_data(tmp_path / "data")
    return [part for name, path in folders.items() for part in ("--data", f"{name}={path}")]


@pytest.fixture
def causal(tmp_path: Path) -> Path:
    tokenizer = tiny.gpt2(specials=True)
    tiny.save(tmp_path / "lille-gpt", tiny.gpt2_model(tokenizer), tokenizer)
    return tmp_path / "lille-gpt"


def gendalens(*arguments: str | Path, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "gendalens", *map(str, arguments)],
        capture_output=True,
        text=True,
        encoding="utf-8",
        cwd=cwd,
        timeout=240,
    )


def fails(done: subprocess.CompletedProcess[str], reason: str) -> None:
    """One sentence on standard error that gives the reason; exit code 2; no traceback."""
    assert done.returncode == 2, done.stderr
    assert "Traceback" not in done.stderr
    sentences = [line for line in done.stderr.splitlines() if line.startswith("gendalens: ")]
    assert len(sentences) == 1, done.stderr
    assert re.search(reason, sentences[0]), sentences[0]


def test_help_loads_neither_torch_nor_transformers_nor_pandas_nor_ray(tmp_path: Path) -> None:
    libraries = {"torch", "transformers", "pandas", "ray"}
    # Ray is not installed where the tests run; this one would be loaded.
    (tmp_path / "ray.py").touch()
    # The options of tests are read from the tests, which need NumPy; nothing else does.
    for arguments, heavy in (
        (["--help"], {*libraries, "numpy", "scipy"}),
        (["--version"], {*libraries, "numpy", "scipy"}),
        (["run", "--help"], libraries),
    ):
        done = subprocess.run(
            [sys.executable, "-X", "importtime", "-m", "gendalens", *arguments],
            capture_output=True,
            text=True,
            env=os.environ | {"PYTHONPATH": str(tmp_path)},
        )
        assert done.returncode == 0
        loaded = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
        assert "gendalens.cli.app" in loaded
        assert not heavy & {name.partition(".")[0] for name in loaded}


def test_no_annotation_of_a_command_is_left_for_typer_to_compile() -> None:
    commands = [
        command
        for module in (app, describing, measuring, reporting)
        for command in vars(module).values()
        if inspect.isfunction(command) and command.__module__ == module.__name__
    ]
    assert {"root", "tasks", "run", "show"} <= {command.__name__ for command in commands}
    for command in commands:
        assert not any(isinstance(hint, str) for hint in command.__annotations__.values())


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["run", "demo-lm", "--bogus"], "No such option: --bogus"),
        (["run", "demo-lm", "--protocol", "x"], "Invalid value for '--protocol'"),
        (["show"], "Missing argument"),
        (["nonsense"], "No such command 'nonsense'"),
    ],
)
def test_what_the_command_line_cannot_mean_is_one_sentence_that_names_the_help(
    arguments: list[str], told: str
) -> None:
    done = gendalens(*arguments)
    fails(done, rf"{re.escape(told)}.*; see `.*--help`\.$")
    assert len(done.stderr.removeprefix("starting …\n").splitlines()) == 1


def test_without_a_command_there_is_the_help_and_exit_code_2() -> None:
    done = gendalens()
    assert done.returncode == 2
    assert "Usage:" in done.stderr
    assert "compare" in done.stderr


def test_help_says_how_many_tokens_a_batch_has() -> None:
    said = " ".join(gendalens("run", "--help").stdout.split())
    assert f"{TOKENS_ON_PROCESSOR} on a CPU, {TOKENS_ON_CARD} on a GPU" in said


@pytest.mark.slow
def test_tasks_loads_neither_torch_nor_transformers_and_says_it_all() -> None:
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "gendalens", "tasks", "lm-abc"],
        capture_output=True,
        text=True,
    )
    loaded = {
        line.rpartition("|")[2].strip().partition(".")[0] for line in done.stderr.splitlines()
    }
    assert not {"torch", "transformers", "pandas"} & loaded
    for word in ("idea", "data", "formula", "harm", "selection bias", "binary", "citation"):
        assert word in done.stdout
    assert "lm-dawinobias" in gendalens("tasks").stdout


@pytest.mark.slow
def test_a_run_prints_the_result_and_says_what_was_saved(
    causal: Path, data: list[str], tmp_path: Path
) -> None:
    chosen: list[str | Path] = [*data, "--tasks", "lm-abc,lm-dawinobias", "--out", tmp_path / "run"]
    done = gendalens("run", causal, *chosen)
    assert done.returncode == 0, done.stderr
    assert "72 requests, 36 distinct, 0 from the cache, 36 to run" in done.stderr
    for word in ("GES", "lm-abc@2", "lm-dawinobias@2", "--details", "report.html"):
        assert word in done.stdout
    assert len(done.stdout.splitlines()) <= 24  # a screen
    assert "\x1b" not in done.stdout + done.stderr  # no colours, no progress bar in a pipe
    assert max(map(len, done.stdout.splitlines()[:5])) <= 80
    again = gendalens("run", causal, *chosen, "--details")
    for word in ("GES", "gap", "groups", "coverage", "harm", "signature", "lm-abc@2"):
        assert word in again.stdout
    assert "36 from the cache, 0 to run" in again.stderr


def test_json_is_all_that_standard_output_holds(data: list[str], tmp_path: Path) -> None:
    done = gendalens("run", "control:fair", *data, "--out", tmp_path, "--json")
    plain = json.loads(done.stdout)
    assert [result["task"] for result in plain] == control_tests()


@pytest.mark.slow
def test_one_model_that_fails_does_not_stop_the_others(data: list[str], tmp_path: Path) -> None:
    done = gendalens("run", tmp_path / "ingen", "control:fair", *data, "--out", tmp_path / "run")
    fails(done, "does not exist")
    assert "control:fair ───" in done.stdout
    assert "lm-abc@2  " in done.stdout
    assert len(list((tmp_path / "run").rglob("result.json"))) == len(control_tests())


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["control:fair", "--tasks", "lm-xyz"], "no task 'lm-xyz'.* coref-abc, "),
        (["control:fair", "--protocol", "3"], "no protocol 3; choose 1 or 2"),
        (["control:fair", "--tasks", "lm-abc", "--protocol", "7"], "lm-abc has no protocol 7"),
        (["control:fair", "--data", "abc"], "write NAME=PATH"),
        (
            ["control:fair", "--data", "dan=x"],
            "no data set .dan. to replace: the tests read abc, dane",
        ),
        (["control:unfair"], "no control model 'unfair'"),
        ([""], "name is empty"),
    ],
)
def test_a_mistake_on_the_command_line_is_one_sentence(
    arguments: list[str], reason: str, tmp_path: Path
) -> None:
    fails(gendalens("run", *arguments, "--out", tmp_path), reason)


def test_an_output_folder_that_cannot_be_written_is_told_before_the_run(
    data: list[str], tmp_path: Path
) -> None:
    blocker = tmp_path / "file"
    blocker.write_text("mine")
    fails(gendalens("run", "control:fair", *data, "--out", blocker / "run"), "cannot be written")
    assert blocker.read_text() == "mine"


def test_a_cache_that_is_no_database_is_told(
    data: list[str], tmp_path: Path, own_home: Path
) -> None:
    (own_home / "cache.sqlite").write_text("kære dagbog " * 50)
    fails(gendalens("run", "control:fair", *data, "--out", tmp_path), "not an SQLite database")
    assert (own_home / "cache.sqlite").read_text().startswith("kære dagbog")


def test_a_data_file_of_the_wrong_hash_is_told(tmp_path: Path, own_home: Path) -> None:
    for name, folder in small_data(own_home / "data").items():
        assert folder.name == name
    done = gendalens("run", "control:fair", "--tasks", "lm-abc", "--out", tmp_path)
    fails(done, "is not the published file")


@pytest.mark.slow
def test_a_model_whose_answers_are_not_numbers_is_told(data: list[str], tmp_path: Path) -> None:
    import torch

    tokenizer = tiny.wordpiece()
    model = tiny.bert_model(tokenizer)
    with torch.no_grad():
        model.cls.predictions.bias.fill_(float("nan"))
        model.cls.predictions.decoder.bias.fill_(float("nan"))
    tiny.save(tmp_path / "nan", model, tokenizer)
    fails(gendalens("run", tmp_path / "nan", *data, "--out", tmp_path / "run"), "not numbers")


@pytest.mark.slow
def test_a_model_whose_answers_are_constant_is_told_and_the_result_is_kept(
    data: list[str], tmp_path: Path
) -> None:
    import torch

    tokenizer = tiny.wordpiece(size=5000)  # large enough for whole words: equal numbers of pieces
    model = tiny.bert_model(tokenizer)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.zero_()
    tiny.save(tmp_path / "nul", model, tokenizer)
    out = tmp_path / "run"
    done = gendalens("run", tmp_path / "nul", *data, "--tasks", "lm-dawinobias", "--out", out)
    fails(done, "same answer")
    (path,) = out.rglob("result.json")
    assert json.loads(path.read_text())["finding"]["headline"] == "not_measurable"


def _start(causal: Path, data: list[str], out: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "gendalens", "run", str(causal), *data, "--out", str(out)]
    return subprocess.Popen(
        [*command, "--batch-tokens", "1"],  # one request at a time, so that it lasts a while
        # Where the tests run in the background, Ctrl-C is ignored, and so would it be here.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
    )


def _answers(home: Path) -> int:
    import sqlite3

    if not (home / "cache.sqlite").exists():
        return 0
    with sqlite3.connect(home / "cache.sqlite", timeout=30) as db:
        try:
            count = db.execute("SELECT count(*) FROM answers").fetchone()[0]
        except sqlite3.OperationalError:
            count = 0
    db.close()
    return int(count)


def _wait_for_answers(process: subprocess.Popen[str], home: Path, count: int) -> None:
    deadline = time.monotonic() + 120
    while process.poll() is None and _answers(home) < count and time.monotonic() < deadline:
        time.sleep(0.01)


@pytest.mark.slow
def test_ctrl_c_keeps_the_answers_and_says_how_to_go_on(
    causal: Path, data: list[str], tmp_path: Path, own_home: Path
) -> None:
    process = _start(causal, data, tmp_path / "run")
    _wait_for_answers(process, own_home, 5)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 2
    assert "run the same command again" in errors
    assert "Traceback" not in errors
    assert _answers(own_home) >= 5


@pytest.mark.slow
def test_a_killed_run_resumes_and_asks_nothing_twice(
    causal: Path, data: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = _start(causal, data, tmp_path / "whole")
    _, errors = whole.communicate(timeout=240)
    assert whole.returncode == 0, errors
    monkeypatch.setenv("GENDALENS_HOME", str(tmp_path / "other-home"))
    stored = 0
    dice = random.Random(0)
    for _ in range(2):
        process = _start(causal, data, tmp_path / "killed")
        _wait_for_answers(process, tmp_path / "other-home", stored + dice.randint(1, 20))
        os.kill(process.pid, signal.SIGKILL)
        process.communicate(timeout=60)
        now = _answers(tmp_path / "other-home")
        assert now >= stored
        stored = now
    assert stored >= 2
    last = _start(causal, data, tmp_path / "killed")
    _, errors = last.communicate(timeout=240)
    assert last.returncode == 0, errors
    taken = [int(n.replace(",", "")) for n in re.findall(r"([\d,]+) from the cache", errors)]
    assert sum(taken) == stored
    for path in (tmp_path / "whole").rglob("result.json"):
        other = tmp_path / "killed" / path.relative_to(tmp_path / "whole")
        assert _close(json.loads(path.read_text()), json.loads(other.read_text()))


def _close(one: object, other: object) -> bool:
    """Equal, numbers to 1e-6."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_close(one[k], other[k]) for k in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_close, one, other))
    if isinstance(one, float) and isinstance(other, float):
        return one == pytest.approx(other, rel=1e-6, abs=1e-6)
    return one == other


@pytest.mark.slow
@pytest.mark.parametrize("as_json", [False, True])
def test_a_run_says_where_its_report_is(data: list[str], tmp_path: Path, as_json: bool) -> None:
    out = tmp_path / "run"
    json_option = ["--json"] if as_json else []
    done = gendalens("run", "control:fair", "--tasks", "lm-abc", *data, "--out", out, *json_option)
    assert f"report     {out / 'report.html'}" in (done.stderr if as_json else done.stdout)
    assert (out / "report.html").read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    assert not as_json or json.loads(done.stdout)


def test_a_run_in_which_nothing_worked_leaves_no_empty_folder(tmp_path: Path) -> None:
    out = tmp_path / "run"
    ended = gendalens("run", tmp_path / "nothing", "--out", out)
    assert ended.returncode == 2
    assert not out.exists()


def test_a_run_in_which_nothing_worked_keeps_a_folder_that_was_there(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    ended = gendalens("run", tmp_path / "nothing", "--out", tmp_path / "run")
    assert ended.returncode == 2
    assert (tmp_path / "run").is_dir()


def test_a_test_may_be_named_as_results_name_it() -> None:
    done = gendalens("tasks", "lm-abc@1")
    assert done.returncode == 0
    assert done.stdout.startswith("lm-abc@1")
