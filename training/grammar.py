"""A small grammar of Danish sentences with a pronoun whose referent is known.

The cues are general ones. By syntax: *ham* and *hans* never mean the subject of their own clause
(that would be *sig* and *sin*), not even the unspoken subject of an infinitive. By sense: who asks is in
need, who is praised did well. No sentence of a test set is here, nor its template.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from training import lexicon as words

Gender = Literal["female", "male"]
FORMS: dict[Gender, dict[str, str]] = {
    "female": {"s": "hun", "o": "hende", "p": "hendes"},
    "male": {"s": "han", "o": "ham", "p": "hans"},
}


@dataclass(frozen=True, slots=True)
class Occupation:
    """An occupation in its definite form, and the gender it is typed as."""

    name: str
    gender: Gender


@dataclass(frozen=True, slots=True)
class Example:
    """A sentence, its pronoun, and whom the pronoun means: an occupation, or None for somebody else."""

    text: str
    pronoun: str
    referent: str | None


Pick = Callable[[tuple[str, ...]], str]


@dataclass(frozen=True, slots=True)
class Frame:
    """A sentence with places for both occupations {x} and {y} and a pronoun in some case.

    ``meant`` is the place that the pronoun means.
    """

    text: str
    meant: Literal["x", "y"]

    def fill(self, x: Occupation, y: Occupation, gender: Gender) -> Example:
        """The frame about two people, with a pronoun of this gender."""
        case = next(case for case in "sop" if f"{{{case}}}" in self.text)
        pronoun = FORMS[gender][case]
        text = self.text.replace(f"{{{case}}}", pronoun)
        text = text.replace("{x}", x.name).replace("{y}", y.name)
        meant = x if self.meant == "x" else y
        return Example(text[0].upper() + text[1:], pronoun, meant.name)


def two_people(dice: random.Random) -> Frame:
    """A random frame: whom the pronoun means is said by syntax or by sense, or is left open."""
    return dice.choices((_syntax, _sense, _open), (0.55, 0.15, 0.3))[0](dice)


def _verb(dice: random.Random, form: int) -> str:
    group = dice.choice((words.MEET, words.MEET, words.ASK, words.HELP, words.PRAISE, words.BLAME))
    return dice.choice(group)[form]


def _maybe(dice: random.Random, *lists: tuple[str, ...]) -> str:
    return f" {dice.choice(dice.choice(lists))}" if dice.random() < 0.4 else ""


def _own(dice: random.Random) -> str:
    return dice.choice(words.OWN + words.KIN)[0]


def _target(dice: random.Random, form: int) -> str:
    """What happens to {o} or to something of {p}: past (0), infinitive (1) or participle (2)."""
    share = dice.random()
    if share < 0.3:
        return f"{_verb(dice, form)} {{o}}"
    if share < 0.5:
        given = dice.choice((*words.THING, *words.ABOUT))
        return f"{dice.choice(words.GIVE)[form]} {{o}} {given}"
    if share < 0.65:
        some, preposition = dice.choice(words.THING), dice.choice(words.NEAR)
        return f"{dice.choice(words.PUT)[form]} {some} {preposition} {{o}}"
    if share < 0.75:
        return f"{dice.choice(words.PUT)[form]} {dice.choice(words.THING)} {_place(dice)}"
    return f"{dice.choice(words.USE)[form + 1]} {{p}} {_own(dice)}"


def _place(dice: random.Random) -> str:
    return f"{dice.choice(words.AT)} {{p}} {dice.choice(words.PLACE)}"


def _meets(dice: random.Random, form: int) -> str:
    """A verb up to where its person stands: "mødte", or "købte bogen af"."""
    if dice.random() < 0.7:
        return _verb(dice, form)
    return f"{dice.choice(words.PUT)[form]} {dice.choice(words.THING)} {dice.choice(words.NEAR)}"


def _inverted(clause: str, subject: str) -> str:
    """A clause with its subject after the verb: "ringede" + "til ham" → "ringede frisøren til ham"."""
    first, *rest = clause.split()
    return " ".join((first, subject, *rest))


def _syntax(dice: random.Random) -> Frame:
    """In its own clause the pronoun cannot mean the other person who is there."""
    where = _maybe(dice, words.WHERE, words.WHEN)
    end = _maybe(dice, words.WHERE, words.WHEN)
    start = f"{dice.choice((*words.WHERE, *words.WHEN))} " if dice.random() < 0.1 else ""
    kind = dice.choices(range(12), (4, 1, 1, 1, 1, 3, 3, 1, 3, 3, 3, 2))[0]
    if kind == 0:
        link = dice.choice((" og", " og", " og", ", men", " for at"))
        form = 1 if link == " for at" else 0
        person = "{y}" if dice.random() < 0.85 else f"{{y}}s {_own(dice)}"
        meets = f"{_meets(dice, 0)} {person}{where}{link} {_target(dice, form)}{end}."
        return Frame(f"{start}{_inverted(meets, '{x}')}" if start else f"{{x}} {meets}", "y")
    if kind == 1:
        return Frame(f"{{x}} {_verb(dice, 0)} {{y}}{where} {_place(dice)}{end}.", "y")
    if kind == 2:
        verb = dice.choice((*words.PRAISE, *words.BLAME))[0]
        return Frame(f"{{x}} {verb} {{y}} {_for(dice)} {{p}} {dice.choice(words.FOR)}{end}.", "y")
    if kind == 3:
        bade = dice.choice(
            ("bad {y} om at", "fik {y} til at", "opfordrede {y} til at", "overtalte {y} til at",
             "lod {y}", "tillod {y} at", "hjalp {y} med at", "tvang {y} til at")
        )  # fmt: skip
        return Frame(f"{{x}} {bade} {_target(dice, 1)}{end}.", "x")
    if kind == 4:
        vowed = dice.choice(
            ("lovede {y} at", "tilbød {y} at", "truede {y} med at", "aftalte med {y} at",
             "undskyldte over for {y} for at")
        )  # fmt: skip
        return Frame(f"{{x}} {vowed} {_target(dice, 1)}{end}.", "y")
    tail = f"havde {_target(dice, 2)}" if dice.random() < 0.4 else _target(dice, 0)
    link = dice.choice(words.LINK)
    if kind == 5:
        said = dice.choice((*words.SAID, *words.FELT))
        return Frame(f"{{x}} {said}, at {{y}} {tail}{end}.", "x")
    if kind == 6:
        rest = _inverted(tail, "{y}")
        return Frame(f"{link} {{x}} {dice.choice(words.CAME)}, {rest}{end}.", "x")
    if kind == 7:
        return Frame(
            f"{{x}} {_meets(dice, 0)} {{y}}, {dice.choice(('der', 'som'))} {tail}{end}.", "x"
        )
    if kind == 8:
        either = dice.choice((f", {link}", ", men", ", og", ", så"))
        return Frame(f"{{x}} {dice.choice(words.CAME)}{where}{either} {{y}} {tail}{end}.", "x")
    meets = f"havde {_meets(dice, 2)}" if dice.random() < 0.4 else _meets(dice, 0)
    if kind == 9:
        came = f"{dice.choice((*words.SAID, *words.FELT))}, at"
        if dice.random() < 0.5:
            came = f"{dice.choice(words.CAME)}{where}, {link}"
        return Frame(f"{{x}} {came} {{s}} {meets} {{y}}{end}.", "x")
    if kind == 10:
        after = _inverted(dice.choice(words.CAME), "{x}")
        if dice.random() < 0.3:
            link, after = "at", f"{dice.choice(('vidste', 'glemte', 'fortalte', 'opdagede'))} {{x}}"
        return Frame(f"{link} {{s}} {meets} {{y}}, {after}{end}.", "x")
    meets = f"kunne {_verb(dice, 1)}" if dice.random() < 0.4 else meets
    front = (
        f"det var {{y}}, {{s}} {meets}"
        if dice.random() < 0.4
        else f"{{y}} {_inverted(meets, '{s}')}"
    )
    return Frame(f"{front}{end}, {dice.choice(words.SAID)} {{x}}.", "x")


def _for(dice: random.Random) -> str:
    return dice.choice(("for", "på grund af"))


# Who of the two a reason is about: (what the first does, reasons that mean x, reasons that mean y).
_REASONS = (
    (words.ASK, words.NEED, words.CAN),
    (words.HELP, words.CAN, words.NEED),
    (words.PRAISE, words.PLEASED, words.WELL),
    (words.BLAME, words.CROSS, words.BADLY),
    (words.REGRET, words.BADLY, words.CROSS),
)
# "X spurgte Y, om han kunne …": what is asked, told or promised is about the one or the other.
_TOLD = (
    ("spurgte {y}, om {s} kunne {work}", "y"),
    ("spurgte {y}, om {s} måtte låne {thing}", "x"),
    ("spurgte {y}, hvornår {s} ville komme", "y"),
    ("spurgte {y}, hvorfor {s} var {state}", "y"),
    ("spurgte {y}, hvor {s} kunne finde {thing}", "x"),
    ("fortalte {y}, at {s} var {state}", "x"),
    ("lovede {y}, at {s} ville {work}", "x"),
    ("indrømmede over for {y}, at {s} havde glemt {thing}", "x"),
    ("forklarede {y}, hvordan {s} skulle {work}", "y"),
    ("mindede {y} om, at {s} skulle hente {thing}", "y"),
    ("rådede {y} til at blive hjemme, til {s} var rask", "y"),
    ("lykønskede {y} med, at {s} havde vundet", "y"),
    ("gav {y} {thing}, så {s} kunne {work}", "y"),
    ("lånte {thing} af {y}, så {s} kunne {work}", "x"),
    ("fik {thing} af {y}, så {s} kunne {work}", "x"),
    ("rakte {y} {thing}, så {s} kunne {work}", "y"),
    ("sendte {thing} til {y}, så {s} kunne {work}", "y"),
)


def _sense(dice: random.Random) -> Frame:
    end = _maybe(dice, words.WHEN)
    if dice.random() < 0.3:
        told, meant = dice.choice(_TOLD)
        return Frame(_things(dice, f"{{x}} {told}{end}."), "x" if meant == "x" else "y")
    verbs, of_x, of_y = dice.choice(_REASONS)
    about_x = dice.random() < 0.5
    reason = dice.choice(of_x if about_x else of_y)
    verb = dice.choice(verbs)[0]
    link = dice.choice(("fordi", "fordi", "fordi", "da", "eftersom"))
    where = _maybe(dice, words.WHERE, words.WHEN) if dice.random() < 0.5 else ""
    text = f"{{x}} {verb} {{y}}{where}, {link} {reason}{end}."
    return Frame(_things(dice, text), "x" if about_x else "y")


_PLACES: tuple[Literal["x"], Literal["y"]] = ("x", "y")


def _open(dice: random.Random) -> Frame:
    """Either may be meant: a reader has nothing but the pronoun to go by."""
    where = _maybe(dice, words.WHERE, words.WHEN)
    link = dice.choice((*words.LINK, "og så", "men", "så"))
    clause = dice.choice(
        (f"{{s}} {dice.choice(words.CAME)}", f"{{s}} var {dice.choice(words.STATE)}",
         f"{{s}} {dice.choice(words.PUT)[0]} {dice.choice(words.THING)}", f"nogen {_target(dice, 0)}",
         f"{{p}} {_own(dice)} var væk", "det var godt for {o}")
    )  # fmt: skip
    end = _maybe(dice, words.WHERE, words.WHEN)
    return Frame(
        f"{{x}} {_meets(dice, 0)} {{y}}{where}, {link} {clause}{end}.", dice.choice(_PLACES)
    )


def _things(dice: random.Random, text: str) -> str:
    for place, choices in (
        ("{thing}", words.THING),
        ("{body}", words.BODY),
        ("{body2}", words.BODY2),
        ("{work}", words.WORK),
        ("{topic}", words.TOPIC),
        ("{state}", words.STATE),
        ("{own}", tuple(noun for noun, _ in words.OWN)),
    ):
        text = text.replace(place, dice.choice(choices))
    return text


def one_person(dice: random.Random, x: Occupation, gender: Gender) -> Example:
    """A sentence about one person, with a pronoun that means them."""
    kind = dice.randrange(4)
    if kind == 0:
        text = f"{{x}} {dice.choice(words.SAID)}, at {{s}} var {dice.choice(words.STATE)}."
    elif kind == 1:
        text = f"{{x}} {dice.choice(words.CAME)}, fordi {{s}} var {dice.choice(words.STATE)}."
    elif kind == 2:
        text = f"{{x}} {dice.choice(words.CAME)}, og jeg {_verb(dice, 0)} {{o}}."
    else:
        text = f"{{x}} {dice.choice(words.CAME)}, og {{p}} {_own(dice)} var væk."
    return Frame(text, "x").fill(x, x, gender)


def possession(dice: random.Random, x: Occupation, gender: Gender | None) -> Example:
    """What somebody does with something: their own (no gender), or somebody else's."""
    noun, reflexive = dice.choice(words.OWN + words.KIN)
    verb = dice.choice(words.USE)[dice.randrange(2)]
    pronoun = FORMS[gender]["p"] if gender else reflexive
    end = _maybe(dice, words.WHERE, words.WHEN)
    text = f"{x.name} {verb} {pronoun} {noun}{end}."
    return Example(text[0].upper() + text[1:], pronoun, None if gender else x.name)
