"""The share of women by occupation, from Statistics Denmark's table LONS20.

    python -m tools.lons20 [--year 2024] [--codes tools/lons20_codes.csv]

Prints a CSV with the women and men whom the table counts in each occupation of the codes file, their
share of women, and the figure that the built-in sets have today. It changes no file: whoever runs it
decides what goes into ``occupations.csv``, and with which remark.

LONS20 (*Løn efter arbejdsfunktion, sektor, …*) counts full-time equivalents of employees in the wage
statistics by DISCO-08 code: no self-employed, no trainees' own group, none where a cell is too small to
be published. A word of the sets and a code are not always the same thing; the codes file says where the
code is wider (``remark``). The table is free to use with its source (CC BY 4.0).
"""

from __future__ import annotations

import argparse
import csv
import io
import json
import sys
import urllib.request
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from gendalens.data.occupation_shares import find_shares

API = "https://api.statbank.dk/v1"
TABLE = "LONS20"
CODES = Path(__file__).with_name("lons20_codes.csv")
#: All sectors, all forms of pay, all employee groups, full-time equivalents.
FIXED = {"SEKTOR": "1000", "AFLOEN": "TIFA", "LONGRP": "LTOT", "LØNMÅL": "ANTAL"}
OCCUPATION, SEX, YEAR, VALUE = "ARBF", "KØN", "TID", "INDHOLD"
WOMEN, MEN = "K", "M"
#: What stands in a cell that is too small or has no figure; a count of 0 is a suppressed one.
NO_FIGURE = ("", "..", "0")
TIMEOUT = 120  # seconds: the service takes some 10 s whatever is asked

#: Asks a function of the API with a JSON body and gives its answer.
Ask = Callable[[str, Mapping[str, Any]], bytes]


class Code(NamedTuple):
    """An occupation of the sets, its DISCO-08 code, and what the code holds beside it."""

    occupation: str
    disco: str
    remark: str


@dataclass(frozen=True, slots=True)
class Count:
    """The women and men of an occupation; None where the table gives no figure."""

    women: float | None
    men: float | None

    @property
    def share(self) -> float | None:
        """The percentage of women."""
        if self.women is None or self.men is None:
            return None
        return 100 * self.women / (self.women + self.men)


def ask_statbank(function: str, body: Mapping[str, Any]) -> bytes:
    """The answer of Statistics Denmark's API to a POST request."""
    request = urllib.request.Request(  # noqa: S310 (a fixed https address)
        f"{API}/{function}",
        data=json.dumps(body).encode(),
        headers={"Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=TIMEOUT) as answer:  # noqa: S310
        found: bytes = answer.read()
    return found


def read_codes(path: Path = CODES) -> list[Code]:
    """The rows of the codes file."""
    with path.open(encoding="utf-8", newline="") as file:
        return [
            Code(row["occupation"], row["disco"], row["remark"]) for row in csv.DictReader(file)
        ]


def find_latest_year(ask: Ask) -> str:
    """The last year of the table."""
    info = json.loads(ask("tableinfo", {"table": TABLE, "lang": "da"}))
    (years,) = (one["values"] for one in info["variables"] if one["id"].upper() == YEAR)
    return str(max(one["id"] for one in years))


def fetch_counts(ask: Ask, codes: Iterable[str], year: str) -> dict[str, Count]:
    """The counts of these DISCO-08 codes, by code."""
    wanted = {**FIXED, SEX: [WOMEN, MEN], "Tid": year, OCCUPATION: sorted(set(codes))}
    body = {
        "table": TABLE,
        "format": "CSV",
        "lang": "da",
        "delimiter": "Semicolon",
        "valuePresentation": "Code",
        "variables": [
            {"code": name, "values": value if isinstance(value, list) else [value]}
            for name, value in wanted.items()
        ],
    }
    return parse_counts(ask("data", body).decode("utf-8-sig"))


def parse_counts(text: str) -> dict[str, Count]:
    """The counts in an answer: a row per code and sex, cells separated by semicolons."""
    cells: dict[tuple[str, str], float | None] = {}
    reader = csv.DictReader(io.StringIO(text), delimiter=";")
    missing = {OCCUPATION, SEX, VALUE} - set(reader.fieldnames or ())
    if missing:
        raise SystemExit(f"{TABLE} has no column {sorted(missing)[0]}: its form has changed.")
    for row in reader:
        value = row[VALUE].strip()
        cells[row[OCCUPATION], row[SEX]] = (
            None if value in NO_FIGURE else float(value.replace(",", "."))
        )
    return {
        code: Count(cells.get((code, WOMEN)), cells.get((code, MEN)))
        for code in dict.fromkeys(code for code, _ in cells)
    }


def tabulate(codes: Iterable[Code], counts: Mapping[str, Count], year: str) -> list[dict[str, str]]:
    """A row per occupation, with today's figure beside the table's."""
    today = find_shares("dawinobias", builtin=True)
    rows = []
    for code in codes:
        count = counts.get(code.disco, Count(None, None))
        own = today.get(code.occupation)
        rows.append(
            {
                "occupation": code.occupation,
                "disco08": code.disco,
                "women": _show(count.women, 0),
                "men": _show(count.men, 0),
                "pct_women": _show(count.share, 1),
                "pct_women_today": _show(own, 1),
                "difference": _show(
                    None if own is None or count.share is None else count.share - own, 1
                ),
                "remark": code.remark,
                "source": f"Statistics Denmark, {TABLE}, {year}, full-time equivalents of employees",
            }
        )
    return rows


def _show(value: float | None, digits: int) -> str:
    return "" if value is None else f"{value:.{digits}f}"


def main(arguments: list[str] | None = None, ask: Ask = ask_statbank) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m tools.lons20", description=__doc__)
    parser.add_argument("--year", help="default: the last one of the table")
    parser.add_argument("--codes", type=Path, default=CODES)
    chosen = parser.parse_args(arguments)
    codes = read_codes(chosen.codes)
    year = chosen.year or find_latest_year(ask)
    rows = tabulate(codes, fetch_counts(ask, (code.disco for code in codes), year), year)
    writer = csv.DictWriter(sys.stdout, rows[0], lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)


if __name__ == "__main__":
    main()
