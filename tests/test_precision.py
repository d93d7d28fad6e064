"""A smaller number format comes with its measured effect."""

from __future__ import annotations

import re
from typing import Any

import pytest

import gendalens
from gendalens.engine.dtype_check import effect
from gendalens.models.base import Fill, FillAnswer, ModelInfo, Tag, TagAnswer
from gendalens.models.demo import FOLDER
from gendalens.models.huggingface.checkpoint import Checkpoint
from gendalens.models.huggingface.weights import load_weights
from gendalens.report.danish import danish

DEMO: dict[str, Any] = {"data": "builtin", "sample": 8, "offline": True, "cache": False}


@pytest.mark.parametrize(
    ("model", "task", "options"),
    [
        ("demo-lm", "lm-dawinobias", {}),
        ("demo-lm", "lm-abc", {}),
        ("demo-ner", "ner-dane", {"repeats": 1}),
    ],
)
def test_a_run_in_float16_says_how_far_it_is_from_float32(
    model: str, task: str, options: dict[str, Any]
) -> None:
    (small,) = gendalens.run(FOLDER / model, tasks=task, dtype="float16", **DEMO, **options)
    (exact,) = gendalens.run(FOLDER / model, tasks=task, **DEMO, **options)
    (said,) = (text for text in small.warnings if text.startswith("float16"))
    assert danish(said)
    assert not any("float32" in text for text in exact.warnings)
    if moved := re.search(r"and (\S+) at most", said):
        assert 0 < float(moved[1]) < 0.5


class Scripted:
    """A model whose answers in float32 and in bfloat16 are known."""

    cacheable = False
    max_positions = 100
    answers = frozenset({"fill", "tag"})

    def __init__(self, answers: dict[Any, Any], exact: Scripted | None = None) -> None:
        self._answers = answers
        self.exact = exact
        self.info = ModelInfo("scripted", "script", "0", "bfloat16" if exact else "float32")

    def fingerprint(self) -> str:
        return "scripted"

    def encode(self, requests: Any) -> list[Any]:
        return [Asked(request) for request in requests]

    def answer(self, batch: Any) -> list[Any]:
        return [self._answers[item.request] for item in batch]


class Asked:
    rows = length = positions = 1

    def __init__(self, request: Any) -> None:
        self.request = request


def test_what_was_answered_otherwise_is_counted() -> None:
    fills = [Fill(f"{n} ", " her", ("han", "hun")) for n in range(3)]
    sure: dict[Any, Any] = {fill: FillAnswer((-1.0, -2.0), (1, 1), None) for fill in fills}
    changed = sure | {fills[0]: FillAnswer((-2.0, -1.0), (1, 1), None)}
    model = Scripted(changed, exact=Scripted(sure))
    said = effect(model, changed)
    assert said == (
        "bfloat16 is not float32: of 3 questions asked again in float32, 1 were answered otherwise "
        "and scores moved by 0 bits at the median and 1.4 at most."
    )


def test_entities_are_compared_as_they_are() -> None:
    tags = [Tag("Mette bor her."), Tag("Lars bor her.")]
    sure: dict[Any, Any] = {tag: TagAnswer(((0, 5, "PER"),), 4) for tag in tags}
    changed = sure | {tags[1]: TagAnswer((), 4)}
    model = Scripted(changed, exact=Scripted(sure))
    assert "of 2 questions asked again in float32, 1 were answered otherwise." in str(
        effect(model, changed)
    )
    assert effect(Scripted(sure), sure) is None


def test_without_room_for_float32_the_result_is_kept_and_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def load(checkpoint: Checkpoint, kind: str) -> Any:
        if checkpoint.dtype == "float32":
            raise checkpoint.too_big()
        return load_weights(checkpoint, kind)

    monkeypatch.setattr("gendalens.models.huggingface.token_classifier.load_weights", load)
    (result,) = gendalens.run(
        FOLDER / "demo-ner", tasks="ner-dane", dtype="bfloat16", repeats=1, **DEMO
    )
    (said,) = (text for text in result.warnings if text.startswith("bfloat16"))
    assert said == (
        "bfloat16 is not float32, and what that changes could not be measured: "
        "demo-ner does not fit into memory."
    )
    assert str(danish(said)).endswith("der er ikke plads til demo-ner i hukommelsen.")
