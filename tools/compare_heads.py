"""Do two revisions of GenDa Lens give the same figures? The check of a change that must not move any.

    python tools/compare_heads.py OLD [NEW] [--golden DIR] [--work DIR] [--keep]

Runs the same commands with the code of both (without NEW: the working tree) and compares every figure
of every result, every row of its records, request files, comparisons and exit codes. If NEW writes
results of a later schema, they are converted to the older one first. Exit code 0 means that all is
equal, 1 that something differs, and 2 that there is no such revision. Differences in texts are counted
separately.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import product, zip_longest
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[1]
TASKS = ("lm-dawinobias", "lm-abc", "ner-dane", "coref-dawinobias", "coref-abc")
CONTROLS = ("fair", "stereotyped", "male-default", "always-han")
CLUSTERED = "control:stereotyped?strength=0.5&clustered=1"
GOLDEN = ("bert-tiny", "bert-splits", "ner-tiny")
# Keys that schema 2 has and schema 1 has not.
ADDED = frozenset({"unstable", "brackets", "sd", "id", "hub_task", "for_danish", "whose"})
EXACT = frozenset({"task", "signature", "sha256", "revision"})  # keys of fixed texts
MESSAGE = frozenset({"code", "values", "text"})
VERSION = re.compile(r'\b(gendalens(?:[: ]|": "))\d[^|,)"\s]*')
RESULTS = "*/*/result.json"  # in a run
ABSENT = "(absent)"
SHOWN = 10  # differences shown per result


class Pair(NamedTuple):
    """A figure or a text of the old head, and what the new head has in its place."""

    path: str
    old: Any
    new: Any

    def __str__(self) -> str:
        return f"{self.path}: {self.old!r:.200} -> {self.new!r:.200}"

    @property
    def distance(self) -> float:
        """The distance between two numbers; infinite for other values that differ."""
        if type(self.old) is type(self.new) and self.old == self.new:
            return 0.0
        numbers = all(type(side) in (int, float) for side in self[1:])
        return float(abs(self.old - self.new)) if numbers else float("inf")

    @property
    def is_wording(self) -> bool:
        """Whether it is a text that may be reworded: not in records, and not the verdict."""
        key = self.path.rpartition(".")[2]
        texts = all(isinstance(side, str | None) and side != ABSENT for side in self[1:])
        if not texts or key in EXACT or self.path.startswith("records"):
            return False
        # In "bias found, not after correction for 5 tests", only the beginning is the verdict.
        old, new = (re.split("[,:;]", side or "")[0] for side in self[1:])
        return key != "verdict" or old == new


@dataclass(slots=True)
class Check:
    """The comparison of two heads' values under one name."""

    name: str
    values: int = 0
    wrong: list[Pair] = field(default_factory=list)
    texts: list[Pair] = field(default_factory=list)

    def tell(self) -> None:
        """Print whether all is equal, and what differs."""
        state = "DIFFERS" if self.wrong else "equal"
        print(f"{state:8} {self.name} ({self.values:,} values, {len(self.wrong):,} differ)")
        for line in [*self.wrong[:SHOWN], *(f"text {pair}" for pair in self.texts[:SHOWN])]:
            print(f"           {line}")


def pair_values(old: Any, new: Any, path: str = "") -> Iterator[Pair]:
    """Every figure and text of two JSON values by path, including keys that only one has."""
    if isinstance(old, dict) and isinstance(new, dict):
        for key in dict.fromkeys([*old, *new]):
            if key in old or key not in ADDED:
                place = f"{path}.{key}" if path else key
                yield from pair_values(old.get(key, ABSENT), new.get(key, ABSENT), place)
    elif isinstance(old, list) and isinstance(new, list):
        for place, sides in enumerate(zip_longest(old, new, fillvalue=ABSENT)):
            yield from pair_values(*sides, f"{path}[{place}]")
    else:
        yield Pair(path, old, new)


def check_values(name: str, old: Any, new: Any, most: float = 0, *, shared: bool = False) -> Check:
    """Compare two JSON values with tolerance ``most``; ``shared`` ignores keys that only one has."""
    check = Check(name)
    for pair in pair_values(old, new):
        passed_over = shared and ABSENT in pair[1:] and not pair.path.endswith("]")
        check.values += not passed_over
        if not (passed_over or pair.distance <= most):
            (check.texts if pair.is_wording else check.wrong).append(pair)
    return check


def map_down(value: Any) -> Any:
    """A schema 2 value in the form of schema 1: messages as texts, and two keys by their old names."""
    if not isinstance(value, dict):
        return [map_down(item) for item in value] if isinstance(value, list) else value
    if value.keys() == MESSAGE:
        return value["text"]
    lower = {key: map_down(item) for key, item in value.items()}
    if isinstance(finding := lower.get("finding"), dict):
        del lower["finding"]
        lower |= {"verdict": finding["text"], "verdict_reason": finding.get("reason")}
    if "contrast" in lower and "interaction" not in lower:
        lower["interaction"] = lower.pop("contrast")
    if "note" in lower:
        lower["note"] = lower["note"] or ""
    if lower.get("whose") == "builtin":
        lower["from"] = f"built in ({lower['from']})"
    return lower


def read_masked(text: str) -> Any:
    """The value of a JSON text, without the version of GenDa Lens; None if the text is empty."""
    return json.loads(VERSION.sub(r"\1*", text)) if text else None


class Command(NamedTuple):
    """A command line, the name of its output, and the exit codes that it may have."""

    name: str
    words: tuple[str, ...]
    codes: tuple[int, ...] = (0,)


def list_commands(golden: Path, *, fetched: bool) -> Iterator[Command]:
    """The commands that both heads run; later ones read the output of earlier ones."""
    dane = golden.parent / "data" / "dane" / "ddt.test.conllu"
    builtin = ("--data", "builtin")
    data = ("--data", f"dane={dane if dane.exists() else 'builtin'}") if fetched else builtin
    small = (*data, "--sample", "60", "--repeats", "3")
    controls = (*(f"control:{kind}" for kind in CONTROLS), CLUSTERED)
    bert, splits, ner = (f"{golden}/models/{name}" for name in GOLDEN)
    runs = {"controls-builtin": (*controls, *builtin, "--repeats", "5")}
    if fetched:
        runs["controls-official"] = (*controls, *small)
    compared = tuple(runs)
    if (golden / "models").is_dir():
        runs |= {
            "golden-protocol-2": (bert, splits, ner, *small),
            "golden-protocol-1": (bert, splits, ner, *small, "--protocol", "1"),
            "golden-coref": (f"lm-coref:{bert}", *small),
            "golden-bfloat16": (bert, ner, *small, "--dtype", "bfloat16"),
            "golden-matched": (ner, *small, "--names", "matched", "--unisex"),
        }
    yield Command("demo", ("demo", "--out", "demo"))
    for name, words in runs.items():
        codes = (0, 2) if name.startswith("golden") else (0,)  # 2: not measurable in some test
        yield Command(name, ("run", *words, "--out", name), codes)
    for task in TASKS:
        yield Command(f"requests-{task}", ("requests", task, *builtin, "-o", f"{task}.jsonl"))
    yield Command("compare", ("compare", *compared, "--json"))
    for name, most in product(("demo", "controls-builtin"), ("0.3", "5")):
        yield Command(f"gate-{name}-{most}", ("gate", name, "--max-effect", most), (0, 1, 3))


class Head(NamedTuple):
    """The code of one revision, the home of its data and answers, and where its commands run."""

    tree: Path
    home: Path
    runs: Path

    def run(self, name: str, words: Sequence[str]) -> int:
        """Run a command with this code and save its output under this name; returns the exit code."""
        self.runs.mkdir(parents=True, exist_ok=True)
        own = {"PYTHONPATH": f"{self.tree}/src", "GENDALENS_HOME": str(self.home)}
        env = {**os.environ, **own, "LANG": "C.UTF-8"}
        line = [sys.executable, "-P", "-m", "gendalens", *words]
        done = subprocess.run(line, cwd=self.runs, env=env, capture_output=True, check=False)
        (self.runs / f"{name}.out").write_bytes(done.stdout)
        (self.runs / f"{name}.err").write_bytes(done.stderr)
        return done.returncode

    def read(self, name: str) -> str:
        """The output file of a command; empty if there is none."""
        return (self.runs / name).read_text(encoding="utf-8") if (self.runs / name).exists() else ""

    def find_results(self) -> dict[str, Any]:
        """All results by run, model and test, each with its records, and the request files."""
        found = {}
        for file in sorted(self.runs.glob(f"*/{RESULTS}")):
            folder = file.parent.relative_to(self.runs)
            result = read_masked(self.read(f"{folder}/result.json"))
            rows = self.read(f"{folder}/records.jsonl").split("\n")
            result["records"] = [json.loads(row) for row in rows if row]
            found[str(folder).rpartition("-")[0]] = result
        for task in TASKS:
            header, *rows = self.read(f"{task}.jsonl").split("\n")
            found[f"requests {task}"] = {"records": [read_masked(header), *rows]}
        return found


@contextmanager
def check_out(revision: str | None, folder: Path) -> Iterator[Head]:
    """A head with the code of a revision, or of the working tree; its checkout is removed at the end."""
    git = ["git", "-C", str(ROOT), "worktree"]
    tree = ROOT if revision is None else folder / "tree"
    if revision is not None:
        subprocess.run([*git, "add", "--quiet", "--detach", str(tree), revision], check=True)
    try:
        yield Head(tree, folder / "home", folder / "runs")
    finally:
        if revision is not None:
            subprocess.run([*git, "remove", "--force", str(tree)], check=True)


def fetch_data(old: Head, new: Head) -> bool:
    """Fetch the official sets once for both heads; returns whether they are available."""
    if old.run("fetch", ["data", "pull", "dawinobias", "abc", "names", "minority-names"]) != 0:
        print(f"skipped  official data: {old.read('fetch.err').strip()}")
        return False
    shutil.copytree(old.home / "data", new.home / "data")
    return True


def compare_heads(old: Head, new: Head, golden: Path, tolerance: float) -> Iterator[Check]:
    """Run all commands with both heads in parallel, and compare the output."""
    commands = list(list_commands(golden, fetched=fetch_data(old, new)))
    with ThreadPoolExecutor(2) as pool:
        codes = pool.map(lambda head: [head.run(*one[:2]) for one in commands], (old, new))
    for command, before, after in zip(commands, *codes, strict=True):
        name = f"{command.name}, exit code {after}"
        check = check_values(name, {"exit code": before}, {"exit code": after})
        if after not in command.codes:
            check.wrong.append(Pair("exit code", command.codes, after))
        if command.words[0] in ("demo", "run") and not any((new.runs / command.name).glob(RESULTS)):
            check.wrong.append(Pair("results", "some", ABSENT))
        yield check
    found, again = old.find_results(), new.find_results()
    schemas = [
        {one.pop("schema") for one in side.values() if "schema" in one} for side in (found, again)
    ]
    for name in sorted(found | again):
        first, second = (side.get(name, {}) for side in (found, again))
        if schemas[0] != schemas[1]:
            second = map_down(second)
        yield check_values(name, first, second, tolerance)
    before, after = (map_down(read_masked(one.read("compare.out"))) for one in (old, new))
    yield check_values("compare --json", before, after, tolerance, shared=True)


def parse_arguments() -> argparse.Namespace:
    """The command-line arguments."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("old", metavar="OLD", help="a git revision")
    parser.add_argument("new", metavar="NEW", nargs="?", help="another; default: the working tree")
    parser.add_argument("--golden", type=Path, default=ROOT.parent / "shared" / "golden")
    parser.add_argument("--work", type=Path, help="where to create the working folder")
    parser.add_argument("--keep", action="store_true", help="keep the output of the commands")
    parser.add_argument(
        "--tolerance", type=float, default=0.0, help="the largest allowed difference"
    )
    parser.add_argument("--texts", action="store_true", help="also fail if texts differ")
    return parser.parse_args()


def main() -> int:
    """Compare two heads; returns the exit code."""
    asked, began, checks = parse_arguments(), time.monotonic(), []
    golden = asked.golden.resolve()
    if not (golden / "models").is_dir():
        print(f"skipped  golden models: there is no {golden / 'models'}")
    work = Path(tempfile.mkdtemp(prefix="compare-heads-", dir=asked.work)).resolve()
    try:
        with check_out(asked.old, work / "old") as old, check_out(asked.new, work / "new") as new:
            for check in compare_heads(old, new, golden, asked.tolerance):
                check.tell()
                checks.append(check)
    except subprocess.CalledProcessError:
        return 2  # git has printed the reason
    finally:
        if asked.keep:
            print(f"kept     {work}")
        else:
            shutil.rmtree(work)
    wrong = [pair for check in checks for pair in check.wrong]
    largest = max((pair.distance for pair in wrong if pair.distance < float("inf")), default=0)
    texts, equal = sum(len(one.texts) for one in checks), sum(not one.wrong for one in checks)
    print(f"{equal} of {len(checks)} equal; {len(wrong):,} figures differ, by at most {largest:g}")
    print(f"{texts:,} texts differ; {time.monotonic() - began:.0f} seconds")
    return 1 if wrong or (asked.texts and texts) else 0


if __name__ == "__main__":
    sys.exit(main())
