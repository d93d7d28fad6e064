"""A section for a model card: what was measured, with what certainty, and within what limits."""

from __future__ import annotations

from collections.abc import Sequence

from gendalens.errors import UserError
from gendalens.report import escape, provenance
from gendalens.report.exports.result_tables import find_judged, note_protocol
from gendalens.report.exports.tables import Table, to_markdown
from gendalens.report.wording import (
    capitalize,
    end_sentence,
    explain_finding,
    load_plugin_words,
    picture_result,
)
from gendalens.results.figures import show_contrast, show_interval
from gendalens.results.model_labels import label_models
from gendalens.results.result import Result
from gendalens.tasks import get_task
from gendalens.tasks.base import BINARY, Card
from gendalens.version import __version__
from gendalens.words import say, translate, write


def require_one_model(results: Sequence[Result]) -> Result:
    """The first result; raises unless all results are of one model."""
    if not results:
        raise UserError("There is no result; name a run folder.")
    several = sorted(set(label_models(results)))
    if len(several) > 1:
        shown = ", ".join(escape.one_line(name, 40) for name in several[:3])
        shown += "…" if len(several) > 3 else ""
        raise UserError(
            "This export describes one model and the run holds {count} ({models}); name one model's "
            "folder in the run.",
            count=len(several),
            models=shown,
        )
    return results[0]


def model_card(results: Sequence[Result]) -> str:
    """Markdown: verdicts and effects with intervals, harms, warnings, limits, signatures."""
    load_plugin_words()
    model = require_one_model(results)
    cards = [get_task(result.task, result.protocol).card for result in results]
    table = Table(
        (say("test"), say("Gender Effect Size"), say("gap"), say("verdict")),
        tuple(
            (
                card.id,
                write(show_interval(result.gender_effect_size)),
                write(show_contrast(find_judged(result))),
                write(result.finding.message),
            )
            for card, result in zip(cards, results, strict=True)
        ),
    )
    lines = [
        f"## {say('Gender bias')}",
        "",
        say(
            "Measured with GenDa Lens {version} on {model}, revision {revision}. Brackets are 95% "
            "intervals. A positive Gender Effect Size leans to the male or pro-stereotypical side; 1 "
            "is twice as much.",
            version=__version__,
            model=escape.markdown(model.title),
            revision=escape.markdown(model.model.revision),
        ),
        "",
        to_markdown([table]),
    ]
    for card, result in zip(cards, results, strict=True):
        title = escape.markdown(translate(card.title), None)
        lines += [f"- **{card.id}** ({title}). {_describe(result, card)}"]
        data = say("Data: {data}.", data=provenance.describe_data(result))
        warnings = (say("Warning: {warning}", warning=warning) for warning in result.warnings)
        lines += [f"  - {escape.markdown(line, None)}" for line in (data, *warnings)]
    lines += ["", f"### {say('What this does not show')}", ""]
    lines += [translate(BINARY), *_list_limits(results), ""]
    lines += [f"### {say('Signatures')}", "", "```"]
    lines += [escape.one_line(result.signature, None) for result in results]
    lines += ["```"]
    return "\n".join(lines) + "\n"


def _describe(result: Result, card: Card) -> str:
    """The verdict, its meaning, counts that a person can picture, and the harm in question."""
    finding = result.finding
    part = "nuance" if finding.is_in_groups_only else "main"
    sentences = [
        f"{capitalize(write(finding.message))}.",
        *(end_sentence(write(one)) for one in explain_finding(result, card)),
        *map(write, picture_result(result)),
        say("Harm in question: {harm:t}.", harm=result.harms[part]),
    ]
    return escape.markdown(" ".join(sentences), None)


def _list_limits(results: Sequence[Result]) -> list[str]:
    limit = say(
        "Tests of a language model say what it associates, not what a system built on it will do; "
        "tests of NER and coreference speak of texts and names like these."
    )
    return ["", limit, *note_protocol(results)]
