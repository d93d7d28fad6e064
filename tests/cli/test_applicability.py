"""An option that can have no effect in a run is refused before anything is loaded."""

from __future__ import annotations

from pathlib import Path

import pytest
from small_data import small_data
from typer.testing import CliRunner

import gendalens
from gendalens.cli.app import app
from gendalens.errors import UserError
from gendalens.models.endpoint_options import EndpointOptions

FAIR = "control:fair"
URL = "http://localhost:9/v1"


def refuse(*arguments: str) -> str:
    done = CliRunner().invoke(app, list(arguments))
    assert isinstance(done.exception, UserError), done.output
    return str(done.exception)


@pytest.fixture
def abc(tmp_path: Path) -> str:
    return f"abc={small_data(tmp_path / 'data')['abc']}"


@pytest.fixture(autouse=True)
def nothing_is_loaded(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if "abc" not in request.fixturenames:
        monkeypatch.setattr("gendalens.engine.session.load_model", None)


@pytest.mark.parametrize(
    ("option", "flag"),
    [
        (["--names", "matched"], "--names"),
        (["--repeats", "3"], "--repeats"),
        (["--unisex"], "--unisex"),
        (["--labels", "A=PER"], "--labels"),
    ],
)
@pytest.mark.parametrize("command", ["run", "requests", "power"])
def test_an_option_of_another_test_is_refused(command: str, option: list[str], flag: str) -> None:
    start = {
        "run": ["run", FAIR, "--tasks", "lm-abc,coref-abc"],
        "requests": ["requests", "lm-abc", "-o", "-"],
        "power": ["power", "lm-abc"],
    }
    said = refuse(*start[command], *option)
    assert said.startswith(f"{flag} has no effect on lm-abc@2")
    assert "an option of ner-dane@" in said


@pytest.mark.parametrize(
    ("option", "flag"),
    [
        (["--price-in", "3"], "--price-in"),
        (["--price-out", "3"], "--price-out"),
        (["--key-env", "KEY"], "--key-env"),
        (["--header", "A: b"], "--header"),
        (["--answer-by", "text"], "--answer-by"),
        (["--answer-by", "shouting"], "--answer-by"),
        (["--max-tokens-total", "9"], "--max-tokens-total"),
        (["--keep-raw"], "--keep-raw"),
        (["--timeout", "9"], "--timeout"),
    ],
)
def test_an_option_for_an_endpoint_needs_one(option: list[str], flag: str) -> None:
    said = refuse("run", FAIR, *option)
    assert said.startswith(f"{flag} is for a model behind an endpoint: add --endpoint URL")


def test_an_endpoint_needs_a_model_behind_it(monkeypatch: pytest.MonkeyPatch) -> None:
    said = refuse("run", FAIR, "demo-lm", "--endpoint", URL)
    assert said.startswith(f"An endpoint has no effect on {FAIR}, demo-lm: name the model")
    for endpoint in (URL, EndpointOptions(urls=(URL,))):
        with pytest.raises(UserError, match="An endpoint has no effect on control:fair"):
            gendalens.run(FAIR, endpoint=endpoint)


def test_a_way_to_answer_that_there_is_not_is_refused_before_the_server_is_asked() -> None:
    said = refuse("run", "openai:x", "--endpoint", URL, "--answer-by", "shouting")
    assert said.startswith("There is no way to answer 'shouting': choose one of likelihoods")


def test_python_refuses_the_same() -> None:
    with pytest.raises(UserError, match="--names has no effect on lm-abc@2"):
        gendalens.run(FAIR, tasks="lm-abc", names="matched")
    with pytest.raises(UserError, match="--repeats has no effect on lm-abc@2"):
        gendalens.power("lm-abc", repeats=3)
    with pytest.raises(UserError, match="--negligible ner-dane has no effect on lm-abc@2"):
        gendalens.run(FAIR, tasks="lm-abc", negligible={"ner-dane": 0.1})


def test_an_option_that_no_test_of_the_only_model_declares_is_refused(
    abc: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without --tasks, the model decides which tests there are."""
    name, _, folder = abc.partition("=")
    monkeypatch.setattr("gendalens.engine.selection.is_available", lambda name: False)
    with pytest.raises(UserError, match="--names has no effect on control:fair: it is an option"):
        gendalens.run(FAIR, data={name: folder}, names="matched")
    with pytest.raises(UserError, match="no effect on control:fair, control:always-han"):
        gendalens.run([FAIR, "control:always-han"], data={name: folder}, names="matched")


def test_a_choice_that_there_is_not_is_refused_whatever_the_tests() -> None:
    assert "choose" in refuse("run", FAIR, "--names", "foo")
    assert refuse("tasks", "--protocol", "3") == "There is no protocol 3; choose 1 or 2."
