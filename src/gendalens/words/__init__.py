"""Messages as data: a code with its values, put into the reader's language when shown.

English is the source language. Every other language is one catalogue,
``locale/LANGUAGE/LC_MESSAGES/gendalens.po``.
"""

from gendalens.words.catalogues import (
    ENGLISH,
    Words,
    add_words,
    current_language,
    language_from_environment,
    languages,
    translate,
    use_language,
)
from gendalens.words.message import N_, Message, Template, Value, phrase, say, write
from gendalens.words.numbers import format_number

__all__ = [
    "ENGLISH",
    "N_",
    "Message",
    "Template",
    "Value",
    "Words",
    "add_words",
    "current_language",
    "format_number",
    "language_from_environment",
    "languages",
    "phrase",
    "say",
    "translate",
    "use_language",
    "write",
]
