"""Speed benchmarks: each figure is the ratio of two programs run in turn on this machine.

``make bench`` writes the table to ``benchmarks/RESULTS.md``. The peers are GenDa Lens 0.0.3 and
minicons, each in its own environment, which is created on first use, and the bare model. Run it on
idle cores.
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from speed.bench_runs import SIZES, Bench
from speed.causal_rows import against_harness, against_other_causal, count_work
from speed.environments import python

from gendalens.engine.run_options import RunOptions
from gendalens.tasks import get_task

HERE = Path(__file__).parent
#: Every row of the page, by section; it is kept so that some sections can be measured again alone.
ROWS = HERE / "results.json"
#: The number of distinct requests of each complete test under protocol 2.
WHOLE = {"lm-dawinobias": 674, "lm-abc": 13_500, "ner-dane": 11_505}
QUARTER = 141


def against_classic(bench: Bench) -> list[str]:
    """Protocol 1 on the same sentences; 0.0.3 is timed on a part and extrapolated."""
    rows = []
    cases: list[tuple[str, str, Any, float]] = [
        ("lm-dawinobias", "lm", bench.parts.dawinobias, 9.0),
        ("lm-abc", "lm", bench.parts.abc, 5.5),
    ]
    if bench.dane:
        cases.append(("ner-dane", "ner", bench.parts.ner, 6.0))
    for task, model, part, wanted in cases:
        if bench.test not in (None, task):
            continue
        what = f"{task}, protocol 1"
        share = 1.0
        more: tuple[Any, ...] = ()
        if bench.dane and task == "ner-dane":
            # A quarter of the sentences, with all draws, so that both can be run in turn.
            share = ner_share(bench.dane, QUARTER)
            what += f", 20 draws, extrapolated from {QUARTER} of 565 sentences by characters"
            more = ("--dane", bench.dane, "--repeats", 20, "--sample", QUARTER)
        ours, classic = bench.in_turn(
            bench.ours(model, "--task", task, "--protocol", 1, *more),
            bench.classic(task, model, part.file),
        )
        theirs = classic["seconds"] * part.whole / classic["items"]
        seconds = ours["seconds"] / share
        rows.append(
            f"| {what} | GenDa Lens 0.0.3, {classic['items']:.0f} of {part.whole:,} "
            f"| {theirs:,.0f} s | {seconds:,.1f} s | **{theirs / seconds:.1f}×** "
            f"| {wanted:g}× | {ours['peak_mb']:,.0f} / {classic['peak_mb']:,.0f} MB |"
        )
    return rows


def ner_share(dane: Path, sample: int) -> float:
    """The share of the distinct text of ner-dane, in characters, that a sample of its sentences has."""
    letters = []
    for size in (sample, None):
        options = RunOptions(protocol=1, data={"dane": dane}, sample=size)
        plan = options.plan(get_task("ner-dane", 1))
        texts = {request.text for portion in plan.portions for request in portion.requests}
        letters.append(sum(map(len, texts)))
    return letters[0] / letters[1]


def against_minicons(bench: Bench) -> list[str]:
    """Pseudo-log-likelihoods of the same sentences; both totals must agree.

    minicons processes all sentences it is given as one batch; its own examples pass all at once.
    """
    part = bench.parts.sentences
    interpreter = python("minicons", bench.work / "envs")
    sizes = (16, 64, 128, part.whole)
    ours, *theirs = bench.in_turn(
        bench.ours("lm", "--sentences", part.file),
        *(
            bench.script(
                "minicons_pll.py",
                *(bench.models["lm"], part.file, bench.threads, size),
                interpreter=interpreter,
            )
            for size in sizes
        ),
    )
    rows = []
    for size, minicons in zip(sizes, theirs, strict=True):
        if abs(ours["total"] / minicons["total"] - 1) > 1e-4:
            sys.exit(f"the scores differ: {ours['total']} and {minicons['total']}")
        batches = "all at once" if size == part.whole else f"batches of {size}"
        rows.append(
            f"| pseudo-log-likelihood, {part.whole:,} sentences | minicons, {batches} "
            f"| {minicons['seconds']:,.1f} s | {ours['seconds']:,.1f} s "
            f"| **{minicons['seconds'] / ours['seconds']:.2f}×** | 1.2× "
            f"| {ours['peak_mb']:,.0f} / {minicons['peak_mb']:,.0f} MB; above the loaded model "
            f"{ours['above_mb']:,.0f} / {minicons['above_mb']:,.0f} MB |"
        )
    return rows


def against_bare(bench: Bench) -> list[str]:
    """A whole run, statistics included, against the bare forward passes that it needs.

    Only part of the data is used, to keep it short; one-time costs weigh more than in a complete run.
    """
    rows = []
    cases: list[tuple[str, str, tuple[object, ...]]] = [
        ("lm-dawinobias", "lm", ()),
        ("lm-abc", "lm", ("--sample", 200)),
    ]
    if bench.dane:
        cases.append(("ner-dane", "ner", ("--dane", bench.dane, "--repeats", 2)))
    for task, model, more in cases:
        if bench.test not in (None, task):
            continue
        arguments = ("--task", task, *more)
        ours, bare = bench.in_turn(bench.ours(model, *arguments), bench.bare(model, *arguments))
        rest = 1 - ours["asking"] / ours["seconds"]
        bench.note_whole(task, ours["asking"] * WHOLE[task] / ours["distinct"])
        rows.append(
            f"| {task}, protocol 2 | bare model, batches of {bare['size']:.0f}, "
            f"{bare['rows']:,.0f} inputs | {bare['seconds']:,.1f} s | {ours['seconds']:,.1f} s "
            f"| **{bare['seconds'] / ours['seconds']:.2f}** of its rate | 0.85 "
            f"| data and statistics {rest:.1%} of ours |"
        )
    return rows


def scaling(bench: Bench) -> list[str]:
    """Time and peak memory as the data grow, with a model so small that our own costs show."""
    rows = []
    for task, whole in (("lm-dawinobias", 337), ("lm-abc", 4500)):
        sizes = [whole // 8, whole // 4, whole // 2, whole]
        runs = [bench.ours("small-lm", "--task", task, "--sample", size) for size in sizes]
        rows += _format_growth(f"{task}, schemas or triples", sizes, bench.in_turn(*runs))
    if bench.dane:
        more = ("--task", "ner-dane", "--dane", bench.dane, "--files")
        sizes = [70, 141, 282, 565]
        runs = [bench.ours("small-ner", *more, "--repeats", 4, "--sample", n) for n in sizes]
        rows += _format_growth(
            "ner-dane, sentences, 4 draws", sizes, bench.in_turn(*runs, rounds=1)
        )
        repeats = [20, 100, 500]
        runs = [bench.ours("small-ner", *more, "--sample", 100, "--repeats", n) for n in repeats]
        rows += _format_growth(
            "ner-dane on 100 sentences, draws of names", repeats, bench.in_turn(*runs, rounds=1)
        )
    return rows


def rest(bench: Bench) -> list[str]:
    """The time outside the model: data, statistics and report of the five tests; and of --help."""
    rows = []
    if bench.dane:
        (own,) = bench.in_turn(bench.script("rest.py", bench.dane))
        rows.append(
            f"| data, statistics, files and report of the five tests, full data | {own['seconds']:.1f} s "
            f"(of which data {own['data']:.1f} s, report {own['report']:.1f} s) |"
        )
        if set(bench.whole) == set(WHOLE):
            model = sum(bench.whole.values())
            rows.append(
                "| the same, compared with the 12 × 768 model's time for three of the five "
                f"({', '.join(WHOLE)}) | {own['seconds']:.1f} s against {model:,.0f} s: "
                f"**{own['seconds'] / (own['seconds'] + model):.1%}** of a run, target 5% |"
            )
    imports = "import typer, rich"
    ours, plain = bench.in_turn(
        bench.program(str(Path(sys.executable).with_name("gendalens")), "--help"),
        bench.program(sys.executable, "-c", imports),
        rounds=9,
    )
    rows.append(
        f"| `gendalens --help`, compared with importing Typer and Rich | {ours['seconds']:.2f} s against "
        f"{plain['seconds']:.2f} s: **{ours['seconds'] / plain['seconds']:.2f}×**, target 1.5× |"
    )
    return rows


def comparison(bench: Bench) -> list[str]:
    """The comparison of up to 20 models by two tests on full data, with its page."""
    program = str(Path(sys.executable).with_name("gendalens"))
    models = [f"control:stereotyped?strength={number / 20}" for number in range(1, 21)]
    rows = []
    with tempfile.TemporaryDirectory() as work:
        runs, page = Path(work) / "runs", Path(work) / "page.html"
        bench.program(
            program, "run", *models, "--tasks", "lm-abc,lm-dawinobias", "--out", str(runs)
        )()
        folders = sorted(str(path) for path in runs.iterdir() if path.is_dir())
        for count in (5, 10, 20):
            compare = (program, "compare", *folders[:count], "--out", str(page))
            (found,) = bench.in_turn(bench.program(*compare))
            rows.append(
                f"| {count} models, two tests | {found['seconds']:.1f} s "
                f"| {page.stat().st_size / 1e6:.1f} MB |"
            )
    return rows


def _format_growth(name: str, sizes: list[int], found: list[dict[str, float]]) -> list[str]:
    rows = []
    for i, (size, one) in enumerate(zip(sizes, found, strict=True)):
        growth = f"{one['seconds'] / found[i - 1]['seconds']:.2f}×" if i else ""
        rows.append(
            f"| {name} | {size:,} | {one['seconds']:,.1f} s | {growth} | {one['peak_mb']:,.0f} MB |"
        )
    return rows


def main() -> None:
    """Run the sections asked for and write the tables."""
    sections: dict[str, Callable[[Bench], list[str]]] = {
        "classic": against_classic,
        "minicons": against_minicons,
        "harness": against_harness,
        "causal": against_other_causal,
        "work": count_work,
        "bare": against_bare,
        "scaling": scaling,
        "comparison": comparison,
        "rest": rest,
    }
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dane", type=Path, help="DaNE's test file, for ner-dane")
    parser.add_argument("--work", type=Path, default=HERE / ".work")
    parser.add_argument("--rounds", type=int, default=3, help="the most rounds per measurement")
    parser.add_argument("--only", nargs="*", choices=sections, default=list(sections))
    parser.add_argument("--test", help="only this test, against 0.0.3 and the bare model")
    options = parser.parse_args()
    bench = Bench(options.work.resolve(), options.dane, options.rounds, options.test)
    rows: dict[str, list[str]] = json.loads(ROWS.read_text(encoding="utf-8"))
    for name in options.only:
        found = sections[name](bench)
        # A new measurement replaces the old row.
        first = {_identify(row): row for row in found}
        kept_rows = [first.pop(_identify(row), row) for row in rows.get(name, [])]
        rows[name] = kept_rows + list(first.values()) if options.test else found
        ROWS.write_text(json.dumps(rows, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
        sys.stdout.write("\n".join(rows[name]) + "\n")
        sys.stdout.flush()
    (HERE / "RESULTS.md").write_text(table(rows, bench), encoding="utf-8")


def _identify(row: str) -> str:
    """What a row is about: the task and the program, whatever its batch size."""
    _, task, program, *_ = row.split("|")
    return f"{task}|{program.partition(', batches')[0]}"


def table(rows: dict[str, Any], bench: Bench) -> str:
    """The page."""
    programs = "| compared with | theirs | ours | ratio | target | peak memory, ours / theirs |"
    return "\n".join(
        [
            "# Speed",
            "",
            "Generated by `make bench`. Each row compares two programs run in turn on one machine with "
            f"{bench.threads} cores ({platform.machine()}) and gives medians of one to three rounds. The "
            "model is BERT-base (12 × 768) with random weights in float32, unless a table names another. "
            "Times run from the loaded model (and its digest) to the finished result, starting with an "
            "empty cache. GenDa Lens 0.0.3 is timed on part of the data and extrapolated, and so is GenDa"
            " Lens where a row says so. A row stays until it is measured again.",
            "",
            *_format(rows, f"| task {programs}", "classic", "minicons", "bare"),
            *_format(rows, "| test | size | time | growth | peak memory |", "scaling"),
            "(With two layers of width 128, so that the model does not hide the cost of GenDa Lens.)",
            "",
            *_format(rows, "| `gendalens compare` with its page | time | page |", "comparison"),
            *_format(rows, "| outside the model | time |", "rest"),
            "## Causal models",
            "",
            "Gemma 3 270M in float32, whole sentences of a sample of each test, all programs on the same "
            "threads; every total agrees with ours to 10⁻⁴. Other programs run at the batch size of "
            f"{', '.join(map(str, SIZES))} that is quickest for them, which is found on a quarter of the "
            "sentences. Peak memory includes loading the model, ours its digest too.",
            "",
            *_format(rows, f"| sentences {programs}", "harness", "causal"),
            *_format(rows, "| work, full data | run | least possible | excess | target |", "work"),
        ]
    )


def _format(rows: dict[str, Any], heading: str, *names: str) -> list[str]:
    """The rows of some sections under their heading; nothing as long as there are none."""
    found = [row for name in names for row in rows.get(name, [])]
    return [heading, "|---" * (heading.count("|") - 1) + "|", *found, ""] if found else []


if __name__ == "__main__":
    main()
