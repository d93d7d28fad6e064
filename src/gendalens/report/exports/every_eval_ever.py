"""A run in the EvalEval coalition's format for evaluation results, Every Eval Ever.

A submission is two files: one with the figures, and one with a line per item that was asked. In this
schema, either a lower or a higher score is better. An effect is best at zero, so the score is its
distance from zero; the signed figure is among the details.
"""

from __future__ import annotations

import hashlib
import time
import uuid
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from gendalens.errors import UserError
from gendalens.report import provenance
from gendalens.report.escape import as_json
from gendalens.report.exports.card_parts import require_one_model
from gendalens.report.exports.every_eval_ever_samples import (
    SCHEMA_VERSION,
    list_samples,
    name_score,
)
from gendalens.report.exports.finding_details import list_finding_details
from gendalens.results.result import Result
from gendalens.results.run_folder import folder_name
from gendalens.results.saved_results import RUN, SavedResult
from gendalens.results.signature import parse_signature
from gendalens.system.file_writing import make_folders, replace_file
from gendalens.tasks import get_task
from gendalens.tasks.base import Card
from gendalens.version import __version__

ENDPOINT = "openai:"  # what the names of models behind a server begin with


def every_eval_ever(runs: Sequence[SavedResult], *, now: float | None = None) -> str:
    """One model's figures as JSON; the user fills in who ran the evaluation."""
    return as_json(_describe_run(runs, now))


def write_every_eval_ever(
    runs: Sequence[SavedResult], folder: Path, *, now: float | None = None
) -> tuple[Path, Path]:
    """Write both files where the coalition's repository keeps them; return their paths.

    The same results always get the same file names.
    """
    plain = _describe_run(runs, now)
    place = ("data", "gendalens", *_name_folders(plain["model_info"]["name"]))
    name = _make_uuid(runs)
    try:
        into = make_folders(folder, *place)
        samples, digest, rows = into / f"{name}_samples.jsonl", hashlib.sha256(), 0

        def lines() -> Iterator[bytes]:
            nonlocal rows
            for sample in list_samples(runs, plain["evaluation_id"]):
                line = as_json(sample, indent=None).encode()
                digest.update(line)
                rows += 1
                yield line

        replace_file(samples, lines(), root=folder)
        plain["detailed_evaluation_results"] = {
            "format": "jsonl",
            "file_path": "/".join((*place, samples.name)),
            "hash_algorithm": "sha256",
            "checksum": digest.hexdigest(),
            "total_rows": rows,
        }
        figures = into / f"{name}.json"
        replace_file(figures, as_json(plain), root=folder)
    except OSError as error:
        raise UserError(
            "The export cannot be written to {folder} ({reason}): choose another with --out.",
            folder=str(folder),
            reason=error.strerror or str(error),
        ) from None
    return figures, samples


def _name_folders(model: str) -> tuple[str, str]:
    """The folders of a model: who made it, and its name."""
    maker, _, name = model.removeprefix(ENDPOINT).rpartition("/")
    return folder_name(maker) if maker else "unknown", folder_name(name)


def _make_uuid(runs: Sequence[SavedResult]) -> str:
    """A UUID that follows from what was measured, in the form of version 4."""
    signatures = sorted(run.result.signature for run in runs)
    digest = hashlib.sha256("\n".join(signatures).encode(errors="replace")).digest()
    return str(uuid.UUID(bytes=digest[:16], version=4))


def _describe_run(runs: Sequence[SavedResult], now: float | None) -> dict[str, Any]:
    results = [run.result for run in runs]
    model = require_one_model(results).model
    name = model.name
    created = str(int(time.time() if now is None else now))
    began = sorted(_read_epoch(run) for run in runs if "began" in run.run)
    unmeasured = {
        f"{result.task}@{result.protocol}-{result.key}": f"not measured: {_give_reason(result)}"
        for result in results
        if result.gender_effect_size.value is None and result.gap.value is None
    }
    return {
        "schema_version": SCHEMA_VERSION,
        "evaluation_id": f"gendalens/{name}/{created}",
        **({"evaluation_timestamp": str(began[0])} if began else {}),
        "retrieved_timestamp": created,
        "source_metadata": {
            "source_name": "GenDa Lens",
            "source_type": "evaluation_run",
            "source_organization_name": "unknown",
            "evaluator_relationship": "other",
            # A test without a figure has no entry among the results, which need one.
            **({"additional_details": unmeasured} if unmeasured else {}),
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


def _give_reason(result: Result) -> str:
    return str(result.problem or result.finding.reason or result.finding)


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
            "evaluation_result_id": name_score(result, kind),
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
