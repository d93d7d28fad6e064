"""Results in notebooks: what was found first, then the figures, then the signature."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from markupsafe import Markup

from gendalens.errors import UserError
from gendalens.report.figures import head_conditions, list_conditions, title_conditions
from gendalens.report.notebook.markup import (
    Text,
    fold,
    show_finding,
    show_lines,
    show_name,
    show_paragraph,
    show_signature,
    show_small,
    show_table,
    wrap,
)
from gendalens.report.provenance import describe_data
from gendalens.report.wording import (
    capitalize,
    end_sentence,
    explain_finding,
    load_plugin_words,
    picture_result,
)
from gendalens.results.figures import (
    show_band,
    show_contrast,
    show_evidence,
    show_interval,
    show_p,
)
from gendalens.results.model_labels import label_models
from gendalens.results.result import Contrast, Result
from gendalens.stats.estimate import Estimate
from gendalens.stats.evidence import Evidence
from gendalens.stats.findings import EffectFinding, name_verdict
from gendalens.tasks import get_task
from gendalens.words import say, write


def show_result(result: Result) -> str:
    """One result."""
    load_plugin_words()
    return wrap(*_show(result, result.title))


def show_results(results: Sequence[Result]) -> str:
    """Several results: an overview, and each of them on demand."""
    load_plugin_words()
    labels = label_models(results)
    rows = [
        (
            show_name(label),
            f"{result.task}@{result.protocol}",
            show_finding(result.finding.headline, write(result.finding.message)),
            show_lines(write(show_interval(result.gender_effect_size))),
            summarize_effect(result.finding.main, result.gap),
            summarize_effect(result.finding.groups, result.contrast),
        )
        for label, result in zip(labels, results, strict=True)
    ]
    headings = (say("Model"), say("Test"), say("Verdict"), "GES", say("Main effect"), say("Groups"))
    each = (
        fold(
            Markup("{} · {}").format(show_name(label), f"{result.task}@{result.protocol}"),
            Markup("\n").join(_show(result, label)),
        )
        for label, result in zip(labels, results, strict=True)
    )
    return wrap(show_table(headings, rows), *each)


def _show(result: Result, label: str) -> Iterator[Markup]:
    finding = result.finding
    heading = Markup(" · {} · {}").format(f"{result.task}@{result.protocol}", show_name(label))
    yield show_finding(finding.headline, write(finding.message), heading)
    if meaning := _explain(result):
        yield show_paragraph(meaning)
    value = f"{say('Value')}, {say('95% interval')}"
    headings = (say("Figure"), value, say("Band"), say("p, corrected"), say("Verdict"))
    yield show_table(headings, _list_figures(result))
    yield show_table(
        list(map(capitalize, head_conditions(result))),
        list_conditions(result),
        capitalize(title_conditions(result)),
    )
    for warning in result.warnings:
        yield show_paragraph(f"⚠ {write(warning)}")
    yield show_small(write(describe_data(result)), show_signature(result.signature))


def _explain(result: Result) -> str:
    """What the finding means, in sentences; nothing if the test is not installed."""
    try:
        card = get_task(result.task, result.protocol).card
    except UserError:
        return ""
    sentences = [*explain_finding(result, card), *picture_result(result)]
    return " ".join(end_sentence(write(one)) for one in sentences)


def _list_figures(result: Result) -> Iterator[tuple[Text, ...]]:
    ges = result.gender_effect_size
    yield ("GES", show_lines(write(show_interval(ges)), *_explain_absence(ges)), "", "", "")
    finding = result.finding
    if not finding.evidence:
        for label, one in ((say("gap"), result.gap), (say("by group"), result.contrast)):
            name = show_lines(capitalize(label), write(one.name))
            figure = show_lines(write(show_contrast(one)), *_explain_absence(one))
            yield (name, figure, "", write(show_p(one.p_adjusted)), "")
    for label, effect in ((say("Main effect"), finding.main), (say("Groups"), finding.groups)):
        for evidence in effect.evidence:
            yield (
                show_lines(label, write(evidence.name)),
                show_lines(write(show_evidence(evidence)), *_explain_absence(evidence)),
                write(show_band(evidence.band, evidence.unit)),
                write(show_p(evidence.p_adjusted)),
                capitalize(write(name_verdict(finding.verdict_of(evidence)))),
            )


def _explain_absence(figure: Evidence | Contrast | Estimate) -> list[str]:
    """Why a figure or its interval is undefined."""
    undefined = figure.value is None or figure.low is None
    return [write(figure.reason)] if undefined and figure.reason else []


def summarize_effect(effect: EffectFinding, gap: Contrast) -> Text:
    """The figure that the verdict on an effect rests on, and the verdict."""
    deciding = effect.deciding
    if deciding is None:
        return show_lines(write(show_contrast(gap)))
    return show_lines(write(show_evidence(deciding)), write(effect.message))


Result.renderer = show_result
