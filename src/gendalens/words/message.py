"""Messages: what a finding, a reason or a warning says, before it is put into words."""

from __future__ import annotations

import string
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias, Union

from gendalens.words.catalogues import ENGLISH, current_language, translate
from gendalens.words.numbers import format_number

Value: TypeAlias = Union[str, int, float, bool, "Message", tuple["Value", ...], None]

#: How a value is to be written: a word to be translated, a list of words, a list of whole clauses.
TRANSLATED, LISTED, CLAUSES = "t", "and", "clauses"
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
    #: What a message read from a file says there, for as long as nothing declares its code.
    text: str = field(default="", compare=False)

    def __str__(self) -> str:
        return write(self, ENGLISH)

    def __hash__(self) -> int:
        return hash((self.code, self.template, tuple(sorted(self.values))))

    def to_dict(self) -> dict[str, Any]:
        """The message as plain data, its English sentence beside it for people who read JSON."""
        values = {name: _plain(value) for name, value in self.values.items()}
        return {"code": self.code, "values": values, "text": str(self)}

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Message:
        """The message that :meth:`to_dict` described.

        A test declares its codes when it is imported, which may be later. Where nothing ever does (a
        plug-in that is not installed), the message says what it said.
        """
        code, values = str(plain["code"]), plain["values"]
        if not code:
            return cls("", str(plain["text"]))
        values = {name: _value(one) for name, one in values.items()}
        return cls(code, _TEMPLATES.get(code, ""), values, str(plain["text"]))


class Template:
    """A message to be: a code with its English sentence, whose values are given when it is called.

    ``{name}`` is a value as it is, ``{name:.0%}`` a number in the reader's notation, ``{name:t}`` a
    word to be translated, ``{name:and}`` a list with *and* before its last member, ``{name:clauses}``
    the same for whole clauses.

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


def N_(english: str) -> str:  # noqa: N802 - the name gettext has for it
    """Mark a text that is translated where it is shown."""
    return english


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


def write(message: Message | str, language: str | None = None) -> str:
    """A message as a sentence in a language, by default the one in use; a string is translated."""
    language = language or current_language()
    if isinstance(message, str):
        return translate(message, language)
    english = message.template or _TEMPLATES.get(message.code, "")
    if not english:
        return translate(message.text, language)
    template = translate(english, language)
    if not message.values:
        return template
    return _Writer(language).vformat(template, (), message.values)


def say(english: str, /, **values: Value) -> str:
    """A sentence in the language in use, its values put in."""
    return write(Message("", english, values))


class _Writer(string.Formatter):
    """Fills a template in one language."""

    def __init__(self, language: str) -> None:
        self.language = language

    def format_field(self, value: Any, format_spec: str) -> str:
        """One value as a person reads it."""
        match value:
            case Message():
                return write(value, self.language)
            case tuple() | list():
                return self._join([self.format_field(one, "") for one in value], format_spec)
            case str() if format_spec == TRANSLATED:
                return translate(value, self.language)
            case str() | bool() | None:
                return str(value)
        spec = "" if format_spec in (TRANSLATED, LISTED, CLAUSES) else format_spec
        return format_number(value, spec, self.language)

    def _join(self, parts: list[str], spec: str) -> str:
        if len(parts) < 2 or spec not in (LISTED, CLAUSES):
            return ", ".join(parts)
        if spec == LISTED:
            both = translate("{first} and {last}", self.language)
        else:
            both = translate("{first}, and {last}", self.language)
        return both.format(first=", ".join(parts[:-1]), last=parts[-1])

    def get_value(self, key: int | str, args: Any, kwargs: Mapping[str, Any]) -> Any:
        """A value by its name; one that is missing shows its place, since no sentence may fail."""
        return kwargs.get(str(key), f"{{{key}}}")
