"""The ``model-index`` block of a model card's metadata, as the Hugging Face hub reads it.

(The hub's newer ``.eval_results/`` files require a data set that is registered there as a benchmark;
none of these test sets is.)
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from gendalens.models.base import Resolve, Tag
from gendalens.report import escape, provenance
from gendalens.report.exports.finding_details import list_finding_details
from gendalens.report.exports.model_card import require_one_model
from gendalens.results.model_info import COREFERENCE, TEXT_GENERATION, TOKEN_CLASSIFICATION
from gendalens.results.result import Result
from gendalens.tasks import get_task
from gendalens.tasks.base import Card


def hub_yaml(results: Sequence[Result]) -> str:
    """YAML for the front matter of a model card (between the ``---``); undefined figures are comments."""
    model = require_one_model(results)
    entries = [_make_entry(result) for result in results]
    index = {
        "model-index": [
            {
                "name": model.model.name,
                "results": [entry for entry in entries if entry["metrics"]],
            }
        ]
    }
    missing = [
        f"# {result.task}@{result.protocol}: "
        f"{escape.one_line(str(result.finding.reason or result.finding), None)}"
        for result, entry in zip(results, entries, strict=True)
        if not entry["metrics"]
    ]
    return "\n".join([*_write_mapping(index, 0), *missing]) + "\n"


def _make_entry(result: Result) -> dict[str, Any]:
    card = get_task(result.task, result.protocol).card
    ges, gap = result.gender_effect_size, result.gap
    figures = (
        ("gender_effect_size", "Gender Effect Size", ges.value, ges.low, ges.high),
        ("gap", f"{gap.name} ({gap.unit})", gap.value, gap.low, gap.high),
    )
    return {
        "task": {"type": _find_type(result, card.needs), "name": card.title},
        "dataset": {
            "name": provenance.title_data(result, card),
            "type": provenance.find_on_hub(result, card) or _name_set(result, card),
            **({"args": sets} if (sets := provenance.list_sets(result)) else {}),
        },
        "metrics": [
            {
                "type": kind,
                "value": value,
                "name": name,
                "args": {
                    **({} if low is None or high is None else {"low": low, "high": high}),
                    "test": card.id,
                    **list_finding_details(result.finding),
                    "signature": result.signature,
                },
            }
            for kind, name, value, low, high in figures
            if value is not None
        ],
    }


def _name_set(result: Result, card: Card) -> str:
    """An identifier for a data set that is not on the hub, or for the test if it has no data set."""
    if not card.data:
        return f"gendalens-{card.name}"
    name = card.data[0]
    owner = provenance.find_owner(result, name)
    return name if owner == "official" else f"gendalens-{owner}-{name}"


def _find_type(result: Result, needs: frozenset[str]) -> str:
    """The hub's name for the model's task, or else for what the test asks."""
    if result.model.hub_task:
        return result.model.hub_task
    if Tag.kind in needs:
        return TOKEN_CLASSIFICATION
    return COREFERENCE if Resolve.kind in needs else TEXT_GENERATION


def _write_mapping(values: Mapping[str, Any], depth: int) -> Iterable[str]:
    """A mapping in block style, every string quoted."""
    for key, value in values.items():
        plain = key.replace("-", "").replace("_", "").isalnum()
        name = f"{'  ' * depth}{key if plain else escape.yaml(key)}:"
        if isinstance(value, Mapping):
            yield name
            yield from _write_mapping(value, depth + 1)
        elif isinstance(value, list):
            yield name if value else f"{name} []"
            for item in value:
                first, *rest = _write_mapping(item, depth + 1)
                yield f"{'  ' * depth}- {first.lstrip()}"
                yield from rest
        else:
            yield f"{name} {escape.yaml(value) if isinstance(value, str) else _write_number(value)}"


def _write_number(value: float) -> str:
    """A float for YAML, which would read 1e-05 (without a point) as text."""
    text = repr(float(value))
    return text if "." in text else text.replace("e", ".0e")
