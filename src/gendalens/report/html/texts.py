"""The texts of a page in each of its languages, among which the reader can switch."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from markupsafe import Markup, escape

from gendalens.report.wording import (
    capitalize,
    end_sentence,
    load_plugin_words,
    name_identifier,
    shorten,
    write_formula,
)
from gendalens.tasks.base import Card
from gendalens.words import ENGLISH, Message, Value, languages, phrase, translate, write

#: A message, an English text, or the same text by language.
Text: TypeAlias = Message | str | Mapping[str, str]

#: By convention, its translation is the language's own name: "Dansk", "Svenska".
OWN_NAME = "English"
# The page shows the language of its root element, which is English without JavaScript.
_HIDDEN = ':root:not([lang="{0}"]) .t[lang="{0}"] {{ display: none; }}'


@dataclass(frozen=True, slots=True)
class PageTexts:
    """Texts in each of a page's languages, English first."""

    languages: tuple[str, ...]

    @classmethod
    def in_all_languages(cls) -> PageTexts:
        """Texts in every available language."""
        load_plugin_words()
        return cls(languages())

    def write(self, text: Text) -> dict[str, str]:
        """A text by language."""
        if isinstance(text, Mapping):
            return dict(text)
        return {language: write(text, language) for language in self.languages}

    def write_name(self, identifier: str) -> dict[str, str]:
        """A condition, group, metric, unit or outcome by language."""
        return {language: name_identifier(identifier, language) for language in self.languages}

    def name_languages(self) -> dict[str, str]:
        """The name of each language in that language."""
        return {language: translate(OWN_NAME, language) for language in self.languages}

    def style(self) -> str:
        """CSS rules that hide the texts in other languages than the page's."""
        return "\n".join(map(_HIDDEN.format, self.languages))

    # Functions for templates.

    def functions(self) -> dict[str, Callable[..., Markup]]:
        """The functions that templates can call, by name."""
        return {
            "t": self.show_phrase,
            "show": self.show,
            "show_sentence": self.show_sentence,
            "word": self.show_name,
            "formula": self.show_formula,
            "attribute": self.show_attribute,
        }

    def show_phrase(self, english: str, /, **values: Value) -> Markup:
        """A text of the template itself."""
        return self.show(phrase(english, **values))

    def show(self, text: Text, capital: bool = False, most: int | None = None) -> Markup:
        """A text, capitalised if ``capital`` is set, shortened to ``most`` characters."""

        def edit(written: str) -> str:
            fitting = written if most is None else shorten(written, most)
            return capitalize(fitting) if capital else fitting

        return mark_up(self.write(text), edit)

    def show_sentence(self, text: Text) -> Markup:
        """A text as a whole sentence."""
        return mark_up(self.write(text), end_sentence)

    def show_name(self, identifier: str, capital: bool = False) -> Markup:
        """An identifier in words."""
        return mark_up(self.write_name(identifier), capitalize if capital else str)

    def show_formula(self, card: Card) -> Markup:
        """How a test's gender effect size is computed."""
        return mark_up({language: write_formula(card, language) for language in self.languages})

    def show_attribute(self, name: str, text: Text) -> Markup:
        """An HTML attribute whose value the script replaces when the language changes."""
        texts = self.write(text)
        pair = Markup('{}="{}"').format(Markup(name), texts[ENGLISH])  # noqa: S704 (format escapes)
        if len(set(texts.values())) == 1:
            return pair
        return pair + Markup(' data-attribute="{}" data-texts="{}"').format(name, as_json(texts))


def as_json(texts: Mapping[str, str]) -> str:
    """Texts by language as JSON for the script."""
    return json.dumps(dict(texts), ensure_ascii=False)


def mark_up(texts: Mapping[str, str], edit: Callable[[str], str] = str) -> Markup:
    """An element per language, or plain text if it is the same in all languages."""
    if len(set(texts.values())) == 1:
        return _mark_commands(edit(texts[ENGLISH]))
    span = Markup('<span class="t" lang="{}">{}</span>')
    return Markup("").join(
        span.format(language, _mark_commands(edit(text))) for language, text in texts.items()
    )


def _mark_commands(text: str) -> Markup:
    """A text, escaped, in which a command between backticks is code."""
    parts = text.split("`")
    if len(parts) % 2 == 0:  # a single sign is no pair
        return escape(text)
    code = Markup('<code class="whole">{}</code>')
    return Markup("").join(
        code.format(part) if i % 2 else escape(part) for i, part in enumerate(parts)
    )
