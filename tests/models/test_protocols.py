"""Servers that check every field: each kind is understood, and no question of a run is rejected."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from endpoint_server import serve
from planting import plant
from protocols import PROTOCOLS, ProtocolScript, check_headers

from gendalens.api import load_model
from gendalens.models.chat.respondent import Rung
from gendalens.models.endpoint import client
from gendalens.models.endpoint_options import EndpointOptions
from gendalens.models.requests import Tag

KEY = "sk-protocol-0123456789"
#: How each is asked, and what the probe finds about its fields.
FOUND: dict[str, tuple[Rung, dict[str, Any]]] = {
    "OpenAI": (Rung.OPTIONS, {"top_logprobs": 20, "unfiltered": False}),
    "OpenAI, a model that thinks": (
        Rung.CONSTRAINED,
        {"limit_field": "max_completion_tokens", "accepts_temperature": False},
    ),
    "OpenAI, decisions": (Rung.OPTIONS, {"decision_route": "/decisions"}),
    "OpenAI on Azure": (Rung.OPTIONS, {"top_logprobs": 20}),
    "Anthropic": (Rung.TEXT, {"accepts_top_p": False, "varies": True}),
    "Mistral": (Rung.CONSTRAINED, {"accepts_seed": False, "constraint": "json_schema"}),
    "vLLM": (Rung.LIKELIHOODS, {"likelihoods": "prompt_logprobs", "unfiltered": True}),
    "vLLM, chat": (Rung.CONSTRAINED, {"constraint": "structured_outputs", "unfiltered": True}),
    "LM Studio": (Rung.CONSTRAINED, {"constraint": "json_schema", "decision_route": ""}),
    "transformers serve": (Rung.OPTIONS, {"decision_route": "/systemone"}),
}


@pytest.mark.parametrize("name", PROTOCOLS)
def test_no_question_is_rejected_by_a_server_that_checks_every_field(
    name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(client, "FIRST_WAIT", 0.01)
    monkeypatch.setenv("GENDALENS_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PROTOCOL_KEY", KEY)
    rung, properties = FOUND[name]
    script = ProtocolScript(PROTOCOLS[name], key=KEY)
    requests = plant(script, "lm-dawinobias", "control:stereotyped", rung, 4)
    names = Tag("Anna Hansen bor i Aarhus.")
    with serve(script) as url:
        options = EndpointOptions(urls=(url,), key_env="PROTOCOL_KEY")
        model: Any = load_model("openai:m", endpoint=options)
        assert model.rung is rung
        assert {field: getattr(model.found, field) for field in properties} == properties
        script.start_counting()
        script.wrong.clear()
        answers = model.answer(model.encode(requests))
        if Tag.kind in model.answers:
            model.answer(model.encode([names]))
        model.close()
    assert not script.wrong
    asked = {one: count for one, count in script.answered.items() if not one.endswith("/models")}
    assert set(asked.values()) == {1}
    for headers in script.headers:
        check_headers(headers, KEY)
    trials = [trial for answer in answers for trial in getattr(answer, "trials", ())]
    assert {trial.outcome for trial in trials} <= {"answered"}
