"""A run in the EvalEval coalition's format for evaluation results, Every Eval Ever.

In this schema, either a lower or a higher score is better. An effect is best at zero, so the score is
its distance from zero; the signed figure is among the details.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from gendalens.errors import UserError
from gendalens.report import provenance
from gendalens.report.escape import as_json
from gendalens.report.exports.finding_details import list_finding_details
from gendalens.report.exports.model_card import require_one_model
from gendalens.results.result import Result
from gendalens.results.saved_results import RUN, SavedResult
from gendalens.results.signature import parse_signature
from gendalens.tasks import get_task
from gendalens.tasks.base import Card
from gendalens.version import __version__

ENDPOINT = "openai:"  # what the names of models behind a server begin with
SCHEMA_VERSION = "0.3.0"


def every_eval_ever(runs: Sequence[SavedResult], *, now: float | None = None) -> str:
    """One model's results as JSON; the user fills in who ran the evaluation."""
    results = [run.result for run in runs]
    model = require_one_model(results).model
    name = model.name
    created = str(int(time.time() if now is None else now))
    began = sorted(_read_epoch(run) for run in runs if "began" in run.run)
    plain = {
        "schema_version": SCHEMA_VERSION,
        "evaluation_id": f"gendalens/{name}/{created}",
        **({"evaluation_timestamp": str(began[0])} if began else {}),
        "retrieved_timestamp": created,
        "source_metadata": {
            "source_name": "GenDa Lens",
            "source_type": "evaluation_run",
            "source_organization_name": "unknown",
            "evaluator_relationship": "other",
        },
        "eval_library": {"name": "gendalens", "version": __version__},
        "model_info": {
            "name": name,
            "id": name,
            "additional_details": {
                # A server may be the user's own, and weights at hand need not be open.
                "deployment_type": "unknown" if name.startswith(ENDPOINT) else "self_deployed",
                "model_availability": "unknown",
                "revision": model.revision,
                "dtype": model.dtype,
                "kind": str(model.kind),
                "tokenizer": model.tokenizer,
                "software": ", ".join(model.software),
            },
        },
        "evaluation_results": [one for result in results for one in _list_scores(result)],
    }
    return as_json(plain)


def _list_scores(result: Result) -> list[dict[str, Any]]:
    card = get_task(result.task, result.protocol).card
    ges, gap = result.gender_effect_size, result.gap
    effect = ("gender_effect_size", "Gender Effect Size", "log2 ratio")
    figures = (
        (*effect, ges.value, ges.low, ges.high),
        ("gap", str(gap.name), gap.unit, gap.value, gap.low, gap.high),
    )
    return [
        {
            "evaluation_result_id": f"{card.id}-{result.key}/{kind}",
            "evaluation_name": card.id,
            "source_data": _describe_source(card, result),
            "metric_config": {
                "evaluation_description": f"{card.title} {card.idea}",
                "metric_id": f"gendalens.absolute_{kind}",
                "metric_name": f"|{name}|",
                "metric_kind": "effect_size",
                "metric_unit": unit,
                "lower_is_better": True,
                "additional_details": {"formula": card.formula, "reading": card.reading},
            },
            "score_details": {
                "score": abs(value),
                "details": _list_details(result, value, low, high),
                **_describe_uncertainty(low, high),
            },
        }
        for kind, name, unit, value, low, high in figures
        if value is not None
    ]


def _describe_source(card: Card, result: Result) -> dict[str, Any]:
    source = {
        "dataset_name": provenance.title_data(result, card),
        "additional_details": provenance.list_sets(result),
    }
    if repo := provenance.find_on_hub(result, card):
        return {**source, "source_type": "hf_dataset", "hf_repo": repo}
    return {**source, "source_type": "other"}


def _list_details(
    result: Result, value: float, low: float | None, high: float | None
) -> dict[str, str]:
    found = {"signed": value, "signed_low": low, "signed_high": high}
    return {
        **{name: repr(number) for name, number in found.items() if number is not None},
        **list_finding_details(result.finding),
        "sample": parse_signature(result.signature)["sample"],
        "signature": result.signature,
    }


def _describe_uncertainty(low: float | None, high: float | None) -> dict[str, Any]:
    if low is None or high is None:
        return {}
    ends = sorted((abs(low), abs(high)))
    bounds = {"lower": 0.0 if low <= 0 <= high else ends[0], "upper": ends[1]}
    method = "crossed clustered bootstrap of the signed figure, folded at zero"
    return {
        "uncertainty": {
            "confidence_interval": {**bounds, "confidence_level": 0.95, "method": method}
        }
    }


def _read_epoch(run: SavedResult) -> int:
    moment = str(run.run["began"])
    try:
        return int(datetime.fromisoformat(moment).timestamp())
    except (ValueError, OverflowError):
        raise UserError(
            "{file} cannot be used (“{moment}” is not a time): delete it, or run the test again.",
            file=str(run.folder / RUN),
            moment=moment[:40],
        ) from None
