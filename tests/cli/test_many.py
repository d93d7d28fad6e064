"""Lists of models in a file, and the options of a cluster."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from gendalens.cli.many import choose_executor, list_models
from gendalens.engine import ray_options
from gendalens.engine.cluster.environment import reduce_environment
from gendalens.engine.ray_options import RayOptions
from gendalens.errors import UserError

NOTHING = {"workers": None, "cpus_per_worker": None, "gpus_per_worker": 0.0, "environment": ()}


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ray_options, "is_installed", lambda: True)


def test_models_are_read_one_a_line_and_named_once(tmp_path: Path) -> None:
    file = tmp_path / "models.txt"
    file.write_text(
        "# the small ones\n\nvendor/small  # quick\n./folder#2\nvendor/small\r\n  chat:vendor/x\n",
        encoding="utf-8-sig",
    )
    assert list_models(["one", "chat:vendor/x"], file) == [
        *("one", "chat:vendor/x", "vendor/small", "./folder#2"),
    ]


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"# nothing\n\n", "names no model: write one per line"),
        (b"\xff\xfe\x00", "is not UTF-8 text"),
        (None, r"cannot be read \(No such file or directory\)"),
    ],
)
def test_a_list_without_models_is_one_sentence(
    content: bytes | None, sentence: str, tmp_path: Path
) -> None:
    file = tmp_path / "models.txt"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(UserError, match=sentence):
        list_models([], file)


def test_no_model_at_all_is_one_sentence() -> None:
    with pytest.raises(UserError, match=r"No model is named: .* --models-from"):
        list_models([], None)


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("ray", None),
        ("ray:auto", "auto"),
        ("ray:10.0.0.1:6379", "10.0.0.1:6379"),
        ("ray://head:10001", "ray://head:10001"),
    ],
)
def test_an_executor_is_ray_with_or_without_an_address(text: str, address: str | None) -> None:
    assert choose_executor(text, **NOTHING) == RayOptions(address=address)  # type: ignore[arg-type]


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize("text", ["dask", "ray:", "rays:x", ""])
def test_there_is_no_other_executor(text: str) -> None:
    with pytest.raises(UserError, match="There is no executor"):
        choose_executor(text, **NOTHING)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("option", "given"),
    [
        ("--workers", {"workers": 2}),
        ("--cpus-per-worker", {"cpus_per_worker": 1.0}),
        ("--gpus-per-worker", {"gpus_per_worker": 0.5}),
        ("--worker-env", {"environment": ("HF_TOKEN",)}),
    ],
)
def test_options_of_workers_need_an_executor(option: str, given: dict[str, object]) -> None:
    with pytest.raises(UserError, match=f"{option} is about the workers of a Ray cluster"):
        choose_executor(None, **(NOTHING | given))  # type: ignore[arg-type]


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"workers": 0}, "0 workers cannot answer"),
        ({"gpus_per_worker": 1.5}, r"cannot have 1\.5 GPUs"),
        ({"cpus_per_worker": -1}, r"cannot have .1 CPUs"),
        ({"environment": ("SURELY_NOT_SET",)}, "SURELY_NOT_SET is to be passed"),
    ],
)
def test_workers_that_cannot_be_are_refused(given: dict[str, object], sentence: str) -> None:
    with pytest.raises(UserError, match=sentence):
        RayOptions(**given)  # type: ignore[arg-type]


def test_without_ray_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ray_options, "is_installed", lambda: False)
    with pytest.raises(UserError, match=r'pip install "ray>='):
        choose_executor("ray", **NOTHING)  # type: ignore[arg-type]


def test_a_cluster_started_here_inherits_no_key() -> None:
    kept = reduce_environment(
        {
            "PATH": "/bin",
            "HF_TOKEN": "a",
            "OPENAI_API_KEY": "b",
            "HTTPS_PROXY": "http://me:c@proxy",
            "GENDALENS_HOME": "/home",
            "LC_ALL": "da_DK.UTF-8",
            "ANYTHING": "d",
        }
    )
    assert {name for name in kept if not name.startswith("RAY_")} == {
        *("PATH", "GENDALENS_HOME", "LC_ALL"),
    }
    assert kept["RAY_USAGE_STATS_ENABLED"] == "0"


def test_ray_is_not_imported_by_a_run_without_it(tmp_path: Path) -> None:
    code = (
        "import sys; from gendalens import run;"
        "import gendalens.engine.cluster.ray_cluster, gendalens.engine.cluster.remote_backend;"
        "run('control:fair', tasks='lm-abc', data='builtin', sample=20);"
        "print([name for name in sys.modules if name.split('.')[0] == 'ray'])"
    )
    ended = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path
    )
    assert ended.stdout.strip() == "[]", ended.stderr
