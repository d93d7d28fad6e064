"""The records of the DaWinoBias tests as examples and leanings."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from gendalens.data.pronouns import CASES, PAIRS
from gendalens.results.result import Record
from gendalens.tasks.base import RefusalUnit
from gendalens.tasks.views import Example, Leanings, Mark, mean_by_key, share_by_bits

BRACKETS = re.compile(r"\[([^\[\]]*)\]")


def male_log_odds(row: Record) -> float:
    """How far the model prefers the male form to the female one, in bits."""
    return float(row["log_prob_male"] - row["log_prob_female"]) / math.log(2)


def fill_examples(records: Iterable[Record]) -> Iterator[Example]:
    """An example per line of ``lm-dawinobias``, with the answer in the headline's reading."""
    for row in records:
        reading = "forced" if row["open"] is None else "open"
        answer = row[reading]
        pair = PAIRS[CASES[row["gold"]]]
        yield Example(
            text=row["text"],
            marks=((*row["span"], "pronoun"),),
            condition=row["condition"],
            outcome="no pronoun"
            if answer == "none"
            else "right"
            if row[f"{reading}_right"]
            else "wrong",
            said=row["first"] if reading == "open" else pair.get(answer, ""),
            about=row["referent"],
            lean=male_log_odds(row),
            shares=share_by_bits(pair["male"], pair["female"], male_log_odds(row)),
            right=row[f"{reading}_right"],
            expected=(row["gold"],),
        )


def fill_leanings(records: Sequence[Record]) -> Leanings:
    """The mean log-odds of the male form, by the occupation that is meant."""
    return Leanings(
        counts=Counter(row["referent"] for row in records),
        data="dawinobias",
        what="preference for the male pronoun where the occupation is meant",
        unit="bits",
        by_occupation=mean_by_key((row["referent"], male_log_odds(row)) for row in records),
    )


def link_examples(records: Iterable[Record]) -> Iterator[Example]:
    """An example per line of ``coref-dawinobias``, with the occupations linked with the pronoun."""
    for row in records:
        linked = _list_linked(row)
        fits = row["referent" if row["condition"] == "pro" else "other"]
        yield Example(
            text=row["text"],
            marks=(
                (*row["span"], "pronoun"),
                (*row["referent_span"], "meant"),
                (*row["other_span"], "other"),
            ),
            condition=row["condition"],
            outcome=row["outcome"],
            said=" + ".join(linked),
            about=row["referent"],
            lean=0.0 if len(linked) != 1 else 1.0 if linked == [fits] else -1.0,
            right=row["outcome"] == "right",
            expected=(row["referent"],),
        )


def link_leanings(records: Sequence[Record]) -> Leanings:
    """How much more often an occupation is linked with male pronouns than with female ones."""
    pairs = [
        (row["gender"], occupation, float(occupation in _list_linked(row)))
        for row in records
        for occupation in (row["referent"], row["other"])
    ]
    rates = {
        gender: mean_by_key(
            (occupation, value) for one, occupation, value in pairs if one == gender
        )
        for gender in ("female", "male")
    }
    shared = rates["female"].keys() & rates["male"].keys()
    return Leanings(
        counts=Counter(occupation for _, occupation, _ in pairs),
        data="dawinobias",
        what="how much more often male than female pronouns are linked with the occupation",
        unit="share",
        by_occupation={
            name: rates["male"][name] - rates["female"][name] for name in sorted(shared)
        },
    )


def _list_linked(row: Record) -> list[str]:
    names = {"right": ("referent",), "wrong": ("other",), "both": ("referent", "other")}
    return [row[name] for name in names.get(row["outcome"], ())]


def classic_examples(records: Iterable[Record]) -> Iterator[Example]:
    """An example per line of either test in protocol 1, with its brackets as marks."""
    for row in records:
        text, marks = _read_brackets(row["text"])
        counts = row.get("counts", True)
        right = row.get("right", row["gender"] == row["answer"])
        yield Example(
            text=text,
            marks=marks,
            condition=row["condition"],
            outcome="left out" if not counts else "right" if right else "wrong",
            said=row["pred"] or "",
            about=row["label"],
            right=bool(right) if counts else None,
            expected=(row["label"],),
        )


def _read_brackets(raw: str) -> tuple[str, tuple[Mark, ...]]:
    pieces: list[str] = []
    marks: list[Mark] = []
    at = done = 0
    for found in BRACKETS.finditer(raw):
        before, word = raw[done : found.start()], found.group(1)
        at += len(before)
        marks.append((at, at + len(word), "pronoun" if word.lower() in CASES else "meant"))
        pieces += (before, word)
        at += len(word)
        done = found.end()
    return "".join([*pieces, raw[done:]]), tuple(marks)


def refusal_unit(record: Record, gender: str) -> RefusalUnit:
    """A line in the crossed occupations of its schema."""
    names = {
        record["referent_stereotype"]: record["referent"],
        "male" if record["referent_stereotype"] == "female" else "female": record["other"],
    }
    return RefusalUnit(
        gender=gender, first=names["male"], second=names["female"], finer=record["schema"]
    )
