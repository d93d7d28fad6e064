"""A small grammar of Danish sentences with a pronoun whose referent is known.

The cues are general. By syntax: *ham* and *hans* never refer to the subject of their own clause (that
would be *sig* and *sin*), not even to the implicit subject of an infinitive. By meaning: the person who
asks is in need, the person praised did well. It contains no sentence or template of a test set.
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
    """A sentence, its pronoun and the referent: an occupation, or None for somebody else."""

    text: str
    pronoun: str
    referent: str | None


Pick = Callable[[tuple[str, ...]], str]


@dataclass(frozen=True, slots=True)
class Frame:
    """A sentence with placeholders for both occupations, {x} and {y}, and a pronoun in some case.

    ``meant`` is the placeholder that the pronoun refers to.
    """

    text: str
    meant: Literal["x", "y"]

    def fill(self, x: Occupation, y: Occupation, gender: Gender) -> Example:
        """The sentence about two people, with a pronoun of this gender."""
        case = next(case for case in "sop" if f"{{{case}}}" in self.text)
        pronoun = FORMS[gender][case]
        text = self.text.replace(f"{{{case}}}", pronoun)
        text = text.replace("{x}", x.name).replace("{y}", y.name)
        meant = x if self.meant == "x" else y
        return Example(text[0].upper() + text[1:], pronoun, meant.name)


def two_people(dice: random.Random) -> Frame:
    """A random frame; the referent is determined by syntax or by meaning, or is left open."""
    return dice.choices((_draw_by_syntax, _draw_by_meaning, _draw_ambiguous), (0.55, 0.15, 0.3))[0](
        dice
    )


def _draw_verb(dice: random.Random, form: int) -> str:
    group = dice.choice((words.MEET, words.MEET, words.ASK, words.HELP, words.PRAISE, words.BLAME))
    return dice.choice(group)[form]


def _draw_optional(dice: random.Random, *lists: tuple[str, ...]) -> str:
    return f" {dice.choice(dice.choice(lists))}" if dice.random() < 0.4 else ""


def _draw_own_thing(dice: random.Random) -> str:
    return dice.choice(words.OWN + words.KIN)[0]


def _draw_target(dice: random.Random, form: int) -> str:
    """A phrase: what happens to {o} or a thing of {p}; past (0), infinitive (1) or participle (2)."""
    share = dice.random()
    if share < 0.3:
        return f"{_draw_verb(dice, form)} {{o}}"
    if share < 0.5:
        given = dice.choice((*words.THING, *words.ABOUT))
        return f"{dice.choice(words.GIVE)[form]} {{o}} {given}"
    if share < 0.65:
        some, preposition = dice.choice(words.THING), dice.choice(words.NEAR)
        return f"{dice.choice(words.PUT)[form]} {some} {preposition} {{o}}"
    if share < 0.75:
        return f"{dice.choice(words.PUT)[form]} {dice.choice(words.THING)} {_draw_place(dice)}"
    return f"{dice.choice(words.USE)[form + 1]} {{p}} {_draw_own_thing(dice)}"


def _draw_place(dice: random.Random) -> str:
    return f"{dice.choice(words.AT)} {{p}} {dice.choice(words.PLACE)}"


def _draw_meeting(dice: random.Random, form: int) -> str:
    """A verb phrase up to the position of its person: "mødte", or "købte bogen af"."""
    if dice.random() < 0.7:
        return _draw_verb(dice, form)
    return f"{dice.choice(words.PUT)[form]} {dice.choice(words.THING)} {dice.choice(words.NEAR)}"


def _invert(clause: str, subject: str) -> str:
    """A clause with its subject after the verb: "ringede" + "til ham" → "ringede frisøren til ham"."""
    first, *rest = clause.split()
    return " ".join((first, subject, *rest))


def _draw_by_syntax(dice: random.Random) -> Frame:
    """A frame resolved by syntax: the pronoun cannot refer to the other person in its own clause."""
    where = _draw_optional(dice, words.WHERE, words.WHEN)
    end = _draw_optional(dice, words.WHERE, words.WHEN)
    start = f"{dice.choice((*words.WHERE, *words.WHEN))} " if dice.random() < 0.1 else ""
    kind = dice.choices(range(12), (4, 1, 1, 1, 1, 3, 3, 1, 3, 3, 3, 2))[0]
    if kind == 0:
        link = dice.choice((" og", " og", " og", ", men", " for at"))
        form = 1 if link == " for at" else 0
        person = "{y}" if dice.random() < 0.85 else f"{{y}}s {_draw_own_thing(dice)}"
        meets = f"{_draw_meeting(dice, 0)} {person}{where}{link} {_draw_target(dice, form)}{end}."
        return Frame(f"{start}{_invert(meets, '{x}')}" if start else f"{{x}} {meets}", "y")
    if kind == 1:
        return Frame(f"{{x}} {_draw_verb(dice, 0)} {{y}}{where} {_draw_place(dice)}{end}.", "y")
    if kind == 2:
        verb = dice.choice((*words.PRAISE, *words.BLAME))[0]
        return Frame(
            f"{{x}} {verb} {{y}} {_draw_reason(dice)} {{p}} {dice.choice(words.FOR)}{end}.", "y"
        )
    if kind == 3:
        bade = dice.choice(
            ("bad {y} om at", "fik {y} til at", "opfordrede {y} til at", "overtalte {y} til at",
             "lod {y}", "tillod {y} at", "hjalp {y} med at", "tvang {y} til at")
        )  # fmt: skip
        return Frame(f"{{x}} {bade} {_draw_target(dice, 1)}{end}.", "x")
    if kind == 4:
        vowed = dice.choice(
            ("lovede {y} at", "tilbød {y} at", "truede {y} med at", "aftalte med {y} at",
             "undskyldte over for {y} for at")
        )  # fmt: skip
        return Frame(f"{{x}} {vowed} {_draw_target(dice, 1)}{end}.", "y")
    tail = f"havde {_draw_target(dice, 2)}" if dice.random() < 0.4 else _draw_target(dice, 0)
    link = dice.choice(words.LINK)
    if kind == 5:
        said = dice.choice((*words.SAID, *words.FELT))
        return Frame(f"{{x}} {said}, at {{y}} {tail}{end}.", "x")
    if kind == 6:
        rest = _invert(tail, "{y}")
        return Frame(f"{link} {{x}} {dice.choice(words.CAME)}, {rest}{end}.", "x")
    if kind == 7:
        return Frame(
            f"{{x}} {_draw_meeting(dice, 0)} {{y}}, {dice.choice(('der', 'som'))} {tail}{end}.", "x"
        )
    if kind == 8:
        either = dice.choice((f", {link}", ", men", ", og", ", så"))
        return Frame(f"{{x}} {dice.choice(words.CAME)}{where}{either} {{y}} {tail}{end}.", "x")
    meets = f"havde {_draw_meeting(dice, 2)}" if dice.random() < 0.4 else _draw_meeting(dice, 0)
    if kind == 9:
        came = f"{dice.choice((*words.SAID, *words.FELT))}, at"
        if dice.random() < 0.5:
            came = f"{dice.choice(words.CAME)}{where}, {link}"
        return Frame(f"{{x}} {came} {{s}} {meets} {{y}}{end}.", "x")
    if kind == 10:
        after = _invert(dice.choice(words.CAME), "{x}")
        if dice.random() < 0.3:
            link, after = "at", f"{dice.choice(('vidste', 'glemte', 'fortalte', 'opdagede'))} {{x}}"
        return Frame(f"{link} {{s}} {meets} {{y}}, {after}{end}.", "x")
    meets = f"kunne {_draw_verb(dice, 1)}" if dice.random() < 0.4 else meets
    front = (
        f"det var {{y}}, {{s}} {meets}" if dice.random() < 0.4 else f"{{y}} {_invert(meets, '{s}')}"
    )
    return Frame(f"{front}{end}, {dice.choice(words.SAID)} {{x}}.", "x")


def _draw_reason(dice: random.Random) -> str:
    return dice.choice(("for", "på grund af"))


# Which of the two a reason is about: (what the first does, reasons about x, reasons about y).
_REASONS = (
    (words.ASK, words.NEED, words.CAN),
    (words.HELP, words.CAN, words.NEED),
    (words.PRAISE, words.PLEASED, words.WELL),
    (words.BLAME, words.CROSS, words.BADLY),
    (words.REGRET, words.BADLY, words.CROSS),
)
# "X spurgte Y, om han kunne …": what is asked, told or promised concerns one or the other.
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


def _draw_by_meaning(dice: random.Random) -> Frame:
    end = _draw_optional(dice, words.WHEN)
    if dice.random() < 0.3:
        told, meant = dice.choice(_TOLD)
        return Frame(_fill_things(dice, f"{{x}} {told}{end}."), "x" if meant == "x" else "y")
    verbs, of_x, of_y = dice.choice(_REASONS)
    about_x = dice.random() < 0.5
    reason = dice.choice(of_x if about_x else of_y)
    verb = dice.choice(verbs)[0]
    link = dice.choice(("fordi", "fordi", "fordi", "da", "eftersom"))
    where = _draw_optional(dice, words.WHERE, words.WHEN) if dice.random() < 0.5 else ""
    text = f"{{x}} {verb} {{y}}{where}, {link} {reason}{end}."
    return Frame(_fill_things(dice, text), "x" if about_x else "y")


_PLACES: tuple[Literal["x"], Literal["y"]] = ("x", "y")


def _draw_ambiguous(dice: random.Random) -> Frame:
    """A frame in which either person may be meant: only the pronoun's gender is a clue."""
    where = _draw_optional(dice, words.WHERE, words.WHEN)
    link = dice.choice((*words.LINK, "og så", "men", "så"))
    clause = dice.choice(
        (f"{{s}} {dice.choice(words.CAME)}", f"{{s}} var {dice.choice(words.STATE)}",
         f"{{s}} {dice.choice(words.PUT)[0]} {dice.choice(words.THING)}",
         f"nogen {_draw_target(dice, 0)}", f"{{p}} {_draw_own_thing(dice)} var væk",
         "det var godt for {o}")
    )  # fmt: skip
    end = _draw_optional(dice, words.WHERE, words.WHEN)
    return Frame(
        f"{{x}} {_draw_meeting(dice, 0)} {{y}}{where}, {link} {clause}{end}.", dice.choice(_PLACES)
    )


def _fill_things(dice: random.Random, text: str) -> str:
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
    """A sentence about one person, with a pronoun that refers to them."""
    kind = dice.randrange(4)
    if kind == 0:
        text = f"{{x}} {dice.choice(words.SAID)}, at {{s}} var {dice.choice(words.STATE)}."
    elif kind == 1:
        text = f"{{x}} {dice.choice(words.CAME)}, fordi {{s}} var {dice.choice(words.STATE)}."
    elif kind == 2:
        text = f"{{x}} {dice.choice(words.CAME)}, og jeg {_draw_verb(dice, 0)} {{o}}."
    else:
        text = f"{{x}} {dice.choice(words.CAME)}, og {{p}} {_draw_own_thing(dice)} var væk."
    return Frame(text, "x").fill(x, x, gender)


def possession(dice: random.Random, x: Occupation, gender: Gender | None) -> Example:
    """A sentence about somebody and a thing: their own (no gender), or somebody else's."""
    noun, reflexive = dice.choice(words.OWN + words.KIN)
    verb = dice.choice(words.USE)[dice.randrange(2)]
    pronoun = FORMS[gender]["p"] if gender else reflexive
    end = _draw_optional(dice, words.WHERE, words.WHEN)
    text = f"{x.name} {verb} {pronoun} {noun}{end}."
    return Example(text[0].upper() + text[1:], pronoun, None if gender else x.name)
