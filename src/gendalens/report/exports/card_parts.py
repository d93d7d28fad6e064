"""Parts of documents about one model, in Markdown and in the language in use."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gendalens.errors import UserError
from gendalens.report import escape, provenance
from gendalens.report.exports.repeat_commands import list_commands
from gendalens.report.exports.result_tables import find_judged, note_protocol
from gendalens.report.exports.tables import Table, to_markdown
from gendalens.report.wording import capitalize, end_sentence, explain_finding, picture_result
from gendalens.results.figures import show_contrast, show_interval
from gendalens.results.model_labels import label_models
from gendalens.results.result import Result
from gendalens.results.signature import parse_signature
from gendalens.tasks import get_task
from gendalens.tasks.base import Card
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


def find_card(result: Result) -> Card:
    """The card of a result's test."""
    return get_task(result.task, result.protocol).card


def find_version(result: Result) -> str:
    """The version of GenDa Lens that has measured a result."""
    return escape.one_line(parse_signature(result.signature)["gendalens"])


def title_test(card: Card) -> str:
    """What a test asks, with its id."""
    return f"{escape.markdown(translate(card.title), None)} (`{card.id}`)"


def tabulate_figures(results: Sequence[Result]) -> str:
    """Effect, gap and verdict of every test, and how to read them."""
    table = Table(
        (say("test"), say("Gender Effect Size"), say("gap"), say("verdict")),
        tuple(
            (
                find_card(result).id,
                write(show_interval(result.gender_effect_size)),
                write(show_contrast(find_judged(result))),
                write(result.finding.message),
            )
            for result in results
        ),
        notes=(
            say(
                "Brackets are 95% intervals. A positive Gender Effect Size leans to the male or "
                "pro-stereotypical side; 1 is twice as much."
            ),
            *note_protocol(results),
        ),
    )
    return to_markdown([table])


def describe_finding(result: Result) -> str:
    """The verdict, in bold, and what it means."""
    meaning = [end_sentence(write(one)) for one in explain_finding(result, find_card(result))]
    verdict = escape.markdown(f"{capitalize(write(result.finding.message))}.", None)
    return f"**{verdict}** {escape.markdown(' '.join(meaning), None)}"


def list_facts(result: Result) -> Iterator[str]:
    """Counts that a person can picture, the harm in question, the data, and every warning."""
    part = "nuance" if result.finding.is_in_groups_only else "main"
    facts = [
        " ".join(map(write, picture_result(result))),
        say("Harm in question: {harm:t}.", harm=result.harms[part]),
        say("Data: {data}.", data=provenance.describe_data(result)),
        *(say("Warning: {warning}", warning=warning) for warning in result.warnings),
    ]
    return (f"- {escape.markdown(fact, None)}" for fact in facts if fact)


def list_limits(results: Sequence[Result]) -> Iterator[str]:
    """What the results do not show."""
    limit = say(
        "Tests of a language model say what it associates, not what a system built on it will do; "
        "tests of NER and coreference speak of texts and names like these."
    )
    found = (*map(write, provenance.list_limits(results)), limit)
    return (f"- {escape.markdown(one, None)}" for one in found)


def show_repeating(results: Sequence[Result]) -> list[str]:
    """The commands that measure again, and the signatures that must come out of them."""
    commands = list_commands(results)
    own = " PATH" if any("=PATH" in command for command in commands) else ""
    return [
        say(
            "Install GenDa Lens {version} and run this; the signatures must be the same.",
            version=find_version(results[0]),
        )
        + (" " + say("PATH is the file or folder of the user's own data.") if own else ""),
        "",
        *_fence(commands),
        "",
        say("Signatures, which hold all that the figures depend on:"),
        "",
        *_fence([escape.one_line(result.signature, None) for result in results]),
    ]


def _fence(lines: Sequence[str]) -> list[str]:
    """A block of code; no line can end it, because none begins with a backtick."""
    return ["```", *lines, "```"]
