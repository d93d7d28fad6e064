"""Where most choices change with the order of the options, only log-odds are judged."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from chatting import ScriptedChat, run_chat, throw

from gendalens.comparison.comparison import compare
from gendalens.comparison.groups import Pair
from gendalens.data.choice import read_choices
from gendalens.engine.run_options import RunOptions
from gendalens.engine.session import Job, run_jobs
from gendalens.models.requests import REFUSED
from gendalens.results.model_info import ModelInfo
from gendalens.results.result import Result

CHOICES_NOT_JUDGED, ORDER_DECIDES = "chat.choices_not_judged", "chat.order_decides"


def lean(preference: float, *, order: float, noise: float = 0.02) -> Callable[..., float]:
    """Log-odds of the second option in nats; being named first is worth ``order``."""

    def reply(request: Any, asked: int, place: int) -> float:
        return preference + (order if place else -order) + noise * throw(request, asked)

    return reply


def list_ids(result: Result) -> list[str]:
    return [one.id for one in result.finding.evidence]


def list_codes(result: Result) -> list[str]:
    return [one.code for one in result.warnings]


def test_a_tiny_lean_that_is_always_the_same_is_no_large_bias() -> None:
    result = run_chat("lm-dawinobias", lean(0.05, order=0.4), sample=80)
    assert result.coverage["choices_that_change_with_the_order"] == 1
    # Counted in choices, it would take the same pronoun in every line.
    assert result.contrast.value is not None
    assert abs(result.contrast.value) > 0.6
    assert list_ids(result) == ["log_odds_gap", "log_odds"]
    assert result.finding.groups.verdict == "negligible"
    assert result.finding.headline == "not_measurable"
    assert list_codes(result).count(CHOICES_NOT_JUDGED) == 1


def test_a_lean_that_matters_is_found_whatever_the_order_does() -> None:
    weak, strong = (
        run_chat("lm-dawinobias", lean(0.3, order=order), sample=80) for order in (0.2, 0.4)
    )
    assert weak.coverage["choices_that_change_with_the_order"] == 0
    assert strong.coverage["choices_that_change_with_the_order"] == 1
    assert weak.finding.groups.verdict == strong.finding.groups.verdict == "bias"
    assert weak.finding.groups.direction == strong.finding.groups.direction
    assert "contrast" in list_ids(weak)
    assert CHOICES_NOT_JUDGED not in list_codes(weak)


def test_effects_that_only_choices_show_are_in_doubt() -> None:
    result = run_chat("coref-dawinobias", lean(0.05, order=0.4), sample=80)
    assert list_ids(result) == ["margin_gap", "pronoun_margin_gap"]
    assert result.finding.main.verdict == "negligible"
    groups = result.finding.groups
    assert groups.verdict == "not_measurable"
    assert groups.reason is not None
    assert groups.reason.code == ORDER_DECIDES


def test_a_test_that_has_only_choices_cannot_be_measured() -> None:
    result = run_chat("coref-abc", lean(-0.05, order=0.4), sample=80)
    assert list_ids(result) == []
    assert CHOICES_NOT_JUDGED not in list_codes(result)
    assert result.finding.headline == "not_measurable"
    assert result.finding.reason is not None
    assert result.finding.reason.code == ORDER_DECIDES


def test_refusals_are_judged_all_the_same() -> None:
    ordinary = lean(0.05, order=0.4)

    def reply(request: Any, asked: int, place: int) -> float | str:
        return REFUSED if throw(request, "refused") < -0.6 else ordinary(request, asked, place)

    result = run_chat("lm-dawinobias", reply, sample=80)
    assert list_ids(result) == ["log_odds_gap", "log_odds", "refusals"]


class Named(ScriptedChat):
    """A chat model that goes by its preference."""

    @property
    def info(self) -> ModelInfo:
        return replace(super().info, name=f"chat {self.reply(None, 0, 1):.2f}")


def test_models_are_not_paired_by_choices_that_are_not_judged(tmp_path: Path) -> None:
    def run(preferences: Sequence[float], order: float) -> Pair:
        out = tmp_path / f"{order}"
        options = RunOptions(data=read_choices("builtin"), use_cache=False, sample=60, out=out)
        models = [Named(lean(one, order=order)) for one in preferences]
        run_jobs([Job(model, ["lm-dawinobias"]) for model in models], options)
        (group,) = compare(out).groups
        (pair,) = group.pairs
        return pair

    certain, ordered = (run((0.3, -0.3), order) for order in (0.1, 0.5))
    assert all(one.value is not None for one in certain.groups)
    for one in ordered.groups:
        assert one.value is None
        assert one.reason is not None
        assert one.reason.code == "compare.choices_follow_order"
