"""The two tables that GenDa Lens 0.0.3 returns, as data frames."""

from __future__ import annotations

import pandas as pd

from gendalens.errors import UserError
from gendalens.results.result import Result
from gendalens.tasks import get_task
from gendalens.tasks.base import Table


def simple(result: Result) -> pd.DataFrame:
    """The short table: the effect and the main conditions."""
    return _make_frame(_make_tables(result)[0])


def detailed(result: Result) -> pd.DataFrame:
    """The long table: the effect, the main conditions and the nuance."""
    return _make_frame(_make_tables(result)[1])


def _make_tables(result: Result) -> tuple[Table, Table]:
    try:
        return get_task(result.task, result.protocol).tables(result)
    except KeyError as error:
        raise UserError(
            "A result of {test} lacks what its tables show ({missing}): run the test again.",
            test=f"{result.task}@{result.protocol}",
            missing=str(error),
        ) from None


def _make_frame(table: Table) -> pd.DataFrame:
    """A data frame with a label per row; the first row of the table holds the headings."""
    (heading, columns), *rows = table.items()
    frame = pd.DataFrame([values for _, values in rows], index=[label for label, _ in rows])
    frame.columns = pd.Index(columns, name=heading)
    return frame.astype(object)
