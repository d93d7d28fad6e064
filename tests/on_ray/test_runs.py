"""Runs on two workers: the bytes of a run at home, and what is said when something goes wrong.

One cluster for all tests, found by its address; without Ray they are skipped.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import gendalens
from gendalens.engine.ray_options import RayOptions, is_installed
from gendalens.errors import FailuresError, UserError
from gendalens.models import detect
from gendalens.models.requests import Score
from gendalens.results.result import Result
from torture import sleeping_model
from torture.local_ray import LocalRay, start_ray
from torture.processes import list_workers

FIVE = [
    ("demo-lm", "lm-abc,lm-dawinobias"),
    ("lm-coref:demo-lm?prompt=refers", "coref-abc,coref-dawinobias"),
    ("demo-ner", "ner-dane"),
]
SMALL: dict[str, Any] = {"data": "builtin", "sample": 20, "offline": True, "batch_tokens": 256}


pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not is_installed(), reason="Ray is not installed: make test-ray"),
]


@pytest.fixture(autouse=True)
def _no_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gendalens.api.write_report", lambda out, folders: None)


@pytest.fixture(scope="session")
def plugin_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return sleeping_model.install(tmp_path_factory.mktemp("plugin"))


@pytest.fixture(scope="session")
def cluster(running: LocalRay) -> str:
    return running.address


@pytest.fixture(scope="session")
def cluster_pid(running: LocalRay) -> int:
    return running.pid


@pytest.fixture(scope="session")
def running(plugin_folder: Path) -> Iterator[LocalRay]:
    """A cluster of four CPUs on this computer."""
    with start_ray(plugin_folder) as cluster:
        yield cluster


@pytest.fixture
def plugin(plugin_folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The sleeping model, found here as it is by the workers."""
    monkeypatch.syspath_prepend(plugin_folder)
    monkeypatch.setenv("GENDALENS_PLUGINS", "on")
    monkeypatch.delitem(sys.modules, "sleeping_model", raising=False)
    detect._load_plugins.cache_clear()
    yield
    detect._load_plugins.cache_clear()


def read_files(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for name in ("result.json", "records.jsonl")
        for path in sorted(folder.rglob(name))
    }


def on(cluster: str | None, **more: object) -> RayOptions:
    return RayOptions(address=cluster, workers=2, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(("model", "tests"), FIVE)
def test_two_workers_give_the_same_bytes(
    cluster: str, model: str, tests: str, tmp_path: Path
) -> None:
    for name, executor in (("home", None), ("ray", on(cluster))):
        gendalens.run(
            model, tasks=tests.split(","), out=tmp_path / name, executor=executor, cache=False,
            **SMALL | ({"repeats": 2} if tests == "ner-dane" else {}),
        )  # fmt: skip
    home = read_files(tmp_path / "home")
    assert len(home) == 2 * len(tests.split(","))
    assert read_files(tmp_path / "ray") == home


def test_several_models_at_once_and_one_that_fails(cluster: str, tmp_path: Path) -> None:
    models = ["demo-lm", str(tmp_path / "nothing"), "control:fair", "lm-coref:demo-lm"]
    for name, executor in (("home", None), ("ray", on(cluster))):
        with pytest.raises(FailuresError, match="nothing"):
            gendalens.run(
                models, tasks="coref-abc", out=tmp_path / name, executor=executor, cache=False,
                **SMALL,
            )  # fmt: skip
    home = read_files(tmp_path / "home")
    assert len(home) == 4
    assert read_files(tmp_path / "ray") == home


def test_a_cluster_on_this_computer_is_stopped_again(tmp_path: Path) -> None:
    command = [
        *(sys.executable, "-m", "gendalens", "run", "demo-lm", "--tasks", "lm-abc"),
        *("--executor", "ray", "--workers", "2", "--data", "builtin", "--sample", "20"),
        *("--offline", "--out", str(tmp_path / "run")),
    ]
    ended = subprocess.run(
        command, capture_output=True, text=True, env=os.environ | {"TMPDIR": str(tmp_path)}
    )
    assert ended.returncode == 0, ended.stderr
    assert "Traceback" not in ended.stderr
    assert "ray" not in ended.stderr.lower().replace("starting ray …", "")
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith("gl-")] == []
    running = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True).stdout
    assert str(tmp_path) not in running


def test_ctrl_c_ends_with_one_sentence_and_no_process(cluster: str, tmp_path: Path) -> None:
    command = [
        *(sys.executable, "-m", "gendalens", "run", "demo-lm", "--tasks", "lm-abc"),
        *("--executor", f"ray:{cluster}", "--workers", "2", "--data", "builtin", "--batch-tokens"),
        *("64", "--offline", "--out", str(tmp_path / "run")),
    ]
    process = subprocess.Popen(
        command,
        stderr=subprocess.PIPE,
        text=True,
        # Background jobs of a shell, and their children, ignore it by default.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    cache = Path(os.environ["GENDALENS_HOME"]) / "cache.sqlite-wal"
    for _ in range(600):
        time.sleep(0.1)
        if cache.is_file() and cache.stat().st_size > 100_000:
            break
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 2, errors
    last = errors.strip().splitlines()[-1]
    assert "run the same command again to resume" in last
    assert "Traceback" not in errors


@pytest.mark.usefixtures("plugin")
class TestSleepingModel:
    def run(self, cluster: str, name: str, **more: object) -> Result:
        options = RayOptions(address=cluster, workers=2, **more)  # type: ignore[arg-type]
        return gendalens.run(
            name, tasks="lm-abc", executor=options, **(SMALL | {"batch_tokens": 64})
        )[0]

    def test_a_backend_of_another_package_runs_on_workers(self, cluster: str) -> None:
        found = self.run(cluster, "sleep:ms=1")
        assert found == gendalens.run("sleep:ms=1", tasks="lm-abc", cache=False, **SMALL)[0]

    def test_workers_see_no_variable_that_was_not_passed(
        self, cluster: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("PLANTED_API_KEY", "hemmelig")
        with pytest.raises(UserError, match="It is None"):
            self.run(cluster, "sleep:tells=PLANTED_API_KEY")
        with pytest.raises(UserError, match="It is 'hemmelig'"):
            self.run(cluster, "sleep:tells=PLANTED_API_KEY", environment=("PLANTED_API_KEY",))

    def test_nor_do_workers_of_a_cluster_that_is_started_here(
        self, plugin_folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("PYTHONPATH", str(plugin_folder))
        monkeypatch.setenv("HF_TOKEN", "hemmelig")
        options = RayOptions(workers=1)
        with pytest.raises(UserError, match="It is None"):
            gendalens.run("sleep:tells=HF_TOKEN", tasks="lm-abc", executor=options, **SMALL)
        assert os.environ["HF_TOKEN"] == "hemmelig"

    def test_a_model_that_does_not_fit_is_one_sentence(self, cluster: str) -> None:
        with pytest.raises(UserError, match=r"sleep:loads=no does not fit into memory in a worker"):
            self.run(cluster, "sleep:loads=no")

    def test_memory_that_runs_out_halves_the_batch(self, cluster: str) -> None:
        assert self.run(cluster, "sleep:fits=3").problem is None

    def test_a_batch_that_kills_three_workers_is_named(self, cluster: str) -> None:
        with pytest.raises(UserError, match=r"3 workers died of the same .* requests .*sin"):
            self.run(cluster, "sleep:ms=5&dies=sin")

    def test_workers_that_are_killed_are_replaced(self, cluster: str, cluster_pid: int) -> None:
        over = threading.Event()

        def kill() -> None:
            for _ in range(3):
                if over.wait(1.5):
                    return
                for pid in list_workers(cluster_pid)[:1]:
                    os.kill(pid, signal.SIGKILL)

        killer = threading.Thread(target=kill)
        killer.start()
        found = self.run(cluster, "sleep:ms=60")
        over.set()
        killer.join()
        assert found == gendalens.run("sleep:ms=60", tasks="lm-abc", cache=False, **SMALL)[0]


def test_an_address_without_a_cluster_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"The Ray cluster 127\.0\.0\.1:9 cannot be used"):
        gendalens.run("demo-lm", tasks="lm-abc", executor="ray:127.0.0.1:9", cache=False, **SMALL)


def test_a_worker_that_no_computer_has_room_for_is_one_sentence(cluster: str) -> None:
    for more, wanted in (({"gpus_per_worker": 3}, "GPUs: 3"), ({"cpus_per_worker": 9}, "CPUs: 9")):
        options = RayOptions(address=cluster, **more)  # type: ignore[arg-type]
        with pytest.raises(UserError, match=rf"No computer .* has room for a worker .*{wanted}"):
            gendalens.run("demo-lm", tasks="lm-abc", executor=options, cache=False, **SMALL)


def test_an_object_is_refused_and_a_cached_run_needs_no_cluster() -> None:
    scorer = gendalens.Scorer(lambda texts: [-1.0 for _ in texts], name="mine")
    with pytest.raises(UserError, match="mine is in the memory of this process"):
        gendalens.run(scorer, tasks="lm-abc", executor="ray", **SMALL)
    home = gendalens.run("demo-lm", tasks="lm-abc", **SMALL)
    assert gendalens.run("demo-lm", tasks="lm-abc", executor="ray:127.0.0.1:9", **SMALL) == home


def test_requests_are_small_on_their_way() -> None:
    from gendalens.engine.cluster.worker import pack
    from gendalens.models.detect import load_model

    encoded = load_model("demo-lm").encode([Score(f"Hun har {n} heste.") for n in range(100)])
    assert len(pack(encoded)) < 100 * 1500
