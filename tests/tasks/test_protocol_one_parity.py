"""Protocol 1 against what GenDa Lens 0.0.3 printed, row by row."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

import gendalens
from gendalens.compat import detailed, simple
from gendalens.results.run_folder import result_folder

SHARED = Path(__file__).parents[2].parent / "shared" / "golden"
pytestmark = [
    pytest.mark.shared,
    pytest.mark.network,
    pytest.mark.skipif(
        not SHARED.is_dir(), reason="the golden outputs are not beside the checkout"
    ),
]


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def table(path: Path) -> list[list[str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file))


def run(task: str, official: Path, out: Path) -> tuple[gendalens.Result, list[dict[str, Any]]]:
    (result,) = gendalens.run(
        str(SHARED / "models" / "bert-tiny"), tasks=[task], protocol=1, out=out, offline=True
    )
    text = (result_folder(out, result) / "records.jsonl").read_text(encoding="utf-8")
    return result, [json.loads(line) for line in text.splitlines()]


def assert_same_table(frame: Any, golden: Path, out: Path) -> None:
    frame.to_csv(out / "table.csv")
    assert table(out / "table.csv") == table(golden)


def test_dawinobias_gives_the_same_words_and_tables(official_home: Path, tmp_path: Path) -> None:
    golden = SHARED / "lm-dawinobias.bert-tiny"
    result, records = run("lm-dawinobias", official_home, tmp_path)
    for condition in ("pro", "anti"):
        # 0.0.3 shuffles its lines, so rows are compared as a multiset.
        ours = sorted(
            (r["text"], r["label"], r["pred"]) for r in records if r["condition"] == condition
        )
        theirs = sorted(
            (r["line"], r["label"], r["pred"]) for r in rows(golden / f"raw_{condition}.csv")
        )
        assert len(ours) == 674
        assert ours == theirs
    assert result.gender_effect_size.value == 0.06
    assert_same_table(simple(result), golden / "simple.csv", tmp_path)
    assert_same_table(detailed(result), golden / "detailed.csv", tmp_path)


@pytest.mark.slow
def test_abc_gives_the_same_perplexities_and_tables(official_home: Path, tmp_path: Path) -> None:
    golden = SHARED / "lm-abc.bert-tiny"
    result, records = run("lm-abc", official_home, tmp_path)
    for occupations in ("female", "male"):
        theirs = rows(golden / f"raw_{occupations}_occ.csv")
        mine = [r for r in records if r["group"] == f"{occupations} occupations"]
        assert len(theirs) == len(mine) // 2 == 2280
        for gender in ("female", "male"):
            ours = [r for r in mine if r["condition"] == gender]
            for one, other in zip(ours, theirs, strict=True):
                assert one["text"] == other["sent"]
                assert one["perplexity"] == pytest.approx(
                    float(other[f"perplexity_{gender}"]), rel=1e-3
                )
                assert one["perplexity_reflexive"] == pytest.approx(
                    float(other["perplexity_reflexive"]), rel=1e-3
                )
    assert result.gender_effect_size.value == -0.05
    assert_same_table(simple(result), golden / "simple.csv", tmp_path)
    assert_same_table(detailed(result), golden / "detailed.csv", tmp_path)
