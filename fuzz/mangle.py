"""Sound bytes made unsound: seeded changes of bytes, lines, fields, numbers and letters."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from random import Random

NUMBER = re.compile(rb"-?\d+(?:\.\d+)?")
NUMBERS = (
    *(
        b"0",
        b"-0",
        b"-1",
        b"1",
        b"00",
        b"1_0",
        b"+1",
        b"0x10",
        b"1e5",
        b"1e309",
        b"-1e309",
        b"1e-400",
    ),
    *(b"NaN", b"nan", b"Infinity", b"-inf", b"2147483648", b"-9223372036854775809", b"9" * 30),
    *("٣".encode(), "²".encode(), "１".encode(), b"0.1", b"1.5", b"1.", b".5", b"4294967297"),
)
SIGNS = (
    # What ends lines here and not there, what is no space and looks like one, what has no width.
    *(b"\x00", b"\r", b"\r\n", b"\n", b"\n\n", b"\t", b"\v", b"\f", b"\x1c", b"\x1e", b"\x85"),
    *("\x85".encode(), "\xa0".encode(), "\u2028".encode(), "\u3000".encode(), "\u200b".encode()),
    *(
        "\ufeff".encode(),
        "\u202e".encode(),
        "\u0301".encode(),
        "\ufffd".encode(),
        "\uffff".encode(),
    ),
    # Letters whose capitals or small letters have another length.
    *(
        "İ".encode(),
        "ß".encode(),
        "ŉ".encode(),
        "ﬁ".encode(),
        "ǅ".encode(),
        "Σ".encode(),
        "ı".encode(),
    ),
    # No UTF-8: a half of a surrogate pair, an overlong form, a lone continuation, a cut letter.
    *(b"\xed\xa0\x80", b"\xc0\xaf", b"\x80", b"\xc3", b"\xff\xfe", b"\xf4\x90\x80\x80"),
    *("😀".encode(), "æ".encode(), "Å".encode(), b"\x1b[31m", b"\x1b]0;x\x07", b"[red]", b"[/]"),
    *(
        b"=",
        b"|",
        b"#",
        b"-",
        b"_",
        b".",
        b",",
        b";",
        b":",
        b'"',
        b"'",
        b"\\",
        b"/",
        b"../",
        b"{",
        b"}",
    ),
    *(b"[", b"]", b"%s", b"{0}", b"$x", b"<b>", b"&", b"?", b"*", b" ", b"  ", b"(", b")"),
)
LONG = 5000


class Mangler:
    """Changes bytes; ``words`` are what belongs to the format, and may turn up anywhere."""

    def __init__(self, words: Sequence[bytes] = ()) -> None:
        self._signs = (*SIGNS, *words, *words)
        self._changes: tuple[Callable[[bytes, Random], bytes], ...] = (
            *(_flip, _byte, _cut, _delete, _double, _line, _line, _fields, _fields),
            *(_number, _number, self._insert, self._insert, self._put, _case),
        )

    def change(self, content: bytes, dice: Random, other: bytes = b"") -> bytes:
        """A few changes, mostly one; ``other`` is something sound to take a piece from."""
        if other and dice.random() < 0.05:
            content = content[: _at(content, dice)] + other[_at(other, dice) :]
        for _ in range(few(dice, 0.3, 8)):
            content = dice.choice(self._changes)(content, dice)
        if dice.random() < 0.002:
            at = _at(content, dice)
            content = content[:at] + content[at : at + 3] * LONG + content[at:]
        return content

    def _insert(self, content: bytes, dice: Random) -> bytes:
        at = _at(content, dice)
        return content[:at] + dice.choice(self._signs) + content[at:]

    def _put(self, content: bytes, dice: Random) -> bytes:
        at = _at(content, dice)
        return content[:at] + dice.choice(self._signs) + content[at + 1 + dice.randrange(4) :]


def few(dice: Random, again: float, most: int) -> int:
    """1, 2, 3, …: each further one with probability ``again``."""
    count = 1
    while count < most and dice.random() < again:
        count += 1
    return count


def _at(content: bytes, dice: Random) -> int:
    return dice.randrange(len(content) + 1)


def _flip(content: bytes, dice: Random) -> bytes:
    if not content:
        return b"\x00"
    at = dice.randrange(len(content))
    return content[:at] + bytes([content[at] ^ 1 << dice.randrange(8)]) + content[at + 1 :]


def _byte(content: bytes, dice: Random) -> bytes:
    at = _at(content, dice)
    return content[:at] + bytes([dice.randrange(256)]) + content[at + 1 :]


def _cut(content: bytes, dice: Random) -> bytes:
    # Mostly near the end, where a copy that broke off breaks off.
    if dice.random() < 0.5:
        return content[: max(0, len(content) - 1 - dice.randrange(40))]
    return content[: _at(content, dice)]


def _delete(content: bytes, dice: Random) -> bytes:
    at = _at(content, dice)
    return content[:at] + content[at + few(dice, 0.9, 60) :]


def _double(content: bytes, dice: Random) -> bytes:
    at = _at(content, dice)
    end = at + few(dice, 0.95, 120)
    return content[:end] + content[at:]


def _line(content: bytes, dice: Random) -> bytes:
    """A line lost, doubled, moved or emptied."""
    lines = content.splitlines(keepends=True)
    if not lines:
        return b"\n"
    at, other = dice.randrange(len(lines)), dice.randrange(len(lines))
    how = dice.randrange(4)
    if how == 0:
        del lines[at]
    elif how == 1:
        lines.insert(other, lines[at])
    elif how == 2:
        lines[at], lines[other] = lines[other], lines[at]
    else:
        lines[at] = b"\n"
    return b"".join(lines)


def _fields(content: bytes, dice: Random) -> bytes:
    """A field of a line lost, doubled, emptied, or put into the place of another."""
    lines = content.splitlines(keepends=True)
    if not lines:
        return b"\t"
    at = dice.randrange(len(lines))
    line = lines[at]
    divider = next((d for d in (b"\t", b"|", b",", b"&", b"=", b" ") if d in line), b" ")
    fields = line.rstrip(b"\n").split(divider)
    one, other = dice.randrange(len(fields)), dice.randrange(len(fields))
    how = dice.randrange(4)
    if how == 0:
        del fields[one]
    elif how == 1:
        fields.insert(one, fields[other])
    elif how == 2:
        fields[one] = b""
    else:
        fields[one] = fields[other]
    lines[at] = divider.join(fields) + line[len(line.rstrip(b"\n")) :]
    return b"".join(lines)


def _number(content: bytes, dice: Random) -> bytes:
    """A number changed a little, or into one that numbers are not expected to be."""
    found = NUMBER.search(content, _at(content, dice)) or NUMBER.search(content)
    if found is None:
        return content + dice.choice(NUMBERS)
    new = dice.choice(NUMBERS)
    if dice.random() < 0.5 and len(found.group()) < 19:
        new = str(float(found.group()) + dice.randrange(-3, 4)).removesuffix(".0").encode()
    return content[: found.start()] + new + content[found.end() :]


def _case(content: bytes, dice: Random) -> bytes:
    at = _at(content, dice)
    return content[:at] + content[at : at + 4].swapcase() + content[at + 4 :]
