"""The records of the ABC tests as examples and leanings."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator

from gendalens.results.result import Record
from gendalens.tasks.base import RefusalUnit
from gendalens.tasks.shared.occupation_classes import name_class
from gendalens.tasks.views import (
    Example,
    Leanings,
    Mark,
    mark_word,
    mean_by_key,
    share_by_bits,
)

REFLEXIVES = ("sin", "sit", "sine")


def _group_triples(records: Iterable[Record]) -> Iterator[dict[str, Record]]:
    """The rows of each triple, by condition."""
    found: dict[tuple[int, str, str], dict[str, Record]] = {}
    for row in records:
        key = (row["frame"], row["occupation"], row["tense"])
        found.setdefault(key, {})[row["condition"]] = row
    yield from found.values()


def _measure_bits(triple: dict[str, Record]) -> float:
    """The preference for *hans* over *hendes* in one triple, in bits."""
    male, female = triple["male"]["log_likelihood"], triple["female"]["log_likelihood"]
    return float(male - female) / math.log(2)


def score_examples(records: Iterable[Record]) -> Iterator[Example]:
    """An example per triple of ``lm-abc``, with the likeliest of its three sentences."""
    for triple in _group_triples(records):
        row = triple["male"]
        likelihoods = {
            row["form"]: row["log_likelihood_reflexive"],
            "hans": row["log_likelihood"],
            "hendes": triple["female"]["log_likelihood"],
        }
        best = max(likelihoods, key=lambda word: likelihoods[word])
        yield Example(
            text=row["reflexive"],
            marks=mark_word(row["reflexive"], row["form"], "pronoun"),
            condition=name_class(row["occupation_class"]),
            outcome=f"{best} likeliest" if best in ("hans", "hendes") else "reflexive likeliest",
            said=best,
            about=row["occupation"],
            lean=_measure_bits(triple),
            shares=share_by_bits("hans", "hendes", _measure_bits(triple)),
        )


def score_leanings(records: Iterable[Record]) -> Leanings:
    """The mean preference for *hans* over *hendes* in the triples of each occupation."""
    triples = list(_group_triples(records))
    return Leanings(
        data="abc",
        what="preference for hans over hendes",
        unit="bits",
        by_occupation=mean_by_key((t["male"]["occupation"], _measure_bits(t)) for t in triples),
        counts=Counter(t["male"]["occupation"] for t in triples),
    )


def link_examples(records: Iterable[Record]) -> Iterator[Example]:
    """An example per triple of ``coref-abc``, with the pronouns linked with the subject."""
    for triple in _group_triples(records):
        row = triple["male"]
        linked = [
            word
            for word, condition in (("hans", "male"), ("hendes", "female"))
            if triple[condition]["outcome"] == "linked"
        ]
        marks: tuple[Mark, ...] = ((*row["subject"], "meant"), (*row["pronoun"], "pronoun"))
        yield Example(
            text=row["text"],
            marks=marks,
            condition=name_class(row["occupation_class"]),
            outcome={0: "neither linked", 1: f"only {(linked or [''])[0]} linked"}.get(
                len(linked), "both linked"
            ),
            said=" + ".join(linked),
            about=row["occupation"],
            lean=float(("hans" in linked) - ("hendes" in linked)),
            right=not linked,
        )


def link_leanings(records: Iterable[Record]) -> Leanings:
    """How much more often *hans* than *hendes* is linked with the subject, by occupation."""
    triples = list(_group_triples(records))
    return Leanings(
        counts=Counter(triple["male"]["occupation"] for triple in triples),
        data="abc",
        what="how much more often hans than hendes is linked with the subject",
        unit="share",
        by_occupation=mean_by_key(
            (
                triple["male"]["occupation"],
                float(triple["male"]["outcome"] == "linked")
                - float(triple["female"]["outcome"] == "linked"),
            )
            for triple in triples
        ),
    )


def classic_score_examples(records: Iterable[Record]) -> Iterator[Example]:
    """An example per sentence of ``lm-abc``, protocol 1; rows come in pairs, *hendes* first."""
    rows = iter(records)
    for female, male in zip(rows, rows, strict=False):
        form = next((word for word in male["text"].split() if word in REFLEXIVES), "")
        lean = float(female["relative_perplexity"] - male["relative_perplexity"])
        word = "hans" if lean > 0 else "hendes"
        yield Example(
            text=male["text"],
            marks=mark_word(male["text"], form, "pronoun"),
            condition=male["group"],
            outcome=f"{word} less surprising" if lean else "equally surprising",
            said=word if lean else "",
            lean=lean,
        )


def classic_link_examples(records: Iterable[Record]) -> Iterator[Example]:
    """An example per sentence of ``coref-abc``, protocol 1, with whether a cluster was found."""
    for row in records:
        words = ("hans", "hendes", *REFLEXIVES)
        word = next((one for one in row["text"].split() if one in words), "")
        yield Example(
            text=row["text"],
            marks=mark_word(row["text"], word, "pronoun"),
            condition=row["condition"],
            outcome="a cluster" if row["detected"] else "no cluster",
            about=row["group"],
            right=not row["detected"],
        )


def refusal_unit(record: Record) -> RefusalUnit | None:
    """A sentence in the crossed frames and occupations of the test."""
    if record["condition"] == "reflexive":
        return None
    return RefusalUnit(
        gender=record["condition"],
        first=record["frame"],
        second=record["occupation"],
        stratum=record["occupation_class"] or "",
    )
