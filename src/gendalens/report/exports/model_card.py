"""The section of a model card that tells what was measured, how sure it is, and what it leaves out."""

from __future__ import annotations

from collections.abc import Sequence

from gendalens.errors import UserError
from gendalens.report import escape, provenance
from gendalens.report.exports.result_tables import contrast_text, protocol_note
from gendalens.report.exports.tables import Table, to_markdown
from gendalens.report.figures import MEDIATED, interval, verdict
from gendalens.results.model_labels import labels
from gendalens.results.result import Result
from gendalens.tasks import get_task
from gendalens.tasks.base import BINARY
from gendalens.version import __version__


def one_model(results: Sequence[Result]) -> Result:
    """The first result of a run, once it is sure that all are of one model."""
    if not results:
        raise UserError("There is no result; name a run folder.")
    several = sorted(set(labels(results)))
    if len(several) > 1:
        shown = ", ".join(escape.one_line(name, 40) for name in several[:3])
        shown += "…" if len(several) > 3 else ""
        raise UserError(
            f"This export describes one model and the run holds {len(several)} ({shown}); name one "
            "model's folder in the run."
        )
    return results[0]


def model_card(results: Sequence[Result]) -> str:
    """Markdown: verdicts and effects with intervals, harms, warnings, limits, signatures."""
    model = one_model(results)
    cards = [get_task(result.task, result.protocol).card for result in results]
    table = Table(
        ("test", "Gender Effect Size", "gap", "verdict"),
        tuple(
            (
                card.id,
                interval(result.gender_effect_size),
                contrast_text(result.gap),
                verdict(result),
            )
            for card, result in zip(cards, results, strict=True)
        ),
    )
    lines = [
        "## Gender bias",
        "",
        f"Measured with GenDa Lens {__version__} on {escape.markdown(model.title)}, revision "
        f"{escape.markdown(str(model.model['revision']))}. Brackets are 95% intervals. A positive "
        "Gender Effect Size leans to the male or pro-stereotypical side; 1 is twice as much.",
        "",
        to_markdown([table]),
    ]
    for card, result in zip(cards, results, strict=True):
        lines += [f"- **{card.id}** ({escape.markdown(card.title, None)}). {_told(result)}"]
        lines += [f"  - Data: {escape.markdown(provenance.told(result), None)}."]
        lines += [f"  - Warning: {escape.markdown(text, None)}" for text in result.warnings]
    lines += ["", "### What this does not show", "", BINARY, *_limits(results), ""]
    lines += ["### Signatures", "", "```"]
    lines += [escape.one_line(result.signature, None) for result in results]
    lines += ["```"]
    return "\n".join(lines) + "\n"


def _told(result: Result) -> str:
    text = f"{result.verdict[:1].upper()}{result.verdict[1:]}"
    if result.verdict_reason:
        text += f": {result.verdict_reason}"
    if result.mediated:
        text += f"; {MEDIATED}"
    return escape.markdown(f"{text}. Harm in question: {result.harms['main']}.", None)


def _limits(results: Sequence[Result]) -> list[str]:
    found = [
        "Tests of a language model say what it associates, not what a system built on it will do; "
        "tests of NER and coreference speak of these texts and names only."
    ]
    return ["", *found, *protocol_note(results)]
