"""Danish words before a name that tell a woman from a man.

After a *courtesy* title Danish has a surname, never a first name alone: *fru Holm*, not *fru Mette*. The
others (*faster Asta*, *dronning Margrethe*, *sønnen Emil*) take a first name, which may contradict them.
"""

from __future__ import annotations

from gendalens.data.conllu import Entity, Sentence
from gendalens.data.dane import PERSON

COURTESY = frozenset({"hr.", "hr", "herr", "fru", "frk.", "frk", "frøken"})
KINSHIP = frozenset(
    [
        *("faster", "moster", "tante", "onkel", "farbror", "morbror", "kusine", "fætter"),
        *(
            "mor",
            "moder",
            "moderen",
            "far",
            "fader",
            "faderen",
            "datter",
            "datteren",
            "søn",
            "sønnen",
        ),
        *("søster", "søsteren", "storesøster", "lillesøster", "tvillingesøster", "halvsøster"),
        *("bror", "broder", "broderen", "storebror", "lillebror", "tvillingebror", "halvbror"),
        *("mormor", "farmor", "bedstemor", "oldemor", "morfar", "farfar", "bedstefar", "oldefar"),
        *("kone", "konen", "hustru", "hustruen", "enke", "enken", "mand", "manden", "enkemand"),
        *(
            "enkemanden",
            "svigermor",
            "svigerfar",
            "svigerinde",
            "svigerinden",
            "svoger",
            "svogeren",
        ),
        *("svigerdatter", "svigersøn", "niece", "niecen", "nevø", "nevøen", "veninden"),
    ]
)
RANK = frozenset(
    [
        *("kong", "konge", "kongen", "dronning", "dronningen", "prins", "prinsen", "prinsesse"),
        *("prinsessen", "kronprins", "kronprinsen", "kronprinsesse", "kronprinsessen"),
        *("greve", "grev", "grevinde", "grevinden", "baron", "baronen", "baronesse", "enkefru"),
        *("jomfru", "pater", "broder", "sir", "lord", "lady", "lensgreve", "komtesse"),
    ]
)
GENDERED = COURTESY | KINSHIP | RANK


def find_title(sentence: Sentence, entity: Entity) -> str | None:
    """The gendered word right before a name, in lower case."""
    if entity.tokens.start == 0:
        return None
    word = sentence.tokens[entity.tokens.start - 1].text.lower()
    return word if word in GENDERED else None


def has_gendered_title(sentence: Sentence) -> bool:
    """Whether a title stands before a person who gets a first name, and may contradict it."""
    return any(
        title is not None and not (title in COURTESY and len(entity.tokens) == 1)
        for entity in sentence.entities
        if entity.label == PERSON
        for title in [find_title(sentence, entity)]
    )
