"""The balance of a set of schemas, for its data card."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias, get_args

from gendalens.data.builtin.occupations import read_occupations
from gendalens.data.builtin.schemas import KINDS, SLOTS, Row, parse_row, read_rows
from gendalens.data.dawinobias import Kind, WinoLine
from gendalens.data.pronouns import Case, Gender

#: A kind of line, and the class of the occupation meant.
Part: TypeAlias = tuple[Kind, Gender]


@dataclass(frozen=True, slots=True)
class Balance:
    """Counts over the lines of one condition.

    ``cues`` are the world lines whose deciding clause names something of the occupation meant;
    ``occupations`` says in how many schemas each occupation is.
    """

    schemas: int
    lines: int
    kinds: dict[Kind, int]
    cases: dict[Case, int]
    referent_first: int
    male_first: int
    male_referent: int
    pronoun_first: int
    cues: int
    shares: dict[Part, Shares]
    occupations: dict[str, int]


@dataclass(frozen=True, slots=True)
class Shares:
    """Counts over the lines of one kind that mean an occupation of one class."""

    lines: int
    referent_first: int
    cases: dict[Case, int]


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
        cues=sum(row.cue for row in rows),
        shares={
            (kind, gender): _count_shares(
                [x for x in pro if x.kind == kind and x.referent.stereotype == gender]
            )
            for kind in KINDS
            for gender in get_args(Gender)
        },
        occupations=dict(
            Counter(
                name
                for _, name in {
                    (line.schema, mention.occupation)
                    for line in pro
                    for mention in (line.referent, line.other)
                }
            )
        ),
    )


def _count_shares(lines: Sequence[WinoLine]) -> Shares:
    return Shares(
        lines=len(lines),
        referent_first=sum(_has_referent_first(line) for line in lines),
        cases={case: sum(line.case == case for line in lines) for case in SLOTS.values()},
    )


def format_table(counts: Balance) -> str:
    """The balance as a Markdown table."""
    slots = {case: slot.replace("/", " / ") for slot, case in SLOTS.items()}
    figures = {
        "resolved by knowledge of the world": counts.kinds["world"],
        "… of them with a word of the occupation's own trade": counts.cues,
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


def format_parts(counts: Balance) -> str:
    """The balance by kind and class as a Markdown table."""
    slots = [f"*{slot.replace('/', ' / ')}*" for slot in SLOTS]
    head = f"| lines | number | the one meant comes first | {' | '.join(slots)} |\n"
    rule = "|---|---|---|" + "---|" * len(slots) + "\n"
    return (
        head
        + rule
        + "".join(
            f"| {kind}, {gender}-typed occupation meant | {part.lines} | "
            f"{part.referent_first / part.lines:.1%} | "
            + " | ".join(f"{number / part.lines:.1%}" for number in part.cases.values())
            + " |\n"
            for (kind, gender), part in counts.shares.items()
        )
    )


def _has_referent_first(line: WinoLine) -> bool:
    """Whether the occupation meant comes before the other one."""
    return line.referent.span.start < line.other.span.start


if __name__ == "__main__":
    counted = count_balance(read_rows())
    print(format_table(counted), format_parts(counted), sep="\n", end="")
