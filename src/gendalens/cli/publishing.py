"""The commands for results that are passed on: site, submit-check.

Heavy imports happen inside them, so that ``--help`` is instant. For the same reason, annotations are
not postponed: Typer would compile each of them several times.
"""

from pathlib import Path
from typing import Annotated

import typer

from gendalens.cli.options import Language, Runs


def site(
    runs: Runs,
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder to write the site to.")],
    language: Language = None,
) -> None:
    """Make a static site of any number of results: a leaderboard.

    The same result in several folders counts once. The site works on any host and from disk, and has
    no overall score.
    """
    from gendalens.cli.site import make_site

    make_site(runs, out)


def submit_check(
    runs: Annotated[
        list[Path],
        typer.Argument(metavar="RESULT...", help="Run folders, or folders of models or results."),
    ],
    allow_control: Annotated[
        bool, typer.Option("--allow-control", help="Accept results of control models.")
    ] = False,
    language: Language = None,
) -> None:
    """Check that results are complete and that their figures follow from their records.

    Exit code 0 means that all are acceptable, 2 that one is not.
    """
    from gendalens.cli.submission import check_submission

    check_submission(runs, allow_control=allow_control)
