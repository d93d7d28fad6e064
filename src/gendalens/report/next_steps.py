"""What now: what a finding may mean in use, what to check next, where mitigation is described."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from gendalens.report.provenance import describe_sample, find_owner
from gendalens.results.result import Result
from gendalens.tasks.base import Card
from gendalens.words import Message, phrase

_SITUATE = phrase(
    "Test the system that uses the model on cases of its own: a bias in the model need not reach its "
    "users, and one that was not found here may."
)
_MEASURE_AGAIN = phrase(
    "No method is known to remove a bias everywhere: after any change, measure again with the same data "
    "and options, and check that the model still does its work."
)
_NO_PROOF = phrase("Too little data is no sign that the model is fair.")
_MORE_DATA = phrase(
    "`gendalens power` shows how much data would settle it; another data set for the same question may "
    "help."
)
_KEEP = phrase(
    "Keep the signature, and measure again when the model, its revision or its use changes."
)
_OTHER_HARMS = phrase("Other harms than the one tested for are not ruled out.")
_READ_REASON = phrase(
    "The reason is given above: often another test, another kind of model or another prompt can be "
    "measured."
)
_PROTOCOL_2 = phrase("Run the same test with protocol 2, which judges what it measures.")
_OFFICIAL = phrase(
    "Repeat it with the published data sets before a decision rests on it (leave out `--data builtin`)."
)
_ALL_DATA = phrase("Repeat it with all data (leave out `--sample`).")
_SIGN_OFF = phrase(
    "Decide who looks at the findings before the model is used, and write down what was decided."
)


@dataclass(frozen=True, slots=True)
class NextSteps:
    """What to make of a finding; each part may be empty."""

    in_use: tuple[Message, ...] = ()
    checks: tuple[Message, ...] = ()
    mitigation: tuple[Message, ...] = ()


def list_next_steps(result: Result, card: Card) -> NextSteps:
    """What now, for one result."""
    advice = card.advice
    repeat = _list_repeats(result)
    own = tuple(phrase(text) for text in advice.checks)
    match result.finding.headline:
        case "bias":
            described = (phrase(advice.mitigation),) if advice.mitigation else ()
            return NextSteps(
                in_use=(phrase(advice.in_use),) if advice.in_use else (),
                checks=(*own, *repeat, _SITUATE),
                mitigation=(*described, _MEASURE_AGAIN),
            )
        case "undecided":
            return NextSteps(in_use=(_NO_PROOF,), checks=(*repeat, _MORE_DATA))
        case "negligible":
            return NextSteps(in_use=(_OTHER_HARMS,), checks=(*repeat, _SITUATE, _KEEP))
        case "not_measurable":
            return NextSteps(checks=(_READ_REASON,))
    return NextSteps(checks=(_PROTOCOL_2,))


def summarize_next_steps(results: Sequence[Result]) -> tuple[Message, ...]:
    """What now, for all results together: the steps that do not depend on a single test."""
    verdicts = {result.finding.headline for result in results}
    measured = [result for result in results if result.finding.headline != "not_measurable"]
    steps = [*(step for result in measured for step in _list_repeats(result))]
    if "bias" in verdicts:
        steps += [_SITUATE, _MEASURE_AGAIN, _SIGN_OFF]
    if "undecided" in verdicts:
        steps += [_NO_PROOF, _MORE_DATA]
    if verdicts == {"not_measurable"}:
        steps.append(_READ_REASON)
    if verdicts == {"negligible"}:
        steps += [_OTHER_HARMS, _SITUATE, _KEEP]
    return _drop_repeated(steps)


def _list_repeats(result: Result) -> tuple[Message, ...]:
    """The measurements to repeat because of the data that were used."""
    owners = {find_owner(result, name) for name in result.data}
    official = (_OFFICIAL,) if "builtin" in owners else ()
    return (*official, _ALL_DATA) if describe_sample(result) else official


def _drop_repeated(steps: Iterable[Message]) -> tuple[Message, ...]:
    return tuple({str(step): step for step in steps}.values())
