"""The table of a run: rows of other targets stay, and all are added up."""

from __future__ import annotations

from fuzz.campaign import Counts
from fuzz.table import format_page


def test_a_target_that_is_run_alone_replaces_its_own_row() -> None:
    first = Counts("conllu", "every token.", 1000, 2000, 1, 4.4)
    other = Counts("names", "every name.", 10, 20, 0, 2.0)
    page = format_page([first, other], seed=0)
    page = format_page([Counts("conllu", "every token.", 5000, 6000, 0, 8.0)], seed=7, before=page)
    rows = [line for line in page.splitlines() if line.startswith("| ")]
    assert rows[1:] == [
        "| conllu | 11,000 | 5,000 | 6,000 | 0 | 8 | 7 | every token |",
        "| names | 30 | 10 | 20 | 0 | 2 | 0 | every name |",
        "| **all** | 11,030 | 5,010 | 6,020 | 0 | 10 | | |",
    ]
