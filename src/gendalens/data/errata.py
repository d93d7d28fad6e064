"""Known defects of the official data sets, with the reason and the fix.

Protocol 2 reads the data with them, protocol 1 without. The table quotes no whole sentence: an entry
names its lines and the few words that change, and it must still match the file. Missing full stops,
extra spaces and lower-case openings need no entry where the reader corrects them everywhere.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Literal, get_args

from gendalens.data.text import line_error
from gendalens.errors import UserError
from gendalens.words import N_, phrase

#: How much a defect matters: it changes what a line means or measures, it is poor Danish, or it is a
#: matter of spelling, spacing or style.
Severity = Literal["wrong", "weak", "polish"]
SEVERITIES: tuple[Severity, ...] = get_args(Severity)
SEVERITY_NAMES = (N_("wrong"), N_("weak"), N_("polish"))
COLUMNS = ("data", "condition", "lines", "severity", "old", "new", "reason")


@dataclass(frozen=True, slots=True)
class Erratum:
    """A defect: where it is, which words are wrong, what they should be, and why.

    ``condition`` is the file (pro or anti, female or male) or "both". ``lines`` are 1-based;
    without any, the entry applies wherever ``old`` occurs in its file as whole words.
    """

    data: str
    condition: str
    lines: tuple[int, ...]
    severity: Severity
    old: str
    new: str
    reason: str

    def to_row(self) -> dict[str, str]:
        """The entry as a row of the table, the lines separated by spaces."""
        values = (getattr(self, column) for column in COLUMNS)
        return {
            column: " ".join(map(str, value)) if column == "lines" else value
            for column, value in zip(COLUMNS, values, strict=True)
        }


@cache
def _read_table() -> tuple[Erratum, ...]:
    text = resources.files(__package__).joinpath("errata.csv").read_text(encoding="utf-8")
    return tuple(
        Erratum(
            row["data"],
            row["condition"],
            tuple(int(n) for n in row["lines"].split()),
            _read_severity(row["severity"]),
            row["old"],
            row["new"],
            row["reason"],
        )
        for row in csv.DictReader(text.splitlines())
    )


def _read_severity(text: str) -> Severity:
    return next(known for known in SEVERITIES if known == text)


def find_errata(set_name: str, severity: str | None = None) -> tuple[Erratum, ...]:
    """The errata of one data set, all of them or those of one severity."""
    if severity is not None and severity not in SEVERITIES:
        raise UserError(
            "There is no severity '{severity}': choose one of {severities}.",
            severity=severity,
            severities=SEVERITIES,
        )
    return tuple(e for e in _read_table() if e.data == set_name and severity in (None, e.severity))


def apply_errata(
    lines: Iterable[str], found: Iterable[Erratum], *, condition: str, path: Path
) -> list[str]:
    """The lines of a file with the errata that concern it applied."""
    fixed = list(lines)
    for erratum in found:
        if erratum.condition not in (condition, "both"):
            continue
        if erratum.lines:
            for number in erratum.lines:
                if number > len(fixed) or fixed[number - 1].count(erratum.old) != 1:
                    reason = phrase("the erratum for “{words}” does not fit it", words=erratum.old)
                    raise line_error(path, number, reason)
                fixed[number - 1] = fixed[number - 1].replace(erratum.old, erratum.new)
        else:
            pattern = re.compile(rf"(?<!\w){re.escape(erratum.old)}(?!\w)")
            changed = [pattern.sub(erratum.new, line) for line in fixed]
            if changed == fixed:
                raise UserError(
                    "{file} does not hold “{words}”, which the errata expect: fetch the official file "
                    "with `gendalens data pull`.",
                    file=path.name,
                    words=erratum.old,
                )
            fixed = changed
    return fixed
