"""A small run with a result of every test, and what a hostile model or data set could put into one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import small_dane
import small_data
import small_names

import gendalens
from gendalens.report.html import run_page
from gendalens.results import saved_results
from gendalens.stats.findings import Finding

HOSTILE = (
    "</script><script>window.hacked=1;alert(1)</script>"
    '"\'><img src=x onerror="window.hacked=1">{{7*7}}${alert(1)}\u202egnp.exe\u2066\u2028 æøå/ny '
)
LONG = "x" * 10_000
FIVE = ("coref-abc", "coref-dawinobias", "lm-abc", "lm-dawinobias", "ner-dane")


def make(folder: Path) -> None:
    """All tests of protocol 2 on two control models, in ``folder/run``."""
    data = small_data.small_data(folder / "data")
    data["dane"] = small_dane.write(folder / "dane.conllu")
    data["names"], data["minority-names"] = small_names.write(folder / "lists")
    models = ["control:stereotyped", "control:male-default"]
    gendalens.run(models, data=data, out=folder / "run", repeats=2, cache=False)


def message(text: str) -> dict[str, Any]:
    """A message that nothing here declares, as JSON has it."""
    return {"code": HOSTILE, "values": {HOSTILE: HOSTILE}, "text": text}


def poison(folder: Path) -> None:
    """Hostile strings as the model's name, in the records, and wherever a result holds free text."""
    for one in saved_results.find_results([folder]):
        path = one.folder / "result.json"
        plain = json.loads(path.read_text(encoding="utf-8"))
        plain["model"] |= {"name": HOSTILE + LONG, "revision": HOSTILE + LONG}
        plain["model"] |= {"kind": message(HOSTILE), "software": [HOSTILE]}
        plain["signature"] += HOSTILE
        # One whose code is known, with a value that is not; and two of a test that is not installed.
        known = {"code": "side_zero", "values": {"side": HOSTILE}, "text": HOSTILE}
        plain["warnings"] = [known, message(HOSTILE), message(LONG)]
        for part in ("main", "groups"):
            plain["finding"][part]["doubt"] = message(HOSTILE)
            for evidence in plain["finding"][part]["evidence"]:
                evidence |= {"name": message(HOSTILE), "sides": [HOSTILE, HOSTILE]}
        # What follows from them, as a careful attacker would write it.
        plain["finding"] = Finding.from_dict(plain["finding"]).to_dict()
        first = plain["conditions"][0]["condition"]
        for cell in (*plain["conditions"], *plain["nuance"]):
            cell["condition"] = HOSTILE if cell["condition"] == first else cell["condition"]
        # Few tests have figures beside the headline, and each page has to stand them.
        figure = {"value": 0.5, "low": 0.25, "high": 0.75, "n": 8, "reason": None}
        words = {"name": message(HOSTILE), "note": message(HOSTILE)}
        hostile = {"id": HOSTILE, "unit": HOSTILE, **words}
        plain["extra"] = [*plain["extra"], figure | hostile]
        plain["coverage"][HOSTILE] = {HOSTILE: HOSTILE}
        path.write_text(json.dumps(plain), encoding="utf-8")
        records = one.folder / "records.jsonl"
        rows = [json.loads(line) for line in records.read_text(encoding="utf-8").splitlines()]
        for row in rows[:6]:
            row["text"] = HOSTILE + LONG
            for name in ("referent", "occupation"):
                if name in row:
                    row[name] = HOSTILE
            for name in row.get("names", []):
                name["name"] = HOSTILE
        records.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def one_model(run: Path) -> list[Path]:
    """The five tests of the package on one model: a page that no added test changes."""
    (model,) = (path for path in run.iterdir() if "stereotyped" in path.name)
    return [path for name in FIVE for path in model.glob(f"{name}@2-*")]


def write_page(run: Path, folder: Path) -> Path:
    """The report of five tests on one model, under a name that is no easy one."""
    file = folder / "rapport æøå #1.html"
    run_page.write(saved_results.find_results(one_model(run)), file)
    return file
