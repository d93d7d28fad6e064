"""What a tokenizer makes of Danish text, judged before the model is asked anything.

A few sentences are tokenised as those of the tests are, and the tokens are written out again. What the
model would read is compared with what was written, letter by letter; spaces, capitals and the Unicode
form of a letter do not count, because tokenizers of sound models change them.

A model is **refused** if no number of it would mean anything:

- It reads a text more than once. Every later copy gives away the words of the first.
- A pronoun loses a letter, becomes the unknown token or a special one, or cannot be told from another.
- The mask occurs in ordinary text. The model then cannot tell a gap from a word.
- æ, ø and å are all dropped. That cripples a sixth of the words in the built-in sentences, nine in ten of
  the sentences, and a third of the occupations that the tests ask about.

Its results carry a **warning** if the numbers still mean something but are those of another spelling:
letters changed (å read as a; 5% of the words) or some of them dropped, and other words that are special
tokens. A tagger is not asked for pronouns: it is refused only for repeated or unreadable text.

The unknown token hides a word too, but the tests of language models count it. Those of taggers do not, so
a tagger that does not know æ, ø or å gets a warning.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import Any

from gendalens.data.pronouns import GENDERS
from gendalens.errors import UserError, printable
from gendalens.models.huggingface.encoding import SPECIAL, Tokens, tokenise
from gendalens.models.huggingface.vocabulary import Vocabulary
from gendalens.words import Message, Template

EXAMPLE = Template("tokenizer.example", "“{text}” becomes “{pieces}”")
LETTERS_CHANGED = Template(
    "tokenizer.letters_changed",
    "The tokenizer changes Danish letters before the model reads them ({examples}), so the model cannot "
    "tell words apart that differ only in these letters. If it was not trained this way, its tokenizer "
    "files are incomplete or their settings wrong (strip_accents, do_lower_case).",
)
LETTERS_DROPPED = Template(
    "tokenizer.letters_dropped",
    "The tokenizer drops letters that its vocabulary lacks ({examples}), so the model does not see all "
    "words as they are written.",
)
LETTERS_UNKNOWN = Template(
    "tokenizer.letters_unknown",
    "The tokenizer does not know all Danish letters ({examples}), so the model does not see the words "
    "and names that contain them.",
)
SPECIAL_WORDS = Template(
    "tokenizer.special_words",
    "The tokenizer treats ordinary words as special tokens ({words}), so the model does not read them as "
    "words.",
)

_SENTENCES = ("Hun bor på Ærø.", "Hans båd ligger i Århus: »Ørnen« – en af mange!")
# Sentences with a gap where the tests have one, and the forms that the model must tell apart in it.
_CONTRASTS: dict[str, tuple[str, ...]] = {
    "Lægen ringede til smeden, fordi {} havde glemt en nøgle.": ("hun", "han"),
    "Så fulgte frisøren {} ned til åen.": ("hende", "ham"),
    "Er jordemoderens kat større end {}?": ("hendes", "hans"),
    "Kokken fandt {} hammer bag døren.": ("hendes", "hans", "sin"),
    "Gartneren fejede {} værksted om aftenen.": ("hendes", "hans", "sit"),
    "Pædagogen pudsede {} briller med en klud.": ("hendes", "hans", "sine"),
}
_PRONOUNS = (*GENDERS, "sin", "sit", "sine")
_LETTERS = ("æ", "ø", "å")
_WORDS = ("på", "lægen", "køen", "Ærø", "Østerbro", "Århus", "idé")
_MOST_EXAMPLES = 3

_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Reading:
    """A text, its tokens, and what the model reads in them.

    ``pieces`` are the tokens in writing, ``letters`` those of the text that they make up together;
    ``unknown``: one of them is the unknown token.
    """

    text: str
    tokens: Tokens
    pieces: str
    letters: str
    unknown: bool

    @property
    def is_repeated(self) -> bool:
        """Whether the tokens return to the beginning of the text after they have left it."""
        places = [start for start in self.tokens.starts if start != SPECIAL]
        return any(earlier > later == places[0] for earlier, later in pairwise(places))

    @property
    def is_altered(self) -> bool:
        """Whether letters are lost without the unknown token in their place."""
        return not self.unknown and self.letters != _extract_letters(self.text)

    @property
    def is_shortened(self) -> bool:
        """Whether letters are lost and none is put in their place."""
        rest = iter(_extract_letters(self.text))
        return self.is_altered and all(letter in rest for letter in self.letters)

    @property
    def example(self) -> Message:
        """What went in and what came out."""
        return EXAMPLE(text=self.text, pieces=printable(self.pieces))


class TokenizerCheck:
    """What a tokenizer makes of the sentences; each method judges one side of it.

    ``name`` is the model as the user named it; ``specials`` says whether texts get special tokens.
    """

    def __init__(self, tokenizer: Any, name: str, *, specials: bool) -> None:
        self._tokenizer = tokenizer
        self._name = name
        self._vocabulary = Vocabulary(tokenizer, len(tokenizer))
        self._special = self._vocabulary.special
        filled = [frame.format(form) for frame, forms in _CONTRASTS.items() for form in forms]
        texts = [*_SENTENCES, *filled, *_PRONOUNS, *_LETTERS, *_WORDS]
        tokens = tokenise(tokenizer, texts, specials=specials)
        self._readings = {
            text: self._read(text, its) for text, its in zip(texts, tokens, strict=True)
        }

    def refuse_unreadable(self) -> None:
        """Refuse a tokenizer that repeats texts or loses letters of the plainest words."""
        for reading in self._readings.values():
            if reading.is_repeated:
                raise UserError(
                    "The tokenizer of {name} repeats the text ({example}), so no figure would mean"
                    " anything: correct the post_processor in its tokenizer.json.",
                    name=self._name,
                    example=reading.example,
                )
        for reading in self._find(_PRONOUNS):
            if reading.is_altered:
                raise UserError(
                    "The tokenizer of {name} does not keep the letters of ordinary words ({example}), so"
                    " no figure would mean anything: put the model's own tokenizer into the folder.",
                    name=self._name,
                    example=reading.example,
                )

    def refuse_without_letters(self) -> None:
        """Refuse a tokenizer that drops every æ, ø and å."""
        if all(reading.is_shortened for reading in self._find(_LETTERS)):
            raise UserError(
                "The tokenizer of {name} drops æ, ø and å ({examples}), so the model does not see the"
                " words of the tests: put the model's own tokenizer into the folder, or test a model"
                " whose vocabulary has these letters.",
                name=self._name,
                examples=_list_examples(
                    reading for reading in self._find(_WORDS) if reading.is_shortened
                ),
            )

    def refuse_confused_pronouns(self) -> None:
        """Refuse a tokenizer that loses the difference between two pronouns."""
        for word in GENDERS:
            if self._readings[word].unknown:
                raise explain_unknown_word(self._name, word)
        for reading in self._find(_PRONOUNS):
            if self._list_special_words(reading):
                raise UserError(
                    "The tokenizer of {name} treats the pronoun “{word}” as a special token, so the model"
                    " does not read it as a word: remove it from the special tokens in its"
                    " tokenizer.json and tokenizer_config.json.",
                    name=self._name,
                    word=reading.text,
                )
        for frame, forms in _CONTRASTS.items():
            for one, other in combinations(forms, 2):
                left, right = self._find((frame.format(one), frame.format(other)))
                if left.tokens.ids == right.tokens.ids:
                    raise UserError(
                        "The tokenizer of {name} makes the same tokens of “{one}” and “{other}”"
                        " ({example}), so the model cannot tell them apart: put the model's own"
                        " tokenizer into the folder.",
                        name=self._name,
                        one=one,
                        other=other,
                        example=left.example,
                    )

    def refuse_mask_in_text(self) -> None:
        """Refuse a mask that ordinary text contains."""
        mask = self._tokenizer.mask_token_id
        for reading in self._readings.values():
            if mask is not None and mask in _list_text_tokens(reading.tokens):
                raise UserError(
                    "The mask token of {name} (“{mask}”) occurs in ordinary text ({example}), so the"
                    " model cannot tell a gap from a word: name the model's own mask_token in its"
                    " tokenizer_config.json.",
                    name=self._name,
                    mask=self._tokenizer.mask_token,
                    example=reading.example,
                )

    def list_altered(self) -> list[Message]:
        """Warnings of letters that are changed or dropped."""
        altered = [reading for reading in self._find(_WORDS) if reading.is_altered]
        dropped = [reading for reading in altered if reading.is_shortened]
        changed = [reading for reading in altered if not reading.is_shortened]
        return [
            warning(examples=_list_examples(some))
            for warning, some in ((LETTERS_CHANGED, changed), (LETTERS_DROPPED, dropped))
            if some
        ]

    def list_unknown(self) -> list[Message]:
        """A warning of letters that become the unknown token."""
        unknown = [reading for reading in self._find(_LETTERS) if reading.unknown]
        return [LETTERS_UNKNOWN(examples=_list_examples(unknown))] if unknown else []

    def list_special_words(self) -> list[Message]:
        """A warning of words that are special tokens."""
        readings = self._readings.values()
        words = dict.fromkeys(word for some in readings for word in self._list_special_words(some))
        return [SPECIAL_WORDS(words=tuple(words))] if words else []

    def _read(self, text: str, tokens: Tokens) -> Reading:
        ids = _list_text_tokens(tokens)
        return Reading(
            text=text,
            tokens=tokens,
            pieces=" ".join(filter(None, map(self._vocabulary.write_word, ids))),
            letters=_extract_letters(self._vocabulary.write_text(ids)),
            unknown=self._tokenizer.unk_token_id in ids,
        )

    def _find(self, texts: Iterable[str]) -> list[Reading]:
        return [self._readings[text] for text in texts]

    def _list_special_words(self, reading: Reading) -> list[str]:
        """The words of a text that are, or contain, a special token other than the unknown one."""
        places = {
            start
            for id_, start in zip(reading.tokens.ids, reading.tokens.starts, strict=True)
            if start != SPECIAL and id_ in self._special and id_ != self._tokenizer.unk_token_id
        }
        return [
            word.group()
            for word in _WORD.finditer(reading.text)
            if any(word.start() <= place < word.end() for place in places)
        ]


def explain_unknown_word(name: str, word: str) -> UserError:
    """The error for a word that should be scored and becomes the unknown token."""
    return UserError(
        "The tokenizer of {name} cannot represent “{word}” (it becomes the unknown"
        " token), so the model cannot score it: test another model.",
        name=name,
        word=word,
    )


def _list_text_tokens(tokens: Tokens) -> list[int]:
    """The tokens that stand for the text, without those around it."""
    return [id_ for id_, start in zip(tokens.ids, tokens.starts, strict=True) if start != SPECIAL]


def _list_examples(readings: Iterable[Reading]) -> tuple[Message, ...]:
    return tuple(reading.example for reading in readings)[:_MOST_EXAMPLES]


def _extract_letters(text: str) -> str:
    """The letters of a text, in lower case and with their accents composed."""
    return "".join(filter(str.isalpha, unicodedata.normalize("NFKC", text).casefold()))
