"""The validator of the built-in ABC set finds every kind of defect, and none in the shipped set."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from gendalens.data.abc import Triple
from gendalens.data.builtin import abc
from gendalens.data.builtin.abc import Frame
from gendalens.data.builtin.catalogue import SETS
from gendalens.data.builtin.occupations import Occupation, read_occupations
from gendalens.data.text import Span
from tools.builtin_sets.abc_validator import find_problems

CARD = Path(__file__).parents[2] / "docs" / "builtin-abc.md"


@dataclass
class Parts:
    """A set that a test may spoil."""

    frames: list[Frame]
    occupations: list[Occupation]
    triples: list[Triple]

    def rebuilt(self) -> None:
        self.triples = abc.build_triples(self.frames, self.occupations)

    def change_frame(self, place: int, **changes: object) -> None:
        self.frames[place] = replace(self.frames[place], **changes)  # type: ignore[arg-type]
        self.rebuilt()

    def change_triple(self, place: int, **changes: object) -> None:
        self.triples[place] = replace(self.triples[place], **changes)  # type: ignore[arg-type]


@pytest.fixture
def parts() -> Parts:
    return Parts(abc.read_frames(), list(read_occupations().values()), abc.read())


def test_the_shipped_set_is_clean(parts: Parts) -> None:
    assert find_problems(parts.frames, parts.occupations, parts.triples) == []


# One planted defect of each kind.


def wrong_gender(parts: Parts) -> None:
    parts.change_frame(0, gender="neuter")


def wrong_number(parts: Parts) -> None:
    parts.change_frame(0, number="plural")


def wrong_reflexive(parts: Parts) -> None:
    text = parts.triples[0].reflexive.replace(" sin ", " sit ")
    parts.change_triple(0, reflexive=text, form="sit")


def possessive_elsewhere(parts: Parts) -> None:
    parts.change_triple(0, reflexive="Afspændingspædagogen låser cyklen ved sin station.")


def event_told_twice(parts: Parts) -> None:
    parts.frames.append(replace(parts.frames[0], frame=len(parts.frames) + 1))
    parts.rebuilt()


def sentence_twice(parts: Parts) -> None:
    parts.triples.append(parts.triples[7])


def frame_number_twice(parts: Parts) -> None:
    parts.change_frame(1, frame=1)


def past_is_missing(parts: Parts) -> None:
    parts.triples = [t for t in parts.triples if (t.frame, t.tense) != (5, "past")]


def no_past_form(parts: Parts) -> None:
    parts.change_frame(0, past="")


def one_form_for_both_tenses(parts: Parts) -> None:
    parts.change_frame(0, past="låser")


def present_is_no_present(parts: Parts) -> None:
    parts.change_frame(0, present="låse")


def tense_is_mixed_up(parts: Parts) -> None:
    parts.change_triple(0, tense="past")


def few_neuter_things(parts: Parts) -> None:
    neuter = [f for f in parts.frames if f.form == "sit"]
    parts.frames = [f for f in parts.frames if f.form != "sit"] + neuter[:5]
    parts.rebuilt()


def few_frames(parts: Parts) -> None:
    parts.frames = parts.frames[:21]
    parts.rebuilt()


def few_occupations(parts: Parts) -> None:
    parts.occupations = parts.occupations[1:-1]
    parts.rebuilt()


def classes_are_uneven(parts: Parts) -> None:
    parts.occupations = [
        replace(job, stereotype="male") if job.definite in ("psykologen", "læreren") else job
        for job in parts.occupations
    ]
    parts.rebuilt()


def unknown_occupation(parts: Parts) -> None:
    parts.occupations = [job for job in parts.occupations if job.definite != "frisøren"]


def other_class(parts: Parts) -> None:
    parts.change_triple(0, occupation_class="male")


def more_than_the_possessive_differs(parts: Parts) -> None:
    parts.change_triple(0, female=parts.triples[0].female.replace("cykel", "bil"))


def span_off_by_one(parts: Parts) -> None:
    span = parts.triples[0].male_span
    parts.change_triple(0, male_span=Span(span.start, span.end + 1))


def subject_span_off_by_one(parts: Parts) -> None:
    parts.change_triple(0, subject=Span(0, parts.triples[0].subject.end - 1))


def small_letter_first(parts: Parts) -> None:
    text = parts.triples[0].reflexive
    parts.change_triple(0, reflexive=text[0].lower() + text[1:])


def no_full_stop(parts: Parts) -> None:
    parts.change_triple(0, reflexive=parts.triples[0].reflexive.rstrip("."))


def spare_space(parts: Parts) -> None:
    parts.change_triple(0, reflexive=parts.triples[0].reflexive.replace("ved", "ved "))


def capital_inside(parts: Parts) -> None:
    parts.change_triple(0, reflexive=parts.triples[0].reflexive.replace("cykel", "Cykel"))


def second_reflexive(parts: Parts) -> None:
    parts.change_triple(0, reflexive=parts.triples[0].reflexive.replace("ved", "ved sin"))


def gendered_word_in_a_frame(parts: Parts) -> None:
    parts.change_frame(0, after="hos formanden")


def somebody_else_s_by_default(parts: Parts) -> None:
    parts.change_frame(24, left_out=frozenset({"lægesekretær", "kontorassistent", "receptionist"}))


def left_out_and_yet_there(parts: Parts) -> None:
    parts.frames[0] = replace(parts.frames[0], left_out=frozenset({"pilot"}))


def unknown_one_left_out(parts: Parts) -> None:
    parts.change_frame(0, left_out=frozenset({"astronaut"}))


def many_left_out(parts: Parts) -> None:
    parts.change_frame(0, left_out=frozenset(job.indefinite for job in parts.occupations[:9]))


def few_frames_for_an_occupation(parts: Parts) -> None:
    parts.frames = [
        replace(frame, left_out=frame.left_out | {"pilot"} if frame.frame > 20 else frame.left_out)
        for frame in parts.frames
    ]
    parts.rebuilt()


def thing_of_an_office(parts: Parts) -> None:
    parts.change_frame(0, after="før mødet")


def gendered_occupation(parts: Parts) -> None:
    job = parts.occupations[0]
    parts.occupations[0] = replace(job, indefinite="brandmand", definite="brandmanden")
    parts.rebuilt()


@pytest.mark.parametrize(
    ("spoil", "found"),
    [
        (wrong_gender, "frame 1: wrong agreement, “cyklen” is not neuter singular"),
        (wrong_number, "frame 1: wrong agreement, “cyklen” is not common plural"),
        (wrong_reflexive, "wrong agreement with “cykel”"),
        (possessive_elsewhere, "the possessive does not come before “cykel”"),
        (event_told_twice, "duplicate event"),
        (sentence_twice, "duplicate sentence"),
        (frame_number_twice, "duplicate frame number: 1"),
        (past_is_missing, "frame 5: bibliotekaren has no past tense"),
        (no_past_form, "frame 1: “” is not a past tense"),
        (one_form_for_both_tenses, "frame 1: both tenses are “låser”"),
        (present_is_no_present, "frame 1: “låse” is not a present tense"),
        (tense_is_mixed_up, "its verb is not the past tense"),
        (few_neuter_things, "unbalanced: sit in 5 of 29 frames"),
        (few_frames, "there are 21 frames, 24 are needed"),
        (few_occupations, "there are 78 occupations, 80 are needed"),
        (classes_are_uneven, "unbalanced: 35 female and 45 male occupations"),
        (unknown_occupation, "frisøren is not a known female occupation"),
        (other_class, "afspændingspædagogen is not a known male occupation"),
        (more_than_the_possessive_differs, "not minimal, more than the possessive differs"),
        (span_off_by_one, "the span of “hans” is off"),
        (subject_span_off_by_one, "the subject's span is off"),
        (small_letter_first, "no capital letter first"),
        (no_full_stop, "no single full stop last"),
        (spare_space, "spare spaces"),
        (capital_inside, "a capital letter inside"),
        (second_reflexive, "not one reflexive"),
        (gendered_word_in_a_frame, "frame 1: a word carries gender"),
        (somebody_else_s_by_default, "frame 25: with sekretær, “kalender” is somebody else's"),
        (left_out_and_yet_there, "frame 1: piloten is left out, yet has a past tense"),
        (unknown_one_left_out, "frame 1: it leaves out astronaut, which is not an occupation"),
        (many_left_out, "frame 1: it leaves out 9 occupations"),
        (few_frames_for_an_occupation, "piloten has 20 frames, 24 are needed"),
        (thing_of_an_office, "frame 1: “cykel før mødet” is of an office"),
        (gendered_occupation, "brandmanden: the word carries gender"),
    ],
    ids=lambda value: value.__name__ if callable(value) else "",
)
def test_a_planted_defect_is_found(
    spoil: Callable[[Parts], None], found: str, parts: Parts
) -> None:
    spoil(parts)
    told = find_problems(parts.frames, parts.occupations, parts.triples)
    assert [problem for problem in told if found in problem], told[:5]


def test_the_card_tells_the_truth() -> None:
    frames, jobs, triples = abc.read_frames(), read_occupations().values(), abc.read()
    classes = Counter(job.stereotype for job in jobs)
    forms = Counter(frame.form for frame in frames)
    proven = sum(not job.unproven for job in jobs)
    facts: dict[str, int] = {
        "triples": len(triples),
        "sentences": 3 * len(triples),
        "occupations": len(jobs),
        "female-typed": classes["female"],
        "male-typed": classes["male"],
        "with a share of high or medium confidence": proven,
        "without such a share, out of the headline": len(jobs) - proven,
        "frames": len(frames),
        "combinations left out": len(jobs) * len(frames) - len(triples) // 2,
        **{str(form): count for form, count in forms.items()},
        "plural of a neuter noun": sum(f.form == "sine" and f.gender == "neuter" for f in frames),
        "with words between verb and possessive": sum(bool(f.before) for f in frames),
        "longest sentence, words": max(len(t.reflexive.split()) for t in triples),
    }
    told = dict(re.findall(r"^\| ([^|]+?) \| ([\d,]+) \|$", CARD.read_text("utf-8"), re.MULTILINE))
    for count, what in ((len(triples), "sentence triples"), (len(jobs), "occupations")):
        assert f"{count:,} {what}" in SETS["abc"].holds
    assert f"{len(frames)} frames" in SETS["abc"].holds
    assert {name: int(number.replace(",", "")) for name, number in told.items()} == facts
