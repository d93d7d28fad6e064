"""Models that padding disturbs: it is noticed when they are loaded, and their answers are right."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import architectures
import numpy as np
import pytest
import torch
import transformers
from asking import answer_all
from families import opened, reopened
from scripted import Question, Scripted
from small_data import small_data

from gendalens.engine.run_options import RunOptions
from gendalens.engine.session import Job, run_jobs
from gendalens.engine.watcher import SilentWatcher
from gendalens.errors import UserError
from gendalens.models.base import Batching
from gendalens.models.batch_run import plan_batches
from gendalens.models.detect import load_model
from gendalens.models.huggingface import language_model, token_classifier
from gendalens.models.huggingface.padding_trial import PaddingTrial, make_rows
from gendalens.models.requests import Fill, Score, Tag
from gendalens.words import Message, write
from tools.sweep.building import build
from tools.sweep.heads import TOKENS

MASKED = ("convbert", "fnet", "funnel", "mobilebert", "nystromformer", "reformer", "yoso")
TAGGERS = ("canine", "convbert", "fnet", "funnel", "mobilebert", "nystromformer", "yoso")

TEXTS = [
    "Han sov.",
    "Hun købte et rødt æble på torvet.",
    "Kan hun se, om hendes nøgler ligger i huset?",
    "Gartneren vandede sine roser, før hun gik hjem til sin søn.",
    "Bageren sagde til fiskeren, at hans brød var færdigt, og de talte om vejret.",
]
# The candidates have different numbers of tokens, so one request has rows of several lengths.
FILLS = [
    Fill("Her bor ", ".", ("han", "gartneren")),
    Fill("Han så ", " ved åen.", ("hun", "Århus")),
]


def read_plainly(folder: str, asked: Sequence[Any]) -> list[list[float]]:
    """The log-probabilities that encoded requests ask for, with every row alone in the plain model."""
    model = transformers.AutoModelForMaskedLM.from_pretrained(folder).eval()
    for part in model.modules():
        if hasattr(part, "hash_seed"):
            part.hash_seed = 0
    found = []
    for item in asked:
        values = []
        for row, at, token in item.asked:
            ids = torch.tensor([item.inputs[row]])
            with torch.inference_mode():
                logits = model(input_ids=ids, attention_mask=torch.ones_like(ids)).logits
            values.append(float(logits[0, at].double().log_softmax(-1)[token]))
        found.append(values)
    return found


@pytest.mark.parametrize("architecture", MASKED)
def test_masked_models_answer_as_with_every_row_alone(architecture: str, tmp_path: Path) -> None:
    folder = architectures.save(tmp_path, architecture, "MaskedLM")
    backend: Any = load_model(folder)
    scores = [Score(text) for text in TEXTS]
    answers: Any = answer_all(backend, [*scores, *FILLS], batch_tokens=4096)
    for request, values in zip(scores, read_plainly(folder, backend.encode(scores)), strict=True):
        assert answers[request].log_likelihood == pytest.approx(sum(values), abs=1e-4)
    encoded = backend.encode(FILLS)
    for item, values in zip(encoded, read_plainly(folder, encoded), strict=True):
        expected = [sum(values[: item.groups[0]]), sum(values[item.groups[0] :])]
        assert answers[item.request].log_probs == pytest.approx(expected, abs=1e-4)
    assert backend.batching is Batching.EQUAL_LENGTH


@pytest.mark.parametrize("architecture", TAGGERS)
def test_taggers_score_labels_as_with_every_row_alone(architecture: str, tmp_path: Path) -> None:
    folder = architectures.save(tmp_path, architecture, "TokenClassification")
    backend: Any = load_model(folder)
    model = transformers.AutoModelForTokenClassification.from_pretrained(folder).eval()
    rows = [row for item in backend.encode([Tag(text) for text in TEXTS]) for row in item.inputs]
    for row, scores in backend._score_rows(list(rows)).items():
        ids = torch.tensor([row])
        with torch.inference_mode():
            logits = model(input_ids=ids, attention_mask=torch.ones_like(ids)).logits[0].numpy()
        assert np.abs(scores - logits).max() <= 1e-4 * max(1, np.abs(logits).max())
    assert backend.batching is Batching.EQUAL_LENGTH


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_padding_makes_no_difference_to_bert(dtype: str) -> None:
    bert = reopened(opened("wordpiece cased").backend, dtype=dtype)
    assert bert.batching is Batching.ANY_LENGTH
    assert bert.network.batching is Batching.ANY_LENGTH


def test_padding_is_noticed_in_a_coarse_number_format_too(tmp_path: Path) -> None:
    backend = load_model(architectures.save(tmp_path, "convbert", "MaskedLM"))
    assert reopened(backend, dtype="bfloat16").batching is Batching.EQUAL_LENGTH


def test_luke_is_asked_about_more_places_than_its_rows_are_long(tmp_path: Path) -> None:
    folder = architectures.save(tmp_path, "luke", "MaskedLM")
    backend: Any = load_model(folder)
    scores = [Score(text) for text in TEXTS]
    encoded = backend.encode(scores)
    assert sum(item.positions for item in encoded) > max(item.length for item in encoded)
    answers: Any = answer_all(backend, scores, batch_tokens=4096)
    for request, values in zip(scores, read_plainly(folder, encoded), strict=True):
        assert answers[request].log_likelihood == pytest.approx(sum(values), abs=1e-4)
    assert backend.batching is Batching.ANY_LENGTH


def test_cpm_ant_is_refused_because_it_reads_later_words(tmp_path: Path) -> None:
    backend = load_model(architectures.save(tmp_path, "cpmant", "CausalLM"))
    with pytest.raises(UserError, match="its predictions depend on later words"):
        answer_all(backend, [Score("Han sov.")])


def test_a_model_that_reads_a_text_differently_each_time_is_refused(tmp_path: Path) -> None:
    backend: Any = load_model(architectures.save(tmp_path, "bert", "TokenClassification"))
    backend.model.train()  # dropout
    with pytest.raises(UserError, match="different numbers for one and the same text"):
        answer_all(backend, [Tag("Han sov.")])


def disturbed_by(
    counts: Callable[[Sequence[tuple[int, ...]]], bool], amount: float = 0.01
) -> Batching:
    """The batching chosen for a model that reads some batches wrongly."""

    def read(rows: Sequence[tuple[int, ...]]) -> list[Any]:
        wrong = amount if counts(rows) else 1e-5
        return [sum_words(row) + wrong for row in rows]

    return try_model(sum_words, read)


def sum_words(row: tuple[int, ...]) -> Any:
    """The logits of a model that adds up the tokens; one of two labels is impossible."""
    return np.array([[total, -np.inf] for total in np.cumsum(row) * 1.5], np.float32)


def try_model(
    read_alone: Callable[[tuple[int, ...]], Any],
    read: Callable[[Sequence[tuple[int, ...]]], list[Any]],
) -> Batching:
    model = SimpleNamespace(dtype=torch.float32)
    return PaddingTrial(model, read_alone, read).choose_batching(
        [(1, 2, 0), (1, 2, 0, 1, 2)], "model"
    )


def test_the_batching_is_the_widest_that_leaves_the_answers_as_they_are() -> None:
    assert disturbed_by(lambda rows: False) is Batching.ANY_LENGTH
    assert disturbed_by(lambda rows: len({*map(len, rows)}) > 1) is Batching.EQUAL_LENGTH
    assert disturbed_by(lambda rows: len(rows) > 1) is Batching.ONE_ROW


def test_a_model_that_is_a_little_unsteady_reads_each_row_alone() -> None:
    assert disturbed_by(lambda rows: True, amount=7e-4) is Batching.ONE_ROW
    with pytest.raises(UserError, match="different numbers for one and the same text"):
        disturbed_by(lambda rows: True, amount=1e-2)


def test_an_error_that_has_nothing_to_do_with_padding_is_raised() -> None:
    def fail(rows: Sequence[tuple[int, ...]]) -> bool:
        raise UserError("please report it")

    with pytest.raises(UserError, match="please report it"):
        disturbed_by(fail)


def test_a_model_that_ignores_the_other_words_is_refused() -> None:
    def read(row: tuple[int, ...]) -> Any:
        return np.array([[token, 0.5, -np.inf] for token in row], np.float32)

    with pytest.raises(UserError, match="the same numbers whatever the other words are"):
        try_model(read, lambda rows: [*map(read, rows)])


def test_a_model_whose_weights_are_damaged_is_not_said_to_ignore_words() -> None:
    def read(row: tuple[int, ...]) -> Any:
        return np.full((len(row), 2), np.nan, np.float32)

    assert try_model(read, lambda rows: [*map(read, rows)]) is Batching.ANY_LENGTH


@pytest.mark.parametrize("head", ["MaskedLM", "TokenClassification"])
def test_a_model_that_cannot_read_a_text_says_what_may_be_the_matter(
    head: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(self: Any, **_: Any) -> None:
        raise ValueError("You have to specify pixel_values")

    backend = load_model(architectures.save(tmp_path, "bert", head))
    monkeypatch.setattr(getattr(transformers, f"BertFor{head}"), "forward", fail)
    with pytest.raises(UserError, match=r"cannot read even a short text \(ValueError: You have to"):
        answer_all(backend, [Tag("Han sov.") if head != "MaskedLM" else Score("Han sov.")])


def test_rows_to_try_fit_the_model() -> None:
    tokenizer = opened("wordpiece cased").tokenizer
    rows = make_rows(tokenizer, transformers.BertConfig(), 20, len(tokenizer), specials=True)
    assert [len(row) for row in rows] == [5, 12, 20]
    assert {(row[0], row[-1]) for row in rows} == {(tokenizer.cls_token_id, tokenizer.sep_token_id)}
    chunked = make_rows(tokenizer, transformers.ReformerConfig(), None, 100, specials=False)
    assert [len(row) for row in chunked] == [5, 12, 33, 70, 140]
    assert max(map(max, chunked)) < 100
    # No text fills a chunk of 64 tokens in a window of 64.
    short = make_rows(tokenizer, transformers.ReformerConfig(), 64, 100, specials=False)
    assert [len(row) for row in short] == [5, 12, 33]


def test_batches_hold_what_can_be_read_together() -> None:
    encoded = [Question(Score("x" * length)) for length in (3, 5, 3, 5, 4)]

    def plan(batching: Batching) -> list[list[int]]:
        return list(plan_batches(encoded, batch_tokens=99, max_positions=99, batching=batching))

    assert plan(Batching.ANY_LENGTH) == [[1, 3, 4, 0, 2]]
    assert plan(Batching.EQUAL_LENGTH) == [[1, 3], [4], [0, 2]]
    assert plan(Batching.ONE_ROW) == [[1], [3], [4], [0], [2]]


def test_only_answers_that_may_be_wrong_are_not_reused(tmp_path: Path) -> None:
    bert: Any = opened("wordpiece cased").backend
    version = language_model.ANSWERS_VERSION
    first = bert.checkpoint.digest(version, bert.reading)
    assert bert.fingerprint() == bert.checkpoint.digest(first, False)
    tagger: Any = load_model(architectures.save(tmp_path, "convbert", "TokenClassification"))
    before = tagger.checkpoint.digest(token_classifier.ANSWERS_VERSION, "token classifier")
    assert tagger.fingerprint() != before


def test_the_parts_of_a_model_have_no_say_in_whether_its_answers_may_be_wrong(
    tmp_path: Path,
) -> None:
    build(tmp_path, "t5gemma", TOKENS)
    tagger: Any = load_model(str(tmp_path))
    assert tagger.checkpoint.text_config.model_type != "t5gemma"
    before = tagger.checkpoint.digest(token_classifier.ANSWERS_VERSION, "token classifier")
    assert tagger.fingerprint() != before


class Notes(SilentWatcher):
    """A watcher that keeps the notes."""

    def __init__(self) -> None:
        self.seen: list[str] = []

    def notes(self, message: Message) -> None:
        self.seen.append(write(message))


def notes_and_batching(model: Any, data: Path, out: Path) -> tuple[list[str], set[str | None]]:
    """The notes of a run, and the batching that its folder tells of."""
    watcher = Notes()
    options = RunOptions(data=small_data(data), out=out)
    assert not run_jobs([Job(model, ["lm-abc", "lm-dawinobias"])], options, watcher).failures
    return watcher.seen, {
        json.loads(path.read_text())["batching"] for path in out.rglob("run.json")
    }


def test_a_run_tells_once_that_padding_matters(tmp_path: Path) -> None:
    folder = architectures.save(tmp_path / "model", "convbert", "MaskedLM")
    notes, batching = notes_and_batching(folder, tmp_path / "data", tmp_path / "run")
    assert notes == [
        "Padding changes the answers of model, so only texts of equal length were run together."
    ]
    assert batching == {"equal length"}
    again = notes_and_batching(folder, tmp_path / "data", tmp_path / "again")
    assert again == ([], {None})  # all from the cache


def test_a_run_of_bert_has_no_such_note(tmp_path: Path) -> None:
    folder = str(opened("wordpiece cased").folder)
    found = notes_and_batching(folder, tmp_path / "data", tmp_path / "run")
    assert found == ([], {"any length"})


class OneByOne(Scripted):
    """A model that reads one row at a time."""

    batching = Batching.ONE_ROW


def test_a_run_of_one_row_at_a_time_says_so(tmp_path: Path) -> None:
    model = OneByOne()
    notes, _ = notes_and_batching(model, tmp_path / "data", tmp_path / "run")
    assert notes == [
        "The answers of scripted change when it reads several texts together, so they were run one"
        " by one."
    ]
    assert set(model.batches) == {1}
