"""Probabilities of options from the log-probabilities of the tokens that a model might have written.

The model's own answer is followed token by token. At each place, a token that makes the text the
beginning of exactly one option gives that option its probability; while the text is the beginning of
several options, the walk goes on along the answer. So an option in several tokens (*h* + *un*) is exact
where it can be told from the others, and what is approximated is this: words that begin like an option
and then go on otherwise count for it; what several options might begin with counts for none of them if
the answer did not go there (*Den* before an answer that begins with *den*), unless it is one of them;
and an option that is not among the reported tokens gets the smallest reported probability, which it
cannot exceed.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from gendalens.models.endpoint.dialect import read_choice_of, read_text
from gendalens.models.endpoint.plain import read_dict, read_list, read_number
from gendalens.models.trials import add_log_probs

# What a model may put in front of its answer.
_LEADING = " \t\n\r\"'»«›‹„“”‘’*_`"
_LEAST = -100.0
_BYTE = re.compile(r"<0x([0-9A-Fa-f]{2})>")
_HALF_LETTER = re.compile("\N{REPLACEMENT CHARACTER}$")


@dataclass(frozen=True, slots=True)
class Place:
    """The token that was written at a place, and the log-probabilities of those that might have been.

    A token is text in UTF-8, of which a letter such as *å* may be split between tokens.
    """

    token: bytes
    log_prob: float
    others: tuple[tuple[bytes, float], ...]


def read_places(plain: dict[str, Any]) -> list[Place]:
    """The places of a chat response's answer; empty if the server gave no log-probabilities."""
    listed = read_list(read_dict(read_choice_of(plain).get("logprobs")).get("content"))
    is_raw = _is_raw(listed, read_text(plain))
    places = []
    for one in listed:
        entry = _read_entry(one, is_raw)
        if entry is None:
            break
        others = [_read_entry(each, is_raw) for each in read_list(one.get("top_logprobs"))]
        places.append(Place(*entry, tuple(each for each in others if each is not None)))
    return places


def score_options(places: Sequence[Place], options: Sequence[str]) -> tuple[float, ...] | None:
    """The log-probability of each option; None if none of them is within sight."""
    names = [_simplify(option) for option in options]
    mass: list[list[float]] = [[] for _ in options]
    bound, path, written = 0.0, 0.0, b""
    for place in places:
        seen = dict(place.others)
        seen.setdefault(place.token, place.log_prob)
        bound = path + min(seen.values())
        here: tuple[int, ...] | None = None
        for token, log_prob in seen.items():
            fitting = _find_fitting(written, token, names)
            if token == place.token:
                here = fitting
            elif fitting is not None and len(fitting) > 1:
                fitting = _find_named(written + token, names)
            if fitting is not None and len(fitting) == 1:
                mass[fitting[0]].append(path + log_prob)
        if here is not None and len(here) < 2:
            break
        written, path = written + place.token, path + seen[place.token]
    else:
        # The answer ended where it might have gone on to a longer option.
        for index in _find_named(written, names):
            mass[index].append(path)
    if not any(mass):
        return None
    return tuple(add_log_probs(found) if found else max(bound, _LEAST) for found in mass)


def _find_fitting(written: bytes, token: bytes, names: Sequence[str]) -> tuple[int, ...] | None:
    """The options that a text may become, or is, if this token comes next; None before a first letter."""
    whole = written + token
    text = _simplify(_decode(whole))
    rest = _find_rest(whole)
    if not text and not rest:
        return None
    if not token:  # some servers write the end of an answer as nothing
        return _find_named(written, names)
    begun = [index for index, name in enumerate(names) if _begins(name, text, rest)]
    if begun:
        return tuple(begun)
    # An option is complete if no letter follows.
    longest = max(
        (name for name in names if text.startswith(name) and not text[len(name)].isalnum()),
        key=len,
        default=None,
    )
    return () if longest is None else (names.index(longest),)


def _find_named(written: bytes, names: Sequence[str]) -> tuple[int, ...]:
    """The option that a text is."""
    text = _simplify(_decode(written))
    return tuple(index for index, name in enumerate(names) if name == text)[:1]


def _begins(name: str, text: str, rest: bytes) -> bool:
    """Whether a name begins with a text and the first bytes of its next letter."""
    if not name.startswith(text):
        return False
    if not rest:
        return True
    following = name[len(text) : len(text) + 1]
    # The first byte is the same for the small and the capital letter.
    return following.encode().startswith(rest[:1])


def _simplify(text: str) -> str:
    return unicodedata.normalize("NFC", text.lstrip(_LEADING)).casefold()


def _decode(data: bytes) -> str:
    """The whole letters of a text; what begins a letter at its end is left out."""
    rest = _find_rest(data)
    return data[: len(data) - len(rest)].decode(errors="replace")


def _find_rest(data: bytes) -> bytes:
    """The bytes at the end that only begin a letter."""
    for length in range(1, min(3, len(data)) + 1):
        first = data[-length]
        if first >= 0xC0:
            wanted = 2 if first < 0xE0 else 3 if first < 0xF0 else 4
            return data[-length:] if length < wanted else b""
        if first < 0x80:
            break
    return b""


def _read_entry(one: Any, is_raw: bool) -> tuple[bytes, float] | None:
    one = read_dict(one)
    token, log_prob = one.get("token"), read_number(one.get("logprob"))
    if not isinstance(token, str) or log_prob is None:
        return None
    return read_token(token, one.get("bytes"), is_raw), min(0.0, max(_LEAST, log_prob))


def read_token(token: str, data: Any = None, is_raw: bool = False) -> bytes:
    """A token as bytes: by the server's own account, else by how its tokenizer writes them.

    ``is_raw`` if the server shows the pieces of its vocabulary, in which byte-level tokenizers write
    every byte as a letter (*Ġ* is a space) and others write a space as *▁*.
    """
    if isinstance(data, list) and data and all(isinstance(one, int) for one in data):
        return bytes(one & 0xFF for one in data)
    if found := _BYTE.fullmatch(token):
        return bytes([int(found[1], 16)])
    if not is_raw:
        # A letter of two bytes that is split is shown as a replacement sign, and æ, ø and å begin alike.
        return _HALF_LETTER.sub("\udcc3", token).encode(errors="surrogateescape")
    if all(sign in _BYTES_BY_LETTER for sign in token):
        return bytes(_BYTES_BY_LETTER[sign] for sign in token)
    return token.replace("▁", " ").encode(errors="replace")


def _is_raw(listed: Sequence[Any], text: str) -> bool:
    """Whether the tokens are pieces of the vocabulary, with signs that the text does not have."""
    signs = json.dumps([one for one in listed if isinstance(one, dict)], ensure_ascii=False)
    return any(mark in signs and mark not in text for mark in "▁ĠÃ")


def _list_letters() -> dict[str, int]:
    """The letters in which byte-level tokenizers write bytes (as GPT-2's does)."""
    shown = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    hidden = [byte for byte in range(0x100) if byte not in shown]
    return {
        **{chr(byte): byte for byte in shown},
        **{chr(0x100 + place): byte for place, byte in enumerate(hidden)},
    }


_BYTES_BY_LETTER = _list_letters()
