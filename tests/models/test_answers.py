"""Fills and scores equal slow, obvious loops on every family of tokenizer and model."""

from __future__ import annotations

import math
from typing import Any

import pytest
import slow
import tiny
import torch
from families import CAUSAL, MASKED, Opened, opened

from gendalens.models.requests import Fill, Score

FILLS = [
    Fill("Gartneren vandede roser, før ", " gik hjem.", ("han", "hun"), ("ham", "hende")),
    Fill("Smeden gav ", " sin hammer på torvet, fordi hun var træt!", ("ham", "hende")),
    Fill("", " læste en bog om øer.", ("Han", "Hun"), ("Hende",)),
    Fill("Det er ", " båd.", ("hans", "hendes"), tiny.PRONOUNS),
]
SCORES = [
    Score("Hun sejler."),
    Score("Bageren sagde, at hans brød var færdigt!"),
    Score("Bageren sagde, at hendes brød var færdigt!"),
    Score("Kan hun se, om ærlige Åse har nøgler til det lille hus ved åen?"),
]


def in_batches(backend: Any, requests: Any, size: int) -> list[Any]:
    encoded = backend.encode(requests)
    return [
        answer
        for begin in range(0, len(encoded), size)
        for answer in backend.answer(encoded[begin : begin + size])
    ]


@pytest.fixture(params=list(MASKED))
def masked(request: pytest.FixtureRequest) -> Opened:
    return opened(request.param)


@pytest.fixture(params=list(CAUSAL))
def causal(request: pytest.FixtureRequest) -> Opened:
    return opened(request.param)


@pytest.fixture(params=[*MASKED, *CAUSAL])
def either(request: pytest.FixtureRequest) -> Opened:
    return opened(request.param)


def test_a_masked_model_gives_each_candidate_its_probability_as_a_whole_word(
    masked: Opened,
) -> None:
    for fill, answer in zip(FILLS, in_batches(masked.backend, FILLS, 4), strict=True):
        expected = [
            slow.masked_fill(masked.tokenizer, masked.model, fill.left, word, fill.right)
            for word in fill.candidates
        ]
        assert answer.log_probs == pytest.approx([value for value, _ in expected], rel=1e-5)
        assert answer.pieces == tuple(pieces for _, pieces in expected)


def test_the_first_choice_is_the_best_single_piece_word_or_pronoun(masked: Opened) -> None:
    for fill, answer in zip(FILLS, in_batches(masked.backend, FILLS, 4), strict=True):
        words = [*fill.candidates, *fill.rivals]
        assert answer.first.lower() == (
            slow.masked_first(masked.tokenizer, masked.model, fill.left, fill.right, words).lower()
        )


def test_a_masked_model_scores_by_word_left_to_right_pseudo_log_likelihood(
    masked: Opened,
) -> None:
    for score, answer in zip(SCORES, in_batches(masked.backend, SCORES, 4), strict=True):
        value, tokens = slow.masked_score(masked.tokenizer, masked.model, score.text)
        assert answer.log_likelihood == pytest.approx(value, rel=1e-5)
        assert (answer.tokens, answer.unscored) == (tokens, 0)


def test_a_causal_model_scores_every_token_behind_one_bos(causal: Opened) -> None:
    for score, answer in zip(SCORES, in_batches(causal.backend, SCORES, 4), strict=True):
        value, tokens = slow.causal_score(causal.tokenizer, causal.model, score.text)
        assert answer.log_likelihood == pytest.approx(value, rel=1e-5)
        assert answer.tokens == tokens
        assert answer.unscored == (causal.tokenizer.bos_token_id is None)


def test_a_causal_model_fills_by_the_likelihood_of_the_whole_sentence(causal: Opened) -> None:
    for fill, answer in zip(FILLS, in_batches(causal.backend, FILLS, 4), strict=True):
        texts = [fill.left + word + fill.right for word in fill.candidates]
        expected = [slow.causal_score(causal.tokenizer, causal.model, text)[0] for text in texts]
        assert answer.log_probs == pytest.approx(expected, rel=1e-5)
        assert answer.first is None
        before = len(slow.plain(causal.tokenizer, fill.left.rstrip()))
        assert answer.pieces == tuple(
            len(slow.plain(causal.tokenizer, fill.left + word)) - before for word in fill.candidates
        )


def test_answers_do_not_depend_on_the_batch(either: Opened) -> None:
    for requests in (FILLS, SCORES):
        alone = in_batches(either.backend, requests, 1)
        together = in_batches(either.backend, requests, len(requests))
        for one, other in zip(alone, together, strict=True):
            if isinstance(requests[0], Score):
                assert one.log_likelihood == pytest.approx(other.log_likelihood, rel=1e-5)
            else:
                assert one.log_probs == pytest.approx(other.log_probs, rel=1e-5)
                assert one.first == other.first


def test_a_continuation_is_scored_with_what_is_given_in_view(either: Opened) -> None:
    given, text = "Bageren sagde,", " at hans brød var færdigt!"
    whole, rest, start = in_batches(
        either.backend, [Score(given + text), Score(text, given=given), Score(given)], 3
    )
    assert rest.tokens + start.tokens + start.unscored == whole.tokens + whole.unscored
    assert rest.unscored == 0
    if either.backend.reading == "causal":
        # The chain rule: a sentence is its beginning and then its end.
        assert start.log_likelihood + rest.log_likelihood == pytest.approx(
            whole.log_likelihood, rel=1e-5
        )
    else:
        assert rest.log_likelihood > whole.log_likelihood


def test_only_the_continuation_is_asked_for_word_by_word(either: Opened) -> None:
    slowly = slow.causal_score if either.backend.reading == "causal" else slow.masked_score
    scores = [
        Score(" hans brød.", given="Bageren sagde, at det er"),
        Score(" færdigt!", given="Gartneren, ja, »hun« er"),
        Score(" gartneren.", given="Hun er"),
    ]
    for score, answer in zip(scores, in_batches(either.backend, scores, 3), strict=True):
        value, tokens = slowly(either.tokenizer, either.model, score.text, score.given)
        assert answer.log_likelihood == pytest.approx(value, rel=1e-5)
        assert answer.tokens == tokens


def test_sizes_announce_what_a_request_costs(either: Opened) -> None:
    for encoded in either.backend.encode([*SCORES]):
        assert encoded.rows == len(set(encoded.inputs))
        assert encoded.length == max(map(len, encoded.inputs))
        assert encoded.positions == len(encoded.asked)
    causal = either.backend.reading == "causal"
    assert all((item.rows == 1) == causal for item in either.backend.encode(SCORES))
    assert either.backend.max_positions == 64 * 2**20 // (4 * len(either.tokenizer))


def test_a_fill_of_single_pieces_is_one_row_and_one_position() -> None:
    backend = opened("wordpiece cased").backend
    (encoded,) = backend.encode([FILLS[0]])
    assert (encoded.rows, encoded.positions) == (1, 1)


def test_sentences_that_share_a_masked_row_run_it_once() -> None:
    model = opened("wordpiece cased")
    encoded = model.backend.encode([SCORES[1], SCORES[2]])
    calls: list[int] = []
    hook = model.backend.network._model.register_forward_pre_hook(
        lambda _module, _args, options: calls.append(len(options["input_ids"])), with_kwargs=True
    )
    model.backend.answer(encoded)
    hook.remove()
    assert calls == [encoded[0].rows + encoded[1].rows - 1]


def test_a_request_larger_than_memory_is_read_in_several_passes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    backend = opened("byte-level").backend
    expected = in_batches(backend, SCORES, 4)
    monkeypatch.setattr("gendalens.models.huggingface.forward._MAX_TOKENS", 20)
    monkeypatch.setattr("gendalens.models.huggingface.forward._CHUNK", 1)
    for one, other in zip(in_batches(backend, SCORES, 4), expected, strict=True):
        assert one.log_likelihood == pytest.approx(other.log_likelihood, rel=1e-5)


@pytest.mark.parametrize("family", MASKED)
def test_of_equally_likely_words_the_first_of_the_vocabulary_is_chosen(family: str) -> None:
    backend = opened(family).backend
    sets = [pieces for pieces in backend._sets.values() if pieces]
    assert sets
    for pieces in sets:
        assert list(pieces) == sorted(pieces)


def test_an_uncased_first_choice_keeps_the_spelling_it_was_asked_with() -> None:
    backend = opened("wordpiece uncased").backend
    vocabulary = backend.tokenizer.get_vocab()
    backend = opened("wordpiece uncased").backend
    words = tuple(word.capitalize() for word in vocabulary if word.isalpha())
    (answer,) = in_batches(backend, [Fill("", " gik hjem.", ("Han",), words)], 1)
    assert answer.first[0].isupper()


def test_float64_is_not_asked_of_a_device_which_may_not_have_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    double = torch.Tensor.double

    def cpu(self: Any) -> Any:
        here = self.clone()
        here.on_processor = True
        return here

    def only_here(self: Any) -> Any:
        if not hasattr(self, "on_processor"):
            raise TypeError("Cannot convert a MPS Tensor to float64 dtype")
        return double(self)

    expected = in_batches(opened("gpt2").backend, SCORES, 4)
    monkeypatch.setattr(torch.Tensor, "cpu", cpu)
    monkeypatch.setattr(torch.Tensor, "double", only_here)
    assert in_batches(opened("gpt2").backend, SCORES, 4) == expected


def test_unknown_tokens_are_counted_outside_the_gap() -> None:
    backend = opened("wordpiece cased").backend
    fill, score = Fill("Ж gav ", " en bog, Щ.", ("ham", "hende")), Score("Ж gav ham en bog.")
    assert in_batches(backend, [fill], 1)[0].unknown == 2
    assert in_batches(backend, [score], 1)[0].unknown == 1


def test_a_rival_that_cannot_be_written_is_never_chosen() -> None:
    backend = opened("wordpiece cased").backend
    (answer,) = in_batches(backend, [Fill("Det er ", " båd.", ("hans", "hendes"), ("Ж",))], 1)
    assert answer.first != "Ж"
    assert all(map(math.isfinite, answer.log_probs))
