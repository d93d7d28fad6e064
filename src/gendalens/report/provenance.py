"""Whose data a result is about: the published set, the built-in one in its place, or the user's own."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from gendalens.data.builtin.catalogue import BUILT_IN
from gendalens.data.registry import checksum
from gendalens.results.result import Result
from gendalens.results.signature import parts

Kind = Literal["official", "built in", "own"]
TITLES = {"dawinobias": "DaWinoBias", "abc": "ABC (Danish)", "dane": "DaNE, persons renamed"}
ON_THE_HUB = {"dane": "alexandrainst/dane"}
_LIMITS = ("limit_binary", "limit_tests", "limit_fair")
_LABELS = {"dawinobias": "limit_labels_dawinobias", "abc": "limit_labels_abc"}


def kind(result: Result, name: str) -> Kind:
    """Which of the three a set of a result is."""
    one = result.data[name]
    if str(one["from"]).startswith(BUILT_IN):
        return "built in"
    return "official" if one["sha256"] == checksum(name) else "own"


def title(result: Result, name: str) -> str:
    """A name that nobody takes for the published set where it is another."""
    official = TITLES.get(name, name)
    return {
        "official": official,
        "built in": f"GenDa Lens, built-in set in place of {official}",
        "own": f"own data in place of {official}",
    }[kind(result, name)]


def on_the_hub(result: Result, name: str) -> str | None:
    """The set's name on the hub, where it is the published set and is there."""
    return ON_THE_HUB.get(name) if kind(result, name) == "official" else None


def limits(results: Iterable[Result]) -> list[str]:
    """The words for what a page's results do not show; published sets bring their own."""
    classed = {
        _LABELS[name]
        for result in results
        for name in result.data
        if name in _LABELS and kind(result, name) == "official"
    }
    return [*_LIMITS, *sorted(classed)]


def details(result: Result) -> dict[str, str]:
    """Every set with where it is from and its checksum."""
    return {
        name: f"{one['from']}, sha256:{one['sha256']}" for name, one in sorted(result.data.items())
    }


def sampled(result: Result) -> str | None:
    """How much of the data was used, where it was not all."""
    sample = parts(result.signature)["sample"]
    return None if sample == "all" else f"a sample of {sample}"


def reservations(result: Result) -> list[str]:
    """What a reader of one figure must know of its data: not the published sets, or not all of them."""
    kinds = {kind(result, name) for name in result.data}
    whose = {"built in": "built-in data", "own": "own data"}
    found = [words for one, words in whose.items() if one in kinds]
    sample = sampled(result)
    return [*found, sample] if sample else found


def told(result: Result) -> str:
    """The sets in one line, those of one origin together, and how much of them was used."""
    sets: dict[str, list[str]] = {}
    for name, data in result.data.items():
        sets.setdefault(data["from"], []).append(name)
    line = "; ".join(f"{', '.join(names)}: {origin}" for origin, names in sets.items())
    sample = sampled(result)
    return f"{line}; {sample}" if sample else line
