"""The script that reads LONS20, on answers in the form of Statistics Denmark's API.

The figures are made up; the form (codes, columns, suppressed cells, byte order mark) is the API's.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping
from typing import Any

import pytest

from tools import lons20

HEAD = "ARBF;SEKTOR;AFLOEN;LONGRP;LØNMÅL;KØN;TID;INDHOLD"
ROWS = (
    ("2221", "K", "30000"),
    ("2221", "M", "1500"),
    ("7411", "K", "150,5"),
    ("7411", "M", "14900"),
    ("5412", "K", ".."),
    ("5412", "M", "8000"),
    ("0310", "K", "0"),
    ("0310", "M", "4000"),
)
ANSWER = "\n".join([HEAD, *(f"{c};1000;TIFA;LTOT;ANTAL;{sex};2024;{n}" for c, sex, n in ROWS)])
INFO = {
    "id": "LONS20",
    "text": "Løn",
    "variables": [
        {"id": "ARBF", "text": "arbejdsfunktion", "values": [{"id": "2221", "text": "2221 …"}]},
        {"id": "Tid", "text": "tid", "time": True, "values": [{"id": "2023"}, {"id": "2024"}]},
    ],
}


class Recorded:
    """An API that gives the recorded answers, and what it was asked."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, Mapping[str, Any]]] = []

    def __call__(self, function: str, body: Mapping[str, Any]) -> bytes:
        self.asked.append((function, body))
        if function == "tableinfo":
            return json.dumps(INFO).encode()
        return ("\ufeff" + ANSWER + "\n").encode()


def test_the_shares_of_the_last_year_are_printed_beside_todays(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lons20, "find_shares", lambda *_, **__: {"elektrikeren": 3.0})
    recorded = Recorded()
    lons20.main([], ask=recorded)
    rows = {row["occupation"]: row for row in csv.DictReader(io.StringIO(capsys.readouterr().out))}
    nurse, electrician = rows["sygeplejersken"], rows["elektrikeren"]
    assert (nurse["women"], nurse["men"], nurse["pct_women"]) == ("30000", "1500", "95.2")
    assert electrician["pct_women"] == "1.0"
    assert (electrician["pct_women_today"], electrician["difference"]) == ("3.0", "-2.0")
    assert "LONS20, 2024" in nurse["source"]
    # Too small to publish, suppressed, or not in the answer: no figure, and no guess.
    for name in ("politibetjenten", "soldaten", "frisøren"):
        assert rows[name]["pct_women"] == ""


def test_one_call_asks_for_women_and_men_in_every_code() -> None:
    recorded = Recorded()
    lons20.fetch_counts(recorded, ["7411", "2221", "2221"], "2022")
    ((function, body),) = recorded.asked
    assert function == "data"
    assert (body["table"], body["format"], body["valuePresentation"]) == ("LONS20", "CSV", "Code")
    assert {one["code"]: one["values"] for one in body["variables"]} == {
        "ARBF": ["2221", "7411"],
        "SEKTOR": ["1000"],
        "AFLOEN": ["TIFA"],
        "LONGRP": ["LTOT"],
        "LØNMÅL": ["ANTAL"],
        "KØN": ["K", "M"],
        "Tid": ["2022"],
    }


def test_an_answer_of_another_form_is_refused() -> None:
    with pytest.raises(SystemExit, match="no column INDHOLD: its form has changed"):
        lons20.parse_counts("ARBF;KØN;TID\n2221;K;2024\n")


def test_the_codes_are_four_digits_and_each_occupation_has_one() -> None:
    codes = lons20.read_codes()
    assert len({code.occupation for code in codes}) == len(codes) > 30
    assert all(len(code.disco) == 4 and code.disco.isdigit() for code in codes)
