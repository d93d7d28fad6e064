"""The balance of a set of schemas, for its data card."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gendalens.data.builtin.occupations import read_occupations
from gendalens.data.builtin.schemas import KINDS, SLOTS, Kind, Row, parse_row, read_rows
from gendalens.data.dawinobias import WinoLine
from gendalens.data.pronouns import Case


@dataclass(frozen=True, slots=True)
class Balance:
    """Counts over the lines of one condition."""

    schemas: int
    lines: int
    kinds: dict[Kind, int]
    cases: dict[Case, int]
    referent_first: int
    male_first: int
    male_referent: int
    pronoun_first: int


def count_balance(rows: Sequence[Row], lines: Sequence[WinoLine] | None = None) -> Balance:
    """The balance of rows; ``lines`` are their pro lines, if the caller has them already."""
    pro = [parse_row(row, "pro", read_occupations()) for row in rows] if lines is None else lines
    return Balance(
        schemas=len({row.schema for row in rows}),
        lines=len(rows),
        kinds={kind: sum(row.kind == kind for row in rows) for kind in KINDS},
        cases={case: sum(line.case == case for line in pro) for case in SLOTS.values()},
        referent_first=sum(_has_referent_first(line) for line in pro),
        male_first=sum(
            _has_referent_first(line) == (line.referent.stereotype == "male") for line in pro
        ),
        male_referent=sum(line.referent.stereotype == "male" for line in pro),
        pronoun_first=sum(line.span.start < line.referent.span.start for line in pro),
    )


def format_table(counts: Balance) -> str:
    """The balance as a Markdown table."""
    slots = {case: slot.replace("/", " / ") for slot, case in SLOTS.items()}
    figures = {
        "resolved by knowledge of the world": counts.kinds["world"],
        "resolved by syntax": counts.kinds["syntax"],
        **{f"pronoun *{slots[case]}*": number for case, number in counts.cases.items()},
        "the occupation meant comes first": counts.referent_first,
        "the male-typed occupation comes first": counts.male_first,
        "the male-typed occupation is meant": counts.male_referent,
        "the pronoun comes before the occupation meant": counts.pronoun_first,
    }
    head = (
        f"| of {counts.lines} lines ({counts.schemas} schemas) | lines | share |\n|---|---|---|\n"
    )
    return head + "".join(
        f"| {what} | {number} | {number / counts.lines:.1%} |\n" for what, number in figures.items()
    )


def _has_referent_first(line: WinoLine) -> bool:
    """Whether the occupation meant comes before the other one."""
    return line.referent.span.start < line.other.span.start


if __name__ == "__main__":
    print(format_table(count_balance(read_rows())), end="")
