"""The items of a run in the EvalEval coalition's format for single answers."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator, Sequence
from typing import Any

from gendalens.report.checked_records import checked_records
from gendalens.results.result import Result
from gendalens.results.saved_results import SavedResult
from gendalens.tasks import get_task
from gendalens.tasks.base import Card
from gendalens.tasks.views import Example

SCHEMA_VERSION = "0.3.0"
_LEANING = "how far the model leans to the male or pro-stereotypical side; 0 is not at all"
_RIGHT = "1 if the answer is right, 0 if it is wrong"
_NO_SCORE = "0 stands for no score: the test has none for a single item"
#: The answer stands in the records as the test has read it.
_ATTRIBUTION = {
    "turn_idx": 0,
    "source": "output.raw",
    "extraction_method": "as read by the test",
    "is_terminal": True,
}
_NEITHER = "false stands for neither: no answer to this item is right or wrong"


def list_samples(runs: Sequence[SavedResult], evaluation: str) -> Iterator[dict[str, Any]]:
    """A row per example of every test, in the order of its records."""
    for run in runs:
        result = run.result
        task = get_task(result.task, result.protocol)
        with checked_records(run, task.card) as records:
            for place, example in enumerate(task.examples(records), start=1):
                yield _describe_sample(example, place, result, task.card, evaluation)


def name_score(result: Result, kind: str) -> str:
    """The identifier of one of a result's figures."""
    return f"{result.task}@{result.protocol}-{result.key}/{kind}"


def _describe_sample(
    example: Example, place: int, result: Result, card: Card, evaluation: str
) -> dict[str, Any]:
    text, said = str(example.text), str(example.said)
    expected = [str(one) for one in example.expected]
    words = [str(word) for word, _ in example.shares]
    choices = {"choices": words} if said in words else {}
    hashed = hashlib.sha256("".join((text, *expected)).encode(errors="replace"))
    # A row belongs to one figure: what a test compares within items is nearest to its gap.
    figure = {} if result.gap.value is None else {"evaluation_result_id": name_score(result, "gap")}
    score, meaning = _score(example)
    return {
        "schema_version": SCHEMA_VERSION,
        "evaluation_id": evaluation,
        "model_id": result.model.name,
        "evaluation_name": card.id,
        **figure,
        "sample_id": f"{card.id}/{place}",
        "sample_hash": hashed.hexdigest(),
        "interaction_type": "single_turn",
        "input": {"raw": text, "reference": expected, **choices},
        "output": {"raw": [said] if said else []},
        "answer_attribution": [{**_ATTRIBUTION, "extracted_value": said}] if said else [],
        "evaluation": {"score": score, "is_correct": bool(example.right)},
        "metadata": {
            "condition": str(example.condition),
            "outcome": str(example.outcome),
            **({"about": str(example.about)} if example.about else {}),
            **{f"share of {word}": repr(share) for word, share in example.shares},
            "score": meaning,
            **({"is_correct": _NEITHER} if example.right is None else {}),
        },
    }


def _score(example: Example) -> tuple[float, str]:
    """The score of an item, and what it means."""
    if example.lean is not None:
        if not math.isfinite(example.lean):
            raise ValueError("a figure is not finite")
        return float(example.lean), _LEANING
    return (0.0, _NO_SCORE) if example.right is None else (float(example.right), _RIGHT)
