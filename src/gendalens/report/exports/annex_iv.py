"""A draft of technical documentation on gender bias, along Annex IV of the EU AI Act.

It is in our own words, and names points of the annex (Regulation (EU) 2024/1689) so that a reader finds
them. What only the user knows is left open, and marked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from gendalens.report import escape
from gendalens.report.exports.card_parts import (
    describe_finding,
    find_card,
    list_facts,
    list_limits,
    require_one_model,
    show_repeating,
    tabulate_figures,
    title_test,
)
from gendalens.report.next_steps import NextSteps, list_next_steps, summarize_next_steps
from gendalens.report.provenance import describe_origin
from gendalens.report.wording import (
    explain_band,
    load_plugin_words,
    name_identifier,
    write_formula,
)
from gendalens.results.figures import show_band
from gendalens.results.result import Result
from gendalens.results.signature import parse_signature
from gendalens.tasks import get_task
from gendalens.tasks.base import Card
from gendalens.words import Message, phrase, say, translate, write


def annex_iv(results: Sequence[Result], measured: Message | None = None) -> str:
    """Markdown; ``measured`` is the day or days on which the tests ran, if known."""
    load_plugin_words()
    parts = [
        _introduce(),
        _describe_system(require_one_model(results)),
        _describe_testing(results),
        _describe_results(results, measured),
        _describe_limits(results),
        _describe_metrics(results),
        _describe_risks(results),
        _describe_monitoring(),
    ]
    return "\n\n".join("\n".join(part) for part in parts) + "\n"


def _introduce() -> list[str]:
    draft = say(
        "**Draft, to be finished by you.** GenDa Lens has written what follows from the measured "
        "results. It is neither legal advice nor a conformity assessment; whether the system is a "
        "high-risk AI system, and what its documentation must hold, is for you to decide by the "
        "regulation in force."
    )
    order = say(
        "The order is that of Annex IV of Regulation (EU) 2024/1689 (the AI Act), which Article 11 "
        "refers to; points that a test of gender bias says nothing about are left out. What only you "
        "know is marked *TO FILL IN*."
    )
    return [f"# {say('Technical documentation: gender bias')}", "", f"> {draft}", "", order]


def _describe_system(result: Result) -> list[str]:
    model = result.model
    facts = (
        (say("Model"), escape.markdown(result.title)),
        (say("Revision"), escape.markdown(model.revision)),
        (say("Kind"), escape.markdown(write(model.kind))),
        (say("Number format"), "–" if model.dtype == "none" else escape.markdown(model.dtype)),
        (say("Software"), escape.markdown(", ".join(model.software), None) or "–"),
    )
    return [
        f"## {say('1. The system (Annex IV, point 1)')}",
        "",
        say("One component was tested, a model, outside the system that uses it:"),
        "",
        *(f"- {name}: {value}" for name, value in facts),
        "",
        _leave_open(
            say(
                "the system, its provider and version, and how this version follows from earlier ones "
                "(point 1(a))"
            )
        ),
        _leave_open(
            say(
                "the intended purpose: who uses the system, for what decisions, and whom these are about"
            )
        ),
        _leave_open(
            say(
                "how the model is built in: what goes into it, what filters or rules follow it, and who "
                "sees its output"
            )
        ),
    ]


def _describe_testing(results: Sequence[Result]) -> list[str]:
    lines = [
        f"## {say('2. Validation and testing (Annex IV, point 2(g))')}",
        "",
        f"### {say('Tests')}",
        "",
    ]
    for result in results:
        lines += [*_describe_test(find_card(result)), ""]
    lines += [
        say(
            "Intervals are 95% intervals and speak of items like these, not only of those in the data. "
            "Findings are corrected for the number of tests in the run, and judged against what was "
            "taken as too small to matter (section 4)."
        ),
        "",
        f"### {say('Test data (see also Article 10)')}",
        "",
        *_list_data(results),
        "",
        say("Answers that the figures rest on, by condition:"),
        "",
        *_count_answers(results),
        "",
        _leave_open(
            say(
                "why these data fit the intended purpose, where they do not, and what was tested on "
                "data of your own (Article 10(2) and (3))"
            )
        ),
    ]
    return lines


def _describe_test(card: Card) -> list[str]:
    facts = [
        say("Figure: GES = {formula}.", formula=write_formula(card)),
        translate(card.reading),
        say("Source: {citation:t}.", citation=card.citation),
    ]
    idea = escape.markdown(translate(card.idea), None)
    return [
        f"**{title_test(card)}**",
        "",
        idea,
        "",
        *(f"- {escape.markdown(fact, None)}" for fact in facts),
    ]


def _list_data(results: Sequence[Result]) -> Iterator[str]:
    seen: dict[str, None] = {}
    for result in results:
        sample = parse_signature(result.signature)["sample"]
        for name, data in sorted(result.data.items()):
            origin = describe_origin(str(data["from"]), str(data["whose"]))
            part = say("all items") if sample == "all" else say("a sample of {size}", size=sample)
            line = say(
                "{name}: {origin}; {part}; SHA-256 {checksum}",
                name=name,
                origin=origin,
                part=part,
                checksum=str(data["sha256"]),
            )
            seen.setdefault(f"- {escape.markdown(line, None)}")
    yield from seen


def _count_answers(results: Sequence[Result]) -> Iterator[str]:
    for result in results:
        counts = {cell.condition: cell.n for cell in result.conditions}
        shown = (
            say("{name} {count:,}", name=name_identifier(condition), count=count)
            for condition, count in counts.items()
        )
        yield f"- `{find_card(result).id}`: {escape.markdown(', '.join(shown), None)}"


def _describe_results(results: Sequence[Result], measured: Message | None) -> list[str]:
    lines = [
        f"### {say('Results and potentially discriminatory effects')}",
        "",
        *([say("Date: {date}.", date=measured), ""] if measured else []),
        tabulate_figures(results),
    ]
    for result in results:
        lines += [f"**{title_test(find_card(result))}**", ""]
        lines += [describe_finding(result), "", *list_facts(result), ""]
    return [
        *lines,
        f"### {say('Record of the tests')}",
        "",
        *show_repeating(results),
        "",
        _leave_open(
            say(
                "who is responsible for these tests, with date and signature, and where the run "
                "folders are kept (they hold every item and answer)"
            )
        ),
    ]


def _describe_limits(results: Sequence[Result]) -> list[str]:
    uses = _list_by_test(results, lambda steps: steps.in_use)
    found = [say("What the findings may mean in use:"), "", *uses, ""] if uses else []
    return [
        f"## {say('3. Capabilities and limits (Annex IV, point 3; Article 13)')}",
        "",
        *found,
        say("What the tests do not show:"),
        "",
        *list_limits(results),
        "",
        _leave_open(
            say(
                "how accurate the whole system is, also for the persons and groups it is meant for, "
                "and where that is declared in the instructions for use (Articles 13(3)(b) and 15(3))"
            )
        ),
        _leave_open(
            say("unintended outcomes that can be foreseen, and risks to fundamental rights")
        ),
        _leave_open(
            say(
                "human oversight: who looks at the output, and what they can do about it (point 2(e); "
                "Article 14)"
            )
        ),
    ]


def _describe_metrics(results: Sequence[Result]) -> list[str]:
    units = dict.fromkeys(
        f"- `{find_card(result).id}`: {escape.markdown(write(band), None)}"
        for result in results
        for band in _list_bands(result)
    )
    return [
        f"## {say('4. Why these metrics (Annex IV, point 4)')}",
        "",
        say(
            "The Gender Effect Size is the figure that is published for these tests, and makes models "
            "comparable. The finding rests on differences in units that a user would notice, and on the "
            "groups as well as on the whole, so that an effect on one group cannot hide in an average. "
            "Smaller than these is taken as too small to matter:"
        ),
        "",
        *units,
        "",
        _leave_open(say("whether these limits fit your system, and stricter ones if they do not")),
    ]


def _list_bands(result: Result) -> Iterator[Message]:
    """What was taken as too small to matter, and why, or that the user has set it."""
    task = get_task(result.task, result.protocol)
    task = task.read_bands(parse_signature(result.signature))
    for band in task.card.bands:
        value = task.band(band.unit)
        if value == band.value:
            yield explain_band(band)
        else:
            yield phrase("{band} (set by the user)", band=show_band(value, band.unit))


def _describe_risks(results: Sequence[Result]) -> list[str]:
    general = summarize_next_steps(results)
    known = set(map(write, general))
    of_tests = _list_by_test(
        results,
        lambda steps: [
            one for one in (*steps.checks, *steps.mitigation) if write(one) not in known
        ],
    )
    return [
        f"## {say('5. Risk management (Annex IV, point 5; Article 9)')}",
        "",
        say("Steps that follow from the findings:"),
        "",
        *(f"- {_write_step(step)}" for step in general),
        *of_tests,
        "",
        _leave_open(
            say("which of these were taken, what was decided, by whom, and which risk remains")
        ),
    ]


def _describe_monitoring() -> list[str]:
    return [
        f"## {say('6. Changes and monitoring (Annex IV, points 6 and 9)')}",
        "",
        say(
            "The signatures show whether a later measurement is the same one. `gendalens gate` checks "
            "every new version of the model against limits, and `gendalens compare` shows what changed."
        ),
        "",
        _leave_open(
            say("when the tests are repeated, who sees the results, and what makes you act on them")
        ),
    ]


def _list_by_test(
    results: Sequence[Result], choose: Callable[[NextSteps], Iterable[Message]]
) -> list[str]:
    """Steps with the tests that they follow from, each step once."""
    tests: dict[str, list[str]] = {}
    for result in results:
        card = find_card(result)
        for step in choose(list_next_steps(result, card)):
            tests.setdefault(_write_step(step), []).append(f"`{card.id}`")
    return [f"- {', '.join(own)}: {step}" for step, own in tests.items()]


def _write_step(step: Message) -> str:
    """A step in Markdown; names of commands in it stay code."""
    return escape.markdown(write(step), None).replace(r"\`", "`")


def _leave_open(what: str) -> str:
    """A place for what only the user knows."""
    return f"- [ ] **{say('TO FILL IN')}**: {what}"
