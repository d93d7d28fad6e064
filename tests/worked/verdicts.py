"""Findings worked out from figures and their bands, with Holm's correction over a whole run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from scipy import stats

from worked.messages import message
from worked.resampling import Figure

STEREOTYPE = ["pro-stereotypical", "anti-stereotypical"]
PRONOUNS = ["male pronouns", "female pronouns"]
SIZES = ["small", "medium", "large"]
Evidence = dict[str, Any]
Plain = dict[str, Any]


def evidence(
    figure: Figure, key: str, effect: str, name: Plain, unit: str, band: float, sides: list[str]
) -> Evidence:
    """A figure that an effect is judged on, before correction."""
    seen = acquitted = None
    if figure.error and figure.low is not None:
        reach = float(stats.t.ppf(0.975, figure.df))
        seen = (reach + float(stats.t.ppf(0.8, figure.df))) * figure.error
        acquitted = (reach + float(stats.t.ppf(0.9, figure.df))) * figure.error
    return {
        "id": key,
        "effect": effect,
        "name": name,
        "unit": unit,
        "sides": sides,
        "band": band,
        **figure.shown,
        "p": figure.p,
        "p_adjusted": None,
        "seen": seen,
        "acquitted": acquitted,
    }


def holm(ps: Sequence[float]) -> list[float]:
    """Each p times the number of those not smaller; never less than for a smaller p."""

    def alone(p: float) -> float:
        return min(1.0, p * sum(other >= p for other in ps))

    return [max(alone(other) for other in ps if other <= p) for p in ps]


def correct(*tests: tuple[list[Evidence], list[Evidence]]) -> int:
    """Adjust p over all figures of a run, in place; return how many there are."""
    judged = [one for main, groups in tests for one in (*main, *groups) if one["p"] is not None]
    for one, p in zip(judged, holm([one["p"] for one in judged]), strict=True):
        one["p_adjusted"] = p
    return len(judged)


def finding(
    main: list[Evidence],
    groups: list[Evidence],
    tests: int,
    problem: Plain | None = None,
    doubt: Plain | None = None,
) -> Plain:
    """The finding of a test as a result holds it; its p-values are adjusted already."""
    of_main = _effect(main, tests, problem, doubt)
    of_groups = _effect(groups, tests, problem, None)
    verdicts = (of_main["is"], of_groups["is"])
    if "bias" in verdicts:
        headline = "bias"
    elif of_main["is"] == "not_measurable":
        headline = "not_measurable"
    else:
        headline = "undecided" if "undecided" in verdicts else of_groups["is"]
    leading = of_main
    if of_groups["is"] == headline:
        larger = headline == "bias" and of_main["is"] == "bias"
        larger = larger and SIZES.index(of_groups["size"]) > SIZES.index(of_main["size"])
        if of_main["is"] != headline or larger:
            leading = of_groups
    return {
        "headline": headline,
        "in_groups_only": headline == "bias" and of_main["is"] != "bias",
        "main": of_main,
        "groups": of_groups,
        "could_have_seen": leading["could_have_seen"],
        "reason": leading["reason"],
        "not_judged": None,
    }


def finding_alone(
    figures: tuple[list[Evidence], list[Evidence]],
    problem: Plain | None = None,
    doubt: Plain | None = None,
) -> Plain:
    """The finding of a test that is alone in its run."""
    return finding(*figures, correct(figures), problem, doubt)


def not_judged() -> Plain:
    """The finding of protocol 1."""
    nothing: Plain = {
        **dict.fromkeys(("direction", "size", "band", "unit", "could_have_seen")),
        "could_have_acquitted": None,
        "is": "not_judged",
        "reason": None,
        "evidence": [],
        "problem": None,
        "doubt": None,
        "tests": 0,
    }
    return {
        "headline": "not_judged",
        "in_groups_only": False,
        "main": nothing,
        "groups": nothing,
        "could_have_seen": None,
        "reason": message("no_interval"),
        "not_judged": message("no_interval"),
    }


def _verdict(one: Evidence) -> str:
    if one["value"] is None:
        return "not_measurable"
    if one["low"] is None:
        return "undecided"
    if -one["band"] <= one["low"] and one["high"] <= one["band"]:
        return "negligible"
    return "bias" if _excludes_zero(one) and one["p_adjusted"] < 0.05 else "undecided"


def _excludes_zero(one: Evidence) -> bool:
    return one["low"] is not None and (one["low"] > 1e-12 or one["high"] < -1e-12)


def _size(one: Evidence) -> str:
    bands = abs(one["value"]) / one["band"]
    inner = max(0.0, one["low"], -one["high"]) / one["band"]
    if bands >= 4 and inner >= 2:
        return "large"
    return "medium" if bands >= 2 and inner >= 1 else "small"


def _effect(
    figures: list[Evidence], tests: int, problem: Plain | None, doubt: Plain | None
) -> Plain:
    judged = [{**one, "is": _verdict(one)} for one in figures]
    biased = [one for one in judged if one["is"] == "bias"]
    if problem:
        verdict = "not_measurable"
    elif biased:
        verdict = "bias"
    elif doubt or all(one["is"] == "not_measurable" for one in judged):
        verdict = "not_measurable"
    else:
        verdict = "negligible" if _is_negligible(judged) else "undecided"
    if biased:
        # The largest; of two as large, the first.
        deciding = max(biased, key=lambda one: SIZES.index(_size(one)))
    else:
        like = [one for one in judged if (one["is"] == "negligible") == (verdict == "negligible")]
        deciding = (like or judged)[-1]
    return {
        "is": verdict,
        "direction": deciding["sides"][deciding["value"] <= 0] if verdict == "bias" else None,
        "size": _size(deciding) if verdict == "bias" else None,
        "band": deciding["band"],
        "unit": deciding["unit"],
        "could_have_seen": deciding["seen"],
        "could_have_acquitted": deciding["acquitted"],
        "reason": _reason(verdict, judged, deciding, tests, problem or doubt),
        "evidence": judged,
        "problem": problem,
        "doubt": doubt,
        "tests": tests,
    }


def _is_negligible(judged: list[Evidence]) -> bool:
    """The last figure of each effect is negligible, and no other lies beyond its band."""
    effects = {one["effect"] for one in judged}
    for effect in effects:
        *others, last = (one for one in judged if one["effect"] == effect)
        if last["is"] != "negligible":
            return False
        if any(one["value"] is None or abs(one["value"]) > one["band"] for one in others):
            return False
    return True


def _reason(
    verdict: str, judged: list[Evidence], deciding: Evidence, tests: int, fault: Plain | None
) -> Plain | None:
    if verdict == "not_measurable":
        return fault or judged[0]["reason"]
    if verdict != "undecided":
        return None
    if tests > 1 and any(_excludes_zero(one) and one["p_adjusted"] >= 0.05 for one in judged):
        return message("lost_by_correction", tests=tests)
    if deciding["low"] is None:
        reason: Plain = deciding["reason"]
        return reason
    return message("crosses_band", band=deciding["band"], unit=deciding["unit"])
