"""Two tests in one run: p is adjusted over all figures that either is judged on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from worked import abc_set, lm_abc, lm_dawinobias, wino_set
from worked.answer_sheet import SEED, checksum, find_differences, run_sheet, signature
from worked.verdicts import correct, finding

TESTS = ("lm-dawinobias", "lm-abc")


def test_every_figure_of_a_run_is_corrected_for_all_of_them(tmp_path: Path) -> None:
    lines, answers = wino_set.list_lines(), lm_dawinobias.read_answers()
    scored = [
        lm_abc.score(triple, 7, male=0.9, stereotype=0.7, grammar=4.0)
        for triple in abc_set.list_triples()
    ]
    sheet = {**lm_dawinobias.make_sheet(lines, answers), **lm_abc.make_sheet(scored)}
    folders = {
        "dawinobias": wino_set.write(tmp_path / "wino"),
        "abc": abc_set.write(tmp_path / "abc"),
    }
    runs = run_sheet(TESTS, 2, sheet, folders, tmp_path / "run")

    schemas = lm_dawinobias.list_schemas(lines, answers, "open")
    evidence = (
        lm_dawinobias.judge(lm_dawinobias.cross(schemas, SEED)),
        lm_abc.judge(lm_abc.estimate(scored, SEED)),
    )
    tests = correct(*evidence)
    assert tests == 6
    for run, (main, groups) in zip(runs, evidence, strict=True):
        assert find_differences(run.plain["finding"], finding(main, groups, tests)) == []
        for name, part in (("gap", main), ("contrast", groups)):
            assert find_differences(run.plain[name]["p_adjusted"], part[0]["p_adjusted"]) == []
    # Alone, either test finds more than beside the other.
    alone: Any = [lm_dawinobias.work_out(lines, answers, SEED), lm_abc.work_out(scored, SEED)]
    for run, one in zip(runs, alone, strict=True):
        assert run.plain["gap"]["p_adjusted"] > one["gap"]["p_adjusted"]
    files = (wino_set.files(folders["dawinobias"]), abc_set.files(folders["abc"]))
    for run, test, name, of_set in zip(runs, TESTS, ("dawinobias", "abc"), files, strict=True):
        sums = {name: checksum(*of_set.values())}
        expected = signature(f"{test}@2", sums, tests="lm-dawinobias+lm-abc")
        assert run.plain["signature"] == expected
