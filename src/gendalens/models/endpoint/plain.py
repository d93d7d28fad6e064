"""Values in a server's JSON: each may be anything, and is what is expected or nothing."""

from __future__ import annotations

import json
import math
from typing import Any


def read_json(text: str) -> Any:
    """The JSON of a text; None if it is none."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def mend_letters(plain: Any) -> Any:
    r"""The same JSON with halves of letters joined, or replaced where the other half is missing.

    Servers that cut a text within an emoji send such halves, which can be neither stored nor shown.

    >>> ascii(mend_letters("\ud83d" + "\ude00" + "\ud83d"))
    "'\\U0001f600\\ufffd'"
    """
    text = json.dumps(plain, ensure_ascii=False)
    return json.loads(text.encode("utf-16", "surrogatepass").decode("utf-16", "replace"))


def read_dict(value: Any) -> dict[str, Any]:
    """An object; empty if the value is none."""
    return value if isinstance(value, dict) else {}


def read_list(value: Any) -> list[Any]:
    """An array; empty if the value is none."""
    return value if isinstance(value, list) else []


def read_number(value: Any) -> float | None:
    """A finite number; None if the value is none."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        found = float(value)
    except OverflowError:  # a whole number of hundreds of digits
        return None
    return found if math.isfinite(found) else None
