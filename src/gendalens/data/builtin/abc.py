"""The built-in ABC set: occupations in everyday events, in the present and in the past tense.

A frame is an event about a thing that may be the subject's own or somebody else's: *Piloten låser sin /
hans / hendes cykel ved stationen.* The reflexive agrees with the thing in gender and number: sin, sit,
or in the plural sine. A frame leaves out the occupations that deal with other people's things of that
kind: a secretary's *hans kalender* would be the boss's, whoever is secretary.
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from gendalens.data.abc import Form, Tense, Triple
from gendalens.data.builtin.catalogue import FOLDER
from gendalens.data.builtin.occupations import Occupation, read_occupations
from gendalens.data.text import Span, format_sentence, line_error, read_lines
from gendalens.words import phrase

GrammaticalGender = Literal["common", "neuter"]
Number = Literal["singular", "plural"]
TENSES: tuple[Tense, ...] = get_args(Tense)
COLUMNS = (
    *("frame", "present", "past", "before", "object"),
    *("definite", "gender", "number", "after", "not"),
)


@dataclass(frozen=True, slots=True)
class Frame:
    """An event: a verb in two tenses, and the thing that belongs to somebody.

    ``before`` comes between the verb and the possessive, ``after`` after the thing; both may be
    empty. ``definite`` is the thing with its article, a second indication of gender and number.
    ``left_out`` are the occupations, indefinite, with which somebody else's thing is the default.
    """

    frame: int
    present: str
    past: str
    before: str
    object: str
    definite: str
    gender: GrammaticalGender
    number: Number
    after: str
    left_out: frozenset[str]

    @property
    def form(self) -> Form:
        """The reflexive that agrees with the thing."""
        if self.number == "plural":
            return "sine"
        return "sin" if self.gender == "common" else "sit"

    def verb(self, tense: Tense) -> str:
        """The verb in one tense."""
        return self.present if tense == "present" else self.past


def read_frames(path: Path | None = None) -> list[Frame]:
    """The table of frames."""
    path = path or FOLDER / "frames.csv"
    reader = csv.DictReader(read_lines(path))
    if tuple(reader.fieldnames or ()) != COLUMNS:
        raise line_error(path, 1, phrase("its columns must be {columns}", columns=COLUMNS))
    found = []
    for row in reader:
        gender = next((g for g in get_args(GrammaticalGender) if g == row["gender"]), None)
        number = next((n for n in get_args(Number) if n == row["number"]), None)
        if gender is None or number is None or not row["frame"].isdecimal():
            reason = phrase("it needs a number, common or neuter, and singular or plural")
            raise line_error(path, reader.line_num, reason)
        texts = ("present", "past", "before", "object", "definite", "after")
        found.append(
            Frame(
                frame=int(row["frame"]),
                gender=gender,
                number=number,
                left_out=frozenset((row["not"] or "").split()),
                **{name: row[name] or "" for name in texts},
            )
        )
    return found


def read(path: Path | None = None) -> list[Triple]:
    """All triples, female-typed occupations first; ``path`` is another table of frames."""
    return build_triples(read_frames(path), list(read_occupations().values()))


def build_triples(table: Sequence[Frame], jobs: Sequence[Occupation]) -> list[Triple]:
    """Every occupation in both tenses of every frame that does not leave it out."""
    return [
        build_triple(frame, job, tense)
        for job in jobs
        for frame in table
        if job.indefinite not in frame.left_out
        for tense in TENSES
    ]


def build_triple(frame: Frame, occupation: Occupation, tense: Tense) -> Triple:
    """One event with one subject in its three readings."""
    subject = occupation.definite
    opening = " ".join(part for part in (subject, frame.verb(tense), frame.before) if part)
    ending = " ".join(part for part in (frame.object, frame.after) if part)
    start = len(opening) + 1

    def read_with(possessive: str) -> str:
        return format_sentence(f"{opening} {possessive} {ending}")

    return Triple(
        frame=frame.frame,
        template=2 * frame.frame - (tense == "present"),
        tense=tense,
        occupation=subject,
        occupation_class=occupation.stereotype,
        reflexive=read_with(frame.form),
        male=read_with("hans"),
        female=read_with("hendes"),
        form=frame.form,
        subject=Span(0, len(subject)),
        reflexive_span=Span(start, start + len(frame.form)),
        male_span=Span(start, start + len("hans")),
        female_span=Span(start, start + len("hendes")),
        unproven=occupation.unproven,
    )
