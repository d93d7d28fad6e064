"""Models behind an endpoint: what the probe believes of a scripted server, every rung, every fault."""

from __future__ import annotations

import base64
import io
import json
import math
import os
import re
import signal
import subprocess
import sys
import time
import traceback
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import quote, quote_plus

import pytest
from endpoint_server import REFUSAL, Script, serve
from planting import plant
from rich.console import Console

import gendalens
from gendalens.api import load_model
from gendalens.data.choice import read_choices
from gendalens.engine.run_options import RunOptions
from gendalens.engine.session import Job, run_jobs
from gendalens.errors import UserError
from gendalens.models.base import LoadOptions
from gendalens.models.chat.asking import Interview
from gendalens.models.chat.respondent import Rung
from gendalens.models.endpoint import client
from gendalens.models.endpoint.option_tokens import Place, score_options
from gendalens.models.endpoint_options import EndpointOptions
from gendalens.models.requests import Fill, Score
from gendalens.report.terminal.progress import TerminalWatcher
from gendalens.report.terminal.status_line import StatusLine

RUNGS: dict[str, dict[str, Any]] = {
    "options by tokens": {"top_logprobs": 20},
    "options in pieces": {"top_logprobs": 20, "splits": 1},
    "options by systemone": {"decision_route": "/systemone"},
    "options by decisions": {"decision_route": "/decisions"},
    "constrained by choice": {"constraints": ("guided_choice",)},
    "constrained by grammar": {"constraints": ("grammar", "json_schema")},
    "constrained by schema": {"constraints": ("json_schema",)},
    "text": {},
    "text after thoughts": {"thinks": True},
}


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(client, "FIRST_WAIT", 0.01)
    monkeypatch.setenv("GENDALENS_HOME", str(tmp_path / "home"))
    monkeypatch.setattr("gendalens.api.write_report", lambda out, folders: None)


@pytest.fixture
def server() -> Iterator[tuple[Script, str]]:
    script = Script(top_logprobs=20)
    with serve(script) as url:
        yield script, url


def ask(url: str | EndpointOptions, *requests: Any) -> list[Any]:
    model = load_model("openai:m", endpoint=url)
    try:
        return model.answer(model.encode(requests))
    finally:
        model.close()


FILL = Fill("Lægen siger, at ", " er træt.", ("hun", "han"))


def plant_fill(script: Script, rung: Rung, **mind: float) -> None:
    for asking in Interview(rung).ask(FILL, "m"):
        script.minds[asking.question.turns[-1].text] = dict(mind)


# What the probe believes


@pytest.mark.parametrize(
    ("offers", "rung"),
    [
        ({"likelihoods": "echo"}, Rung.LIKELIHOODS),
        ({"likelihoods": "prompt_logprobs"}, Rung.LIKELIHOODS),
        ({"likelihoods": "echo", "constant_likelihoods": True}, Rung.TEXT),
        ({"top_logprobs": 5}, Rung.OPTIONS),
        ({"top_logprobs": 1}, Rung.TEXT),
        ({"top_logprobs": 20, "constant_logprobs": True}, Rung.TEXT),
        ({"top_logprobs": 20, "certain_logprobs": True}, Rung.TEXT),
        ({"decision_route": "/systemone"}, Rung.OPTIONS),
        ({"constraints": ("structured_outputs",)}, Rung.CONSTRAINED),
        ({"rejects": ("seed",)}, Rung.TEXT),
        ({"rejects": ("max_tokens", "temperature", "seed")}, Rung.TEXT),
    ],
)
def test_a_server_is_believed_only_what_it_really_does(offers: dict[str, Any], rung: Rung) -> None:
    with serve(Script(**offers)) as url:
        model = load_model("openai:m", endpoint=url)
        model.close()
    assert model.rung is rung  # type: ignore[attr-defined]
    assert f"chat-rung {rung.value}" in " ".join(model.info.software)


@pytest.mark.parametrize(("rejects", "unfiltered"), [((), True), (("top_k",), False)])
def test_samples_are_drawn_from_all_tokens_where_the_server_can_be_asked_to(
    rejects: tuple[str, ...], unfiltered: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    bodies: list[dict[str, Any]] = []
    script = Script(rejects=rejects)
    respond = script._chat

    def note(body: dict[str, Any]) -> Any:
        bodies.append(body)
        return respond(body)

    monkeypatch.setattr(script, "_chat", note)
    with serve(script) as url:
        model = load_model("openai:m", endpoint=url)
        model.close()
    hot = [body for body in bodies if body["temperature"] == 1]
    assert len(hot) >= 4
    assert {(body.get("top_k"), body.get("min_p")) for body in hot} == {
        (0, 0) if unfiltered else (None, None)
    }
    assert not [body for body in bodies if body["temperature"] == 0 and "top_k" in body]


def test_findings_are_remembered_and_the_best_of_them_confirmed(
    server: tuple[Script, str],
) -> None:
    script, url = server
    asked = []
    for _ in range(2):
        script.start_counting()
        load_model("openai:m", endpoint=url).close()
        asked.append(sum(count for question, count in script.seen.items() if "probe" in question))
    assert asked[0] > 10
    assert asked[1] == 2


@pytest.mark.parametrize(
    ("offer", "value"),
    [
        ("top_logprobs", 20),
        ("decision_route", "/systemone"),
        ("likelihoods", "echo"),
        ("constraints", ("grammar",)),
    ],
)
def test_a_server_that_no_longer_does_something_is_found_out(offer: str, value: Any) -> None:
    script = Script(**{offer: value})
    with serve(script) as url:
        load_model("openai:m", endpoint=url).close()
        setattr(script, offer, type(value)())
        model: Any = load_model("openai:m", endpoint=url)
        model.close()
    assert model.rung is Rung.TEXT


def test_a_rung_that_the_server_does_not_offer_is_refused(server: tuple[Script, str]) -> None:
    _, url = server
    with pytest.raises(UserError, match=r"cannot answer by likelihoods.*choose options, text"):
        load_model("openai:m", endpoint=EndpointOptions(urls=(url,), answer_by="likelihoods"))
    model = load_model("openai:m", endpoint=EndpointOptions(urls=(url,), answer_by="text"))
    model.close()
    assert model.rung is Rung.TEXT  # type: ignore[attr-defined]


# Rungs


@pytest.mark.parametrize("name", RUNGS)
def test_every_rung_gives_back_what_the_model_has_in_mind(name: str) -> None:
    script = Script(**RUNGS[name])
    rung = Rung(name.split()[0])
    plant_fill(script, rung, hun=math.log(0.02), han=math.log(0.98))
    with serve(script) as url:
        (answer,) = ask(url, FILL)
    assert {trial.outcome for trial in answer.trials} == {"answered"}
    if rung is Rung.OPTIONS:
        for trial in answer.trials:
            assert trial.log_probs == pytest.approx((math.log(0.02), math.log(0.98)), abs=1e-6)
    else:
        chosen = [trial.chosen for trial in answer.trials]
        assert chosen.count(1) > chosen.count(0)
    assert answer.log_probs[1] > answer.log_probs[0]


@pytest.mark.parametrize("way", ["echo", "prompt_logprobs"])
def test_likelihoods_answer_like_a_causal_model(way: str) -> None:
    script = Script(likelihoods=way)
    texts = {word: f"{FILL.left}{word}{FILL.right}" for word in FILL.candidates}
    script.scores = {texts["hun"]: -21.0, texts["han"]: -14.0, "Hun går. Han står.": -8.0}
    with serve(script) as url:
        model = load_model("openai:m", endpoint=url)
        (filled,) = model.answer(model.encode([FILL]))
        (scored, rest) = model.answer(
            model.encode([Score("Hun går. Han står."), Score("Han står.", given="Hun går. ")])
        )
        model.close()
    assert filled.log_probs == pytest.approx((-21.0, -14.0))  # type: ignore[union-attr]
    assert filled.pieces == (1, 1)  # type: ignore[union-attr]
    assert (scored.log_likelihood, scored.tokens, scored.unscored) == (pytest.approx(-8.0), 4, 0)  # type: ignore[union-attr]
    assert (rest.log_likelihood, rest.tokens) == (pytest.approx(-4.0), 2)  # type: ignore[union-attr]


def test_an_option_is_followed_through_its_pieces() -> None:
    places = [
        Place(b"h", -0.1, ((b"h", -0.1), (b"d", -4.0))),
        Place(b"un", -0.5, ((b"un", -0.5), (b"an", -1.0), (b"al", -3.0))),
    ]
    assert score_options(places, ("hun", "han")) == pytest.approx((-0.6, -1.1))
    # An option out of sight gets the smallest reported probability, which it cannot exceed.
    assert score_options(places[:1], ("hun", "den")) == pytest.approx((-0.1, -4.0))
    assert (
        score_options([Place(b"Det", -0.1, ((b"Det", -0.1), (b"Nej", -3.0)))], ("hun", "han"))
        is None
    )
    # What stands before the answer is walked through, and answers without it count as well.
    quoted = [
        Place("»".encode(), -0.5, (("»".encode(), -0.5), (b"hun", -2.0))),
        Place(b"hun", -0.3, ((b"hun", -0.3), (b"han", -1.4))),
    ]
    both = math.log(math.exp(-0.8) + math.exp(-2.0))
    assert score_options(quoted, ("hun", "han")) == pytest.approx((both, -1.9))
    # A word that only begins like an option is not that option.
    assert score_options(
        [Place(b"hans", -0.1, ((b"hans", -0.1), (b"han", -3.0)))], ("hun", "han")
    ) == (pytest.approx((-3.0, -3.0)))


def test_a_refusal_is_told_from_an_answer_on_every_rung() -> None:
    for name in "options by tokens", "options by decisions", "options by systemone", "text":
        script = Script(**RUNGS[name])
        plant_fill(script, Rung(name.split()[0]), **{REFUSAL: 0.0})
        with serve(script) as url:
            (answer,) = ask(url, FILL)
        assert {trial.outcome for trial in answer.trials} == {"refused"}, name


# Faults


def fail(url: str | EndpointOptions, model: str = "openai:m") -> str:
    with pytest.raises(UserError) as error:
        load_model(model, endpoint=url)
    return str(error.value)


def test_a_missing_v1_is_added_and_said(server: tuple[Script, str]) -> None:
    _, url = server
    model = load_model("openai:m", endpoint=url.removesuffix("/v1"))
    model.close()
    assert any(url in str(remark) for remark in model.remarks)


def test_an_answer_that_is_cut_off_is_not_read() -> None:
    script = Script()
    for asking in Interview(Rung.TEXT).ask(FILL, "m"):
        script.texts[asking.question.turns[-1].text] = "han " * 200
    with serve(script) as url:
        (answer,) = ask(url, FILL)
    assert {trial.outcome for trial in answer.trials} == {"cut off"}


def run(url: str, out: Path, **more: Any) -> Any:
    endpoint = EndpointOptions(urls=(url,), **more)
    return gendalens.run(
        "openai:m", endpoint=endpoint, tasks="lm-dawinobias", data="builtin", sample=10, out=out
    )


def test_a_limit_of_tokens_stops_cleanly_and_the_next_run_goes_on(
    server: tuple[Script, str], tmp_path: Path
) -> None:
    script, url = server
    plant(script, "lm-dawinobias", "control:fair", Rung.OPTIONS, sample=10)
    load_model("openai:m", endpoint=url).close()
    script.start_counting()
    with pytest.raises(UserError, match=r"limit of 2,000 tokens .* is reached"):
        run(url, tmp_path / "run", max_tokens_total=2000)
    stopped = sum(count for question, count in script.answered.items() if "chat" in question)
    run(url, tmp_path / "run", price_in=2.0, price_out=4.0)
    asked = {question: count for question, count in script.answered.items() if "chat" in question}
    assert 0 < stopped < len(asked)
    assert set(asked.values()) == {1}
    (file,) = (tmp_path / "run").rglob("run.json")
    usage = json.loads(file.read_text())["usage"]
    assert usage["requests"] == len(asked) - stopped
    spent = 2 * usage["prompt_tokens"] + 4 * usage["answer_tokens"]
    assert usage["price"] == pytest.approx(spent / 1e6)


def test_several_servers_take_turns_with_many_requests_in_flight(tmp_path: Path) -> None:
    scripts = [Script(top_logprobs=20, delay=0.01) for _ in range(2)]
    for script in scripts:
        plant(script, "lm-dawinobias", "control:fair", Rung.OPTIONS, sample=10)
    with serve(scripts[0]) as first, serve(scripts[1]) as second:
        endpoint = EndpointOptions(urls=(first, second))
        gendalens.run(
            "openai:m", endpoint=endpoint, tasks="lm-dawinobias", data="builtin", sample=10
        )
    asked = [sum(script.answered.values()) for script in scripts]
    assert min(asked) > 0.4 * max(asked)
    assert sum(script.most_at_once for script in scripts) > 8


_KILLED = """
import gendalens
from gendalens.models.endpoint import client
gendalens.run("openai:m", endpoint={url!r}, tasks="lm-dawinobias", data="builtin", sample=10)
"""


@pytest.mark.slow
def test_kill_9_loses_nothing_that_has_arrived(server: tuple[Script, str], tmp_path: Path) -> None:
    script, url = server
    plant(script, "lm-dawinobias", "control:fair", Rung.OPTIONS, sample=10)
    load_model("openai:m", endpoint=url).close()
    script.start_counting()
    script.delay = 0.05
    process = subprocess.Popen([sys.executable, "-c", _KILLED.format(url=url)], env=os.environ)
    end = time.monotonic() + 60
    while sum(script.answered.values()) < 20 and time.monotonic() < end:
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()
    script.delay = 0.0
    time.sleep(0.2)
    run(url, tmp_path / "run")
    twice = [
        count for question, count in script.answered.items() if "chat" in question and count > 1
    ]
    # Only what was in flight when the process was killed is asked again.
    assert len(twice) <= script.most_at_once
    assert sum(twice) <= 2 * script.most_at_once
    assert len(script.answered) > 2 * script.most_at_once


# Secrets

SECRET, PASSWORD, TOKEN = "sk-very/secret+12345==", "p4ss:w0rd of/mine", "tok-&-9876"


def list_forms(secret: str) -> set[bytes]:
    """A secret in all the forms that a server may give it."""
    forms = {secret, quote(secret), quote(secret, safe=""), quote_plus(secret)}
    whole = (secret, f"me:{secret}", f"Bearer {secret}")
    forms |= {base64.b64encode(one.encode()).decode() for one in whole}
    forms |= {json.dumps(secret)[1:-1], "".join(f"\\u{ord(sign):04x}" for sign in secret)}
    return {form.encode() for form in forms}


@pytest.mark.slow
def test_no_secret_reaches_a_file_or_a_message(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.undo()
    monkeypatch.setattr(client, "FIRST_WAIT", 0.01)
    monkeypatch.setenv("GENDALENS_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("MY_KEY", SECRET)
    script = Script(top_logprobs=20, repeats_headers=True)
    plant(script, "lm-dawinobias", "control:fair", Rung.OPTIONS, sample=6)
    said: list[str] = []
    with serve(script) as url:
        address = url.replace("//", f"//me:{quote(PASSWORD, safe='')}@")
        by_key = EndpointOptions(
            urls=(url,), key_env="MY_KEY", headers=(f"X-Token: {TOKEN}",), keep_raw=True
        )
        for place, options in enumerate((by_key, EndpointOptions(urls=(address,), keep_raw=True))):
            monkeypatch.setenv("GENDALENS_HOME", str(tmp_path / f"home {place}"))
            # A run that is stopped leaves responses in the journal.
            with pytest.raises(UserError, match="limit of 700 tokens"):
                run_with_page(replace(options, max_tokens_total=700), tmp_path / f"run {place}")
            (result,) = run_with_page(options, tmp_path / f"run {place}")
            sent = script.headers[-1]
            assert (sent.get("x-token") == TOKEN) == (place == 0)
            said += [repr(options), str(LoadOptions(endpoint=options)), repr(result), str(result)]
            said += [json.dumps(result.to_dict())]
        script.rejects = ("messages",)
        for options in by_key, EndpointOptions(urls=(address,)):
            with pytest.raises(UserError, match="not with") as error:
                load_model("openai:m", endpoint=replace(options, use_cache=False))
            said += traceback.format_exception(error.value)
        script.key = "another"
        with pytest.raises(UserError) as error:
            load_model("openai:m", endpoint=replace(by_key, use_cache=False))
        said += traceback.format_exception(error.value)
    files = [file for file in tmp_path.rglob("*") if file.is_file()]
    names = {file.name for file in files}
    assert {"responses.jsonl", "responses.sqlite", "report.html", "cache.sqlite"} <= names
    assert any("\u2022" in file.read_text() for file in files if file.name == "responses.jsonl")
    shown = "".join((*said, *capfd.readouterr())).encode()
    for secret in SECRET, PASSWORD, TOKEN:
        for form in list_forms(secret):
            assert form not in shown
            assert not [file for file in files if form in file.read_bytes()], form


def run_with_page(endpoint: EndpointOptions, out: Path) -> Any:
    return gendalens.run(
        "openai:m", endpoint=endpoint, tasks="lm-dawinobias", data="builtin", sample=6,
        out=out, progress=True,
    )  # fmt: skip


def test_no_key_is_sent_unless_the_user_names_its_variable(
    server: tuple[Script, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    script, url = server
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    load_model("openai:m", endpoint=url).close()
    assert not any("authorization" in headers for headers in script.headers)
    assert "MISSING is not set" in fail(EndpointOptions(urls=(url,), key_env="MISSING"))


def test_credentials_in_the_address_are_sent_as_a_header_and_shown_nowhere(
    server: tuple[Script, str],
) -> None:
    script, url = server
    model = load_model("openai:m", endpoint=url.replace("//", f"//me:{quote(PASSWORD, safe='')}@"))
    model.close()
    assert script.headers[-1]["authorization"].startswith("Basic ")
    assert PASSWORD not in f"{model.remarks}{model.info}{model.fingerprint()}"
    with pytest.raises(UserError, match=r"^\? is not the address"):
        load_model("openai:m", endpoint=url.replace("//", "//me:123/456@"))


# Progress


@pytest.mark.slow
def test_progress_shows_the_rate_the_tokens_a_second_and_the_time_left(
    server: tuple[Script, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    script, url = server
    plant(script, "lm-dawinobias", "control:fair", Rung.OPTIONS, sample=40)
    script.delay = 0.01
    terminal = io.StringIO()
    console = Console(file=terminal, force_terminal=True, width=150)
    options = RunOptions(
        data=read_choices("builtin"), sample=40, load=LoadOptions(endpoint=url), use_cache=False
    )
    run_jobs([Job("openai:m", ["lm-dawinobias"])], options, TerminalWatcher(StatusLine(console)))
    shown = terminal.getvalue()
    assert re.search(r"[\d,]+/s\S* .*[\d,]+ tokens/s.*\d:\d\d:\d\d", shown)
    assert "About 640 requests with" in shown
