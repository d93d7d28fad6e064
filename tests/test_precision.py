"""A smaller number format comes with its measured effect."""

from __future__ import annotations

from typing import Any

import pytest

import gendalens
from gendalens.engine.dtype_check import describe_dtype_effect
from gendalens.models.base import Backend
from gendalens.models.demo import FOLDER
from gendalens.models.huggingface.stored_checkpoint import StoredCheckpoint
from gendalens.models.huggingface.weights import load_weights
from gendalens.models.requests import Fill, FillAnswer, Tag, TagAnswer
from gendalens.results.model_info import ModelInfo
from gendalens.words import phrase, write

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
    (said,) = (one for one in small.warnings if one.code == "dtype_effect")
    assert write(said, "da").startswith("float16 er ikke float32")
    assert not any(one.code == "dtype_effect" for one in exact.warnings)
    for change in said.values["changes"]:  # type: ignore[union-attr]
        if change.code == "scores_moved":  # type: ignore[union-attr]
            assert 0 < change.values["most"] < 0.5  # type: ignore[union-attr,operator]


class Scripted(Backend):
    """A model whose answers in float32 and in bfloat16 are known."""

    cacheable = False
    max_positions = 100
    answers = frozenset({"fill", "tag"})

    def __init__(self, answers: dict[Any, Any], exact: Scripted | None = None) -> None:
        self._answers = answers
        self._exact = exact

    @property
    def exact(self) -> Scripted | None:
        return self._exact

    @property
    def info(self) -> ModelInfo:
        dtype = "bfloat16" if self._exact else "float32"
        return ModelInfo("scripted", phrase("script"), "0", dtype)

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
    said = describe_dtype_effect(model, changed)
    assert str(said) == (
        "bfloat16 is not float32: of 3 requests repeated in float32, 1 got a different answer, "
        "and scores moved by 0 bits at the median and 1.4 at most."
    )


def test_entities_are_compared_as_they_are() -> None:
    tags = [Tag("Mette bor her."), Tag("Lars bor her.")]
    sure: dict[Any, Any] = {tag: TagAnswer(((0, 5, "PER"),), 4) for tag in tags}
    changed = sure | {tags[1]: TagAnswer((), 4)}
    model = Scripted(changed, exact=Scripted(sure))
    assert "of 2 requests repeated in float32, 1 got a different answer." in str(
        describe_dtype_effect(model, changed)
    )
    assert describe_dtype_effect(Scripted(sure), sure) is None


def test_without_room_for_float32_the_result_is_kept_and_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def load(checkpoint: StoredCheckpoint, kind: str) -> Any:
        if checkpoint.options.dtype == "float32":
            raise checkpoint.explain_memory()
        return load_weights(checkpoint, kind)

    monkeypatch.setattr("gendalens.models.huggingface.stored_checkpoint.load_weights", load)
    (result,) = gendalens.run(
        FOLDER / "demo-ner", tasks="ner-dane", dtype="bfloat16", repeats=1, **DEMO
    )
    (said,) = (one for one in result.warnings if one.code == "dtype_effect_not_measured")
    assert str(said) == (
        "bfloat16 is not float32, and what that changes could not be measured: "
        "demo-ner does not fit into memory."
    )
    assert write(said, "da").endswith("demo-ner kan ikke være i hukommelsen.")
