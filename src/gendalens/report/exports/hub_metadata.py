"""The ``model-index`` of a model card's metadata, as the Hugging Face hub reads it.

(The hub's newer ``.eval_results/`` files require a data set that is registered there as a benchmark;
none of these test sets is.)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from gendalens.errors import UserError
from gendalens.models.requests import Resolve, Tag
from gendalens.report import provenance
from gendalens.report.escape import one_line
from gendalens.report.exports.card_parts import require_one_model
from gendalens.report.exports.finding_details import list_finding_details
from gendalens.results.model_info import COREFERENCE, TEXT_GENERATION, TOKEN_CLASSIFICATION
from gendalens.results.result import Result
from gendalens.system.extras import write_install_command
from gendalens.tasks import get_task
from gendalens.tasks.base import Card

if TYPE_CHECKING:
    from huggingface_hub import EvalResult


def hub_metadata(results: Sequence[Result]) -> str:
    """YAML for the front matter of a model card (between the ``---``), by the hub's own library.

    Undefined figures are comments.
    """
    model = require_one_model(results)
    if find_spec("huggingface_hub") is None:
        raise UserError(
            "The metadata of the hub are written by huggingface_hub: run `{command}`.",
            command=write_install_command("hub"),
        )
    from huggingface_hub import ModelCardData

    figures = [one for result in results for one in _list_figures(result)]
    data = ModelCardData(model_name=_clean(model.model.name), eval_results=figures)
    return "\n".join([data.to_yaml(), *_list_missing(results)]) + "\n"


def _list_figures(result: Result) -> Iterator[EvalResult]:
    from huggingface_hub import EvalResult

    card = get_task(result.task, result.protocol).card
    on_hub = provenance.find_on_hub(result, card)
    ges, gap = result.gender_effect_size, result.gap
    for kind, name, value, low, high in (
        ("gender_effect_size", "Gender Effect Size", ges.value, ges.low, ges.high),
        ("gap", f"{gap.name} ({gap.unit})", gap.value, gap.low, gap.high),
    ):
        if value is None:
            continue
        yield EvalResult(
            task_type=_find_type(result, card.needs),
            task_name=_clean(card.title),
            dataset_type=on_hub or _name_set(result, card),
            dataset_name=_clean(provenance.title_data(result, card)),
            # The hub's library puts figures under one entry unless this or the data differ.
            dataset_config=card.id,
            dataset_revision=None if on_hub else _find_checksum(result, card),
            dataset_args=_clean(provenance.list_sets(result)) or None,
            metric_type=kind,
            metric_name=_clean(name),
            metric_value=value,
            metric_args={
                **({} if low is None or high is None else {"low": low, "high": high}),
                "test": card.id,
                **_clean(list_finding_details(result.finding)),
                "signature": _clean(result.signature),
            },
        )


def _list_missing(results: Sequence[Result]) -> list[str]:
    """A comment for every result without a figure."""
    return [
        f"# {result.task}@{result.protocol}: {_clean(str(result.finding.reason or result.finding))}"
        for result in results
        if result.gender_effect_size.value is None and result.gap.value is None
    ]


def _name_set(result: Result, card: Card) -> str:
    """An identifier for a data set that is not on the hub, or for the test if it has no data set."""
    if not card.data:
        return f"gendalens-{card.name}"
    name = card.data[0]
    owner = provenance.find_owner(result, name)
    return name if owner == "official" else f"gendalens-{owner}-{name}"


def _find_checksum(result: Result, card: Card) -> str | None:
    """The checksum of the test's first data set, if it has one."""
    for name in card.data[:1]:
        return f"sha256:{result.data[name]['sha256']}"
    return None


def _find_type(result: Result, needs: frozenset[str]) -> str:
    """The hub's name for the model's task, or else for what the test asks."""
    if result.model.hub_task:
        return result.model.hub_task
    if Tag.kind in needs:
        return TOKEN_CLASSIFICATION
    return COREFERENCE if Resolve.kind in needs else TEXT_GENERATION


def _clean(value: Any) -> Any:
    """A text, or the texts of a mapping, on one line each and without characters that mislead."""
    if isinstance(value, dict):
        return {_clean(key): _clean(one) for key, one in value.items()}
    return one_line(value, None) if isinstance(value, str) else value
