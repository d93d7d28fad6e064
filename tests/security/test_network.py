"""Nothing is asked of a network that nobody asked for."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any, NoReturn

import pytest
from families import opened
from typer.testing import CliRunner

import gendalens
from gendalens.cli.app import app
from gendalens.errors import UserError
from gendalens.models import demo
from gendalens.models.base import LoadOptions
from gendalens.models.detect import load_model
from gendalens.models.requests import Score


class Reached(BaseException):
    """Somebody went to the network; no library may catch it."""


@pytest.fixture
def no_network(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Every way to the network raises, and is remembered in case somebody catches even that."""
    tried: list[Any] = []

    def refuse(*args: Any, **options: Any) -> NoReturn:
        tried.append(args[1:] or args)
        raise Reached(str(tried[-1]))

    for name in ("connect", "connect_ex", "sendto"):
        monkeypatch.setattr(socket.socket, name, refuse)
    for name in ("getaddrinfo", "create_connection", "gethostbyname"):
        monkeypatch.setattr(socket, name, refuse)
    return tried


def test_the_trap_is_set(no_network: list[Any]) -> None:
    with pytest.raises(Reached):
        socket.create_connection(("localhost", 1))
    with pytest.raises(Reached):
        gendalens.run("somebody/no-such-model", tasks="lm-abc", data="builtin", cache=False)
    assert len(no_network) == 2


def test_a_local_model_on_built_in_data_needs_none(no_network: list[Any]) -> None:
    folder = demo.find_folder("demo-lm")
    (result,) = gendalens.run(str(folder), tasks="lm-dawinobias", data="builtin", sample=4)
    assert result.coverage
    assert not no_network


def test_a_model_of_the_hub_is_not_asked_for_offline(no_network: list[Any]) -> None:
    with pytest.raises(UserError, match="nor in the cache: download it first"):
        gendalens.run("somebody/no-such-model", tasks="lm-abc", data="builtin", offline=True)
    with pytest.raises(UserError, match="may not be fetched offline"):
        gendalens.run("control:fair", tasks="lm-abc", offline=True)
    assert not no_network


@pytest.fixture
def cached(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A model of the hub that was fetched before."""
    from huggingface_hub import constants

    place, commit = tmp_path / "models--somebody--small", "a" * 40
    shutil.copytree(opened("gpt2").folder, place / "snapshots" / commit)
    (place / "refs").mkdir()
    (place / "refs" / "main").write_text(commit)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path))
    return "somebody/small"


def test_a_model_in_the_hubs_cache_is_read_offline_without_a_request(
    cached: str, no_network: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also with the hub's library imported before, whose telemetry then was still on."""
    from huggingface_hub import constants
    from huggingface_hub.utils import _detect_agent

    monkeypatch.setattr(constants, "HF_HUB_DISABLE_TELEMETRY", False)
    monkeypatch.setattr(_detect_agent, "_registry", None, raising=False)
    before = constants.HF_HUB_OFFLINE
    backend = load_model(cached, LoadOptions(offline=True))
    assert backend.info.revision == "a" * 40
    assert backend.answer(backend.encode([Score("Hun sejler.")]))
    assert not no_network
    assert constants.HF_HUB_DISABLE_TELEMETRY
    assert constants.HF_HUB_OFFLINE is before


@pytest.mark.slow
def test_pickled_weights_are_not_sent_for_conversion() -> None:
    """transformers asks for it in the background; tests of its own and ours would be left out."""
    asked = (
        "from gendalens.models.huggingface.libraries import import_transformers as i; i()\n"
        "from transformers.utils import is_env_variable_true as true\n"
        "import inspect, transformers.modeling_utils as m\n"
        "name = 'DISABLE_SAFETENSORS_CONVERSION'\n"
        "print(true(name), name in inspect.getsource(m))"
    )
    clean = {
        name: value
        for name, value in os.environ.items()
        if name != "DISABLE_SAFETENSORS_CONVERSION"
    }
    said = subprocess.check_output([sys.executable, "-c", asked], env=clean, text=True)
    assert said.split() == ["True", "True"]


def test_a_local_model_cannot_have_the_hub_asked(
    no_network: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    import huggingface_hub
    import transformers

    def ask(*args: Any, **options: Any) -> NoReturn:
        huggingface_hub.HfApi().model_info("somebody/other")
        raise AssertionError

    monkeypatch.setattr(transformers.AutoConfig, "from_pretrained", ask)
    with pytest.raises(UserError, match="offline mode is enabled"):
        load_model(str(opened("gpt2").folder))
    assert not no_network


@pytest.mark.slow
@pytest.mark.parametrize(
    "command",
    [
        ["show"],
        ["show", "--json"],
        ["compare"],
        ["gate", "--max-effect", "9"],
        ["report"],
        ["plot", "--format", "svg"],
    ],
    ids=" ".join,
)
def test_what_reads_runs_needs_none(
    command: list[str], small_run: Path, tmp_path: Path, no_network: list[Any]
) -> None:
    name, *options = command
    if name in ("report", "plot"):
        options += ["-o", str(tmp_path / name)]
    run = next(path.parent for path in sorted(small_run.rglob("result.json")))
    done = CliRunner().invoke(app, [name, str(run), *options])
    assert done.exit_code in (0, 1, 3), done.output
    assert not no_network


OFFLINE = """
import sys
from pathlib import Path
from typer.testing import CliRunner
from gendalens.cli.app import app

def code(*args):
    done = CliRunner().invoke(app, list(args))
    if done.exception and not isinstance(done.exception, (SystemExit, Exception)):
        raise done.exception
    print(args[0], done.exit_code, repr(done.exception))
    return done.exit_code

run, out = sys.argv[1:]
few = ["--tasks", "lm-dawinobias", "--data", "builtin", "--sample", "4", "--offline", "--out", out]
assert code("run", "demo-lm", *few) in (0, 2)
assert list(Path(out).rglob("result.json"))
assert code("run", "somebody/no-such-model", *few) == 2
assert code("plot", run, "-o", out, "--format", "png") == 0
"""


def _unshare() -> bool:
    tool = shutil.which("unshare")
    if tool is None or os.name != "posix":
        return False
    return subprocess.run([tool, "-n", "true"], capture_output=True, check=False).returncode == 0


@pytest.mark.slow
@pytest.mark.skipif(not _unshare(), reason="a process without network takes unshare and root")
def test_offline_works_with_the_network_off(small_run: Path, tmp_path: Path) -> None:
    """In a namespace of its own, without even a loopback device, which libraries in Rust see too."""
    run = next(path.parent for path in sorted(small_run.rglob("result.json")))
    done = subprocess.run(
        [
            "unshare",
            "-n",
            sys.executable,
            "-c",
            OFFLINE,
            str(run),
            str(tmp_path / "out"),
        ],
        capture_output=True,
        encoding="utf-8",
        check=False,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )
    assert done.returncode == 0, done.stdout + done.stderr
