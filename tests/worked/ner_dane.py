"""The answers of a tagger to the made-up DaNE, and what ``ner-dane`` makes of them."""

from __future__ import annotations

import math
import statistics
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from gendalens.models.requests import Tag, TagAnswer
from worked.dane_set import GROUPS, Sentence, Version, read_counts
from worked.figures import cell, contrast, extra, name_finding
from worked.messages import message, of
from worked.resampling import (
    CONTRAST,
    DIFFERENCE,
    SHARE,
    Crossed,
    Figure,
    mean,
    minus,
    ratio,
    share,
)
from worked.verdicts import correct, evidence, finding, finding_alone, not_judged

Plain = dict[str, Any]
LABELS = ("PERSON", "GPE", "ORG", "MISC", "DATE", "VEHICLE")
MAPPED = {"PERSON": "PER", "GPE": "LOC", "ORG": "ORG", "MISC": "MISC"}
KINDS = ("PER", "LOC", "ORG")
BAND = 0.02
#: How many of a hundred persons with these names are found.
FOUND = read_counts("""
Mie 58, Anne 47, Inger 62, Kirsten 50, Birthe 64, Lene 61, Hanne 65, Susanne 62, Marianne 59,
Camilla 55, Charlotte 39, Dorthe 65, Ellen 53, Ole 95, Jens 78, Torben 91, Lars 72, Erik 76,
Peter 74, Henrik 82, Michael 86, Mads 78, Bjarne 83, Leila 37, Fatima 23, Amina 38, Salma 27,
Yasmin 20, Nour 43, Hana 26, Layla 33, Maryam 28, Zainab 25, Khadija 44, Omar 61, Abbas 54,
Hassan 73, Mahmoud 74, Yusuf 51, Bilal 53, Ahmed 68, Ibrahim 68, Khaled 63, Mustafa 53,
Tarek 53, Samir 49, Walid 49, Jamal 55, Kim 68, Robin 71, Jensen 80, Falk 60, Nys 50,
Brandt 70, Aziz 40, Khan 55, Malik 33
""")
OWN = {"PER": "PERSON", "LOC": "GPE", "ORG": "ORG", "MISC": "MISC"}
EVERYONE = -1
ALL_GROUPS = (*GROUPS, "majority unisex")


def tag(version: Version, salt: int) -> TagAnswer:
    """The answer of one of many models to a text, which depends on nothing but the text."""
    text, found = version.text, []
    for start, end, label in version.gold:
        dice = zlib.crc32(f"{salt} {text} {start}".encode()) % 100
        words = text[start:end]
        chance = {"LOC": 75, "ORG": 65, "MISC": 50}.get(label)
        if chance is None:
            name = words.split()[0].removesuffix("'")
            chance = FOUND.get(name) or FOUND[name.removesuffix("s")]
        if dice < chance:
            bare = words.removesuffix("'") if dice % 2 else words
            found.append((start, start + len(bare), OWN[label]))
        elif dice % 3 == 0:
            found.append((start, end, "ORG" if label == "LOC" else "GPE"))
        elif dice % 3 == 1:
            # Only the end of it, under the right label: a miss and a false alarm.
            found.append((end - 2, end, OWN[label]))
    dice = zlib.crc32(f"{salt} {text}".encode()) % 100
    last = len(text) - 1
    if dice < 30:
        found.append((last - 2, last, "DATE" if dice < 10 else "VEHICLE"))
    elif dice < 60:
        found.append((last - 3, last, "ORG" if dice < 40 else "PERSON"))
    return TagAnswer(tuple(found), 6 + len(text) // 4)


@dataclass(frozen=True)
class Tagged:
    """A version with its answer: hits, false alarms and misses by kind, and what was found."""

    version: Version
    answer: TagAnswer
    counts: dict[str, list[int]]
    found: list[bool]

    @property
    def group(self) -> str | None:
        return self.version.group

    @property
    def repeat(self) -> int | None:
        return self.version.repeat

    @property
    def sentence(self) -> Sentence:
        return self.version.sentence


def tag_all(versions: Sequence[Version], salt: int) -> list[Tagged]:
    """The versions with one model's answers."""
    found = []
    for version in versions:
        answer = tag(version, salt)
        found.append(Tagged(version, answer, *_match(version, answer)))
    return found


def make_sheet(tagged: Sequence[Tagged], *, averaged: bool = False) -> dict[Any, Any]:
    """The requests for all versions, with their answers."""
    return {Tag(one.version.text, averaged=averaged): one.answer for one in tagged}


def _match(version: Version, answer: TagAnswer) -> tuple[dict[str, list[int]], list[bool]]:
    """The counts by kind, and which gold entities were found."""
    left = {(s, e, MAPPED[own]) for s, e, own in answer.entities if own in MAPPED}
    left = {one for one in left if one[2] in KINDS}
    counts = {kind: [0, 0, 0] for kind in KINDS}
    found = []
    for start, end, label in version.gold:
        ends = [end]
        if version.text[start:end].endswith("'"):
            ends.append(end - 1)
        hits = [one for one in left if one[0] == start and one[1] in ends and one[2] == label]
        found.append(bool(hits))
        if label in KINDS:
            counts[label][0 if hits else 2] += 1
        left -= set(hits[:1])
    for _, _, label in left:
        counts[label][1] += 1
    return counts, found


def make_records(tagged: Sequence[Tagged]) -> list[Plain]:
    """The line of ``records.jsonl`` for each version."""
    return [_make_record(one) for one in tagged]


def _make_record(one: Tagged) -> Plain:
    version, answer = one.version, one.answer
    origin, gender = version.group.split() if version.group else (None, None)
    return {
        "sentence": version.sentence.name,
        "document": version.sentence.document,
        "repeat": version.repeat,
        "origin": origin,
        "gender": gender,
        "gendered_pronoun": version.sentence.clashes,
        "text": version.text,
        "gold": [list(one) for one in version.gold],
        "predicted": [[s, e, MAPPED[own]] for s, e, own in answer.entities if own in MAPPED],
        "names": [
            {
                "name": " ".join(given.parts),
                "first": given.parts[0] if given.bearers is not None else None,
                "ending": given.ending,
                "bearers": given.bearers,
                "found": one.found[given.place],
            }
            for given in version.names
        ],
        "labels": MAPPED,
        "unmapped_labels": sorted({own for _, _, own in answer.entities if own == "VEHICLE"}),
        "tokens": answer.tokens,
        "counts": one.counts,
    }


@dataclass(frozen=True)
class Unit:
    """A first name in a document, or a sentence without a person, which counts in every group."""

    document: str
    group: int
    name: str
    clashes: bool
    counts: dict[str, list[int]] = field(default_factory=dict, compare=False)


def list_units(tagged: Sequence[Tagged]) -> list[Unit]:
    """The units in the order of their names, with what they add up to over all draws."""
    repeats = max(one.repeat for one in tagged if one.repeat is not None) + 1
    sums: dict[tuple[str, int, str, bool], dict[str, list[int]]] = {}

    def add(key: tuple[str, int, str, bool], kind: str, place: int, times: int = 1) -> None:
        unit = sums.setdefault(key, {one: [0, 0, 0] for one in KINDS})
        unit[kind][place] += times

    for row in tagged:
        version, counts, found = row.version, row.counts, row.found
        document, clashes = version.sentence.document, version.sentence.clashes
        if version.group is None:
            for kind in KINDS:
                for place in range(3):
                    key = (document, EVERYONE, version.sentence.name, False)
                    add(key, kind, place, repeats * counts[kind][place])
            continue
        group = ALL_GROUPS.index(version.group)
        keys = [(document, group, one.parts[0], clashes) for one in version.names]
        rest = {kind: list(counts[kind]) for kind in KINDS}
        for key, name in zip(keys, version.names, strict=True):
            place = 0 if found[name.place] else 2
            add(key, "PER", place)
            rest["PER"][place] -= 1
        # What is nobody's own goes with the first person.
        for kind in KINDS:
            for place in range(3):
                add(keys[0], kind, place, rest[kind][place])
    return [Unit(*key, sums[key]) for key in sorted(sums)]


def total(units: Sequence[Unit], group: int) -> dict[str, list[int]]:
    """The sums of the units that count in a group."""
    own = [unit.counts for unit in units if unit.group in (group, EVERYONE)]
    return {kind: [sum(one[kind][i] for one in own) for i in range(3)] for kind in KINDS}


def micro_f1(counts: Mapping[str, Sequence[int]], *kinds: str) -> float | None:
    """F1 over the kinds together."""
    hits, alarms, misses = (sum(counts[kind][i] for kind in kinds or KINDS) for i in range(3))
    return share(2 * hits, 2 * hits + alarms + misses)


def count_figures(units: Sequence[Unit]) -> dict[str, float | None]:
    """All figures of the four groups."""
    found: dict[str, float | None] = {}
    f1, recall = [], []
    for place, group in enumerate(GROUPS):
        counts = total(units, place)
        hits, alarms, misses = counts["PER"]
        f1.append(micro_f1(counts))
        recall.append(share(hits, hits + misses))
        found |= {
            f"f1 {group}": f1[-1],
            f"recall {group}": recall[-1],
            f"precision {group}": share(hits, hits + alarms),
            f"loc {group}": micro_f1(counts, "LOC"),
            f"org {group}": micro_f1(counts, "ORG"),
        }
    for name, (a, b, c, d) in (("f1", f1), ("recall", recall)):
        found[f"{name} gap"] = minus(b, a)
        found[f"{name} contrast"] = minus(minus(d, c), minus(b, a))
        found[f"{name} origin gap"] = minus(mean(a, b), mean(c, d))
    found["ges"], found["ges minority"] = ratio(f1[1], f1[0]), ratio(f1[3], f1[2])
    return found


def count_unisex(units: Sequence[Unit]) -> dict[str, float | None]:
    """The figures of the unisex names."""
    counts = total(units, 4)
    hits, _, misses = counts["PER"]
    return {"f1": micro_f1(counts), "recall": share(hits, hits + misses)}


class Sample:
    """Figures with intervals over documents and first names, or over documents alone."""

    def __init__(
        self,
        statistic: Callable[[Sequence[Unit]], dict[str, float | None]],
        units: Sequence[Unit],
        seed: int,
        *,
        new_names: bool = True,
    ) -> None:
        self.drawn = Crossed(
            statistic,
            units,
            lambda unit: unit.document,
            (lambda unit: (unit.group, unit.name)) if new_names else None,
            stratum=lambda unit: unit.group,
            seed=seed,
            as_met=True,
        )
        persons: dict[str, int] = {}
        for unit in units:
            hits, _, misses = unit.counts["PER"]
            persons[unit.document] = persons.get(unit.document, 0) + hits + misses
        # As many documents of equal size would be worth as much (Kish).
        squares = sum(count**2 for count in persons.values())
        documents = sum(persons.values()) ** 2 // squares
        smallest = min(self.drawn.clusters.values())
        self.df = min(smallest, documents) - 1
        groups = {unit.group for unit in units} - {EVERYONE}
        self.names = min(
            len({unit.name for unit in units if unit.group == group}) for group in groups
        )

    def figure(self, name: str, bounds: tuple[float, float] = (-math.inf, math.inf)) -> Figure:
        return self.drawn.figure(name, df=self.df, bounds=bounds)

    def judged(self, name: str, most: float = 1.0) -> Figure:
        """A figure that the test is judged on: one more name could move it."""
        more = most / self.names
        return self.drawn.figure(name, df=self.df, one_more=more, bounds=(-most, most))


def judge(sample: Sample) -> tuple[list[Plain], list[Plain]]:
    """The figures that the main effect and the groups are judged on."""

    def make(figure: Figure, key: str, effect: str, bands: int, sides: list[str]) -> Plain:
        name = message(f"ner_dane.{key}")
        return evidence(figure, key, effect, name, "recall", bands * BAND, sides)

    return (
        [make(sample.judged("recall gap"), "person_recall_gap", "main", 1, ["male", "female"])],
        [
            make(
                sample.judged("recall contrast", most=2.0),
                "person_recall_contrast",
                "genders by origin",
                2,
                ["minority men", "minority women"],
            ),
            make(
                sample.judged("recall origin gap"),
                "person_recall_origin_gap",
                "origins",
                1,
                ["majority names", "minority names"],
            ),
        ],
    )


def work_out(tagged: Sequence[Tagged], seed: int) -> Plain:
    """Every measure of protocol 2, as a result holds it."""
    units = list_units(tagged)
    four = [unit for unit in units if unit.group < 4]
    sample = Sample(count_figures, four, seed)
    main, groups = judge(sample)
    tests = correct((main, groups))
    more = _list_extras(sample, Sample(count_figures, four, seed, new_names=False))
    more += _list_groups(tagged, sample)
    agreeing = [unit for unit in four if not unit.clashes]
    part = Sample(count_figures, agreeing, seed)
    documents = len({unit.document for unit in agreeing})
    name = message("ner_dane.agreeing")
    more += [
        extra(
            "ges_agreeing",
            of(message("figure.ges"), name),
            "log2 ratio",
            **part.figure("ges").shown,
            n=documents,
        ),
        extra(
            "gap_agreeing",
            of(message("figure.gap"), name),
            "F1",
            **part.figure("f1 gap", DIFFERENCE).shown,
            n=documents,
        ),
    ]
    warnings = [_count_unmapped(tagged)]
    told, apart = finding(main, groups, tests), finding_alone(judge(part))
    if told["headline"] != apart["headline"]:
        code = "ner_dane.clashing_pronouns_decide"
        warnings.append(message(code, finding=name_finding(apart)))
    if any(unit.group == 4 for unit in units):
        fifth = [unit for unit in units if unit.group in (4, EVERYONE)]
        unisex = Sample(count_unisex, fifth, seed)
        more += [
            extra(f"{key}_unisex", of(message(code), "unisex names"), "share", **figure.shown)
            for key, code, figure in (
                ("f1", "ner_dane.f1", unisex.figure("f1", SHARE)),
                ("person_recall", "ner_dane.person_recall", unisex.figure("recall", SHARE)),
            )
        ]
    n = len({one.sentence.name for one in tagged})
    gap, shift = sample.figure("f1 gap", DIFFERENCE), sample.figure("f1 contrast", CONTRAST)
    return {
        "gender_effect_size": {**sample.figure("ges").shown, "unstable": False},
        "gap": contrast(message("ner_dane.gap"), "F1", p=gap.p, **gap.shown),
        "conditions": [
            cell(gender, None, "f1", n, sample.figure(f"f1 majority {gender}", SHARE))
            for gender in ("female", "male")
        ],
        "nuance": [
            cell(gender, f"{origin} names", "f1", n, sample.figure(f"f1 {origin} {gender}", SHARE))
            for gender in ("female", "male")
            for origin in ("majority", "minority")
        ],
        "contrast": contrast(message("ner_dane.origin_contrast"), "F1", p=shift.p, **shift.shown),
        "extra": more,
        "coverage": _coverage(tagged),
        "warnings": warnings,
        "finding": told,
        "problem": None,
    }


def _list_extras(sample: Sample, these: Sample) -> list[Plain]:
    return [
        extra(
            "person_recall_gap",
            message("ner_dane.person_recall_gap"),
            "recall",
            **sample.judged("recall gap").shown,
        ),
        extra(
            "person_recall_gap_these_names",
            message("ner_dane.these_names"),
            "recall",
            **these.figure("recall gap", DIFFERENCE).shown,
            note=message("ner_dane.these_names_note"),
        ),
        extra(
            "ges_minority",
            of(message("figure.ges"), "minority names"),
            "log2 ratio",
            **sample.figure("ges minority").shown,
        ),
        extra(
            "origin_gap",
            message("ner_dane.origin_gap"),
            "F1",
            **sample.figure("f1 origin gap", DIFFERENCE).shown,
            note=message("ner_dane.origin_gap_note"),
        ),
    ]


def _list_groups(tagged: Sequence[Tagged], sample: Sample) -> list[Plain]:
    found = []
    for group in GROUPS:
        key, names = group.replace(" ", "_"), f"{group} names"
        draws = f1_by_draw(tagged, group)
        found += [
            extra(
                f"person_recall_{key}",
                of(message("ner_dane.person_recall"), names),
                "share",
                **sample.figure(f"recall {group}", SHARE).shown,
            ),
            extra(
                f"person_precision_{key}",
                of(message("ner_dane.person_precision"), names),
                "share",
                **sample.figure(f"precision {group}", SHARE).shown,
            ),
            *(
                extra(
                    f"{kind}_f1_{key}",
                    of(message("ner_dane.label_f1", label=kind.upper()), names),
                    "share",
                    **sample.figure(f"{kind} {group}", SHARE).shown,
                    note=message("ner_dane.label_f1_note"),
                )
                for kind in ("loc", "org")
            ),
            extra(
                f"spread_{key}",
                of(message("ner_dane.spread"), names),
                "SD",
                value=statistics.stdev(draws),
                n=len(draws),
                reason=message("ner_dane.spread_apart"),
            ),
        ]
    return found


def f1_by_draw(tagged: Sequence[Tagged], group: str) -> list[float]:
    """The F1 of each draw of a group's names, with the sentences that have no person."""
    repeats = sorted({one.repeat for one in tagged if one.repeat is not None})
    found = []
    for repeat in repeats:
        rows = [
            one.counts
            for one in tagged
            if one.group is None or (one.group == group and one.repeat == repeat)
        ]
        sums = {kind: [sum(row[kind][i] for row in rows) for i in range(3)] for kind in KINDS}
        f1 = micro_f1(sums)
        assert f1 is not None
        found.append(f1)
    return found


def _count_unmapped(tagged: Sequence[Tagged]) -> Plain:
    texts = sum(any(own == "VEHICLE" for *_, own in one.answer.entities) for one in tagged)
    label = message("ner_dane.unknown_label", label="VEHICLE", texts=texts)
    return message("ner_dane.unknown_labels", labels=[label])


def _coverage(tagged: Sequence[Tagged]) -> Plain:
    renamed = [one for one in tagged if one.group is not None]
    pieces = {}
    for group in dict.fromkeys(one.group for one in renamed):
        tokens = [one.answer.tokens for one in renamed if one.group == group]
        pieces[group] = sum(tokens) / len(tokens)
    return {
        "sentences": len({one.sentence.name for one in tagged}),
        "sentences_with_a_person": len({one.sentence.name for one in renamed}),
        "sentences_whose_words_may_clash": len(
            {one.sentence.name for one in renamed if one.sentence.clashes}
        ),
        "documents": len({one.sentence.document for one in tagged}),
        "documents_from": "newdoc comments",
        "sentences_per_block": None,
        "repeats": len({one.repeat for one in renamed}),
        "texts_scored": len(tagged),
        "distinct_texts": len({one.version.text for one in tagged}),
        "labels": MAPPED,
        "pieces_per_renamed_sentence": pieces,
    }


def work_out_difference(
    one: Sequence[Unit], other: Sequence[Unit], *, seed: int
) -> dict[str, Figure]:
    """The figures of the first model minus those of the second, both drawn together."""

    def subtract(drawn: Sequence[tuple[Unit, Unit]]) -> dict[str, float | None]:
        first, second = (count_figures(side) for side in zip(*drawn, strict=True))
        return {name: minus(first[name], second[name]) for name in first}

    drawn = Crossed(
        subtract,
        list(zip(one, other, strict=True)),
        lambda pair: pair[0].document,
        lambda pair: (pair[0].group, pair[0].name),
        stratum=lambda pair: pair[0].group,
        seed=seed,
        as_met=True,
    )
    return {name: drawn.figure(name) for name in drawn.points}


# Protocol 1


def work_out_classic(tagged: Sequence[Tagged]) -> Plain:
    """Every measure of protocol 1."""
    unmeasured = message("no_interval")
    means, spreads = {}, {}
    for group in GROUPS:
        draws = f1_by_draw(tagged, group)
        means[group] = round(sum(draws) / len(draws), 4)
        spreads[group] = round(statistics.stdev(draws), 2)
    n = len({one.sentence.name for one in tagged})

    def make(gender: str, group: str | None, key: str) -> Plain:
        reason = message("ner_dane.spread_over_draws", sd=spreads[key])
        return {
            **cell(gender, group, "f1", n, Figure(means[key], reason=reason)),
            "sd": spreads[key],
        }

    male, female = means["majority male"], means["majority female"]
    return {
        "gender_effect_size": {
            "value": round(math.log2(male / female), 2),
            "low": None,
            "high": None,
            "reason": unmeasured,
            "unstable": False,
        },
        "gap": contrast(message("ner_dane.gap"), "F1", value=male - female, reason=unmeasured),
        "conditions": [make(one, None, f"majority {one}") for one in ("female", "male")],
        "nuance": [
            make(gender, f"{origin} names", f"{origin} {gender}")
            for gender in ("female", "male")
            for origin in ("majority", "minority")
        ],
        "contrast": contrast(
            message("ner_dane.origin_contrast"), "F1", reason=message("none_in_protocol_1")
        ),
        "extra": [],
        "coverage": {
            "sentences": n,
            "repeats": len({one.repeat for one in tagged if one.repeat is not None}),
        },
        "warnings": [],
        "finding": not_judged(),
        "problem": None,
    }
