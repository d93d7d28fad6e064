"""Results and comparisons as data frames: every figure once, and numbers as numbers."""

from __future__ import annotations

import math
import subprocess
import sys
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import gendalens
from gendalens.results.result import Result
from gendalens.words import write

NUMBERS = (
    *("value", "low", "high", "sd", "p", "p_adjusted", "band"),
    *("could_have_seen", "could_have_acquitted"),
)


@pytest.fixture(scope="module")
def results(small_run: Path) -> gendalens.Results:
    return gendalens.load(small_run)


def figures(result: Result) -> list[Any]:
    finding = result.finding
    judged = [*finding.main.evidence, *finding.groups.evidence]
    headline = [result.gender_effect_size, result.gap, result.contrast]
    return [*headline, *judged, *result.conditions, *result.nuance, *result.extra]


def same(found: float, expected: float | None) -> bool:
    return math.isnan(found) if expected is None else found == expected


def test_every_figure_of_every_result_is_one_row_and_unrounded(results: gendalens.Results) -> None:
    frame = results.to_frame()
    assert len(frame) == sum(len(figures(result)) for result in results)
    for result in results:
        mine = frame[frame.signature == result.signature]
        for (_, row), figure in zip(mine.iterrows(), figures(result), strict=True):
            for name in ("value", "low", "high"):
                assert same(row[name], getattr(figure, name))
            for name in ("p", "p_adjusted"):
                assert same(row[name], getattr(figure, name, None))


def test_the_table_of_findings_has_every_figure_in_its_own_column(
    results: gendalens.Results,
) -> None:
    frame = results.findings()
    for (_, row), result in zip(frame.iterrows(), results, strict=True):
        finding, effect = result.finding, result.gender_effect_size
        assert (row.headline, row.main, row.groups) == (
            finding.headline,
            finding.main.verdict,
            finding.groups.verdict,
        )
        for part, one in (
            ("", finding.leading),
            ("main_", finding.main),
            ("groups_", finding.groups),
        ):
            for name in ("direction", "size"):
                found, expected = row[f"{part}{name}"], getattr(one, name)
                assert pd.isna(found) if not expected else found == expected
        assert same(row.gender_effect_size, effect.value)
        assert same(row.low, effect.low)
        assert same(row.high, effect.high)
        assert row.warnings == len(result.warnings)


def test_numbers_are_numbers_and_what_is_undefined_is_missing(results: gendalens.Results) -> None:
    undefined = replace(results[0].gap, p=None, low=None)
    frame = replace(results[0], gap=undefined).to_frame()
    for name in NUMBERS:
        assert frame[name].dtype == "float64"
    assert frame.n.dtype == "Int64"
    assert frame.protocol.dtype == "int64"
    gap = frame[frame.part == "gap"].iloc[0]
    assert math.isnan(gap.p)
    assert math.isnan(gap.low)
    assert pd.isna(gap.n)
    texts: pd.DataFrame = frame.select_dtypes("string")
    assert not texts.isin(["None", "nan", "<NA>", ""]).any().any()


def test_a_frame_has_the_same_columns_and_types_whatever_is_in_it(
    results: gendalens.Results,
) -> None:
    types = results.to_frame().dtypes.to_dict()
    assert results[0].to_frame().dtypes.to_dict() == types
    assert gendalens.Results().to_frame().dtypes.to_dict() == types
    assert gendalens.Results().findings().dtypes.to_dict() == results.findings().dtypes.to_dict()


def test_conditions_pivot_by_condition_and_group(results: gendalens.Results) -> None:
    [result] = [one for one in results[:5] if one.task == "lm-dawinobias"]
    frame = result.to_frame()
    table = frame[frame.part == "nuance"].pivot_table("value", "condition", "group")
    for cell in result.nuance:
        assert table.loc[cell.condition, str(cell.group)] == cell.value


def test_evidence_says_what_it_shows_and_other_figures_do_not(results: gendalens.Results) -> None:
    frame = results.to_frame()
    judged = frame.part.str.startswith("evidence")
    assert frame[judged].finding.notna().all()
    assert frame[~judged].finding.isna().all()
    biased = frame[frame.finding == "bias"]
    assert len(biased)
    assert biased["size"].isin(["small", "medium", "large"]).all()
    assert biased.direction.notna().all()
    rest = frame[frame.finding != "bias"]
    assert rest["size"].isna().all()
    assert rest.direction.isna().all()


def test_bounds_that_are_quartiles_say_so(results: gendalens.Results) -> None:
    cell = replace(results[0].conditions[0], brackets="quartiles")
    frame = replace(results[0], conditions=(cell,), nuance=()).to_frame()
    assert frame[frame.part == "condition"].bounds.tolist() == ["quartiles"]
    assert frame[frame.part == "gap"].bounds.tolist() == ["interval"]


def test_findings_have_a_row_per_result(results: gendalens.Results) -> None:
    frame = results.findings()
    assert len(frame) == len(results)
    for (_, row), result in zip(frame.iterrows(), results, strict=True):
        finding = result.finding
        assert row.headline == finding.headline
        assert (row.main, row.groups) == (finding.main.verdict, finding.groups.verdict)
        assert row.verdict == str(finding)
        expected = finding.leading.size
        assert pd.isna(row["size"]) if expected is None else row["size"] == expected
        assert same(row.gender_effect_size, result.gender_effect_size.value)
        assert row.warnings == len(result.warnings)


def test_every_difference_is_one_row_with_its_finding(results: gendalens.Results) -> None:
    comparison = gendalens.compare(results)
    frame = comparison.to_frame()
    pairs = [pair for group in comparison.groups for pair in group.pairs]
    expected: list[Any] = [one for pair in pairs for one in (*pair.main, *pair.groups, pair.effect)]
    assert len(pairs) == 5
    assert len(frame) == len(expected)
    for (_, row), one in zip(frame.iterrows(), expected, strict=True):
        assert same(row.value, one.value)
        assert same(row.low, one.low)
        assert same(row.p_adjusted, getattr(one, "p_adjusted", None))
    assert [str(kind) for kind in frame[["value", "p", "differs"]].dtypes] == [
        "float64",
        "float64",
        "boolean",
    ]


def test_models_differ_where_the_interval_and_the_corrected_p_say_so(
    results: gendalens.Results, tmp_path: Path
) -> None:
    models, tasks = ["control:fair", "control:stereotyped"], ["lm-abc", "lm-dawinobias"]
    more = gendalens.run(models, tasks=tasks, data="builtin", sample=80, out=tmp_path, cache=False)
    frames = [gendalens.compare(one).to_frame() for one in (results, more)]
    frame = pd.concat(frames, ignore_index=True)
    judged = frame[frame.part != "effect"].dropna(subset=["low"])
    apart = (judged.low > 1e-12) | (judged.high < -1e-12)
    assert (judged.differs == (apart & (judged.p_adjusted < 0.05))).all()
    assert judged.differs.any()
    assert (apart & ~judged.differs).any()  # lost by correction
    assert frame[frame.part == "effect"].differs.isna().all()


def test_the_figure_of_a_difference_is_the_one_that_the_test_is_judged_on(
    results: gendalens.Results,
) -> None:
    frame = gendalens.compare(results, tasks="ner-dane").to_frame()
    [result] = [one for one in results[:5] if one.task == "ner-dane"]
    judged = result.to_frame()
    for part in ("main", "groups"):
        ids = judged[judged.part == f"evidence_{part}"].figure.tolist()
        mine = frame[frame.part == part].figure.tolist()
        assert mine == ids[: len(mine)] != []


@pytest.mark.usefixtures("danish")
def test_texts_of_a_frame_are_english_whatever_the_language(results: gendalens.Results) -> None:
    texts = results.to_frame()
    assert texts[texts.part == "gap"].name.tolist() == [str(one.gap.name) for one in results]
    assert results.findings().verdict.tolist() == [str(one.finding) for one in results]
    assert any(write(one.gap.name) != str(one.gap.name) for one in results)


def test_importing_the_package_loads_neither_pandas_nor_numpy_nor_altair() -> None:
    code = "import gendalens, sys; dir(gendalens); gendalens.UserError; "
    code += "print([n for n in ('pandas', 'numpy', 'altair', 'IPython') if n in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_letters_are_written_to_json_as_they_are(results: gendalens.Results) -> None:
    renamed = replace(results[0], model=replace(results[0].model, name="Ærøskøbing"))
    assert '"name": "Ærøskøbing"' in renamed.to_json()


def test_a_result_of_a_run_is_plain_data_without_resamples() -> None:
    [result] = gendalens.run("control:fair", tasks="lm-abc", data="builtin", sample=8)
    plain = asdict(result)
    judged = [*plain["finding"]["main"]["evidence"], *plain["finding"]["groups"]["evidence"]]
    assert judged
    assert [one["estimate"]["draws"] for one in judged] == [None] * len(judged)
