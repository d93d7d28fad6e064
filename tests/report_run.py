"""A small run with a result of every test, and what a hostile model or data set could put into one."""

from __future__ import annotations

import json
from pathlib import Path

import small_dane
import small_data
import small_names

import gendalens
from gendalens.results import saved_results

HOSTILE = (
    "</script><script>window.hacked=1;alert(1)</script>"
    '"\'><img src=x onerror="window.hacked=1">{{7*7}}${alert(1)}\u202egnp.exe\u2066\u2028 æøå/ny '
)
LONG = "x" * 10_000


def make(folder: Path) -> None:
    """All five tests of protocol 2 on two control models, in ``folder/run``."""
    data = small_data.small_data(folder / "data")
    data["dane"] = small_dane.write(folder / "dane.conllu")
    data["names"], data["minority-names"] = small_names.write(folder / "lists")
    models = ["control:stereotyped", "control:male-default"]
    gendalens.run(models, data=data, out=folder / "run", repeats=2, cache=False)


def poison(folder: Path) -> None:
    """Hostile strings as the model's name, in the records, and wherever a result holds free text."""
    for one in saved_results.find([folder]):
        path = one.folder / "result.json"
        plain = json.loads(path.read_text(encoding="utf-8"))
        plain["model"] |= {"name": HOSTILE + LONG, "kind": HOSTILE, "revision": HOSTILE + LONG}
        plain["model"]["software"] = [HOSTILE]
        plain["signature"] += HOSTILE
        plain["warnings"] = [HOSTILE, LONG]
        plain["verdict_reason"] = HOSTILE
        first = plain["conditions"][0]["condition"]
        for cell in (*plain["conditions"], *plain["nuance"]):
            cell["condition"] = HOSTILE if cell["condition"] == first else cell["condition"]
        plain["extra"] = [*plain["extra"], dict(plain["extra"][0], name=HOSTILE, note=HOSTILE)]
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
