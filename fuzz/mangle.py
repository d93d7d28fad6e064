"""Seeded mutations of valid content: changed bytes, lines, fields, numbers and letters."""

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
    # Characters that only some programs treat as line ends or spaces, and zero-width characters.
    *(b"\x00", b"\r", b"\r\n", b"\n", b"\n\n", b"\t", b"\v", b"\f", b"\x1c", b"\x1e", b"\x85"),
    *("\x85".encode(), "\xa0".encode(), "\u2028".encode(), "\u3000".encode(), "\u200b".encode()),
    *(
        "\ufeff".encode(),
        "\u202e".encode(),
        "\u0301".encode(),
        "\ufffd".encode(),
        "\uffff".encode(),
    ),
    # Letters whose upper or lower case has a different length.
    *(
        "İ".encode(),
        "ß".encode(),
        "ŉ".encode(),
        "ﬁ".encode(),
        "ǅ".encode(),
        "Σ".encode(),
        "ı".encode(),
    ),
    # Invalid UTF-8: a lone surrogate, an overlong form, a lone continuation byte, a truncated letter.
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
    """A mutator of bytes; ``words`` of the format may be inserted anywhere."""

    def __init__(self, words: Sequence[bytes] = ()) -> None:
        self._signs = (*SIGNS, *words, *words)
        self._changes: tuple[Callable[[bytes, Random], bytes], ...] = (
            *(
                _flip_bit,
                _replace_byte,
                _truncate,
                _delete_bytes,
                _double_bytes,
                _mangle_line,
                _mangle_line,
                _mangle_fields,
                _mangle_fields,
            ),
            *(
                _mangle_number,
                _mangle_number,
                self._insert,
                self._insert,
                self._overwrite,
                _swap_case,
            ),
        )

    def change(self, content: bytes, dice: Random, other: bytes = b"") -> bytes:
        """Apply a few changes, mostly one; ``other`` is valid content to take a piece from."""
        if other and dice.random() < 0.05:
            content = content[: _draw_place(content, dice)] + other[_draw_place(other, dice) :]
        for _ in range(draw_count(dice, 0.3, 8)):
            content = dice.choice(self._changes)(content, dice)
        if dice.random() < 0.002:
            at = _draw_place(content, dice)
            content = content[:at] + content[at : at + 3] * LONG + content[at:]
        return content

    def _insert(self, content: bytes, dice: Random) -> bytes:
        at = _draw_place(content, dice)
        return content[:at] + dice.choice(self._signs) + content[at:]

    def _overwrite(self, content: bytes, dice: Random) -> bytes:
        at = _draw_place(content, dice)
        return content[:at] + dice.choice(self._signs) + content[at + 1 + dice.randrange(4) :]


def draw_count(dice: Random, again: float, most: int) -> int:
    """A number from 1 to ``most``; each further step has probability ``again``."""
    count = 1
    while count < most and dice.random() < again:
        count += 1
    return count


def _draw_place(content: bytes, dice: Random) -> int:
    return dice.randrange(len(content) + 1)


def _flip_bit(content: bytes, dice: Random) -> bytes:
    if not content:
        return b"\x00"
    at = dice.randrange(len(content))
    return content[:at] + bytes([content[at] ^ 1 << dice.randrange(8)]) + content[at + 1 :]


def _replace_byte(content: bytes, dice: Random) -> bytes:
    at = _draw_place(content, dice)
    return content[:at] + bytes([dice.randrange(256)]) + content[at + 1 :]


def _truncate(content: bytes, dice: Random) -> bytes:
    # Mostly near the end, like an interrupted copy.
    if dice.random() < 0.5:
        return content[: max(0, len(content) - 1 - dice.randrange(40))]
    return content[: _draw_place(content, dice)]


def _delete_bytes(content: bytes, dice: Random) -> bytes:
    at = _draw_place(content, dice)
    return content[:at] + content[at + draw_count(dice, 0.9, 60) :]


def _double_bytes(content: bytes, dice: Random) -> bytes:
    at = _draw_place(content, dice)
    end = at + draw_count(dice, 0.95, 120)
    return content[:end] + content[at:]


def _mangle_line(content: bytes, dice: Random) -> bytes:
    """Delete, double, move or empty a line."""
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


def _mangle_fields(content: bytes, dice: Random) -> bytes:
    """Delete, double, empty or move a field of a line."""
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


def _mangle_number(content: bytes, dice: Random) -> bytes:
    """Change a number slightly, or replace it by an unexpected one."""
    found = NUMBER.search(content, _draw_place(content, dice)) or NUMBER.search(content)
    if found is None:
        return content + dice.choice(NUMBERS)
    new = dice.choice(NUMBERS)
    if dice.random() < 0.5 and len(found.group()) < 19:
        new = str(float(found.group()) + dice.randrange(-3, 4)).removesuffix(".0").encode()
    return content[: found.start()] + new + content[found.end() :]


def _swap_case(content: bytes, dice: Random) -> bytes:
    at = _draw_place(content, dice)
    return content[:at] + content[at : at + 4].swapcase() + content[at + 4 :]
