"""Messages: findings, reasons and warnings as data, independent of language."""

from __future__ import annotations

import string
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, TypeAlias, Union

from gendalens.words.catalogues import ENGLISH, current_language, list_english, translate
from gendalens.words.numbers import format_number

Value: TypeAlias = Union[str, int, float, bool, "Message", tuple["Value", ...], None]

#: Formats of a value: a text to be translated, a list of words, a list of clauses.
TRANSLATED, LISTED, CLAUSES, CHOICES = "t", "and", "clauses", "or"
#: The English sentence of every declared code.
_TEMPLATES: dict[str, str] = {}


@dataclass(frozen=True, slots=True)
class Message:
    """A code, the English sentence it stands for, and the values in the sentence.

    Programs read ``code`` and ``values``; people read the sentence that :func:`gendalens.words.write`
    makes of them in their language. ``str`` of a message is its English sentence.
    """

    code: str
    template: str
    values: Mapping[str, Value] = field(default_factory=dict)
    #: The text saved with a message that was read from a file, by which it is known while its code is
    #: undeclared: a report does not import the models and the engine, which declare theirs.
    text: str = field(default="", compare=False)

    def __str__(self) -> str:
        return write(self, ENGLISH)

    def __hash__(self) -> int:
        return hash((self.code, self.template, tuple(sorted(self.values))))

    def to_dict(self) -> dict[str, Any]:
        """The message as plain data, with its English sentence for people who read the JSON."""
        values = {name: _to_plain(value) for name, value in self.values.items()}
        return {"code": self.code, "values": values, "text": str(self)}

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Message:
        """The message that :meth:`to_dict` described.

        A test declares its codes when it is imported, which may be later. If a code is never declared
        (its plug-in is not installed), the message keeps its saved text.
        """
        code, values = str(plain["code"]), plain["values"]
        if not code:
            return cls("", str(plain["text"]))
        values = {name: _from_plain(one) for name, one in values.items()}
        return cls(code, _TEMPLATES.get(code, ""), values, str(plain["text"]))


class Template:
    """A message without its values: a code with its English sentence. Call it with the values.

    ``{name}`` is a plain value, ``{name:.0%}`` a number in the reader's notation, ``{name:t}`` a text
    to be translated, ``{name:and}`` a list with *and* before its last member, and ``{name:clauses}`` a
    list of clauses.

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
    """A message without a code, for texts of pages and tables that no program needs to identify."""
    return Message("", english, values)


def N_(english: str) -> str:  # noqa: N802 - the conventional name in gettext
    """Mark a text for translation; it is translated where it is shown."""
    return english


def _to_plain(value: Value) -> Any:
    if isinstance(value, Message):
        return value.to_dict()
    return [_to_plain(one) for one in value] if isinstance(value, tuple) else value


def _from_plain(plain: Any) -> Value:
    if isinstance(plain, Mapping):
        return Message.from_dict(plain)
    if isinstance(plain, list):
        return tuple(map(_from_plain, plain))
    value: Value = plain
    return value


def write(message: Message | str, language: str | None = None) -> str:
    """A message, or an English text, in a language (default: the one in use)."""
    language = language or current_language()
    if isinstance(message, str):
        return translate(message, language)
    english = find_english(message)
    if not english:
        return translate(message.text, language)
    template = translate(english, language)
    if not message.values:
        return template
    return _Writer(language).vformat(template, (), message.values)


def find_english(message: Message) -> str:
    """The English sentence of a message, with its placeholders; empty if it is not known."""
    known = message.template or _TEMPLATES.get(message.code, "")
    if known or not message.values:
        return known
    for english in _list_by_names().get(frozenset(message.values), ()):
        if _Writer(ENGLISH).vformat(english, (), message.values) == message.text:
            return english
    return ""


@cache
def _list_by_names() -> dict[frozenset[str], list[str]]:
    """The English sentences of the catalogues by the names of their placeholders."""
    found: dict[frozenset[str], list[str]] = {}
    for english in list_english():
        try:
            names = {name for _, name, _, _ in string.Formatter().parse(english) if name}
        except ValueError:  # a text with braces of its own
            continue
        found.setdefault(frozenset(names), []).append(english)
    return found


def say(english: str, /, **values: Value) -> str:
    """An English sentence with its values, in the language in use."""
    return write(Message("", english, values))


class _Writer(string.Formatter):
    """Fills a template in one language."""

    def __init__(self, language: str) -> None:
        self.language = language

    def format_field(self, value: Any, format_spec: str) -> str:
        """One value, formatted for the reader."""
        match value:
            case Message():
                return write(value, self.language)
            case tuple() | list():
                return self._join([self.format_field(one, "") for one in value], format_spec)
            case str() if format_spec == TRANSLATED:
                return translate(value, self.language)
            case str() | bool() | None:
                return str(value)
        spec = "" if format_spec in (TRANSLATED, LISTED, CLAUSES, CHOICES) else format_spec
        return format_number(value, spec, self.language)

    def _join(self, parts: list[str], spec: str) -> str:
        if len(parts) < 2 or spec not in (LISTED, CLAUSES, CHOICES):
            return ", ".join(parts)
        if spec == LISTED:
            both = translate("{first} and {last}", self.language)
        elif spec == CLAUSES:
            both = translate("{first}, and {last}", self.language)
        else:
            both = translate("{first} or {last}", self.language)
        return both.format(first=", ".join(parts[:-1]), last=parts[-1])

    def get_value(self, key: int | str, args: Any, kwargs: Mapping[str, Any]) -> Any:
        """A value by name; a missing one shows its placeholder, since a sentence must never fail."""
        return kwargs.get(str(key), f"{{{key}}}")
