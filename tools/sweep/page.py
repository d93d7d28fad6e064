"""The page of a sweep, docs/models.md."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from tools.sweep.heads import HEADS, Head
from tools.sweep.outcome import Outcome, Verdict
from tools.sweep.record import Record
from tools.sweep.shrinking import WINDOW

PAGE = Path(__file__).parents[2] / "docs" / "models.md"

_COLUMNS = (Verdict.RIGHT, Verdict.REFUSED, Verdict.NOT_BUILT, Verdict.FAILED, Verdict.WRONG)
_WORDS = {
    Verdict.RIGHT: "Right: the same numbers as the plain model, one text at a time",
    Verdict.WRONG: "Wrong: other numbers than the plain model",
    Verdict.FAILED: "Failed: an error that GenDa Lens does not explain well",
    Verdict.REFUSED: "Refused, with this sentence",
    Verdict.NOT_BUILT: "Not built: no tiny model could be made",
}


def write_page(record: Record) -> str:
    """The page of a record."""
    return "\n".join(_list_lines(record))


def _list_lines(record: Record) -> Iterator[str]:
    versions = ", ".join(f"{name} {version}" for name, version in record.software.items())
    yield from (
        "# Models",
        "",
        f"*Written by `make sweep` for {versions}. Do not edit by hand.*",
        "",
        "For every architecture of transformers, a tiny model with random weights is built, saved and"
        " loaded by GenDa Lens. It answers texts of 3 to about 110 tokens in large mixed batches, as in a"
        " run, and every number is compared with that of the plain model, which reads each row alone: no"
        f" padding, no hooks, no cache. Windows and chunks are shortened to {WINDOW} tokens, so that some"
        " texts are longer than they are, and tried at their default size as well.",
        "",
        "Differences are in nats, or logits of a token classifier; one below 0.0001 is rounding."
        " *Relative* is the difference in units of the number itself, where that is above 1."
        " *Batching* says which texts are run together: where padding changes a model's"
        " numbers, only texts of equal length, or each alone. This is tried whenever a model"
        " is loaded and not looked up here. *Trees*: texts with a common beginning are read as a tree, in"
        " models with windows up to their length. *Shared beginnings*: only the beginnings that all"
        " questions about a text share are read once ([speed.md](speed.md)).",
        "",
        "| | "
        + " | ".join(column.value for column in _COLUMNS)
        + " | largest difference | relative |",
        "|---|" + "---|" * (len(_COLUMNS) + 2),
    )
    for head in HEADS.values():
        yield _count(head, record.outcomes)
    for head in HEADS.values():
        yield from _describe_head(head, [one for one in record.outcomes if one.head == head.name])
    yield ""


def _count(head: Head, outcomes: Iterable[Outcome]) -> str:
    own = [one for one in outcomes if one.head == head.name]
    counts = Counter(one.verdict for one in own)
    right = [one for one in own if one.verdict is Verdict.RIGHT]
    difference = max((one.difference for one in right), default=0.0)
    relative = max((one.relative for one in right), default=0.0)
    cells = [head.title, *(str(counts[column]) for column in _COLUMNS)]
    return "| " + " | ".join([*cells, f"{difference:.1e}", f"{relative:.1e}"]) + " |"


def _describe_head(head: Head, outcomes: Sequence[Outcome]) -> Iterator[str]:
    yield from ("", f"## {head.title}")
    for verdict in Verdict:
        own = sorted(
            (one for one in outcomes if one.verdict is verdict), key=lambda one: one.architecture
        )
        if own:
            yield from ("", f"**{_WORDS[verdict]}** ({len(own)}).", "")
            with_figures = verdict in (Verdict.RIGHT, Verdict.WRONG)
            yield from _tabulate(own) if with_figures else _list_reasons(own)


def _tabulate(outcomes: Iterable[Outcome]) -> Iterator[str]:
    yield "| architecture | difference | relative | batching | shortcuts |"
    yield "|---|---|---|---|---|"
    for one in outcomes:
        beginnings = "trees" if one.tree else "shared beginnings" if one.shared else ""
        early = "last layer only where asked" if one.early else ""
        shortcuts = filter(None, (early, beginnings))
        yield (
            f"| {one.architecture} | {one.difference:.1e} | {one.relative:.1e}"
            f" | {one.batching or one.reason} | {', '.join(shortcuts)} |"
        )


def _list_reasons(outcomes: Iterable[Outcome]) -> Iterator[str]:
    """The reasons; architectures for which it is the same sentence share a line."""
    by_reason: dict[str, list[str]] = {}
    for one in outcomes:
        reason = one.reason.replace(one.model_class, "CLASS") if one.model_class else one.reason
        by_reason.setdefault(reason, []).append(one.architecture)
    for reason, names in by_reason.items():
        # In code quotes, because a reason may hold signs that mean something on a page.
        yield f"- {', '.join(names)}: `{reason.replace('`', chr(39))}`"
