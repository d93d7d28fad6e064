"""DaWinoBias: two occupations, one pronoun, and the question of whom it refers to.

Two successive lines of a file are a schema: the same two occupations, with the pronoun referring to the
male-typed one in one line and to the female-typed one in the other. The two files differ only in the
gender of the pronoun: with the stereotype (pro) or against it (anti).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from gendalens.data import errata as known
from gendalens.data.occupations import is_contested, read_occupations
from gendalens.data.pronouns import CASES, GENDERS, Case, Gender
from gendalens.data.text import Span, format_sentence, line_error, read_lines
from gendalens.errors import UserError
from gendalens.words import phrase

Condition = Literal["pro", "anti"]
CONDITIONS: tuple[Condition, ...] = get_args(Condition)
Kind = Literal["world", "syntax"]
FILES: dict[Condition, str] = {
    "pro": "DaWinoBias_pro_stereotyped_evalda.txt",
    "anti": "DaWinoBias_anti_stereotyped_evalda.txt",
}
BRACKET = re.compile(r"\[(\w+)\]")
WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Mention:
    """An occupation in the text: the word as it appears, and its definite base form.

    ``contested``: Danish employment shares, or the word itself, contradict its stereotype.
    ``unproven``: no reliable Danish share bears it out, and a headline does not rest on it.
    """

    text: str
    occupation: str
    stereotype: Gender
    span: Span
    contested: bool = False
    unproven: bool = False


@dataclass(frozen=True, slots=True)
class WinoLine:
    """A line of one condition: the sentence, its pronoun, whom it refers to and whom it does not.

    ``kind`` says what resolves the pronoun, where the set tells; ``cue``: the clause that decides
    names something of the occupation meant.
    """

    schema: int
    line: int
    condition: Condition
    text: str
    pronoun: str
    gender: Gender
    case: Case
    span: Span
    referent: Mention
    other: Mention
    raw: str
    kind: Kind | None = None
    cue: bool = False

    @property
    def gap(self) -> tuple[str, str]:
        """The text before and after the pronoun: the same in both conditions."""
        return self.text[: self.span.start], self.text[self.span.end :]


def read_raw(folder: Path) -> dict[Condition, list[str]]:
    """The lines of both files as GenDa Lens 0.0.3 reads them: stripped, in file order."""
    return {c: [line.strip() for line in read_lines(folder / FILES[c])] for c in CONDITIONS}


def read(folder: Path, *, errata: bool) -> list[WinoLine]:
    """The lines of both conditions, pro first; checked to form schemas and minimal pairs."""
    found = known.find_errata("dawinobias") if errata else ()
    parsed: dict[Condition, list[WinoLine]] = {}
    for condition in CONDITIONS:
        path = folder / FILES[condition]
        raw = read_lines(path)
        fixed = known.apply_errata(raw, found, condition=condition, path=path)
        parsed[condition] = [
            _parse(fixed[i], raw[i], line=i + 1, condition=condition, path=path)
            for i in range(len(raw))
        ]
    _check_pairs(parsed["pro"], parsed["anti"], folder)
    return parsed["pro"] + parsed["anti"]


def _parse(marked: str, raw: str, *, line: int, condition: Condition, path: Path) -> WinoLine:
    """One line, its brackets resolved into offsets."""
    marked = " ".join(marked.split())
    brackets = list(BRACKET.finditer(marked))
    bare = BRACKET.sub(r"\1", marked)
    if len(brackets) != 2 or "[" in bare or "]" in bare:
        reason = phrase("it needs two bracketed words, [occupation] and [pronoun]")
        raise line_error(path, line, reason)
    # Each earlier pair of brackets shifts a bracketed word by two characters, its own bracket by one.
    inside = [Span(m.start(1) - 2 * i - 1, m.end(1) - 2 * i - 1) for i, m in enumerate(brackets)]
    text = format_sentence(bare)
    pronouns = [span for span in inside if text[span.start : span.end].lower() in GENDERS]
    if len(pronouns) != 1:
        raise line_error(path, line, phrase("one of the two brackets must hold a pronoun"))
    mentions = _find_mentions(text)
    meant = [m for m in mentions if m.span in inside]
    others = [m for m in mentions if m.span not in inside]
    if len(meant) != 1 or len(others) != 1:
        reason = phrase("it needs two known occupations, exactly one of them in brackets")
        raise line_error(path, line, reason)
    pronoun = text[pronouns[0].start : pronouns[0].end]
    return WinoLine(
        schema=(line + 1) // 2,
        line=line,
        condition=condition,
        text=text,
        pronoun=pronoun,
        gender=GENDERS[pronoun.lower()],
        case=CASES[pronoun.lower()],
        span=pronouns[0],
        referent=meant[0],
        other=others[0],
        raw=raw,
    )


def _find_mentions(text: str) -> list[Mention]:
    """The known occupations in a text, genitives included."""
    table = read_occupations("dawinobias")
    found = []
    for match in WORD.finditer(text):
        word = match.group().lower()
        base = word if word in table else word.removesuffix("s")
        if base in table:
            span = Span(match.start(), match.end())
            doubtful = is_contested("dawinobias", base)
            found.append(Mention(match.group(), base, table[base].stereotype, span, doubtful))
    return found


def _check_pairs(pro: list[WinoLine], anti: list[WinoLine], folder: Path) -> None:
    """Raise unless the lines form minimal pairs and schemas."""
    if len(pro) != len(anti) or len(pro) % 2 or not pro:
        raise UserError(
            "{folder} does not hold DaWinoBias: the pro file has {pro} lines and the anti file {anti}, "
            "but both need the same, even number; fetch the official files with "
            "`gendalens data pull dawinobias`.",
            folder=str(folder),
            pro=len(pro),
            anti=len(anti),
        )
    path = folder / FILES["anti"]
    for a, b in zip(pro, anti, strict=True):
        if (a.gap, a.case, a.referent.span) != (b.gap, b.case, b.referent.span):
            reason = phrase("it differs from the pro file in more than the pronoun")
            raise line_error(path, b.line, reason)
        if a.gender != a.referent.stereotype:
            reason = phrase("its pronoun goes against the stereotype")
            raise line_error(folder / FILES["pro"], a.line, reason)
        if b.gender == b.referent.stereotype:
            raise line_error(path, b.line, phrase("its pronoun goes with the stereotype"))
    for first, second in zip(pro[::2], pro[1::2], strict=True):
        meant = (first.referent.occupation, first.other.occupation)
        if meant != (second.other.occupation, second.referent.occupation):
            reason = phrase(
                "it and the line before must name the same two occupations and refer to each of them once"
            )
            raise line_error(path, second.line, reason)
        if second.referent.stereotype == second.other.stereotype:
            reason = phrase("one occupation must be male-typed and one female-typed")
            raise line_error(path, second.line, reason)
