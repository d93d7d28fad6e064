"""How long a server wants to be left alone, by the headers of its response."""

from __future__ import annotations

import re
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from time import time

_PARTS = re.compile(r"(\d+(?:\.\d+)?)(ms|h|m|s)")
_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}


def read_wait(status: int, headers: Mapping[str, str]) -> float:
    """The seconds to wait before the next request; 0 if the server does not say.

    ``Retry-After`` counts for responses that are no answers. Without it, a limit of requests or tokens
    that is used up (``x-ratelimit-…``) counts.
    """
    if status != 200:
        wait = _read_seconds(headers.get("retry-after-ms", "")) / 1000
        if wait := max(wait, read_retry_after(headers.get("retry-after", ""))):
            return wait
    waits = [0.0]
    for what in "requests", "tokens":
        left = headers.get(f"x-ratelimit-remaining-{what}", "").strip()
        if left == "0" or (status == 429 and not any(waits)):
            waits.append(_read_duration(headers.get(f"x-ratelimit-reset-{what}", "")))
    return max(waits)


def read_retry_after(text: str) -> float:
    """The seconds of a ``Retry-After``, which is a number or a date; 0 if it is neither.

    >>> read_retry_after("1.5")
    1.5
    """
    if seconds := _read_seconds(text):
        return seconds
    try:
        return max(0.0, parsedate_to_datetime(text).timestamp() - time())
    except (TypeError, ValueError, OverflowError):  # of a year that there is not
        return 0.0


def _read_seconds(text: str) -> float:
    try:
        found = float(text)
    except ValueError:
        return 0.0
    return found if 0 <= found < float("inf") else 0.0


def _read_duration(text: str) -> float:
    """The seconds of a duration such as 6m0s or 250ms; a plain number counts seconds."""
    found = _PARTS.findall(text)
    if not found:
        return _read_seconds(text)
    return sum(float(number) * _SECONDS[unit] for number, unit in found)
