"""Messages put into words."""

from __future__ import annotations

import string
from collections.abc import Mapping
from typing import Any

from gendalens.words.catalogues import current_language, translate
from gendalens.words.message import Message, Value
from gendalens.words.numbers import format_number

TRANSLATED, LISTED = "t", "and"


def write(message: Message | str, language: str | None = None) -> str:
    """A message as a sentence in a language, by default the one in use; a string is translated."""
    language = language or current_language()
    if isinstance(message, str):
        return translate(message, language)
    template = translate(message.template, language)
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
        return format_number(value, format_spec, self.language)

    def _join(self, parts: list[str], spec: str) -> str:
        if spec == LISTED and len(parts) > 1:
            both = translate("{first} and {last}", self.language)
            return both.format(first=", ".join(parts[:-1]), last=parts[-1])
        return ", ".join(parts)

    def get_value(self, key: int | str, args: Any, kwargs: Mapping[str, Any]) -> Any:
        """A value by its name; one that is missing shows its place, since no sentence may fail."""
        return kwargs.get(str(key), f"{{{key}}}")
