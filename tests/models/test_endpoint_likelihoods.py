"""Likelihoods by an endpoint are those of the same weights at home."""

from __future__ import annotations

from pathlib import Path

import pytest
import tiny
from likelihood_server import serve_likelihoods
from tokenizers import processors

import gendalens
from gendalens.models.endpoint.prompt_likelihoods import ECHO, read_response


@pytest.mark.parametrize("has_bos", [True, False])
def test_lm_abc_gives_the_same_by_server_and_at_home(
    has_bos: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GENDALENS_HOME", str(tmp_path / "home"))
    # An untrained model does not find a text that repeats itself more likely than one without sense.
    monkeypatch.setattr("gendalens.models.endpoint.probe._are_plausible", lambda *scored: True)
    tokenizer = tiny.gpt2(specials=has_bos)
    if has_bos:
        tokenizer.backend_tokenizer.post_processor = processors.TemplateProcessing(
            single="<|start|> $A", special_tokens=[("<|start|>", tokenizer.bos_token_id)]
        )
    model = tiny.gpt2_model(tokenizer, window=256)
    folder = tiny.save(tmp_path / "model", model, tokenizer)
    (at_home,) = gendalens.run(folder, tasks="lm-abc", data="builtin", sample=6)
    with serve_likelihoods(model, tokenizer) as url:
        (by_server,) = gendalens.run(
            "openai:m", endpoint=url, tasks="lm-abc", data="builtin", sample=6
        )
    assert "chat-rung likelihoods" in by_server.model.software
    warned = "endpoint_lm.no_bos" in [warning.code for warning in by_server.warnings]
    assert warned is not has_bos
    assert by_server.gap.value == pytest.approx(at_home.gap.value, abs=1e-4)
    assert by_server.gap.low == pytest.approx(at_home.gap.low, abs=1e-3)
    for here, there in zip(at_home.conditions, by_server.conditions, strict=True):
        assert there.value == pytest.approx(here.value, rel=1e-4)


def test_a_letter_that_the_tokenizer_cuts_in_two_is_placed_between_its_neighbours() -> None:
    tokens = ["\ufffd", "\ufffd", "sters og", " \ufffd", "\ufffd", "l", ".", " Ja"]
    values = [None, -1.0, -2.0, -3.0, -4.0, -5.0, -6.0, -7.0]
    plain = {"choices": [{"logprobs": {"tokens": tokens, "token_logprobs": values}}]}
    scored = read_response(ECHO, "Østers og øl.", plain)
    assert scored is not None
    assert scored.sum_from(0) == (-21.0, 6, 1)
    assert scored.sum_from(10) == (-18.0, 4, 0)
    assert scored.count_between(10, 12) == 3
    assert read_response(ECHO, "Østers og vand.", plain) is None
