"""Servers as ``transformers serve`` is: their list of models is of no use, and routes differ in names."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest
from endpoint_server import Script, serve

from gendalens.api import load_model
from gendalens.errors import UserError
from gendalens.models.chat.respondent import Rung
from gendalens.models.endpoint import client
from gendalens.models.requests import Fill

FILL = Fill("Lægen siger, at ", " er træt.", ("hun", "han"))


@dataclass
class PinnedScript(Script):
    """Serves ``m`` and nothing else, whatever it lists; ``listing`` is the status of the list."""

    listing: int = 200
    any_name: bool = False
    answers_by_place: bool = False
    says_the_same: bool = False

    def respond(self, path: str, body: dict[str, Any] | None) -> tuple[int, Any]:
        if path == "/v1/models":
            listed = {"data": [{"id": "in-the-cache"}]}
            return self.listing, listed if self.listing == 200 else "Internal Server Error"
        if body is not None and body["model"] != "m" and not self.any_name:
            return 400, {"detail": "Server is pinned to 'm'."}
        status, plain = super().respond(path, body)
        if status == 200 and path == "/v1/chat/completions":
            plain["model"] = "m@main"
        return status, plain

    def _decide(self, route: str, body: dict[str, Any]) -> tuple[int, Any]:
        status, plain = super()._decide(route, body)
        for name, answer in plain["answers"].items():
            first, second = answer["probabilities"]
            text = body["questions"][name]["instructions"]
            # A small model takes the option that is named first, and hardly minds the question.
            share = 0.8 if self.says_the_same else 0.8 + len(text) / 1e4
            if self.answers_by_place or self.says_the_same:
                answer["probabilities"] = {first: share, second: 1 - share}
        return status, plain


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "FIRST_WAIT", 0.01)


@pytest.mark.parametrize("listing", [200, 500])
def test_a_model_that_is_not_listed_is_used_if_the_server_has_it(listing: int) -> None:
    script = PinnedScript(listing=listing, decision_route="/systemone", answers_by_place=True)
    with serve(script) as url:
        model = load_model("openai:m", endpoint=url)
        assert model.rung is Rung.OPTIONS  # type: ignore[attr-defined]
        (answer,) = model.answer(model.encode([FILL]))
        model.close()
    assert {trial.outcome for trial in answer.trials} == {"answered"}  # type: ignore[union-attr]


def test_a_model_that_the_server_has_only_by_answering_to_any_name_is_refused() -> None:
    with (
        serve(PinnedScript(any_name=True)) as url,
        pytest.raises(UserError, match="does not have the model m; it has in-the-cache"),
    ):
        load_model("openai:m", endpoint=url)


def test_a_decision_route_that_does_not_mind_the_question_is_not_believed() -> None:
    script = PinnedScript(decision_route="/systemone", says_the_same=True)
    with serve(script) as url:
        model = load_model("openai:m", endpoint=url)
        model.close()
    assert model.rung is Rung.TEXT  # type: ignore[attr-defined]
