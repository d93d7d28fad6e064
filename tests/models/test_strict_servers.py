"""Servers that keep to the letter of the protocol: what each corner of it does to an answer."""

from __future__ import annotations

import math
import time
from pathlib import Path
from typing import Any

import pytest
from endpoint_server import serve
from planting import throw
from strict_server import StrictScript

from gendalens.api import load_model
from gendalens.models.chat.asking import Interview
from gendalens.models.chat.respondent import Rung
from gendalens.models.endpoint import client
from gendalens.models.endpoint_options import EndpointOptions
from gendalens.models.requests import Choose, Fill, Resolve
from gendalens.models.trials import normalise

FILL = Fill("Lægen siger, at ", " er træt.", ("hun", "han"))
WHOM = Resolve(
    "Lægen ringede til sygeplejersken, fordi hun var syg.",
    pronoun=(40, 43),
    candidates=((0, 5), (18, 32)),
)
WHICH = Choose(("Advokaten låser hendes cykel.", "Advokaten låser hans cykel."))
ALIKE = Fill("Se, ", " kommer.", ("ørnen", "ålen"))
NESTED = Fill("Her er ", ".", ("læge", "læge på vagt"))


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(client, "FIRST_WAIT", 0.01)
    monkeypatch.setenv("GENDALENS_HOME", str(tmp_path / "home"))


def plant_exactly(script: StrictScript, rung: Rung, *requests: Any, mass: float = 1.0) -> None:
    """Give every question probabilities of its own."""
    for request in requests:
        for asking in Interview(rung).ask(request, "m"):
            options = asking.question.options
            raw = [2 * throw(request, asking.paraphrase, asking.order, one) for one in options]
            values = [value + math.log(mass) for value in normalise(raw)]
            mind = dict(zip(options, values, strict=True))
            if mass < 1:
                mind["Det ved ingen"] = math.log(1 - mass)
            script.minds[asking.question.turns[-1].text] = mind


def ask(script: StrictScript, *requests: Any, **options: Any) -> tuple[Any, list[Any]]:
    with serve(script) as url:
        model: Any = load_model("openai:m", endpoint=EndpointOptions(urls=(url,), **options))
        try:
            answers = []
            for request in requests:
                answers += model.answer(model.encode([request]))
            return model, answers
        finally:
            model.close()


def check_exactly(script: StrictScript, request: Any, answer: Any) -> None:
    """The log-probabilities of every trial are those of the server's mind."""
    askings = Interview(Rung.OPTIONS).ask(request, "m")
    assert len(answer.trials) == len(askings)
    for trial, asking in zip(answer.trials, askings, strict=True):
        mind = script.minds[asking.question.turns[-1].text]
        options = asking.question.options
        count = len(options)
        planted = [mind[options[(index - asking.order) % count]] for index in range(count)]
        assert trial.log_probs == pytest.approx(planted, abs=1e-9)


@pytest.mark.parametrize("splits", [0, 1, 2, 3, 5])
@pytest.mark.parametrize("style", ["bytes", "plain", "raw"])
def test_probabilities_of_options_are_exact_however_tokens_split_them(
    splits: int, style: str
) -> None:
    script = StrictScript(top_logprobs=20, splits=splits, token_style=style)
    requests = [FILL, WHOM, WHICH]
    # Which letter is split cannot be seen without the bytes, nor whether an answer of one token
    # might have gone on.
    requests += [ALIKE] if style != "plain" else []
    requests += [NESTED] if style != "plain" and splits != 5 else []
    plant_exactly(script, Rung.OPTIONS, *requests, mass=0.7)
    model, answers = ask(script, *requests)
    assert model.rung is Rung.OPTIONS
    for request, answer in zip(requests, answers, strict=True):
        check_exactly(script, request, answer)


MANNERS: dict[str, tuple[dict[str, Any], Rung]] = {
    "known fields": ({"top_logprobs": 20}, Rung.OPTIONS),
    "max_completion_tokens": ({"top_logprobs": 20}, Rung.OPTIONS),
    "temperature 1": ({"top_logprobs": 20}, Rung.OPTIONS),
    "no log-probabilities": ({"top_logprobs": 20}, Rung.TEXT),
    "no seed": ({"top_logprobs": 20}, Rung.OPTIONS),
    "top 5": ({"top_logprobs": 20}, Rung.OPTIONS),
    "no completions": ({"likelihoods": "echo"}, Rung.TEXT),
    "failing routes": ({"top_logprobs": 20}, Rung.OPTIONS),
    "no backend": ({"top_logprobs": 20}, Rung.OPTIONS),
    "forbidden routes": ({"top_logprobs": 20}, Rung.OPTIONS),
    "alias": ({"top_logprobs": 20}, Rung.OPTIONS),
    "no list": ({"top_logprobs": 20}, Rung.OPTIONS),
    "bare list": ({"top_logprobs": 20}, Rung.OPTIONS),
    "null list": ({"top_logprobs": 20}, Rung.OPTIONS),
    "pages": ({"top_logprobs": 20}, Rung.OPTIONS),
    "no usage": ({"top_logprobs": 20}, Rung.OPTIONS),
    "null error": ({"top_logprobs": 20}, Rung.OPTIONS),
    "parts": ({"top_logprobs": 20}, Rung.OPTIONS),
    "several choices": ({"top_logprobs": 20}, Rung.OPTIONS),
    "streams": ({"top_logprobs": 20}, Rung.OPTIONS),
    "streams alone": ({"top_logprobs": 20}, Rung.OPTIONS),
    "thoughts apart": ({"top_logprobs": 20}, Rung.OPTIONS),
    "hidden thoughts": ({"top_logprobs": 20}, Rung.OPTIONS),
    "no system": ({"top_logprobs": 20}, Rung.OPTIONS),
    "a connection for each request": ({"top_logprobs": 20, "http": "HTTP/1.0"}, Rung.OPTIONS),
    "late": ({"top_logprobs": 20, "delay": 0.02}, Rung.OPTIONS),
}


@pytest.mark.parametrize("manner", MANNERS)
def test_a_server_with_manners_of_its_own_is_understood(manner: str) -> None:
    offers, rung = MANNERS[manner]
    script = StrictScript(manners=frozenset({manner}), **offers)
    plant_exactly(script, rung, FILL)
    model, (answer,) = ask(script, FILL)
    assert model.rung is rung
    assert {trial.outcome for trial in answer.trials} == {"answered"}
    if rung is Rung.OPTIONS:
        check_exactly(script, FILL, answer)


def test_a_server_with_many_manners_at_once_is_understood() -> None:
    manners = "max_completion_tokens,temperature 1,no seed,known fields,streams,alias,pages"
    script = StrictScript(manners=frozenset(manners.split(",")), top_logprobs=5, splits=2)
    plant_exactly(script, Rung.OPTIONS, FILL)
    _, (answer,) = ask(script, FILL)
    check_exactly(script, FILL, answer)


def test_tokens_are_estimated_for_a_server_that_does_not_count_them() -> None:
    script = StrictScript(manners=frozenset({"no usage"}), top_logprobs=20)
    plant_exactly(script, Rung.OPTIONS, FILL)
    model, _ = ask(script, FILL)
    usage = model.usage
    assert usage["prompt_tokens"] > 30 * usage["requests"]
    # The answers are short, and their log-probabilities are no tokens.
    assert usage["requests"] <= usage["answer_tokens"] < 8 * usage["requests"]


def test_a_limit_of_requests_a_second_is_waited_for() -> None:
    script = StrictScript(top_logprobs=20, most_a_second=20)
    plant_exactly(script, Rung.OPTIONS, FILL, WHOM, WHICH)
    began = time.monotonic()
    _, answers = ask(script, FILL, WHOM, WHICH)
    assert time.monotonic() - began > 1
    for request, answer in zip((FILL, WHOM, WHICH), answers, strict=True):
        check_exactly(script, request, answer)
    assert set(script.answered.values()) <= {1, 2, 4}  # the probe asks some things again


def test_a_refusal_that_the_server_marks_is_one() -> None:
    class Filtering(StrictScript):
        def _dress(self, plain: dict[str, Any], body: dict[str, Any]) -> Any:
            choice = plain["choices"][0]
            if "____" in body["messages"][-1]["content"]:
                if "status" in self.manners:
                    plain = {"error": {"message": "not allowed", "code": "content_filter"}}
                elif "filter" in self.manners:
                    choice["finish_reason"] = "content_filter"
                    choice["message"]["content"] = ""
                else:
                    choice["message"] |= {"content": None, "refusal": "Nope."}
            return plain

        def respond(self, path: str, body: dict[str, Any] | None) -> tuple[int, Any]:
            status, plain = super().respond(path, body)
            return 400 if "code" in plain.get("error", {}) else status, plain

    for manners in {"filter"}, {"field"}, {"status"}:
        for rung, offers in (Rung.TEXT, {}), (Rung.OPTIONS, {"top_logprobs": 20}):
            script = Filtering(manners=frozenset(manners), **offers)  # type: ignore[arg-type]
            plant_exactly(script, rung, FILL)
            _, (answer,) = ask(script, FILL)
            assert {trial.outcome for trial in answer.trials} == {"refused"}


def test_a_name_that_means_a_newer_model_today_is_probed_again() -> None:
    script = StrictScript(manners=frozenset({"alias"}), top_logprobs=20)
    plant_exactly(script, Rung.OPTIONS, FILL)
    with serve(script) as url:
        models: list[Any] = []
        for script.alias in "m-2026-11-01", "m-2026-11-01", "m-2026-12-24":
            models.append(load_model("openai:m", endpoint=EndpointOptions(urls=(url,))))
            (answer,) = models[-1].answer(models[-1].encode([FILL]))
            models[-1].close()
            check_exactly(script, FILL, answer)
    first, again, newer = (model.fingerprint() for model in models)
    assert first == again != newer
    assert models[-1].info.revision == "m-2026-12-24"


def test_half_a_letter_is_read_as_a_sign_that_can_be_stored() -> None:
    script = StrictScript()
    for asking in Interview(Rung.TEXT).ask(FILL, "m"):
        script.texts[asking.question.turns[-1].text] = "Hun.\n\nDet passer \ud83d"
    _, (answer,) = ask(script, FILL)
    assert {trial.outcome for trial in answer.trials} == {"answered"}


@pytest.mark.parametrize(
    ("said", "outcome"),
    [("Det er et godt spørgsmål. " * 30, "unparsable"), ("<think>Hun? Han? " * 30, "cut off")],
)
def test_an_answer_that_begins_otherwise_is_no_option_however_long_it_is(
    said: str, outcome: str
) -> None:
    script = StrictScript(top_logprobs=20)
    for asking in Interview(Rung.OPTIONS).ask(FILL, "m"):
        script.texts[asking.question.turns[-1].text] = said
    _, (answer,) = ask(script, FILL)
    assert {trial.outcome for trial in answer.trials} == {outcome}


@pytest.mark.parametrize("temperature", ["zero", "one"])
def test_a_server_that_ignores_the_temperature_is_found_out(temperature: str) -> None:
    script = StrictScript(temperature=temperature)
    plant_exactly(script, Rung.TEXT, FILL)
    model, (answer,) = ask(script, FILL)
    assert model.found.deterministic is (temperature == "zero")
    assert model.found.varies is (temperature == "one")
    # Samples that are all the same are not asked for.
    assert len(answer.trials) == (8 if temperature == "zero" else 14)
    assert ("0-samples" in " ".join(model.info.software)) is (temperature == "zero")


def test_thoughts_are_counted_wherever_they_stand() -> None:
    for script in StrictScript(manners=frozenset({"thoughts apart"})), StrictScript(thinks=True):
        plant_exactly(script, Rung.TEXT, FILL)
        model, (answer,) = ask(script, FILL)
        assert {trial.outcome for trial in answer.trials} == {"answered"}
        assert model.found.thinks
        # 13 tokens of a thought in a field of its own, 2 of the one in the text.
        assert model.usage["of_them_thought"] == 14 * (13 if script.manners else 2)


def test_a_whole_first_line_is_an_answer_although_the_explanation_is_cut_off() -> None:
    script = StrictScript()
    for asking in Interview(Rung.TEXT).ask(FILL, "m"):
        text = "Hun.\n\n" + "Det er min forklaring på valget. " * 30
        script.texts[asking.question.turns[-1].text] = text
    _, (answer,) = ask(script, FILL)
    assert {trial.outcome for trial in answer.trials} == {"answered"}
    assert {trial.chosen for trial in answer.trials} == {0}


def test_a_decision_that_is_no_distribution_is_not_read_and_a_zero_is_not_impossible() -> None:
    class Deciding(StrictScript):
        def _decide(self, route: str, body: dict[str, Any]) -> tuple[int, Any]:
            status, plain = super()._decide(route, body)
            for answer in plain["answers"].values():
                if set(answer["probabilities"]) == {"hun", "han"}:
                    shares = {"hun": 1.0, "han": 0.0} if "zero" in self.manners else {"hun": 0.7}
                    answer["probabilities"] = shares
            return status, plain

    for manner, outcome in ("zero", "answered"), ("partial", "unparsable"):
        script = Deciding(decision_route="/systemone", manners=frozenset({manner}))
        plant_exactly(script, Rung.OPTIONS, FILL)
        _, (answer,) = ask(script, FILL)
        assert {trial.outcome for trial in answer.trials} == {outcome}
        if manner == "zero":
            assert answer.trials[0].log_probs == pytest.approx((0.0, math.log(1e-6)))
