"""What can go wrong at a server: one sentence, exit code 2, no answer lost and none asked for twice."""

from __future__ import annotations

import asyncio
import os
import random
import shutil
import signal
import sqlite3
import ssl
import subprocess
import sys
import time
from collections import Counter
from contextlib import ExitStack
from email.utils import formatdate
from pathlib import Path
from typing import Any

import pytest
from endpoint_server import Script, is_of_probe, serve
from planting import plant
from typer.testing import CliRunner

import gendalens
from gendalens.api import load_model
from gendalens.cli.app import app
from gendalens.errors import UserError
from gendalens.models.chat.respondent import Rung
from gendalens.models.endpoint import client, line
from gendalens.models.endpoint.secrets import Address
from gendalens.models.endpoint.waits import read_retry_after, read_wait
from gendalens.models.endpoint_options import EndpointOptions

RUN = ("--tasks", "lm-dawinobias", "--data", "builtin", "--sample", "6")


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(client, "FIRST_WAIT", 0.01)
    monkeypatch.setenv("GENDALENS_HOME", str(tmp_path / "home"))
    monkeypatch.setattr("gendalens.api.write_report", lambda out, folders: None)


def make_server(sample: int = 6, **options: Any) -> Script:
    script = Script(top_logprobs=20, **options)
    plant(script, "lm-dawinobias", "control:fair", Rung.OPTIONS, sample)
    return script


def run(url: str | EndpointOptions, sample: int = 6, **more: Any) -> Any:
    return gendalens.run(
        "openai:m", endpoint=url, tasks="lm-dawinobias", data="builtin", sample=sample, **more
    )


def count_questions(script: Script) -> dict[str, int]:
    return {question: count for question, count in script.answered.items() if "chat" in question}


# Bad input, through the command line


def fail(*arguments: str, out: Path) -> str:
    """What the command line says; it must be one sentence, and the exit code 2."""
    done = CliRunner().invoke(app, ["run", "openai:m", *RUN, "--out", str(out), *arguments])
    if isinstance(done.exception, UserError):  # the program prints it and ends with exit code 2
        return f"gendalens: {done.exception}"
    assert done.exit_code == 2, done.output
    said = [one for one in done.stderr.splitlines() if one.startswith("gendalens: ")]
    assert len(said) == 1, done.stderr
    assert "Traceback" not in done.output
    return said[0]


def test_each_mistake_is_told_in_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_KEY", "sk-wrong-12345")
    assert "add --endpoint URL" in fail(out=tmp_path)
    for script, more, said in (
        (Script(key="right"), ("--key-env", "MY_KEY"), "refuses the key (status 401: "),
        (Script(models=("a", "b")), (), "does not have the model m; it has a, b"),
        (Script(html=True), (), "does not answer in the form of the OpenAI protocol"),
        (Script(redirect="http://elsewhere.example/v1"), (), "redirects to http://elsewhere."),
        (Script(empty=True), (), "gives an empty answer"),
        (Script(context=5), (), "too long for the context"),
        (Script(rejects=("messages",)), (), "status 400 (unsupported field messages)"),
        (Script(), ("--answer-by", "guess"), "no way to answer 'guess'"),
        (Script(), ("--answer-by", "likelihoods"), "cannot answer by likelihoods"),
        (Script(), ("--key-env", "sk-abc-12345678"), "and not the key"),
        (Script(), ("--key-env", "NOT_SET"), "NOT_SET is not set"),
        (Script(), ("--header", "nonsense"), "has the form NAME: VALUE"),
    ):
        with serve(script) as url:
            assert said in fail("--endpoint", url, *more, out=tmp_path), said
    for url, said in (
        ("http://127.0.0.1:9/v1", "cannot be reached"),
        ("localhost:8000", "is not the address of an endpoint"),
        ("http://[::1", "is not the address of an endpoint"),
        ("http://host:port/v1", "is not the address of an endpoint"),
        ("http://127.0.0.1:9/v1?key=sk-abc-12345678", "has a query"),
    ):
        told = fail("--endpoint", url, out=tmp_path)
        assert said in told
        assert "sk-abc" not in told


def test_a_forbidden_key_is_told_too(tmp_path: Path) -> None:
    class Forbidding(Script):
        def respond(self, path: str, body: dict[str, Any] | None) -> tuple[int, Any]:
            return 403, {"error": {"message": "no"}}

    with serve(Forbidding()) as url:
        assert "refuses the key (status 403: no)" in fail("--endpoint", url, out=tmp_path)


def test_a_context_that_is_too_small_in_the_middle_loses_nothing(tmp_path: Path) -> None:
    script = make_server()
    with serve(script) as url:
        load_model("openai:m", endpoint=url).close()
        script.start_counting()
        script.context = max(map(len, script.minds)) - 1
        assert "too long for the context" in fail("--endpoint", url, out=tmp_path)
        script.context = 0
        run(url)
    assert set(count_questions(script).values()) == {1}


@pytest.mark.slow
@pytest.mark.parametrize("is_named", [True, False])
def test_another_model_in_the_middle_ends_the_run(tmp_path: Path, is_named: bool) -> None:
    """Responses name the model, or only the list of models tells."""

    right: Counter[str] = Counter()

    class Changing(Script):
        def respond(self, path: str, body: dict[str, Any] | None) -> tuple[int, Any]:
            is_right = self.model == "m"
            status, plain = super().respond(path, body)
            if body is not None and not is_of_probe(body) and isinstance(plain, dict):
                plain["model"] = "m" if is_right else "another"
                right[str(body)] += is_right
                if not is_named:
                    del plain["model"]
            return status, plain

    script = Changing(top_logprobs=20)
    plant(script, "lm-dawinobias", "control:fair", Rung.OPTIONS, 6)
    with serve(script) as url:
        load_model("openai:m", endpoint=url).close()
        script.start_counting()
        script.changes_model_after = 30
        right.clear()
        assert "now serves another model (another)" in fail("--endpoint", url, out=tmp_path)
        script.changes_model_after = 0
        if not is_named:  # which answers came from which model is not known: all are asked again
            right.clear()
        run(url)
    assert len(right) == len(script.minds)
    assert set(right.values()) == {1}


@pytest.mark.slow
def test_a_model_that_answers_in_english_is_not_measurable(tmp_path: Path) -> None:
    script = Script()
    for prompt in make_server().minds:
        script.texts[prompt] = "The missing word is she."
    with serve(script) as url:
        (result,) = run(url)
    assert result.finding.headline == "not_measurable"
    assert result.finding.reason is not None
    assert result.finding.reason.code == "chat.mostly_unreadable"


@pytest.mark.parametrize("given", ["", "/v1/chat/completions", "/v1/completions", "/v1/models"])
def test_an_address_that_is_not_that_of_the_api_is_corrected_and_the_user_told(
    given: str, tmp_path: Path
) -> None:
    with serve(make_server()) as url:
        other = url.removesuffix("/v1") + given
        out = ("--out", str(tmp_path))
        done = CliRunner().invoke(app, ["run", "openai:m", *RUN, *out, "--endpoint", other])
    assert done.exit_code == 0, done.stderr
    assert f"The API is at {url}; that address is used." in done.stderr.replace("\n", " ")


def test_the_answers_of_a_sample_count_for_a_larger_one() -> None:
    script = make_server(12)
    with serve(script) as url:
        run(url)
        first = count_questions(script)
        run(url, sample=12)
    both = count_questions(script)
    assert len(both) == 2 * len(first)
    assert set(both.values()) == {1}


# Encryption


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("openssl") is None, reason="needs openssl to make a certificate")
def test_a_certificate_that_nobody_vouches_for_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    make = ("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1")
    what = (
        "-nodes",
        "-days",
        "2",
        "-subj",
        "/CN=localhost",
        "-addext",
        "subjectAltName=IP:127.0.0.1",
    )
    where = ("-keyout", str(key), "-out", str(certificate))
    subprocess.run([*make, *what, *where], check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    script = make_server()
    with serve(script, context) as url:
        assert url.startswith("https://")
        said = fail("--endpoint", url, out=tmp_path / "run")
        assert "The certificate of https://127.0.0.1" in said
        assert "SSL_CERT_FILE" in said
        assert not script.headers  # nothing was sent
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
        run(url)


# Faults in the middle


@pytest.mark.parametrize("retry_after", ["", "0.05", "date"])
def test_no_answer_is_lost_or_asked_twice_whatever_the_server_does(retry_after: str) -> None:
    script = make_server(
        retry_after=formatdate(time.time() + 1, usegmt=True)
        if retry_after == "date"
        else retry_after
    )
    with serve(script) as url:
        load_model("openai:m", endpoint=url).close()
        script.start_counting()
        script.faults = {
            2: "429",
            4: "500",
            6: "drop",
            8: "503",
            11: "cut",
            14: "garbled",
            17: "529",
            20: "damaged",
            23: "hidden",
            26: "failed",
            29: "page",
            32: "520",
            35: "409",
            38: "empty",
            41: "numbered",
            44: "told",
            47: "nothing",
            50: "void",
        }
        run(EndpointOptions(urls=(url,), timeout=60.0))
        asked = count_questions(script)
        assert set(asked.values()) == {1}
        assert sum(script.seen[one] for one in asked) == len(asked) + len(script.faults)
        script.start_counting()
        run(url)
        assert not count_questions(script)


def test_a_question_that_times_out_is_asked_again_and_the_others_once() -> None:
    script = make_server()
    with serve(script) as url:
        load_model("openai:m", endpoint=url).close()
        script.start_counting()
        script.faults = {3: "timeout", 9: "timeout"}
        run(EndpointOptions(urls=(url,), timeout=1.5))
        asked = count_questions(script)
        assert set(asked.values()) == {1}
        assert sum(script.seen[one] for one in asked) == len(asked) + len(script.faults)


def test_waits_are_read_from_every_header_that_servers_use() -> None:
    assert read_retry_after("2.5") == 2.5
    assert 8 < read_retry_after(formatdate(time.time() + 10, usegmt=True)) <= 10
    for nothing in "", "soon", "-3", "nan", "inf", "Mon, 01 Jan 99999999999 00:00:00 GMT":
        assert read_retry_after(nothing) == 0
    assert read_wait(429, {"retry-after-ms": "1500"}) == 1.5
    assert read_wait(429, {"x-ratelimit-reset-requests": "1m2s"}) == 62
    used_up = {"x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "250ms"}
    assert read_wait(200, used_up) == 0.25
    assert read_wait(200, {**used_up, "x-ratelimit-remaining-tokens": "9"}) == 0
    assert read_wait(200, {"retry-after": "7"}) == 0
    # The time until the limit is whole again is longer than the server asks for.
    whole = {"x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "24h"}
    assert read_wait(429, {**whole, "retry-after": "9"}) == 9


def test_a_wait_that_the_server_prolongs_meanwhile_is_kept() -> None:
    held = line.Line(Address("http://127.0.0.1/v1", {}))
    began = time.monotonic()
    held.hold(began + 0.1)

    async def wait() -> None:
        asyncio.get_running_loop().call_later(0.05, held.hold, began + 0.3)
        await client._wait_for_line([held])

    asyncio.run(wait())
    assert time.monotonic() - began >= 0.3


def test_a_server_that_wants_to_be_left_alone_for_an_hour_ends_the_run(tmp_path: Path) -> None:
    script = make_server(retry_after="3600")
    with serve(script) as url:
        load_model("openai:m", endpoint=url).close()
        script.start_counting()
        script.faults = dict.fromkeys(range(5, 500), "429")
        assert "asked again in 60 minutes" in fail("--endpoint", url, out=tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("fault", ["402", "quota"])
def test_an_account_that_is_used_up_ends_the_run_at_once(fault: str, tmp_path: Path) -> None:
    script = make_server()
    with serve(script) as url:
        load_model("openai:m", endpoint=url).close()
        script.start_counting()
        script.faults = dict.fromkeys(range(12, 5000), fault)
        assert "answers no more requests from your account" in fail("--endpoint", url, out=tmp_path)
        assert script._number < 12 + 32
        script.faults = {}
        run(url)
    assert set(count_questions(script).values()) == {1}


def test_a_page_of_a_server_in_between_is_quoted_by_its_title(tmp_path: Path) -> None:
    page = "<html>\r\n<head><title>404 Not Found</title></head><body><hr>nginx</body></html>"

    class Paging(Script):
        def respond(self, path: str, body: dict[str, Any] | None) -> tuple[int, Any]:
            return 404, page

    with serve(Paging()) as url:
        assert "status 404 (404 Not Found): check" in fail("--endpoint", url, out=tmp_path)


@pytest.mark.parametrize(
    ("status", "plain", "location", "said"),
    [
        (400, [{"error": {"message": "no such thing", "code": 400}}], "", "(no such thing)"),
        (403, {"error": {"message": "flagged"}}, "", "refuses the key (status 403: flagged)"),
        (307, {}, "{url}/", "answers with status 307 ({url}/)"),
        (204, "", "", "answers with status 204 (–)"),
        (413, "<title>413 Too Large</title>", "", "status 413 (413 Too Large)"),
    ],
)
def test_what_a_server_says_in_the_middle_is_quoted(
    status: int, plain: Any, location: str, said: str, tmp_path: Path
) -> None:
    class Odd(Script):
        is_odd = False

        def respond(self, path: str, body: dict[str, Any] | None) -> tuple[int, Any]:
            if self.is_odd and body is not None and not is_of_probe(body):
                return status, plain
            return super().respond(path, body)

    script = Odd(top_logprobs=20)
    plant(script, "lm-dawinobias", "control:fair", Rung.OPTIONS, 6)
    with serve(script) as url:
        load_model("openai:m", endpoint=url).close()
        script.is_odd = True
        if location:
            script.headers_sent = {"location": location.format(url=url)}
        assert said.format(url=url) in fail("--endpoint", url, out=tmp_path)


def test_a_response_without_any_answer_ends_the_run_and_is_not_taken_for_one(
    tmp_path: Path,
) -> None:
    class Interrupted(Script):
        is_down = False

        def respond(self, path: str, body: dict[str, Any] | None) -> tuple[int, Any]:
            if self.is_down and body is not None and not is_of_probe(body):
                return 200, {"message": "maintenance"}
            return super().respond(path, body)

    script = Interrupted(top_logprobs=20)
    plant(script, "lm-dawinobias", "control:fair", Rung.OPTIONS, 6)
    with serve(script) as url:
        load_model("openai:m", endpoint=url).close()
        script.is_down = True
        assert "(“maintenance”)" in fail("--endpoint", url, out=tmp_path)
        script.is_down = False
        (result,) = run(url)
    assert result.coverage["trials_unparsable"] == 0


def test_a_limit_that_is_used_up_is_waited_for() -> None:
    script = make_server()
    with serve(script) as url:
        load_model("openai:m", endpoint=url).close()
        script.start_counting()
        script.headers_sent = {
            "X-RateLimit-Remaining-Requests": "0",
            "X-RateLimit-Reset-Requests": "40ms",
        }
        began = time.monotonic()
        run(url)
        took = time.monotonic() - began
        asked = len(count_questions(script))
        # Until a day's limit is whole again takes a day, and the next question less.
        script.headers_sent["X-RateLimit-Reset-Requests"] = "24h"
        run(url, sample=8)
    # Eight are in flight at first, and every answer says that the next must wait.
    assert took > 0.04 * asked / 32


# Several servers


def test_a_server_that_dies_is_left_out_and_its_questions_go_to_the_other(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(line, "REST", 60.0)
    scripts = [make_server(12, delay=0.01) for _ in range(2)]
    with serve(scripts[0]) as first, serve(scripts[1]) as second:
        endpoint = EndpointOptions(urls=(first, second))
        model = load_model("openai:m", endpoint=endpoint)
        signature = model.info.software
        model.close()
        for script in scripts:
            script.start_counting()
        scripts[0].faults = dict.fromkeys(range(20, 5000), "drop")
        (result,) = run(endpoint, 12)
    asked = [count_questions(script) for script in scripts]
    assert not set(asked[0]) & set(asked[1])
    assert set(asked[0].values()) == set(asked[1].values()) == {1}
    assert len(asked[0]) == 19
    assert len(asked[0]) + len(asked[1]) == len(scripts[0].minds)
    # It is tried a few times and then left alone.
    assert scripts[0]._number < 19 + 3 * 16
    assert result.model.software == signature


def test_two_servers_of_which_one_dies_give_the_result_of_one(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The signature says that they were one model, and nothing says which of them answered what."""
    monkeypatch.setattr(line, "REST", 60.0)
    (alone,) = _measure([make_server()])
    monkeypatch.setenv("GENDALENS_HOME", str(tmp_path / "other-home"))
    scripts = [make_server(delay=0.01) for _ in range(2)]
    scripts[0].faults = dict.fromkeys(range(25, 5000), "drop")
    (both,) = _measure(scripts)
    assert count_questions(scripts[0])
    assert count_questions(scripts[1])
    assert "|model:openai:m@m" in both.signature
    assert both.to_json() == alone.to_json()


def _measure(scripts: list[Script]) -> Any:
    """A run by servers whose faults begin after the probe."""
    with ExitStack() as stack:
        urls = tuple(stack.enter_context(serve(script)) for script in scripts)
        load_model("openai:m", endpoint=EndpointOptions(urls=urls)).close()
        for script in scripts:
            script.start_counting()
        return run(EndpointOptions(urls=urls))


def test_a_server_that_is_down_from_the_start_is_left_out_and_nothing_asked_again() -> None:
    scripts = [make_server(), make_server()]
    with serve(scripts[1]) as second:
        with serve(scripts[0]) as first:
            both = EndpointOptions(urls=(first, second))
            run(both)
        for script in scripts:
            script.start_counting()
        model = load_model("openai:m", endpoint=both)
        model.close()
        run(both)
    assert f"Left out, because there is no answer: {first.removesuffix('/v1')}." in str(
        model.remarks[0]
    )
    assert not count_questions(scripts[1])


def test_a_namesake_at_another_address_is_another_model() -> None:
    with serve(make_server()) as first, serve(make_server()) as second:
        models = [load_model("openai:m", endpoint=url) for url in (first, second)]
        for model in models:
            model.close()
    assert models[0].fingerprint() != models[1].fingerprint()


def test_servers_of_different_models_are_refused() -> None:
    with (
        serve(Script(top_logprobs=20)) as first,
        serve(Script()) as second,
        pytest.raises(UserError, match="do not serve the same model m"),
    ):
        load_model("openai:m", endpoint=(first, second))


def test_the_least_loaded_server_is_asked_first() -> None:
    lines = [line.Line(Address(f"http://{name}", {})) for name in "abc"]
    lines[0].in_flight, lines[1].in_flight, lines[2].in_flight = 3, 1, 2
    assert line.choose_line(lines, now=0.0) is lines[1]
    for _ in range(line.MOST_FAILURES):
        lines[1].fail(now=0.0)
    assert line.choose_line(lines, now=0.0) is lines[2]
    lines[2].hold(until=5.0)
    assert line.choose_line(lines, now=0.0) is lines[0]
    # After a rest it is tried again.
    assert line.choose_line(lines, now=line.REST) is lines[1]


# Interruptions

_PROGRAM = """
import gendalens
gendalens.run("openai:m", endpoint={urls!r}, tasks="lm-dawinobias", data="builtin", sample=6)
"""


def interrupt(script: Script, urls: Any, by: int, after: int) -> subprocess.Popen[bytes]:
    """Start a run in another process, and send it a signal once the server has answered so often."""
    process = subprocess.Popen(
        [sys.executable, "-c", _PROGRAM.format(urls=urls)],
        env=os.environ,
        stderr=subprocess.PIPE,
        # Where the tests run in the background, Ctrl-C is ignored, and so would it be here.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    end = time.monotonic() + 60
    while len(count_questions(script)) < after and time.monotonic() < end:
        time.sleep(0.005)
    process.send_signal(by)
    process.communicate(timeout=60)
    return process


@pytest.mark.slow
def test_ctrl_c_waits_for_what_is_in_flight_so_that_nothing_is_asked_twice() -> None:
    script = make_server(delay=1.0)
    with serve(script) as url:
        load_model("openai:m", endpoint=url).close()
        script.start_counting()
        interrupt(script, url, signal.SIGINT, 20)
        asked = len(count_questions(script))
        assert 20 <= asked < len(script.minds)
        script.delay = 0.0
        run(url)
    assert len(count_questions(script)) == len(script.minds)
    assert set(count_questions(script).values()) == {1}


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
def test_kill_9_at_any_moment_loses_nothing_that_has_arrived(seed: int) -> None:
    """Also with two servers, of which one dies as well."""
    dice = random.Random(seed)
    scripts = [make_server(delay=0.03) for _ in range(2)]
    with serve(scripts[0]) as first, serve(scripts[1]) as second:
        urls = (first, second)
        load_model("openai:m", endpoint=urls).close()
        for script in scripts:
            script.start_counting()
        scripts[0].faults = dict.fromkeys(range(dice.randrange(5, 40), 5000), "drop")
        for _ in range(3):
            interrupt(scripts[1], urls, signal.SIGKILL, dice.randrange(1, 30))
            time.sleep(0.2)
        for script in scripts:
            script.delay = 0.0
        run(EndpointOptions(urls=urls))
    total = scripts[0].answered + scripts[1].answered
    counts = [count for question, count in total.items() if "chat" in question]
    assert len(counts) == len(scripts[0].minds)
    # Only what was in flight at one of the three kills is asked again.
    again = sum(counts) - len(counts)
    assert again <= 3 * sum(script.most_at_once for script in scripts)


def test_a_damaged_journal_is_asked_again(tmp_path: Path) -> None:
    script = make_server()
    with serve(script) as url:
        load_model("openai:m", endpoint=url).close()
        script.start_counting()
        with pytest.raises(UserError, match="limit of 500 tokens"):
            run(EndpointOptions(urls=(url,), max_tokens_total=500))
        with sqlite3.connect(tmp_path / "home" / "responses.sqlite") as journal:
            journal.execute("UPDATE responses SET text = '{\"choices\": ['")
        (result,) = run(url)
    assert result.coverage["trials"] == len(script.minds)
