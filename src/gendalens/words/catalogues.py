"""Languages: the package's catalogues, the translations of plug-ins, and the language in use."""

from __future__ import annotations

import gettext
import os
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from functools import cache, partial
from pathlib import Path
from typing import TypeAlias

ENGLISH = "en"
DOMAIN = "gendalens"
LOCALE = Path(__file__).parent / "locale"

#: A plug-in's translations: by language and English text, or a folder of gettext catalogues.
Words: TypeAlias = Mapping[str, Mapping[str, str]] | Path

_added: dict[str, list[Callable[[str], str]]] = {}
_language: ContextVar[str] = ContextVar("language", default=ENGLISH)
# In the order of gettext.
_VARIABLES = ("LANGUAGE", "LC_ALL", "LC_MESSAGES", "LANG")


def languages() -> tuple[str, ...]:
    """The available languages, English first."""
    found = sorted(path.parts[-3] for path in LOCALE.glob(f"*/LC_MESSAGES/{DOMAIN}.mo"))
    return (ENGLISH, *found)


def current_language() -> str:
    """The language of terminal output and errors."""
    return _language.get()


def use_language(language: str) -> None:
    """Set the language of terminal output and errors."""
    _language.set(language)


def language_from_environment() -> str:
    """The user's language from the environment (``LANG``) if it has a catalogue, else English."""
    requested = next((value for name in _VARIABLES if (value := os.environ.get(name))), "")
    known = languages()
    for locale in requested.split(":"):
        language = locale.partition(".")[0].partition("_")[0]
        if language in known:
            return language
    return ENGLISH


def translate(english: str, language: str | None = None) -> str:
    """A text in a language (default: the one in use), or in English if it has no translation."""
    wanted = language or current_language()
    if wanted == ENGLISH or not english:  # gettext keeps the catalogue header under the empty text
        return english
    look_ups: list[Callable[[str], str]] = [_catalogue(wanted).gettext, *_added.get(wanted, ())]
    return next((found for look in look_ups if (found := look(english)) != english), english)


def add_words(words: Words) -> None:
    """Add the translations of a plug-in; those of the package take precedence."""
    if isinstance(words, Path):
        for file in words.glob("*/LC_MESSAGES/*.mo"):
            with file.open("rb") as stream:
                _added.setdefault(file.parts[-3], []).append(
                    gettext.GNUTranslations(stream).gettext
                )
        return
    for language, texts in words.items():
        _added.setdefault(language, []).append(partial(_look_up, texts))


def _look_up(texts: Mapping[str, str], english: str) -> str:
    return texts.get(english, english)


@cache
def list_english() -> tuple[str, ...]:
    """The English texts of the package that have a translation."""
    # gettext offers no other way to list them.
    kept = [getattr(_catalogue(one), "_catalog", {}) for one in languages() if one != ENGLISH]
    return tuple({text: None for one in kept for text in one if isinstance(text, str) and text})


@cache
def _catalogue(language: str) -> gettext.NullTranslations:
    return gettext.translation(DOMAIN, LOCALE, languages=[language], fallback=True)
