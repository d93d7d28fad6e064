"""What authors of tests and backends get wrong is one sentence, and the rest of a run is kept."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

import gendalens
from gendalens.errors import UserError
from gendalens.tasks import all_tasks
from gendalens.tasks.options import Option

SOURCE = Path(__file__).parents[2] / "examples" / "plugin" / "src"


@pytest.fixture
def job_ads(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.syspath_prepend(str(SOURCE))
    before = dict(all_tasks())
    module: Any = importlib.import_module("gendalens_job_ads.job_ads")
    yield module.JobAds
    all_tasks().clear()
    all_tasks().update(before)
    for name in [name for name in sys.modules if name.startswith("gendalens_job_ads")]:
        del sys.modules[name]


def test_a_class_is_as_good_as_an_object_and_takes_options_by_keyword(job_ads: Any) -> None:
    (result,) = gendalens.run("control:fair", tasks=[job_ads])
    assert result.coverage == {"ads": 12}
    (result,) = gendalens.run("control:fair", tasks=[job_ads()], tone="caring")
    assert result.coverage == {"ads": 6}


def test_an_object_whose_option_is_out_of_bounds_is_refused(job_ads: Any) -> None:
    with pytest.raises(UserError, match="--tone angry: choose both, caring or competitive"):
        gendalens.run("control:fair", tasks=[job_ads(tone="angry")])


@pytest.mark.parametrize("name", ["out", "tasks", "json", "seed", "language"])
def test_an_option_of_the_program_cannot_be_taken(job_ads: Any, name: str) -> None:
    taken = Option(name=name, default="x", help="Something else.")
    fields = {"options": (taken,), "card": replace(job_ads.card, name="other")}
    other = type("Other", (job_ads,), fields)
    with pytest.raises(UserError, match=f"--{name} is an option of the program"):
        gendalens.run("control:fair", tasks=[other()])


@pytest.mark.parametrize(
    ("card", "reason"),
    [
        ({"name": "Bad Name/.."}, "cannot name a test"),
        ({"name": "other", "needs": frozenset({"scor"})}, "no kind of request called 'scor'"),
    ],
)
def test_a_card_that_cannot_be_is_refused(job_ads: Any, card: Any, reason: str) -> None:
    other = type("Other", (job_ads,), {"card": replace(job_ads.card, **card)})
    with pytest.raises(UserError, match=reason):
        gendalens.run("control:fair", tasks=[other()])


def test_other_sentences_are_another_signature(job_ads: Any) -> None:
    (whole,) = gendalens.run("control:fair", tasks=[job_ads()])
    (caring,) = gendalens.run("control:fair", tasks=[job_ads(tone="caring")])
    assert whole.data["job-ads"]["whose"] == "test"
    assert whole.data["job-ads"]["sha256"] != caring.data["job-ads"]["sha256"]
    assert f"data:job-ads@{whole.data['job-ads']['sha256'][:12]}" in whole.signature


def test_a_result_that_could_not_be_read_back_is_not_saved(job_ads: Any, tmp_path: Path) -> None:
    @dataclass(frozen=True)
    class Empty(job_ads):  # type: ignore[misc]
        card = replace(job_ads.card, name="empty")

        def measure(self, records: Sequence[Any], *, seed: int, resamples: int = 9) -> Any:
            return replace(super().measure(records, seed=seed), conditions=(), nuance=())

    with pytest.raises(UserError, match=r"empty: The result cannot be saved \(there are no cond"):
        gendalens.run("control:fair", tasks=[Empty(), job_ads()], out=tmp_path)
    (kept,) = tmp_path.rglob("result.json")
    assert kept.parent.name.startswith("job-ads@2-")


def test_a_test_that_crashes_is_one_sentence_with_the_place(job_ads: Any) -> None:
    @dataclass(frozen=True)
    class Crash(job_ads):  # type: ignore[misc]
        card = replace(job_ads.card, name="crash")

        def measure(self, records: Sequence[Any], *, seed: int, resamples: int = 9) -> Any:
            raise ZeroDivisionError("division by zero")

    with pytest.raises(
        UserError,
        match=r"ZeroDivisionError: division by zero \(test_misuse\.py, line \d+\): report",
    ):
        gendalens.run("control:fair", tasks=[Crash()])


def test_a_prefix_that_nobody_has_is_named() -> None:
    with pytest.raises(UserError, match=r"no kind of model cuonts:; the prefixes are .*control:"):
        gendalens.run("cuonts:corpus.txt")
