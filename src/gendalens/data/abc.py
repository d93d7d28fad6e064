"""ABC: a reflexive sentence and the same sentence with *hans* and with *hendes*.

Danish has a reflexive possessive (sin, sit, sine), so *hans* and *hendes* must refer to somebody other
than the subject. A frame is one event, in the present and in the past tense. In the official
files one template occurs twice and its present tense is missing: that frame has one tense.

The set's first version (``coref_lm.da`` of González et al. 2020) is a single file of the same layout for
all occupations. Its occupations have the class of the official set, or none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from gendalens.data import errata as known
from gendalens.data.occupations import is_contested, read_occupations
from gendalens.data.pronouns import Gender
from gendalens.data.text import Span, format_sentence, line_error, read_lines
from gendalens.words import N_, phrase

Form = Literal["sin", "sit", "sine"]
Tense = Literal["present", "past"]
TENSE_NAMES = (N_("present"), N_("past"))
FORMS: tuple[Form, ...] = get_args(Form)
FILES: dict[Gender, str] = {"female": "abc_fem_sents.txt", "male": "abc_male_sents.txt"}
RULE = "---"
REFLEXIVE = re.compile(rf"\b({'|'.join(FORMS)})\b")
# The Danish present tense ends in -r, and so do a few strong past tenses.
PAST_IN_R = frozenset({"bar", "for", "skar", "svor", "var"})


@dataclass(frozen=True, slots=True)
class Triple:
    """A sentence in its three readings.

    ``template`` is the position in the occupation's block of the file (1 to 76 in the official ones),
    ``frame`` numbers the events (1 to 38). ``subject`` is the same in all three sentences.
    ``occupation_class`` is None for an occupation that is in no class. ``contested``: Danish
    employment shares, or the word itself, contradict the occupation's class.
    ``unproven``: no reliable Danish share bears it out, and a headline does not rest on it.
    """

    frame: int
    template: int
    tense: Tense
    occupation: str
    occupation_class: Gender | None
    reflexive: str
    male: str
    female: str
    form: Form
    subject: Span
    reflexive_span: Span
    male_span: Span
    female_span: Span
    contested: bool = False
    unproven: bool = False


def read_raw(folder: Path) -> dict[Gender, list[tuple[str, str, str]]]:
    """Both files' sentences in file order, duplicates included: reflexive, *hans*, *hendes*.

    The reflexive sentences are those that GenDa Lens 0.0.3 reads.
    """
    raw: dict[Gender, list[tuple[str, str, str]]] = {}
    for occupation_class, name in FILES.items():
        path = folder / name
        raw[occupation_class] = [three for _, three in _read_groups(read_lines(path), path)]
    return raw


def read(folder: Path, *, errata: bool) -> list[Triple]:
    """The unique triples of both files, female occupations first."""
    found = known.find_errata("abc") if errata else ()
    collected = _Collection()
    for occupation_class, name in FILES.items():
        path = folder / name
        lines = known.apply_errata(read_lines(path), found, condition=occupation_class, path=path)
        collected.add_file(lines, path, dict.fromkeys(_list_occupations(lines), occupation_class))
    return list(collected.triples.values())


def read_single_file(path: Path) -> list[Triple]:
    """The unique triples of a file that holds the occupations of both classes, and of none."""
    lines = read_lines(path)
    while lines and (not lines[-1].strip() or lines[-1].startswith(RULE)):
        lines.pop()  # the first version ends with a rule
    collected = _Collection()
    classes = {occupation: _find_class(occupation) for occupation in _list_occupations(lines)}
    collected.add_file(lines, path, classes)
    return list(collected.triples.values())


def _list_occupations(lines: list[str]) -> set[str]:
    return {line.split()[0].lower() for line in lines if line.strip()}


def _find_class(occupation: str) -> Gender | None:
    """The class that the official set gives an occupation, also where it misspells it."""
    table = read_occupations("abc")
    fixes = {entry.old: entry.new for entry in known.find_errata("abc")}
    one = table.get(occupation) or table.get(fixes.get(occupation, ""))
    return None if one is None else one.stereotype


class _Collection:
    """The unique triples of one or more files."""

    def __init__(self) -> None:
        self.triples: dict[str, Triple] = {}
        self._frames: dict[str, int] = {}
        self._tenses: dict[tuple[str, int, Tense], str] = {}
        self._classes: dict[str, Gender | None] = {}

    def add_file(self, lines: list[str], path: Path, classes: Mapping[str, Gender | None]) -> None:
        block, template = "", 0
        for number, three in _read_groups(lines, path):
            occupation = three[0].split()[0]
            occupation_class = classes[occupation.lower()]
            if self._classes.setdefault(occupation.lower(), occupation_class) != occupation_class:
                reason = phrase(
                    "“{occupation}” is in both files, so in both classes", occupation=occupation
                )
                raise line_error(path, number, reason)
            template = template + 1 if occupation == block else 1
            block = occupation
            triple = _parse(three, number, path, self._frames, template, occupation_class)
            if triple.reflexive in self.triples:
                continue
            self.triples[triple.reflexive] = triple
            cell = (occupation, triple.frame, triple.tense)
            if self._tenses.setdefault(cell, triple.reflexive) != triple.reflexive:
                reason = phrase("a second {tense:t} tense of the same event", tense=triple.tense)
                raise line_error(path, number, reason)


def _read_groups(lines: list[str], path: Path) -> Iterator[tuple[int, tuple[str, str, str]]]:
    """Every group of three sentences between rules, with its first line's number."""
    group: list[str] = []
    for number, line in enumerate([*lines, RULE], start=1):
        if not line.startswith(RULE):
            group.append(line.strip())
        elif len(group) == 3 and all(group):
            yield number - 3, (group[0], group[1], group[2])
            group = []
        else:
            reason = phrase(
                "{rule} or the end of the file must come after three sentences", rule=RULE
            )
            raise line_error(path, number, reason)


def _parse(
    three: tuple[str, str, str],
    number: int,
    path: Path,
    frames: dict[str, int],
    template: int,
    occupation_class: Gender | None,
) -> Triple:
    """Three sentences as a triple; a new event is added to ``frames``."""
    found = REFLEXIVE.findall(three[0])
    if len(found) != 1 or len(three[0].split()) < 3:
        reason = phrase("it needs a subject, a verb, and one of sin, sit, sine")
        raise line_error(path, number, reason)
    for line, word, text in zip(
        (number + 1, number + 2), ("hans", "hendes"), three[1:], strict=True
    ):
        if text != REFLEXIVE.sub(word, three[0]):
            reason = phrase("it is not the reflexive sentence with “{word}”", word=word)
            raise line_error(path, line, reason)
    occupation, verb, *rest = three[0].removesuffix(".").split()
    if occupation in FORMS or verb in FORMS:
        raise line_error(path, number, phrase("the verb must follow the subject"))
    reflexive, male, female = (format_sentence(text) for text in three)
    start = next(REFLEXIVE.finditer(reflexive)).start()
    return Triple(
        frame=frames.setdefault(" ".join(rest), len(frames) + 1),
        template=template,
        tense="present" if verb.endswith("r") and verb not in PAST_IN_R else "past",
        occupation=occupation.lower(),
        occupation_class=occupation_class,
        reflexive=reflexive,
        male=male,
        female=female,
        form=found[0],
        subject=Span(0, len(occupation)),
        reflexive_span=Span(start, start + len(found[0])),
        male_span=Span(start, start + len("hans")),
        female_span=Span(start, start + len("hendes")),
        contested=is_contested("abc", occupation.lower()),
    )
