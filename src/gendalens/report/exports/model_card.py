"""A section for a model card: what was found, with what certainty, on which data, within what limits."""

from __future__ import annotations

from collections.abc import Sequence

from gendalens.report import escape
from gendalens.report.exports.card_parts import (
    describe_finding,
    find_card,
    find_version,
    list_facts,
    list_limits,
    require_one_model,
    show_repeating,
    tabulate_figures,
    title_test,
)
from gendalens.report.html.overview import answer_overall, describe_sides
from gendalens.report.wording import load_plugin_words
from gendalens.results.result import Result
from gendalens.words import Message, say, write


def model_card(results: Sequence[Result], measured: Message | None = None) -> str:
    """Markdown; ``measured`` is the day or days on which the tests ran, if known."""
    load_plugin_words()
    model = require_one_model(results)
    source = say(
        "Measured with GenDa Lens {version} on {model}, revision {revision}.",
        version=escape.markdown(find_version(model)),
        model=escape.markdown(model.title),
        revision=escape.markdown(model.model.revision),
    )
    date = f" {say('Date: {date}.', date=measured)}" if measured else ""
    answers = [answer_overall([result.finding for result in results]), *describe_sides(results)]
    answer = " ".join(map(write, answers))
    lines = [
        f"## {say('Gender bias')}",
        "",
        f"**{say('Is there a gender bias?')}** {answer}",
        "",
        source + date,
        "",
        tabulate_figures(results),
    ]
    for result in results:
        lines += [f"### {title_test(find_card(result))}", ""]
        lines += [describe_finding(result), "", *list_facts(result), ""]
    lines += [f"### {say('What this does not show')}", "", *list_limits(results), ""]
    lines += [f"### {say('How to repeat it')}", "", *show_repeating(results)]
    return "\n".join(lines) + "\n"
