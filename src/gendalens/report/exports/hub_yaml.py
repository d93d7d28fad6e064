"""The ``model-index`` block of a model card's metadata, as the Hugging Face hub reads it.

(The hub's newer ``.eval_results/`` files name a data set that is registered there as a benchmark,
with an id of its own; none of these test sets is.)
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from gendalens.models.base import Resolve, Tag
from gendalens.report import escape, provenance
from gendalens.report.exports.model_card import one_model
from gendalens.results.result import Result
from gendalens.tasks import get_task


def hub_yaml(results: Sequence[Result]) -> str:
    """YAML to put between the ``---`` lines of a model card; what is undefined is a comment."""
    model = one_model(results)
    entries = [_entry(result) for result in results]
    index = {
        "model-index": [
            {
                "name": str(model.model["name"]),
                "results": [entry for entry in entries if entry["metrics"]],
            }
        ]
    }
    missing = [
        f"# {result.task}@{result.protocol}: "
        f"{escape.one_line(result.verdict_reason or result.verdict, None)}"
        for result, entry in zip(results, entries, strict=True)
        if not entry["metrics"]
    ]
    return "\n".join([*_mapping(index, 0), *missing]) + "\n"


def _entry(result: Result) -> dict[str, Any]:
    card = get_task(result.task, result.protocol).card
    first = card.data[0]
    ges, gap = result.gender_effect_size, result.gap
    figures = (
        ("gender_effect_size", "Gender Effect Size", ges.value, ges.low, ges.high),
        ("gap", f"{gap.name} ({gap.unit})", gap.value, gap.low, gap.high),
    )
    return {
        "task": {"type": _type(result, card.needs), "name": card.title},
        "dataset": {
            "name": provenance.title(result, first),
            "type": provenance.on_the_hub(result, first) or _slug(result, first),
            "args": provenance.details(result),
        },
        "metrics": [
            {
                "type": kind,
                "value": value,
                "name": name,
                "args": {
                    **({} if low is None or high is None else {"low": low, "high": high}),
                    "test": card.id,
                    "verdict": result.verdict,
                    "signature": result.signature,
                },
            }
            for kind, name, value, low, high in figures
            if value is not None
        ],
    }


def _slug(result: Result, name: str) -> str:
    """A set that is not on the hub, as an identifier."""
    whose = provenance.kind(result, name)
    return name if whose == "official" else f"gendalens-{whose.replace(' ', '-')}-{name}"


def _type(result: Result, needs: frozenset[str]) -> str:
    """The hub's word for what the model does."""
    if Tag.kind in needs:
        return "token-classification"
    if Resolve.kind in needs:
        return "coreference-resolution"
    return "fill-mask" if "masked" in str(result.model["kind"]) else "text-generation"


def _mapping(values: Mapping[str, Any], depth: int) -> Iterable[str]:
    """Block style, every string quoted."""
    for key, value in values.items():
        plain = key.replace("-", "").replace("_", "").isalnum()
        name = f"{'  ' * depth}{key if plain else escape.yaml(key)}:"
        if isinstance(value, Mapping):
            yield name
            yield from _mapping(value, depth + 1)
        elif isinstance(value, list):
            yield name if value else f"{name} []"
            for item in value:
                first, *rest = _mapping(item, depth + 1)
                yield f"{'  ' * depth}- {first.lstrip()}"
                yield from rest
        else:
            yield f"{name} {escape.yaml(value) if isinstance(value, str) else _number(value)}"


def _number(value: float) -> str:
    """A float as YAML reads it: 1e-05 without a point would be text."""
    text = repr(float(value))
    return text if "." in text else text.replace("e", ".0e")
