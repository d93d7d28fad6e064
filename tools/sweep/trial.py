"""One architecture tried: GenDa Lens in large mixed batches, compared with the plain model row by row."""

from __future__ import annotations

import copy
import inspect
import math
import tempfile
import traceback
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
import transformers

from gendalens.errors import UserError
from gendalens.models.batches import answer_in_batches
from gendalens.models.detect import load_model
from gendalens.models.huggingface.refusals import CANNOT_READ_TEXT
from gendalens.models.huggingface.text_model import find_text_model
from gendalens.models.huggingface.trees import TreeNetwork
from gendalens.models.requests import FillAnswer, Request
from tools.sweep.asking import make_causal_requests, make_masked_requests, make_tag_requests
from tools.sweep.building import NotBuiltError, build, has_windows
from tools.sweep.heads import MASKED, TOKENS, Head
from tools.sweep.outcome import Outcome, Verdict

#: The largest difference that rounding may make, in nats or logits.
TOLERANCE = 1e-4
# As a run on a processor has it, and so large that all lengths share a batch.
_BATCH_TOKENS = (384, 4096)
# Below this, a model's numbers do not depend on what it reads.
_LEAST_EFFECT = 1e-3

# About as many tokens as the sentences of the tests have.
_SENTENCE = 30

Row = tuple[int, ...]


def try_architecture(head: Head, architecture: str) -> Outcome:
    """The outcome of a trial with narrow windows, and of one with those of the default configuration."""
    found = _try_windows(head, architecture, wide=False)
    if found.verdict is Verdict.RIGHT and has_windows(architecture, head):
        wider = _try_windows(head, architecture, wide=True)
        if wider.verdict is Verdict.RIGHT:
            wider = replace(
                found,
                difference=max(found.difference, wider.difference),
                relative=max(found.relative, wider.relative),
                shared=found.shared or wider.shared,
                tree=found.tree or wider.tree,
            )
        found = wider
    return found


def _try_windows(head: Head, architecture: str, *, wide: bool) -> Outcome:
    outcome = Outcome(
        head=head.name,
        architecture=architecture,
        model_class=head.list_classes()[architecture],
        verdict=Verdict.RIGHT,
    )
    with tempfile.TemporaryDirectory(prefix="gendalens-sweep-") as folder:
        try:
            build(Path(folder), architecture, head, wide=wide)
        except Exception as error:
            return replace(outcome, verdict=Verdict.NOT_BUILT, reason=_describe(error))
        try:
            return _compare(outcome, folder, head)
        except NotBuiltError as error:
            return replace(outcome, verdict=Verdict.NOT_BUILT, reason=str(error))
        except UserError as error:
            sentence = str(error).replace(folder, "MODEL").replace(Path(folder).name, "MODEL")
            # A general sentence for an error that nobody foresaw is no refusal.
            foreseen = error.__cause__ is None or error.message.code == CANNOT_READ_TEXT.code
            verdict = Verdict.REFUSED if foreseen else Verdict.FAILED
            return replace(outcome, verdict=verdict, reason=sentence)
        except Exception as error:
            where = traceback.extract_tb(error.__traceback__)[-1]
            reason = f"{_describe(error)} ({Path(where.filename).name}:{where.lineno})"
            return replace(outcome, verdict=Verdict.FAILED, reason=reason)


def _compare(outcome: Outcome, folder: str, head: Head) -> Outcome:
    plain = PlainModel(folder, head)
    backend: Any = load_model(folder)
    _use_workers(backend)
    if head is TOKENS:
        pairs = _compare_tags(backend, plain)
    else:
        requests = make_masked_requests() if head is MASKED else make_causal_requests()
        pairs = _compare_answers(backend, plain, requests)
    differences = [(abs(found - expected), abs(expected)) for found, expected in pairs]
    if not plain.reads_context():
        return replace(
            outcome, verdict=Verdict.WRONG, reason="Its numbers do not depend on the other words."
        )
    largest = max(difference for difference, _ in differences)
    network = None if head is TOKENS else backend.network
    return replace(
        outcome,
        verdict=Verdict.RIGHT if largest < TOLERANCE else Verdict.WRONG,
        difference=largest,
        relative=max(difference / max(1.0, size) for difference, size in differences),
        batching=backend.batching.value,
        early=bool(getattr(network, "early", False)),
        shared=bool(getattr(network, "_can_share", False)),
        tree=isinstance(network, TreeNetwork) and network.find_tree_limit(_SENTENCE) > 0,
    )


def _use_workers(backend: Any) -> None:
    """Answer two batches at once where a run would: a model may keep state between calls.

    The number of threads is set for the question alone, because the threads of torch slow down models as
    small as these.
    """
    threads = torch.get_num_threads()
    torch.set_num_threads(2)
    workers = backend.workers
    torch.set_num_threads(threads)
    kind = type(backend)
    backend.__class__ = type(kind.__name__, (kind,), {"workers": workers})


def _compare_answers(
    backend: Any, plain: PlainModel, requests: Sequence[Request]
) -> list[tuple[float, float]]:
    """Each number of each answer, and the same number by the plain model."""
    kinds = dict.fromkeys(request.kind for request in requests)
    encoded = [
        item
        for kind in kinds
        for item in backend.encode([request for request in requests if request.kind == kind])
    ]
    found = [
        pair
        for batch_tokens in _BATCH_TOKENS
        for batch in answer_in_batches(backend, requests, batch_tokens=batch_tokens)
        for pair in batch
    ]
    plain.read({row for item in encoded for row in item.inputs})
    expected: dict[Request, list[float]] = {}
    for item in encoded:
        values = iter(
            [plain.log_prob(item.inputs[row], at, token) for row, at, token in item.asked]
        )
        groups = item.groups or (len(item.asked),)
        expected[item.request] = [math.fsum(next(values) for _ in range(count)) for count in groups]
    return [
        pair
        for request, answer in found
        for pair in zip(_list_numbers(answer), expected[request], strict=True)
    ]


def _list_numbers(answer: Any) -> tuple[float, ...]:
    return answer.log_probs if isinstance(answer, FillAnswer) else (answer.log_likelihood,)


def _compare_tags(backend: Any, plain: PlainModel) -> list[tuple[float, float]]:
    """The score of each label at each token, and the same number by the plain model."""
    found: list[tuple[Row, Any]] = []
    score_rows = backend._score_rows

    def record(rows: list[Row]) -> dict[Row, Any]:
        scores: dict[Row, Any] = score_rows(rows)
        found.extend(scores.items())
        return scores

    backend._score_rows = record
    for batch_tokens in _BATCH_TOKENS:
        for _ in answer_in_batches(backend, make_tag_requests(), batch_tokens=batch_tokens):
            pass
    plain.read({row for row, _ in found})
    return [
        pair
        for row, scores in found
        for pair in zip(scores.ravel().tolist(), plain.logits[row].ravel().tolist(), strict=True)
    ]


class PlainModel:
    """The model of transformers that reads every row alone: no padding, no hooks, no cache."""

    def __init__(self, folder: str, head: Head) -> None:
        config = transformers.AutoConfig.from_pretrained(folder)
        # Reformer hashes by random numbers; with the seed that GenDa Lens gives it, they are the same.
        if getattr(config, "hash_seed", 0) is None:
            config.hash_seed = 0
        auto = getattr(transformers, head.auto_class)
        try:
            model = auto.from_pretrained(folder, config=config, dtype=torch.float32)
        except ValueError as error:
            reason = f"transformers does not load what it has saved ({_describe(error)})"
            raise NotBuiltError(reason) from error
        # Wrappers such as Aya Vision's leave out what their language model does to its logits.
        self._model = find_text_model(model).eval()
        self.logits: dict[Row, Any] = {}

    def read(self, rows: Iterable[Row]) -> None:
        """Get the logits at every position of each row."""
        ordered = sorted(rows, key=lambda row: (-len(row), row))
        # BigBird turns to full attention when it first reads a short text, and a run begins with one.
        _read_row(self._model, ordered[-1])
        used = copy.deepcopy(self._model)
        self.logits |= {row: _read_row(used, row) for row in ordered}
        # Some models change while they read. If rows spread over all lengths are read otherwise by a new
        # copy, every row gets one.
        some = ordered[:: max(1, len(ordered) // 8)]
        if any(_differ(self.logits[row], self._read_afresh(row)) for row in [*some, ordered[-1]]):
            self.logits |= {row: self._read_afresh(row) for row in ordered}

    def _read_afresh(self, row: Row) -> Any:
        return _read_row(copy.deepcopy(self._model), row)

    def log_prob(self, row: Row, at: int, token: int) -> float:
        """The log-probability of a token, from the logits at a position."""
        logits = self.logits[row][at]
        return float(logits[token] - np.logaddexp.reduce(logits))

    def reads_context(self) -> bool:
        """Whether the logits at some token change with another token."""
        row = max((row for row in self.logits if len(row) < 40), key=len)
        other = (row[0], row[1], row[3], row[2], *row[4:])
        effect = np.abs(self._read_afresh(row)[4:] - self._read_afresh(other)[4:]).max()
        return bool(effect > _LEAST_EFFECT)


def _read_row(model: Any, row: Row) -> Any:
    ids = torch.tensor([row])
    takes_cache = "use_cache" in inspect.signature(model.forward).parameters
    no_cache = {"use_cache": False} if takes_cache else {}
    with torch.inference_mode():
        logits = model(input_ids=ids, attention_mask=torch.ones_like(ids), **no_cache).logits
    return logits[0, : len(row)].double().numpy()


def _differ(here: Any, there: Any) -> bool:
    return not np.allclose(here, there, rtol=0, atol=TOLERANCE / 10, equal_nan=True)


def _describe(error: BaseException) -> str:
    lines = [line.strip() for line in str(error).strip().splitlines() if line.strip()]
    return f"{type(error).__name__}: {' '.join(lines)[:160]}" if lines else type(error).__name__
