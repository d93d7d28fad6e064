"""A check of a set of schemas, line by line and as a whole."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path

from gendalens.data import dawinobias
from gendalens.data.builtin.occupations import Occupation, read_occupations
from gendalens.data.builtin.schemas import KINDS, MARK, Row, parse_row
from gendalens.data.dawinobias import WinoLine
from gendalens.data.occupations import read_occupations as official_occupations
from gendalens.data.pronouns import CASES
from gendalens.data.text import ReasonError
from tools.builtin_sets.gendered_words import carries_gender, find_gendered_words
from tools.builtin_sets.schema_balance import Balance, count_balance

LEAST_SCHEMAS, LEAST_OCCUPATIONS = 360, 80
MOST_USED = 0.04  # of the schemas, for an occupation
HALF = (0.45, 0.55)
CASE_AT_LEAST = 0.25
CASE_UNEVEN = 0.05  # the largest difference between the classes in the share of a case
WORD = re.compile(r"\w+")
# A person who is not one of the two. Plurals and institutions cannot be *han* or *hun*.
PERSON = re.compile(
    r"(?:kolleg|ven|nabo|kund|klient|patient|passager|gæst|elev|barn|chef|læg|leverandør|røver|tyv|"
    r"ejer|person|studerende|fremmed|beboer|lånere?|bruger|turist|dommer|træner|præst)(?:a|e)?(?:en|et|n|t)?s?",
    re.IGNORECASE,
)


def validate_schemas(
    rows: Sequence[Row],
    known: Mapping[str, Occupation] | None = None,
    *,
    official: Path | None = None,
) -> list[str]:
    """The defects of a set, one sentence each; none if it is sound.

    ``official`` is a folder with DaWinoBias: no sentence may equal one of those, apart from the
    occupations and the pronoun's gender.
    """
    known = read_occupations() if known is None else known
    problems = [f"the word {o} carries gender" for o in known if carries_gender(o)]
    forms = {form for o in known.values() for form in (o.indefinite, o.definite, o.genitive)}
    lines: dict[Row, WinoLine] = {}
    for row in rows:
        try:
            lines[row] = parse_row(row, "pro", known)
        except ReasonError as error:
            problems.append(f"{row.name}: {error}")
    for row, line in lines.items():
        problems += [f"{row.name}: {problem}" for problem in _check_sentence(line, forms)]
    problems += _check_schemas(rows, lines)
    problems += _find_duplicates(lines)
    if official is not None:
        problems += _find_official(lines, official)
    if len(lines) == len(rows):  # shares over a set with broken rows would be meaningless
        counts = count_balance(rows, list(lines.values()))
        problems += [*_check_balance(counts), *_check_size(counts, known)]
    return problems


def _check_sentence(line: WinoLine, forms: Collection[str]) -> Iterator[str]:
    """The defects in the form of a sentence or in its words."""
    text = line.text
    if not text[:1].isupper():
        yield "it does not begin with a capital"
    if not re.fullmatch(r"[^.!?]*\.", text):
        yield "it is not one sentence that ends in a full stop"
    if text != " ".join(text.split()) or re.search(r"\s[,.]", text):
        yield "its spaces are wrong"
    if line.referent.stereotype == line.other.stereotype:
        yield "its two occupations are of the same class"
    before, after = line.gap
    for word in find_gendered_words(f"{before} {after}"):
        yield f"“{word}” reveals the gender too"
    named = [word for word in WORD.findall(text) if word.lower() in forms]
    if len(named) != 2:
        yield f"it names {len(named)} occupations: {', '.join(named)}"
    if line.cue and line.kind != "world":
        yield "only a line that knowledge of the world resolves has a cue"
    # *Ham* and *hende* cannot be the subject of their clause, which such a person is here.
    third = [word for word in WORD.findall(before) if PERSON.fullmatch(word)]
    if third and line.case != "object":
        yield f"“{third[0]}” may be the one whom the pronoun refers to"


def _check_schemas(rows: Sequence[Row], lines: Mapping[Row, WinoLine]) -> Iterator[str]:
    """The inconsistencies between the two lines of a schema."""
    for number, (schema, group) in enumerate(groupby(rows, lambda row: row.schema), start=1):
        pair = list(group)
        if schema != number or [row.line for row in pair] != [1, 2]:
            yield f"schema {schema}: it must be number {number} and have the lines 1 and 2"
            continue
        if pair[0].kind != pair[1].kind:
            yield f"schema {schema}: its lines are of different kinds"
        if not all(row in lines for row in pair):
            continue
        one, two = (lines[row] for row in pair)
        named = [{line.referent.occupation, line.other.occupation} for line in (one, two)]
        if named[0] != named[1]:
            yield f"schema {schema}: its lines name different occupations"
        elif one.referent.occupation == two.referent.occupation:
            yield f"schema {schema}: both lines mean {one.referent.occupation}"
        elif one.kind == "world" and _cut_opening(one) != _cut_opening(two):
            yield f"schema {schema}: its lines do not begin alike"


def _cut_opening(line: WinoLine) -> str:
    """The text up to the second occupation."""
    return line.text[: max(line.referent.span.end, line.other.span.end)]


def _find_duplicates(lines: Mapping[Row, WinoLine]) -> Iterator[str]:
    """Lines that are the same apart from their occupations, which may trade places in a schema."""
    seen: dict[str, Row] = {}
    for row in lines:
        bare = MARK.sub(lambda mark: mark.group("pronoun") or "_", row.text).casefold()
        if bare in seen and seen[bare].schema != row.schema:
            yield f"{row.name}: it repeats {seen[bare].name} apart from the occupations"
        seen.setdefault(bare, row)


def _find_official(lines: Mapping[Row, WinoLine], folder: Path) -> Iterator[str]:
    """Lines that are in DaWinoBias, apart from the occupations and the pronoun's gender."""
    words = {*official_occupations("dawinobias")} | {
        word
        for line in lines.values()
        for word in (line.referent.occupation, line.other.occupation)
    }

    def bare(text: str) -> str:
        found = [word.lower() for word in WORD.findall(text)]
        return " ".join(
            "_" if word in words or word.removesuffix("s") in words else CASES.get(word, word)
            for word in found
        )

    theirs = {bare(text) for raw in dawinobias.read_raw(folder).values() for text in raw}
    for row, line in lines.items():
        if bare(line.text) in theirs:
            yield f"{row.name}: it is in DaWinoBias"


def _check_balance(counts: Balance) -> Iterator[str]:
    """Shares of the whole set that are out of bounds."""
    halves = {
        "resolved by knowledge of the world": counts.kinds["world"],
        "in which the occupation meant comes first": counts.referent_first,
        "in which the male-typed occupation comes first": counts.male_first,
        "that mean the male-typed occupation": counts.male_referent,
    }
    for what, number in halves.items():
        if not HALF[0] <= number / max(counts.lines, 1) <= HALF[1]:
            yield f"{number} of {counts.lines} lines {what}: about half should be"
    for case, number in counts.cases.items():
        if number < CASE_AT_LEAST * counts.lines:
            yield f"{number} of {counts.lines} pronouns are {case}: a quarter should be"
    if 2 * counts.cues > counts.kinds["world"]:
        yield f"{counts.cues} of {counts.kinds['world']} world lines have a cue: half may"
    yield from _check_parts(counts)


def _check_parts(counts: Balance) -> Iterator[str]:
    """Shares within a kind that differ too much between the classes of the occupation meant."""
    for (kind, gender), part in counts.shares.items():
        share = part.referent_first / max(part.lines, 1)
        if not HALF[0] <= share <= HALF[1]:
            yield f"the {gender}-typed occupation meant comes first in {share:.0%} of {kind} lines"
    for kind in KINDS:
        female, male = counts.shares[kind, "female"], counts.shares[kind, "male"]
        for case in female.cases:
            apart = female.cases[case] / max(female.lines, 1) - male.cases[case] / max(
                male.lines, 1
            )
            if abs(apart) > CASE_UNEVEN:
                yield f"{case} pronouns differ by {apart:+.0%} between the classes in {kind} lines"


def _check_size(counts: Balance, known: Mapping[str, Occupation]) -> Iterator[str]:
    """A set that is too small, or that leans on few occupations."""
    if counts.schemas < LEAST_SCHEMAS:
        yield f"there are {counts.schemas} schemas, {LEAST_SCHEMAS} are needed"
    if len(counts.occupations) < LEAST_OCCUPATIONS:
        yield f"there are {len(counts.occupations)} occupations, {LEAST_OCCUPATIONS} are needed"
    for name, number in counts.occupations.items():
        if number > MOST_USED * counts.schemas:
            yield f"{name} is in {number} of {counts.schemas} schemas: {MOST_USED:.0%} may be"
    male = sum(known[name].stereotype == "male" for name in counts.occupations)
    if not HALF[0] <= male / max(len(counts.occupations), 1) <= HALF[1]:
        yield f"{male} of {len(counts.occupations)} occupations are male-typed"
