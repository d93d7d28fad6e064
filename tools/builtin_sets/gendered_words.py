"""Danish words that reveal a person's gender: they may not occur beside the pronoun under test."""

from __future__ import annotations

import re

from gendalens.data.pronouns import GENDERS

WORD = re.compile(r"\w+")
# The definite, the plural and the genitive may follow.
TAIL = r"(?:e?n|er|e|erne|ene)?s?"
OCCUPATION_ENDING = re.compile(
    rf"\w+(?:ske|mand|kvinde|dame|mor|moder|far|fader|inde|kone|pige|dreng|trice|øse|esse){TAIL}",
    re.IGNORECASE,
)
# Compounds of these reveal the gender too (formand, skuespillerkone) ...
HEAD = "mand|mænd|kvinde|kone|dame|pige|dreng|søster|søstre|datter|døtre|hustru|husbond|dronning"
# ... compounds of these often do not (humor, erfar), so only the kinship terms are listed.
ALONE = (
    r"(?:(?:bedste|olde|stif|sted|sviger|pleje|mor|far|gud)?(?:mor|far|moder|fader|mødre|fædre|"
    r"søn|sønn|bror|broder|brødre))|svigersøn|onkel|onkl|tante|moster|mostr|faster|fastr|nevø|"
    r"niece|fru|frue|frk|frøken|hr|herre|konge|prins|prinsesse|enke|svigerinde|svoger|gut|tøs"
)
NOUN = re.compile(rf"(?:\w*(?:{HEAD})|{ALONE}){TAIL}", re.IGNORECASE)


def carries_gender(occupation: str) -> bool:
    """Whether the word for an occupation ends in a word for a woman or a man.

    >>> [carries_gender(word) for word in ("sygeplejersken", "brandmanden", "tømreren")]
    [True, True, False]
    """
    return OCCUPATION_ENDING.fullmatch(occupation) is not None


def find_gendered_words(text: str) -> list[str]:
    """The pronouns and nouns of a text that reveal a person's gender.

    >>> find_gendered_words("Formanden og svigermor fandt hans humor sund.")
    ['Formanden', 'svigermor', 'hans']
    """
    return [
        word
        for word in WORD.findall(text)
        if word.lower() in GENDERS or NOUN.fullmatch(word) is not None
    ]
