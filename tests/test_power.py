"""What a run could see, before it: by figure, in two worlds, for a model that answers by chance."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from small_data import small_data
from typer.testing import CliRunner

import gendalens
from gendalens.cli.app import app
from gendalens.comparison.power import Power, compute_power
from gendalens.errors import UserError
from gendalens.tasks import get_task
from gendalens.words import phrase


def rows_of(rows: list[Power], part: str, world: str) -> list[Power]:
    return [row for row in rows if (row.part, row.world) == (part, world)]


def test_every_figure_is_there_in_both_worlds(tmp_path: Path) -> None:
    data = small_data(tmp_path)
    (result,) = gendalens.run("control:fair", tasks="lm-dawinobias", data=data)
    rows = gendalens.power("lm-dawinobias", data=data)
    for part in ("main", "groups"):
        evidence = getattr(result.finding, part).evidence
        for world in ("independent", "clustered"):
            found = [(row.id, row.unit, row.band) for row in rows_of(rows, part, world)]
            assert found == [(one.id, one.unit, one.band) for one in evidence]


def test_more_data_see_more_and_shared_effects_hide_more() -> None:
    few, many = (gendalens.power("lm-abc", data="builtin", sample=size) for size in (60, 400))
    for part in ("main", "groups"):
        (small,), (large,) = (rows_of(rows, part, "independent") for rows in (few, many))
        (clustered,) = rows_of(many, part, "clustered")
        assert small.seen is not None
        assert large.seen is not None
        assert clustered.seen is not None
        assert large.acquitted is not None
        assert large.seen < 0.7 * small.seen
        assert clustered.seen > 1.5 * large.seen
        assert large.acquitted > large.seen


def test_what_a_run_could_see_is_the_median_of_what_fair_models_say(tmp_path: Path) -> None:
    """With five seeds, the third smallest of the five runs."""
    data = small_data(tmp_path)
    models = [f"control:fair?seed={seed}" for seed in range(5)]
    seen = sorted(
        result.finding.main.evidence[0].seen or 0
        for result in gendalens.run(models, tasks="coref-abc", data=data)
    )
    (row,) = rows_of(gendalens.power("coref-abc", data=data), "main", "independent")
    assert row.seen == pytest.approx(seen[2], rel=0.1)  # fewer resamples


def test_a_band_decides_what_can_be_acquitted() -> None:
    row = Power(
        part="main",
        id="gap",
        name=phrase("gap"),
        unit="bits",
        band=0.25,
        world="independent",
        seen=0.2,
        acquitted=0.25,
    )
    assert row.can_acquit
    assert not replace(row, band=0.2).can_acquit
    assert not replace(row, seen=None, acquitted=None).can_acquit


def test_the_command_prints_it_and_gives_it_as_json() -> None:
    command = ["power", "lm-abc", "--data", "builtin", "--sample", "60"]
    shown = CliRunner().invoke(app, command)
    assert shown.exit_code == 0
    text = " ".join(shown.output.split())
    assert "lm-abc@2" in text
    assert "a sample of 60" in text
    assert "Main effect: preference for hans over hendes, band ±0.25 bits" in text
    assert "for a model that answers by chance; a real model may vary more or less" in text
    plain = json.loads(
        CliRunner().invoke(app, [*command, "--json", "--negligible", "lm-abc=9"]).output
    )
    assert plain["sample"] == 60
    assert [row["band"] for row in plain["figures"]] == [9.0, 9.0, 18.0, 18.0]
    assert all(row["can_acquit"] for row in plain["figures"])


def test_a_test_without_control_models_is_one_sentence() -> None:
    with pytest.raises(UserError, match="lm-abc@1 has no answers for control models"):
        compute_power(get_task("lm-abc", 1), [])
