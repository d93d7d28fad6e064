"""Measures saved results again from their records, as the run did that wrote them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from gendalens.data.choice import BUILTIN
from gendalens.engine.labour_market import compare_with_labour_market
from gendalens.engine.model_run import correct_results
from gendalens.engine.request_plan import RequestPlan
from gendalens.engine.trials import forget_draws
from gendalens.models.control import Control
from gendalens.results.result import Measures, Record, Result
from gendalens.results.saved_results import SavedResult
from gendalens.results.signature import parse_signature
from gendalens.tasks import get_task
from gendalens.tasks.base import Task


def has_trials(records: Sequence[Record]) -> bool:
    """Whether a chat model was asked each question several times.

    Its records hold the answers but not the records under each paraphrase, which its intervals rest on.
    """
    return any(record.get("trials") for record in records)


def restore_test(result: Result) -> Task[Any]:
    """The test of a result, with the options and bands in its signature."""
    fields = parse_signature(result.signature)
    task = get_task(result.task, result.protocol)
    given: dict[str, Any] = {}
    for option in task.options:
        if isinstance(option.default, bool):
            # A switch that is on stands in the signature as something extra.
            given[option.name] = fields.get("extra") == option.name
        elif option.name in fields:
            given[option.name] = type(option.default)(fields[option.name])
    return task.configure(given, seed=int(fields["seed"])).read_bands(fields)


def measure_again(saved: SavedResult) -> Result:
    """A result measured from its records alone, before it is corrected for others of its run.

    What only the run knew (the model, its data, and notices about it) is kept. Raises what a test
    raises on records that are not its own.
    """
    result, records = saved.result, saved.records()
    task = restore_test(result)
    measures: Measures = forget_draws(task.measure(records, seed=task.seed))
    if measures.problem is None:
        builtin = {name: one["whose"] == "builtin" for name, one in result.data.items()}
        more = compare_with_labour_market(task, records, builtin, seed=task.seed)
        measures = replace(measures, extra=(*measures.extra, *more))
    kept: Mapping[str, Any] = {
        name: getattr(result, name) for name in ("task", "protocol", "model", "data", "signature")
    }
    card = task.card
    return Result(
        **vars(measures),
        **kept,
        harms={"main": card.main.harm, "nuance": card.nuance.harm},
        sources={"main": card.main.source, "nuance": card.nuance.source},
    )


def correct_again(saved: Sequence[Result], measured: Sequence[Result]) -> list[Result]:
    """Results of one run of a model, measured again and corrected for each other."""
    corrected = correct_results(measured)
    return [
        replace(again, warnings=_merge_warnings(one, again))
        for one, again in zip(saved, corrected, strict=True)
    ]


def list_expected_texts(result: Result) -> list[Any] | None:
    """The sentence of every record that a result must have, by its data; None if nobody can tell.

    A control model answers in the model's place. The data must be on this machine, and be published
    or built in. Raises a ``UserError`` if they are not here.
    """
    task, fields = restore_test(result), parse_signature(result.signature)
    whose = {name: one["whose"] for name, one in result.data.items()}
    if not task.has_controls or set(whose.values()) - {"official", "builtin"}:
        return None
    sample = None if fields["sample"] == "all" else int(fields["sample"])
    data = {name: BUILTIN for name, owner in whose.items() if owner == "builtin"}
    plan = RequestPlan(task, data=data, sample=sample, offline=True)
    control = Control.parse("control:fair")
    return [
        record.get("text")
        for portion in plan.portions
        for record in task.records(portion.items, task.plant(portion.items, control))
    ]


def _merge_warnings(saved: Result, again: Result) -> tuple[Any, ...]:
    """The saved warnings, which may be about the model as well, if none of those measured is missing."""
    missing = [one for one in again.warnings if one not in saved.warnings]
    return saved.warnings if not missing else again.warnings
