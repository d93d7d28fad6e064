"""A check of the built-in ABC set that is independent of the code that built it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence

from gendalens.data.abc import FORMS, PAST_IN_R, Triple
from gendalens.data.builtin.abc import TENSES, Frame
from gendalens.data.builtin.occupations import Occupation
from gendalens.data.text import Span
from tools.builtin_sets.gendered_words import carries_gender, find_gendered_words

LEAST_OCCUPATIONS, LEAST_FRAMES = 80, 24
LEAST_SHARE = 0.25  # of the frames, for each of sin, sit and sine
MOST_UNEVEN = 6  # the largest difference between the sizes of the two classes
MOST_LEFT_OUT = 0.1  # of the occupations of a frame
LEAST_FRAMES_EACH = 24  # for an occupation
# Frames in which a clerk's, a cleaner's or a carer's *hans* is the boss's, the client's or the child's.
OTHERS_BY_DEFAULT = {
    "kalender": "sekretær lægesekretær kontorassistent receptionist",
    "telefonnummer": "sekretær lægesekretær kontorassistent receptionist",
    "skab": "rengøringsassistent husassistent hjemmehjælper",
    "hæk": "gartner vicevært pedel",
    "bøger": "bibliotekar",
    "bil": "taxichauffør mekaniker",
    "puslespil": "børnehavepædagog dagplejer vuggestuepædagog",
}
# Things of an office, which few of the occupations have.
OFFICE = re.compile(r"skrivebord|møde|rapport|regnskab|debat|forslag")
# The article at the end of the definite form shows gender and number.
ARTICLES = {("common", "singular"): "n", ("neuter", "singular"): "t"}


def find_problems(
    frames: Sequence[Frame], occupations: Sequence[Occupation], triples: Sequence[Triple]
) -> list[str]:
    """One sentence per defect; none for a sound set."""
    table = {frame.frame: frame for frame in frames}
    known = {job.definite: job for job in occupations}
    return [
        *_check_size_and_balance(frames, triples),
        *_check_combinations(frames, occupations, triples),
        *_check_tables(frames, occupations),
        *_find_duplicates(frames, triples),
        *(problem for triple in triples for problem in _check_triple(triple, table, known)),
    ]


def _check_size_and_balance(frames: Sequence[Frame], triples: Sequence[Triple]) -> Iterator[str]:
    classes = Counter({t.occupation: t.occupation_class for t in triples}.values())
    if classes.total() < LEAST_OCCUPATIONS:
        yield f"there are {classes.total()} occupations, {LEAST_OCCUPATIONS} are needed"
    if abs(classes["female"] - classes["male"]) > MOST_UNEVEN:
        yield f"unbalanced: {classes['female']} female and {classes['male']} male occupations"
    if len(frames) < LEAST_FRAMES:
        yield f"there are {len(frames)} frames, {LEAST_FRAMES} are needed"
    forms = Counter(frame.form for frame in frames)
    for form in FORMS:
        if forms[form] < LEAST_SHARE * len(frames):
            yield f"unbalanced: {form} in {forms[form]} of {len(frames)} frames"


def _check_combinations(
    frames: Sequence[Frame], occupations: Sequence[Occupation], triples: Sequence[Triple]
) -> Iterator[str]:
    cells = Counter((t.occupation, t.frame, t.tense) for t in triples)
    known = {job.indefinite for job in occupations}
    for frame in frames:
        place = f"frame {frame.frame}"
        for name in sorted(frame.left_out - known):
            yield f"{place}: it leaves out {name}, which is not an occupation"
        if len(frame.left_out) > MOST_LEFT_OUT * len(occupations):
            yield f"{place}: it leaves out {len(frame.left_out)} occupations"
        for name in OTHERS_BY_DEFAULT.get(frame.object, "").split():
            if name in known - frame.left_out:
                yield f"{place}: with {name}, “{frame.object}” is somebody else's by default"
        for occupation in occupations:
            for tense in TENSES:
                cell = (occupation.definite, frame.frame, tense)
                if (cell in cells) == (occupation.indefinite in frame.left_out):
                    what = "is left out, yet has a" if cell in cells else "has no"
                    yield f"{place}: {occupation.definite} {what} {tense} tense"
    for job in occupations:
        number = sum(job.indefinite not in frame.left_out for frame in frames)
        if number < LEAST_FRAMES_EACH:
            yield f"{job.definite} has {number} frames, {LEAST_FRAMES_EACH} are needed"


def _check_tables(frames: Sequence[Frame], occupations: Sequence[Occupation]) -> Iterator[str]:
    for frame in frames:
        place = f"frame {frame.frame}"
        if not frame.present.endswith("r"):
            yield f"{place}: “{frame.present}” is not a present tense"
        if not frame.past or (frame.past.endswith("r") and frame.past not in PAST_IN_R):
            yield f"{place}: “{frame.past}” is not a past tense"
        if frame.present == frame.past:
            yield f"{place}: both tenses are “{frame.present}”"
        article = ARTICLES.get((frame.gender, frame.number), "ne")
        stem = frame.object[:3]
        if not (frame.definite.startswith(stem) and frame.definite.endswith(article)):
            yield (
                f"{place}: wrong agreement, “{frame.definite}” is not {frame.gender} {frame.number}"
            )
        if find_gendered_words(" ".join((frame.before, frame.object, frame.after))):
            yield f"{place}: a word carries gender"
        if OFFICE.search(f"{frame.object} {frame.after}"):
            yield f"{place}: “{frame.object} {frame.after}” is of an office"
    for job in occupations:
        if carries_gender(job.definite):
            yield f"{job.definite}: the word carries gender"


def _find_duplicates(frames: Sequence[Frame], triples: Sequence[Triple]) -> Iterator[str]:
    for what, values in (
        ("frame number", [frame.frame for frame in frames]),
        ("event", [(f.present, f.before, f.object, f.after) for f in frames]),
        ("thing", [frame.object for frame in frames]),
        ("verb", [frame.present for frame in frames]),
        ("sentence", [text for t in triples for text in (t.reflexive, t.male, t.female)]),
    ):
        for value in _find_repeated(values):
            yield f"duplicate {what}: {value}"


def _find_repeated(values: Iterable[object]) -> list[object]:
    return [value for value, count in Counter(values).items() if count > 1]


def _check_triple(
    triple: Triple, frames: dict[int, Frame], occupations: dict[str, Occupation]
) -> Iterator[str]:
    text, place = triple.reflexive, f"“{triple.reflexive}”"
    frame, job = frames.get(triple.frame), occupations.get(triple.occupation)
    if job is None or job.stereotype != triple.occupation_class:
        yield f"{place}: {triple.occupation} is not a known {triple.occupation_class} occupation"
    if frame is None:
        yield f"{place}: there is no frame {triple.frame}"
        return
    if triple.form != frame.form or _slice(text, triple.reflexive_span) != triple.form:
        yield f"{place}: wrong agreement with “{frame.object}”, which is {frame.number} {frame.gender}"
    if text[triple.reflexive_span.end :].split(maxsplit=1)[0].rstrip(".") != frame.object:
        yield f"{place}: the possessive does not come before “{frame.object}”"
    if text.split()[1] != frame.verb(triple.tense):
        yield f"{place}: its verb is not the {triple.tense} tense"
    if _slice(text, triple.subject).lower() != triple.occupation:
        yield f"{place}: the subject's span is off"
    readings: list[tuple[str, str, Span]] = [
        ("hans", triple.male, triple.male_span),
        ("hendes", triple.female, triple.female_span),
    ]
    rest = _cut_out(text, triple.reflexive_span)
    for word, reading, span in readings:
        if _slice(reading, span) != word:
            yield f"“{reading}”: the span of “{word}” is off"
        elif _cut_out(reading, span) != rest:
            yield f"“{reading}”: not minimal, more than the possessive differs"
    for check, what in SHAPES:
        if not check(text):
            yield f"{place}: {what}"


SHAPES: tuple[tuple[Callable[[str], object], str], ...] = (
    (lambda text: text[:1].isupper(), "no capital letter first"),
    (lambda text: re.search(r"\w\.$", text), "no single full stop last"),
    (lambda text: text == " ".join(text.split()), "spare spaces"),
    (lambda text: text[1:] == text[1:].lower(), "a capital letter inside"),
    (lambda text: len(re.findall(r"\b(?:sin|sit|sine)\b", text)) == 1, "not one reflexive"),
)


def _slice(text: str, span: Span) -> str:
    return text[span.start : span.end]


def _cut_out(text: str, span: Span) -> tuple[str, str]:
    return text[: span.start], text[span.end :]
