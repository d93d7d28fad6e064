"""JSON with values replaced, removed, doubled or nested, because random byte changes rarely parse."""

from __future__ import annotations

import json
from random import Random
from typing import Any

from fuzz.mangle import draw_count

VALUES: tuple[Any, ...] = (
    *(
        None,
        True,
        False,
        0,
        -1,
        1,
        2,
        10**6,
        2**31,
        2**63,
        -(2**63) - 1,
        10**30,
        10**320,
        -0.0,
        0.5,
    ),
    *(
        1e308,
        -1e308,
        5e-324,
        float("nan"),
        float("inf"),
        "",
        " ",
        "0",
        "x",
        "NaN",
        "\x00",
        "\ud800",
    ),
    *("\x1b[31m", "[red]", "../../x", "/etc/passwd", "a" * 3000, "æ", "\u202e", "|", "{0}", "<b>"),
    *([], {}, [[]], [None], {"": None}, [0, 1], {"0": "O"}, {"x": {"x": []}}),
)
DEEP = 3000


def change(content: bytes, dice: Random) -> bytes:
    """A JSON document with one to three values changed; other content is returned unchanged."""
    try:
        plain = json.loads(content)
    except ValueError:
        return content
    for _ in range(draw_count(dice, 0.22, 3)):
        plain = change_value(plain, dice)
    try:
        text = json.dumps(plain, ensure_ascii=dice.random() < 0.5)
    except ValueError:  # an integer with more digits than Python writes
        return content
    if dice.random() < 0.003:
        text = "[" * DEEP + text + "]" * DEEP
    return text.encode("utf-8", "surrogatepass")


def change_value(plain: Any, dice: Random) -> Any:
    """A value with one part of it, at any depth, changed."""
    if isinstance(plain, dict) and plain and dice.random() < 0.85:
        name = dice.choice(list(plain))
        how = dice.random()
        if how < 0.08:
            return {key: value for key, value in plain.items() if key != name}
        if how < 0.14:
            return {**plain, dice.choice(("", "x", name + "x", name.upper())): plain[name]}
        if how < 0.2:
            return {**plain, name: plain[dice.choice(list(plain))]}
        return {**plain, name: change_value(plain[name], dice)}
    if isinstance(plain, list) and plain and dice.random() < 0.8:
        at = dice.randrange(len(plain))
        how = dice.random()
        if how < 0.1:
            return plain[:at] + plain[at + 1 :]
        if how < 0.2:
            return [*plain[:at], plain[at], *plain[at:]]
        return [*plain[:at], change_value(plain[at], dice), *plain[at + 1 :]]
    if type(plain) in (int, float) and abs(plain) < 1e300 and dice.random() < 0.4:
        return plain + dice.choice((-1, 1, 0.5, 100, -plain, 2 * abs(plain)))
    if isinstance(plain, str) and dice.random() < 0.4:
        at = dice.randrange(len(plain) + 1)
        return plain[:at] + dice.choice(("x", " ", "\n", "\x1b[2J", "Å", "|", "")) + plain[at + 1 :]
    return dice.choice(VALUES)
