"""Tests as objects: ``gendalens.run(tasks=[MyTest()])``."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import gendalens
from gendalens.errors import UserError
from gendalens.tasks import all_tasks

SOURCE = Path(__file__).parents[2] / "examples" / "plugin" / "src"


@pytest.fixture
def job_ads(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.syspath_prepend(str(SOURCE))
    job_ads: Any = importlib.import_module("gendalens_job_ads.job_ads")

    before = dict(all_tasks())
    yield job_ads.JobAds
    all_tasks().clear()
    all_tasks().update(before)
    for name in [name for name in sys.modules if name.startswith("gendalens_job_ads")]:
        del sys.modules[name]


def test_an_object_is_run_reported_and_compared(job_ads: Any, tmp_path: Path) -> None:
    models = ["control:fair", "control:male-default?strength=0.9"]
    fair, male = gendalens.run(models, tasks=[job_ads()], out=tmp_path)
    assert (fair.task, male.task) == ("job-ads", "job-ads")
    assert (male.gap.value or 0) > (fair.gap.value or 0) + 0.3
    assert "job-ads@2" in (tmp_path / "report.html").read_text(encoding="utf-8")
    (group,) = gendalens.compare(tmp_path).groups
    assert len(group.rows) == 2


def test_an_object_keeps_the_options_it_was_made_with(job_ads: Any) -> None:
    (result,) = gendalens.run("control:fair", tasks=job_ads(tone="caring"))
    assert result.coverage == {"ads": 6}


def test_a_name_that_stands_for_another_test_is_refused(job_ads: Any) -> None:
    class Other(job_ads):  # type: ignore[misc]
        card = replace(job_ads.card, name="lm-abc")

    with pytest.raises(UserError, match="a test lm-abc@2 already exists"):
        gendalens.run("control:fair", tasks=[Other()])
