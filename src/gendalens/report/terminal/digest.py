"""The results of one model on one screen: findings, plain numbers, effects and warnings."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from shlex import quote

from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from gendalens.report.escape import one_line
from gendalens.report.provenance import describe_data
from gendalens.report.terminal.result import name_finding, show_summary, title_model
from gendalens.report.wording import (
    end_sentence,
    explain_finding,
    load_plugin_words,
    picture_result,
)
from gendalens.results.figures import show_band, show_evidence, show_interval
from gendalens.results.result import Result
from gendalens.results.saved_results import SavedResult
from gendalens.tasks import get_task
from gendalens.words import Message, say, write

_INDENT = 2
#: A test with more warnings than this shows the first one, and how many more there are.
_MOST_WARNINGS = 2
#: The lines that a warning may take, and what wrapping may leave empty in them.
_LINES, _SLACK = 2, 12


def show_models(console: Console, saved: Sequence[SavedResult]) -> None:
    """Print a screen for every model; if there are several, a summary."""
    models = [list(group) for _, group in groupby(saved, key=lambda one: title_model(one.result))]
    for group in models:
        show_model(console, [one.result for one in group], [one.folder for one in group])
    if len(models) > 1:
        show_summary(console, [one.result for one in saved])
    explain_terms(console)


def show_model(console: Console, results: Sequence[Result], folders: Sequence[Path | None]) -> None:
    """Print what was found about one model; the rest is named, not shown."""
    if not results:
        return
    load_plugin_words()
    console.print()
    console.rule(Text(one_line(results[0].model.name), style="bold"), align="left")
    _print_model(console, results)
    shared = _find_shared_warnings(results)
    _print_warnings(console, shared, indent=0)
    for number, result in enumerate(results):
        if number:
            console.print()
        _print_result(console, result)
        own = [warning for warning in result.warnings if warning not in shared]
        _print_warnings(console, own, indent=_INDENT)
    if saved := [folder for folder in folders if folder is not None]:
        _print_place(console, saved)


def explain_terms(console: Console) -> None:
    """Print what the figures mean, for those who meet them here first."""
    terms = say(
        "GES is the gender effect size: 1 is twice as much, above 0 on the male or stereotypical side. "
        "Within the band, an effect is too small to matter. Brackets hold 95% intervals."
    )
    console.print()
    console.print(Text(terms, style="dim"))


def _print_model(console: Console, results: Sequence[Result]) -> None:
    """The kind of the model, and the data of all its tests."""
    dtype = results[0].model.dtype
    kind = write(results[0].model.kind) + (f", {dtype}" if dtype != "none" else "")
    for line in (kind, write(describe_data(*results))):
        console.print(Text(one_line(line, None), style="dim"))


def _print_result(console: Console, result: Result) -> None:
    card = get_task(result.task, result.protocol).card
    console.print(Text.assemble((card.id, "bold"), "  ", name_finding(result.finding)))
    told = Text()
    for sentence in explain_finding(result, card)[: _count_sentences(result)]:
        told.append(f"{end_sentence(write(sentence))} ")
    for picture in picture_result(result):
        told.append(f"{write(picture)} ", style="bold")
    told.rstrip()
    figures = _fill_lines(_describe_figures(result), console.width - _INDENT)
    for text in (told, Text(figures)):
        console.print(Padding(text, (0, 0, 0, _INDENT)))


def _count_sentences(result: Result) -> int:
    """A bias is told in a sentence; its absence takes another, which says what could be seen."""
    return 1 if result.finding.headline == "bias" else 2


def _describe_figures(result: Result) -> list[str]:
    """GES with its interval, and the figure that the finding rests on beside its band."""
    ges = result.gender_effect_size
    effect = f"GES {write(show_interval(ges))}"
    if ges.value is None and ges.reason and ges.reason != result.finding.reason:
        effect += f" ({write(ges.reason)})"
    deciding = result.finding.leading.deciding
    if deciding is None or deciding.value is None:
        return [effect]
    part = say("main") if result.finding.leading is result.finding.main else say("groups")
    band = say("band {band}", band=show_band(deciding.band, deciding.unit))
    return [f"{effect} ·", f"{part} {write(show_evidence(deciding))},", band]


def _fill_lines(parts: Sequence[str], width: int) -> str:
    """The parts in as few lines as hold them, none broken that fits in a line of its own."""
    lines = [""]
    for part in parts:
        if lines[-1] and len(lines[-1]) + 1 + len(part) > width:
            lines.append("")
        lines[-1] = f"{lines[-1]} {part}".lstrip()
    return "\n".join(lines)


def _find_shared_warnings(results: Sequence[Result]) -> list[Message]:
    """The warnings that all results have, if there are several: they are about the model."""
    first, *others = results
    if not others:
        return []
    return [one for one in first.warnings if all(one in other.warnings for other in others)]


def _print_warnings(console: Console, warnings: Sequence[Message], *, indent: int) -> None:
    """The head of each warning, on two lines at most; of the first one only if there are many."""
    room = _LINES * (console.width - indent - len("! ")) - _SLACK
    many = len(warnings) > _MOST_WARNINGS
    for warning in warnings[: 1 if many else None]:
        line = Text(f"! {_shorten(write(warning), room)}", style="yellow")
        console.print(Padding(line, (0, 0, 0, indent)))
    if many:
        more = say("and {count} more warnings: see --details", count=len(warnings) - 1)
        console.print(Padding(Text(f"! {more}", style="yellow"), (0, 0, 0, indent)))


def _shorten(text: str, width: int) -> str:
    """The first sentence, or as many of its words as there is room for."""
    if len(text) <= width:
        return text
    sentence = text.partition(". ")[0]
    if len(sentence) < width:
        return f"{sentence}."
    words = sentence[: width - 1].rpartition(" ")[0]
    return f"{words.rstrip(' ,;:')} …"


def _print_place(console: Console, folders: Sequence[Path]) -> None:
    """How to see the rest; not wrapped, so that it can be copied."""
    place = folders[0] if len(folders) == 1 else folders[0].parent
    command = f"gendalens show {quote(str(place))} --details"
    console.print(Text(say("All figures and the signature:"), style="dim"))
    console.print(Text(f"  {command}", style="dim"), soft_wrap=True)
