"""Probabilities of options from the log-probabilities of the tokens that a model might have written.

The model's own answer is followed token by token. At each place, a token that makes the text the
beginning of exactly one option gives that option its probability; while the text is the beginning of
several options, the walk goes on along the answer. So an option in several tokens (*h* + *un*) is exact
where it can be told from the others, and what is approximated is this: words that begin like an option
and then go on otherwise count for it, and an option that is not among the reported tokens gets the
smallest reported probability, which it cannot exceed. Options that part only where the answer did not go
get that bound as well.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from gendalens.models.endpoint.dialect import read_choice_of

# What a model may put in front of its answer.
_LEADING = " \t\n\r\"'»«„“”*_▁Ġ"
_LEAST = -100.0


@dataclass(frozen=True, slots=True)
class Place:
    """The token that was written at a place, and the log-probabilities of those that might have been."""

    token: str
    log_prob: float
    others: tuple[tuple[str, float], ...]


def read_places(plain: dict[str, Any]) -> list[Place]:
    """The places of a chat response's answer; empty if the server gave no log-probabilities."""
    logprobs = read_choice_of(plain).get("logprobs")
    content = logprobs.get("content") if isinstance(logprobs, dict) else None
    places = []
    for one in content if isinstance(content, list) else ():
        entry = _read_entry(one)
        if entry is None:
            break
        top = one.get("top_logprobs")
        others = [_read_entry(each) for each in top] if isinstance(top, list) else []
        places.append(Place(*entry, tuple(each for each in others if each is not None)))
    return places


def score_options(places: Sequence[Place], options: Sequence[str]) -> tuple[float, ...] | None:
    """The log-probability of each option; None if none of them is within sight."""
    names = [option.casefold() for option in options]
    mass: list[list[float]] = [[] for _ in options]
    bound = 0.0
    written, path = "", 0.0
    for place in places:
        seen = dict(place.others)
        seen.setdefault(place.token, place.log_prob)
        smallest = min(seen.values())
        for token, log_prob in seen.items():
            fitting = _find_fitting(written, token, names)
            if len(fitting) == 1:
                mass[fitting[0]].append(path + log_prob)
        bound = path + smallest
        next_text = written + place.token
        if len(_find_fitting(written, place.token, names)) < 2 and next_text.strip(_LEADING):
            break
        written, path = next_text, path + place.log_prob
    if not any(mass):
        return None
    return tuple(_add_up(found) if found else max(bound, _LEAST) for found in mass)


def _find_fitting(written: str, token: str, names: Sequence[str]) -> list[int]:
    """The options that a text may become, or is, if this token comes next."""
    before = written.lstrip(_LEADING).casefold()
    text = (written + token).lstrip(_LEADING).casefold()
    if not text:
        return []
    begun = [index for index, name in enumerate(names) if name.startswith(text)]
    if begun:
        return begun
    # The option before is complete if no letter follows.
    rest = text[len(before) :] if before else ""
    if before in names and not rest[:1].isalnum():
        return [names.index(before)]
    whole = [
        index
        for index, name in enumerate(names)
        if text.startswith(name) and not text[len(name)].isalnum()
    ]
    return whole[:1]


def _add_up(values: Sequence[float]) -> float:
    top = max(values)
    return top + math.log(math.fsum(math.exp(value - top) for value in values))


def _read_entry(one: Any) -> tuple[str, float] | None:
    if not isinstance(one, dict):
        return None
    token, log_prob = one.get("token"), one.get("logprob")
    if not isinstance(token, str) or isinstance(log_prob, bool):
        return None
    if not isinstance(log_prob, int | float) or math.isnan(log_prob):
        return None
    return token, min(0.0, max(_LEAST, float(log_prob)))
