"""Messages: what a finding, a reason or a warning says, before it is put into words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias, Union

Value: TypeAlias = Union[str, int, float, bool, "Message", tuple["Value", ...], None]

#: The English sentence of every code that has been declared.
_TEMPLATES: dict[str, str] = {}


@dataclass(frozen=True, slots=True)
class Message:
    """A code, the English sentence it stands for, and the values in the sentence.

    Programs read ``code`` and ``values``. People read what :func:`gendalens.words.write` makes of
    them in their language; ``str`` of a message is its English sentence.
    """

    code: str
    template: str
    values: Mapping[str, Value] = field(default_factory=dict)

    def __str__(self) -> str:
        from gendalens.words.writing import write

        return write(self, "en")

    def __hash__(self) -> int:
        return hash((self.code, self.template, tuple(sorted(self.values))))

    def to_dict(self) -> dict[str, Any]:
        """The message as plain data, its English sentence beside it for people who read JSON."""
        values = {name: _plain(value) for name, value in self.values.items()}
        return {"code": self.code, "values": values, "text": str(self)}

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Message:
        """The message that :meth:`to_dict` described.

        Where nothing here declares its code (a plug-in that is not installed), it says what it said.
        """
        code, values = str(plain["code"]), plain["values"]
        if code in _TEMPLATES:
            return cls(code, _TEMPLATES[code], {name: _value(one) for name, one in values.items()})
        return cls(code, str(plain["text"]))


class Template:
    """A message to be: a code with its English sentence, whose values are given when it is called.

    ``{name}`` is a value as it is, ``{name:.0%}`` a number in the reader's notation, ``{name:t}`` a
    word to be translated, ``{name:and}`` a list with *and* before its last member.

    >>> unknown_tokens = Template("example.unknown_tokens", "{count} tokens are unknown")
    >>> message = unknown_tokens(count=21)
    >>> message.code, str(message)
    ('example.unknown_tokens', '21 tokens are unknown')
    """

    def __init__(self, code: str, english: str) -> None:
        if _TEMPLATES.setdefault(code, english) != english:
            raise ValueError(f"two messages have the code {code!r}")
        self.code = code
        self.english = english

    def __call__(self, **values: Value) -> Message:
        """The message with these values."""
        return Message(self.code, self.english, values)


def phrase(english: str, /, **values: Value) -> Message:
    """A text of a page or a table: a message that no program asks for, and so without a code."""
    return Message("", english, values)


def _plain(value: Value) -> Any:
    if isinstance(value, Message):
        return value.to_dict()
    return [_plain(one) for one in value] if isinstance(value, tuple) else value


def _value(plain: Any) -> Value:
    if isinstance(plain, Mapping):
        return Message.from_dict(plain)
    if isinstance(plain, list):
        return tuple(map(_value, plain))
    value: Value = plain
    return value
