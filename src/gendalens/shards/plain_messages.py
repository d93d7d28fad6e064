"""Messages as plain data that keeps everything, also of those without a code."""

from __future__ import annotations

import re
import string
from collections.abc import Mapping
from typing import Any

from gendalens.words import Message
from gendalens.words.message import Value

#: The formats that sentences have. A file may come from somebody else, and a format can take all memory.
_FORMAT = re.compile(r"(,?(\.\d)?[a-z%]?|and|clauses)")


def write_message(message: Message) -> dict[str, Any]:
    """A message as plain data."""
    values = {name: _write_value(value) for name, value in message.values.items()}
    return {
        "code": message.code,
        "template": message.template,
        "values": values,
        "text": message.text,
    }


def read_message(plain: Mapping[str, Any]) -> Message:
    """The message that :func:`write_message` wrote."""
    code, template, text = (plain[name] for name in ("code", "template", "text"))
    if not all(isinstance(part, str) for part in (code, template, text)):
        raise TypeError("not a message")
    for _, name, spec, conversion in string.Formatter().parse(template):
        if name is not None and not (
            name.isidentifier() and _FORMAT.fullmatch(spec or "") and conversion is None
        ):
            raise ValueError("not the template of a message")
    values = {str(name): _read_value(value) for name, value in dict(plain["values"]).items()}
    return Message(code, template, values, text)


def _write_value(value: Value) -> Any:
    if isinstance(value, Message):
        return write_message(value)
    return [_write_value(one) for one in value] if isinstance(value, tuple) else value


def _read_value(plain: Any) -> Value:
    if isinstance(plain, Mapping):
        return read_message(plain)
    if isinstance(plain, list):
        return tuple(map(_read_value, plain))
    value: Value = plain
    return value
