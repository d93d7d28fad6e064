"""The built-in sets before and after they grew, measured by the code of today.

    python benchmarks/builtin_sets.py [gemma] [fair] [power] [--sample N]

``gemma`` runs Gemma 3 270M on the official sets, the built-in sets of OLD and those of this revision
(``--sample`` schemas or triples at most); ``fair`` asks how wide the interval of ``control:fair`` is and
how often it is acquitted; ``power`` compares ``gendalens power``. Each prints a table for
docs/builtin-official.md. Only the sets differ: those of OLD are put into a copy of this package, with
the columns that they did not have yet.
"""

from __future__ import annotations

import argparse
import csv
import io
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median
from typing import Any

from real import fetch

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src"
SETS = "src/gendalens/data/builtin"
#: The last revision before the sets grew (version 0.11.0).
OLD = "1f068b6"
#: What the tables did not say yet: nothing was marked as unproven, as a cue, or left out.
NEW_COLUMNS = {
    "schemas.csv": {"cue": "no"},
    "frames.csv": {"not": ""},
    "occupations.csv": {
        "unproven": "no",
        "year": "",
        "counts": "",
        "confidence": "low",
        "others": "",
    },
}
WINO = ("lm-dawinobias", "coref-dawinobias")
WORLDS = {"independent": 0, "shared effects": 1}
RESAMPLES = 1_000
SIZES = ("schemas", "lines_asked", "triples", "triples_asked", "frames", "occupations")
#: What both sets have; OLD marks no cues, and its shares of women were incomplete.
EXTRAS = ("sensitivity", "male_default", "within_schema_contrast", "reflexive_likeliest")
EXTRAS += ("gap_world_lines", "gap_syntax_lines")
Json = dict[str, Any]


def copy_package(revision: str, folder: Path) -> Path:
    """The package of today with the built-in sets of another revision."""
    shutil.copytree(SOURCE / "gendalens", folder / "gendalens")
    for name in ("schemas.csv", "frames.csv", "occupations.csv"):
        command = ["git", "show", f"{revision}:{SETS}/{name}"]
        old = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
        place = folder / "gendalens" / "data" / "builtin" / name
        columns = place.read_text(encoding="utf-8").splitlines()[0].split(",")
        with place.open("w", encoding="utf-8", newline="") as file:
            table = csv.DictWriter(file, columns)
            table.writeheader()
            for row in csv.DictReader(io.StringIO(old)):
                table.writerow(NEW_COLUMNS[name] | row | fill_share(name, row))
    return folder


def fill_share(name: str, row: dict[str, str]) -> dict[str, str]:
    """A share for an occupation of which only the class was published; it enters no figure below."""
    if name != "occupations.csv" or row["dk_pct_women"]:
        return {}
    return {"dk_pct_women": "100" if row["class"] == "female" else "0"}


def run(source: Path, *arguments: str) -> str:
    """What ``gendalens`` prints, from the package in this folder."""
    command = [sys.executable, "-m", "gendalens", *arguments]
    environment = {**os.environ, "PYTHONPATH": str(source)}
    # Not from the repository's own folder, whose modules would come first.
    with tempfile.TemporaryDirectory() as elsewhere:
        return subprocess.run(
            command, env=environment, cwd=elsewhere, stdout=subprocess.PIPE, text=True, check=True
        ).stdout


def run_tests(source: Path, model: str, out: Path, *options: str) -> dict[str, Json]:
    """The results of a run, by test."""
    run(source, "run", model, "--out", str(out), "--json", *options)
    files = sorted(out.glob("*/*/result.json"))
    results = [json.loads(file.read_text(encoding="utf-8")) for file in files]
    return {result["task"]: result for result in results}


def show(figure: Json, digits: int) -> str:
    """A figure with its interval, as the documents write it."""
    if figure["value"] is None:
        return "–"
    value, low, high = (
        None if figure[part] is None else f"{figure[part]:.{digits}f}".replace("-", "−")
        for part in ("value", "low", "high")
    )
    return f"{value} [{low}, {high}]" if low else f"{value}, no interval"


def describe_gemma(result: Json) -> Iterator[tuple[str, str]]:
    """The rows of a result of a language model."""
    coverage, finding = result["coverage"], result["finding"]
    for name in SIZES:
        if name in coverage:
            yield name.replace("_", " "), f"{coverage[name]:,}"
    for part in ("main", "groups"):
        verdict, size = finding[part]["is"], finding[part].get("size")
        yield f"{part}: verdict", f"{verdict} ({size})" if size else verdict
    yield "GES", show(result["gender_effect_size"], 2)
    unit = result["gap"]["unit"]
    yield f"gap, {unit}", show(result["gap"], 3 if unit == "F1" else 2)
    for cell in result["conditions"]:
        yield f"{cell['condition']}: {cell['metric']}", show(cell, 2)
    yield f"contrast, {result['contrast']['unit']}", show(result["contrast"], 2)
    for extra in result["extra"]:
        if extra["id"] in EXTRAS:
            yield extra["id"].replace("_", " "), show(extra, 2)


def print_table(heads: list[str], rows: dict[str, list[str]]) -> None:
    """A Markdown table."""
    print(f"| {' | '.join(heads)} |\n|{'---|' * len(heads)}")
    for name, cells in rows.items():
        print(f"| {name} | {' | '.join(cells)} |")
    print(flush=True)


def compare_gemma(old: Path, work: Path, sample: int | None) -> None:
    """Gemma 3 270M on three sets."""
    model = str(fetch())
    few = () if sample is None else ("--sample", str(sample))
    runs = {
        "official": (SOURCE, ()),
        "built in, before": (old, ("--data", "builtin")),
        "built in, now": (SOURCE, ("--data", "builtin")),
    }
    found: dict[str, dict[str, dict[str, str]]] = {}
    for name, (source, options) in runs.items():
        results = run_tests(source, model, work / name.replace(", ", "-"), *options, *few)
        for task, result in results.items():
            found.setdefault(task, {})[name] = dict(describe_gemma(result))
    for task, columns in found.items():
        names = dict.fromkeys(row for column in columns.values() for row in column)
        rows = {row: [column.get(row, "–") for column in columns.values()] for row in names}
        print_table([f"`{task}`", *columns], rows)


def measure_fair(task_id: str, size: float, seeds: int) -> list[Json]:
    """The gap's width and the verdict on the main effect of each fair control model."""
    from gendalens.data.registry import BUILTIN, find_source
    from gendalens.models.control import Control
    from gendalens.tasks import get_task

    task = get_task(task_id, 2).configure({})
    items = list(task.items({name: find_source(name, override=BUILTIN) for name in task.card.data}))
    found = []
    for seed in range(seeds):
        control = Control("fair", 0.0, seed=seed, clustered=size)
        fitted = task.fit(control)
        records: list[Any] = []
        for portion in fitted.portions(items):
            records += fitted.records(portion, fitted.plant(portion, control))
        measures = fitted.measure(records, seed=0, resamples=RESAMPLES)
        gap = measures.gap
        found.append({"width": gap.high - gap.low, "is": str(measures.finding.main.verdict)})
    return found


def compare_fair(old: Path, seeds: int) -> None:
    """The interval and the verdicts of control models that toss coins."""
    rows = {}
    for task in WINO:
        for world, size in WORLDS.items():
            cells = []
            for source in (old, SOURCE):
                command = [sys.executable, __file__, "fair", "--inside", task, str(size)]
                printed = subprocess.run(
                    [*command, "--seeds", str(seeds)],
                    env={**os.environ, "PYTHONPATH": str(source)},
                    stdout=subprocess.PIPE,
                    text=True,
                    check=True,
                ).stdout
                found = json.loads(printed)
                verdicts = [one["is"] for one in found]
                width = median(one["width"] for one in found)
                cells.append((width, verdicts.count("negligible"), verdicts.count("bias")))
            (before, acquitted, accused), (now, acquitted_now, accused_now) = cells
            rows[f"`{task}`, {world}"] = [
                f"{before:.3f} → {now:.3f} F1",
                f"{now / before:.2f}",
                f"{acquitted} → {acquitted_now} of {seeds}",
                f"{accused} → {accused_now}",
            ]
    heads = ["test, world", "median width of the gap's interval, before → now", "ratio"]
    print_table([*heads, "main effect acquitted at the band", "accused"], rows)


def compare_power(old: Path) -> None:
    """What the tests could see, by ``gendalens power``; independent items / shared effects."""
    rows: dict[str, list[str]] = {}
    for task in WINO:
        tables = []
        for source in (old, SOURCE):
            found = json.loads(run(source, "power", task, "--data", "builtin", "--json"))
            table: dict[str, Json] = {}
            for row in found["figures"] if isinstance(found, dict) else found:
                table.setdefault(row["figure"], {})[row["world"]] = row
            tables.append(table)
        for figure in tables[0]:
            cells = [
                " / ".join(f"{table[figure][world][what]:.3f}" for world in table[figure])
                for what in ("seen", "acquitted")
                for table in tables
            ]
            first = tables[1][figure]["independent"]
            rows[f"`{task}`, {figure} ({first['unit']})"] = [*cells, f"{first['band']}"]
    heads = ["figure", "smallest effect seen, before", "now", "smallest band acquitted in, before"]
    print_table([*heads, "now", "band"], rows)


def main() -> None:
    """Measure what was asked for and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", choices=["gemma", "fair", "power"], default=[])
    parser.add_argument("--old", default=OLD, metavar="REVISION")
    parser.add_argument("--seeds", type=int, default=100)
    parser.add_argument("--sample", type=int, metavar="N")
    parser.add_argument("--work", type=Path, default=ROOT / "runs" / "builtin-sets")
    parser.add_argument("--inside", nargs=2, metavar=("TEST", "SIZE"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.inside:
        task, size = options.inside
        json.dump(measure_fair(task, float(size), options.seeds), sys.stdout)
        return
    work = options.work.resolve()
    parts: dict[str, Callable[[Path], None]] = {
        "gemma": lambda old: compare_gemma(old, work, options.sample),
        "fair": lambda old: compare_fair(old, options.seeds),
        "power": compare_power,
    }
    with tempfile.TemporaryDirectory() as folder:
        old = copy_package(options.old, Path(folder))
        for part in options.parts or parts:
            parts[part](old)


if __name__ == "__main__":
    main()
