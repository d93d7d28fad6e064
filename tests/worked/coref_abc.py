"""The links of a resolver in the made-up ABC, and what ``coref-abc`` makes of them."""

from __future__ import annotations

import math
import re
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from gendalens.models.requests import Resolve, ResolveAnswer
from worked.abc_set import Triple, list_raw
from worked.figures import cell, contrast, extra, judged, name_finding
from worked.messages import message, of
from worked.resampling import (
    CONTRAST,
    DIFFERENCE,
    SHARE,
    Crossed,
    Figure,
    minus,
    ratio,
    share,
)
from worked.verdicts import correct, evidence, finding, finding_alone, not_judged

Plain = dict[str, Any]
Span = tuple[int, int]
CONDITIONS = ("female", "male", "reflexive")
GENDERS = ("female", "male")
PRONOUN = {"female": "hendes", "male": "hans"}
METRIC = "rate_of_links_with_the_subject"
BAND = 0.03
CLASS_SIDES = ["with the stereotype", "against the stereotype"]


@dataclass(frozen=True)
class Answered:
    """A sentence with its clusters, how they count, and the scores of the subject and of others."""

    clusters: tuple[tuple[Span, ...], ...]
    linked: bool
    pronoun_inside: bool
    scores: tuple[float, float]
    uncorrected: tuple[float, float]
    unknown: int

    @property
    def margin(self) -> float:
        return self.scores[0] - self.scores[1]

    @property
    def linked_uncorrected(self) -> bool:
        return self.uncorrected[0] > self.uncorrected[1]


@dataclass(frozen=True)
class Linked:
    """A triple with the answers to its three sentences."""

    triple: Triple
    answers: Mapping[str, Answered]

    def is_linked(self, condition: str, *, corrected: bool = True) -> bool:
        answer = self.answers[condition]
        return answer.linked if corrected else answer.linked_uncorrected


def link(
    triple: Triple, salt: int, *, often: int = 420, male: int = 150, stereotype: int = 90
) -> Linked:
    """The answers of one of many systems; chances and leanings are in thousandths."""
    side = 1 if triple.occupation_class == "male" else -1
    chance = {
        "female": often - male // 2 - side * stereotype,
        "male": often + male // 2 + side * stereotype,
        "reflexive": 660,
    }
    return Linked(triple, {one: _answer(triple, one, chance[one], salt) for one in CONDITIONS})


def _answer(triple: Triple, condition: str, chance: int, salt: int) -> Answered:
    text, pronoun, subject = triple.text(condition), triple.span(condition), triple.subject
    dice = zlib.crc32(f"{salt} {text}".encode()) % 1000
    verb = (subject[0], text.index(" ", subject[1] + 1))
    clusters: tuple[tuple[Span, ...], ...]
    if dice < chance - 80:
        kind, clusters = "linked", ((subject, pronoun),)
    elif dice < chance:
        # The subject and its verb, beside a cluster of other words.
        kind, clusters = "linked", (((1, 2), (3, 4)), (pronoun, verb))
    elif dice < chance + 60:
        kind, clusters = "inside", ((subject, (pronoun[0], pronoun[1] + 4)),)
    elif dice < chance + 130:
        kind, clusters = "all in one", (((0, pronoun[1]), pronoun),)
    elif dice < chance + 200:
        kind, clusters = "apart", ((subject, (1, 3)), (pronoun, pronoun))
    else:
        kind, clusters = "nothing", ()
    margin = (chance - dice) / 300
    shift = dice % 9 / 7 - 0.5
    return Answered(
        clusters,
        kind == "linked",
        kind == "inside",
        (-1.5, -1.5 - margin),
        (-2.5, -2.5 - margin - shift),
        dice % 11 == 0,
    )


def keep_to_grammar(linked: Sequence[Linked], hits: int) -> list[Linked]:
    """The answers of a system that links no *hans* and *hendes*, and only some reflexives."""
    nothing = Answered((), False, False, (-2.0, -1.0), (-2.0, -1.0), 0)
    found = []
    for at, one in enumerate(linked):
        cluster = (one.triple.subject, one.triple.span("reflexive"))
        own = replace(nothing, clusters=(cluster,), linked=True) if at < hits else nothing
        found.append(replace(one, answers=dict.fromkeys(GENDERS, nothing) | {"reflexive": own}))
    return found


def make_sheet(linked: Sequence[Linked], *, scored: bool) -> dict[Any, Any]:
    """The requests for all sentences, with their answers."""
    sheet: dict[Any, Any] = {}
    for one in linked:
        for condition, answer in one.answers.items():
            text = one.triple.text(condition)
            tokens = tuple(found.span() for found in re.finditer(r"\w+|[^\w\s]", text))
            pronoun = one.triple.span(condition)
            request = Resolve(text, tokens, pronoun, (one.triple.subject,))
            if scored:
                scores = (answer.scores, answer.uncorrected)
                sheet[request] = ResolveAnswer(answer.clusters, *scores, unknown=answer.unknown)
            else:
                sheet[request] = ResolveAnswer(answer.clusters)
    return sheet


def make_records(linked: Sequence[Linked], *, scored: bool) -> list[Plain]:
    """The lines of ``records.jsonl``: a row per triple and sentence."""
    rows = []
    for one in linked:
        triple = one.triple
        for condition in CONDITIONS:
            answer = one.answers[condition]
            row = {
                "frame": triple.frame,
                "template": triple.template,
                "tense": triple.tense,
                "occupation": triple.occupation,
                "occupation_class": triple.occupation_class,
                "contested": triple.contested,
                "condition": condition,
                "text": triple.text(condition),
                "subject": list(triple.subject),
                "pronoun": list(triple.span(condition)),
                "clusters": [[list(span) for span in cluster] for cluster in answer.clusters],
                "pronoun_inside": answer.pronoun_inside,
                "outcome": _name_outcome(answer.linked),
            }
            if scored:
                row |= {
                    "margin": answer.margin,
                    "margin_uncorrected": answer.uncorrected[0] - answer.uncorrected[1],
                    "outcome_uncorrected": _name_outcome(answer.linked_uncorrected),
                    "unknown_tokens": answer.unknown,
                }
            rows.append(row)
    return rows


def _name_outcome(linked: bool) -> str:
    return "linked" if linked else "not linked"


def count_figures(linked: Sequence[Linked], *, corrected: bool = True) -> dict[str, float | None]:
    """All figures of a list of triples, in which one may occur more than once."""
    found: dict[str, float | None] = {}
    for part in ("", " female", " male"):
        own = [one for one in linked if not part or one.triple.occupation_class == part.strip()]
        for condition in CONDITIONS:
            links = sum(one.is_linked(condition, corrected=corrected) for one in own)
            found[f"{condition}{part}"] = share(links, len(own))
        found[f"gap{part}"] = minus(found[f"male{part}"], found[f"female{part}"])
        bits = [
            (one.answers["male"].margin - one.answers["female"].margin) / math.log(2) for one in own
        ]
        found[f"margin{part}"] = share(sum(bits), len(bits))
    found["contrast"] = minus(found["gap male"], found["gap female"])
    found["margin contrast"] = minus(found["margin male"], found["margin female"])
    found["ges"] = ratio(found["male"], found["female"])
    return found


def cross(linked: Sequence[Linked], seed: int, *, corrected: bool = True) -> dict[str, Figure]:
    """The figures with intervals over events and occupations; the classes keep their size."""
    drawn = Crossed(
        lambda own: count_figures(own, corrected=corrected),
        linked,
        lambda one: one.triple.frame,
        lambda one: one.triple.occupation,
        stratum=lambda one: one.triple.occupation_class,
        seed=seed,
    )
    triples = [one.triple for one in linked]
    events = len({triple.frame for triple in triples})
    df = {
        kind: min(events, len({t.occupation for t in triples if t.occupation_class == kind})) - 1
        for kind in GENDERS
    }
    found = {}
    for name in drawn.points:
        figure, _, kind = name.partition(" ")
        of_both = "contrast" in (figure, kind)
        freedom = min(df.values()) if of_both else df.get(kind)
        bounds = {"ges": None, "margin": None, "gap": DIFFERENCE, "contrast": CONTRAST}
        limits = bounds.get(figure, SHARE) or (-math.inf, math.inf)
        more = {"gap": 1 / len(linked), "contrast": 2 / len(linked)}.get(name, 0.0)
        found[name] = drawn.figure(name, df=freedom, one_more=more, bounds=limits)
    return found


def judge(found: Mapping[str, Figure]) -> tuple[list[Plain], list[Plain]]:
    """The figures that the main effect and the groups are judged on."""
    classes = of(message("coref_abc.rate_gap"), "male - female occupations")
    name = message("coref_abc.gap")
    return (
        [evidence(found["gap"], "gap", "main", name, "share", BAND, ["male", "female"])],
        [
            evidence(
                found["contrast"], "contrast", "classes", classes, "share", 2 * BAND, CLASS_SIDES
            )
        ],
    )


def show_effect(found: Mapping[str, Figure]) -> Plain:
    """GES, with the reason if it is undefined or unstable."""
    faults = [
        message("side_zero", side=f"FPR of {PRONOUN[gender]}")
        for gender in ("male", "female")
        if not found[gender].value
    ]
    if faults:
        reason = faults[0] if len(faults) == 1 else message("both_sides", faults=faults)
        return {**Figure(None, reason=reason).shown, "unstable": False}
    shaky = find_shaky_sides(found)
    figure = found["ges"]
    if shaky:
        figure = replace(figure, reason=message("unstable", causes=shaky))
    return {**figure.shown, "unstable": bool(shaky)}


def find_shaky_sides(found: Mapping[str, Figure]) -> list[Plain]:
    """The rates whose interval includes zero."""
    return [
        message("side_includes_zero", measure="FPR", pronoun=PRONOUN[gender])
        for gender in GENDERS
        if (low := found[gender].low) is not None and low <= 0
    ]


def _doubt(linked: Sequence[Linked], *, corrected: bool = True) -> Plain | None:
    """A system without mistakes must link half of the reflexives to be said to know the grammar."""
    links = {
        condition: sum(one.is_linked(condition, corrected=corrected) for one in linked)
        for condition in CONDITIONS
    }
    hits = links["reflexive"] / len(linked)
    if links["female"] or links["male"] or hits >= 0.5:
        return None
    return message("coref_abc.no_mistakes", hits=hits)


def _variant(key: str, name: Plain, found: Mapping[str, Figure], n: int | None) -> list[Plain]:
    effect = {part: one for part, one in show_effect(found).items() if part != "unstable"}
    return [
        extra(f"{figure}_{key}", of(message(f"figure.{figure}"), name), unit, **parts, n=n)
        for figure, unit, parts in (
            ("ges", "log2 ratio", effect),
            ("gap", "share", found["gap"].shown),
            ("class_contrast", "share", found["contrast"].shown),
        )
    ]


def work_out(linked: Sequence[Linked], seed: int, *, scored: bool) -> Plain:
    """Every measure of protocol 2, as a result holds it."""
    found = cross(linked, seed)
    main, groups = judge(found)
    tests = correct((main, groups))
    effect = show_effect(found)
    warnings = []
    if effect["unstable"]:
        warnings.append(message("ges_unstable", causes=find_shaky_sides(found)))
    more = [
        extra(
            f"gap_{kind}_occupations",
            of(message("coref_abc.rate_gap"), f"{kind} occupations"),
            "share",
            **found[f"gap {kind}"].shown,
        )
        for kind in GENDERS
    ]
    told = finding(main, groups, tests, doubt=_doubt(linked))
    clear = [one for one in linked if not one.triple.contested]
    without = cross(clear, seed)
    more += _variant("without_contested", message("variant.without_contested"), without, len(clear))
    others = {"contested_classes_decide": finding_alone(judge(without), doubt=_doubt(clear))}
    if scored:
        plain = cross(linked, seed, corrected=False)
        more += _list_scores(linked, found, plain)
        asked = [one.is_linked(gender) for one in linked for gender in GENDERS]
        chosen = sum(asked) / len(asked)
        if chosen <= 0.05 or chosen >= 0.95:
            warnings.append(message("subject_chosen", share=chosen))
        doubt = _doubt(linked, corrected=False)
        others["correction_decides"] = finding_alone(judge(plain), doubt=doubt)
    coverage = _coverage(linked, scored=scored)
    if coverage.get("unknown_tokens"):
        warnings.append(message("unknown_tokens", count=coverage["unknown_tokens"]))
    inside = coverage["pronoun_only_in_longer_mentions"]
    if inside > 3 * len(linked) / 20:
        warnings.append(message("coref_abc.pronoun_inside", count=inside))
    for code, other in others.items():
        if other["headline"] != told["headline"]:
            warnings.append(message(code, finding=name_finding(other)))
    sizes = {kind: sum(one.triple.occupation_class == kind for one in linked) for kind in GENDERS}
    return {
        "gender_effect_size": effect,
        "gap": judged(main[0]),
        "conditions": [cell(one, None, METRIC, len(linked), found[one]) for one in CONDITIONS],
        "nuance": [
            cell(one, f"{kind} occupations", METRIC, sizes[kind], found[f"{one} {kind}"])
            for one in CONDITIONS
            for kind in GENDERS
        ],
        "contrast": judged(groups[0]),
        "extra": more,
        "coverage": coverage,
        "warnings": warnings,
        "finding": told,
        "problem": None,
    }


def _list_scores(
    linked: Sequence[Linked], found: Mapping[str, Figure], plain: Mapping[str, Figure]
) -> list[Plain]:
    note = message("note.free_of_correction")
    name = message("variant.uncorrected")
    return [
        extra(
            "margin",
            message("figure.subject_margin"),
            "bits",
            **found["margin"].shown,
            n=len(linked),
            note=note,
        ),
        extra(
            "margin_class_contrast",
            message("figure.margin_class_contrast"),
            "bits",
            **found["margin contrast"].shown,
            n=len(linked),
            note=note,
        ),
        *_variant("uncorrected", name, plain, None),
        extra(
            "hit_rate_uncorrected",
            of(message("coref_abc.hit_rate"), name),
            "share",
            **plain["reflexive"].shown,
        ),
    ]


def _coverage(linked: Sequence[Linked], *, scored: bool) -> Plain:
    answers = {one: [row.answers[one] for row in linked] for one in CONDITIONS}
    every = [answer for own in answers.values() for answer in own]
    unknown = {"unknown_tokens": sum(int(one.unknown) for one in every)} if scored else {}
    return {
        "triples_asked": len(linked),
        "triples_answered": len(linked),
        "triples_dropped": 0,
        "frames": len({one.triple.frame for one in linked}),
        "occupations": len({one.triple.occupation for one in linked}),
        "sentences_linked": {
            condition: sum(one.linked for one in own) for condition, own in answers.items()
        },
        "sentences_with_clusters_but_no_link": {
            condition: sum(one.clusters != () and not one.linked for one in own)
            for condition, own in answers.items()
        },
        "pronoun_only_in_longer_mentions": sum(one.pronoun_inside for one in every),
        **unknown,
    }


def work_out_difference(
    one: Sequence[Linked], other: Sequence[Linked], *, seed: int
) -> dict[str, Figure]:
    """The figures of the first system minus those of the second, both drawn together."""

    def subtract(drawn: Sequence[tuple[Linked, Linked]]) -> dict[str, float | None]:
        first, second = (count_figures(side) for side in zip(*drawn, strict=True))
        return {name: minus(first[name], second[name]) for name in first}

    drawn = Crossed(
        subtract,
        list(zip(one, other, strict=True)),
        lambda pair: pair[0].triple.frame,
        lambda pair: pair[0].triple.occupation,
        stratum=lambda pair: pair[0].triple.occupation_class,
        seed=seed,
    )
    return {name: drawn.figure(name) for name in ("gap", "contrast", "ges")}


# Protocol 1


@dataclass(frozen=True)
class Detected:
    """A sentence of a file, and the clusters that a system finds in it."""

    kind: str
    line: int
    condition: str
    text: str
    clusters: tuple[tuple[Span, ...], ...]


def detect(salt: int) -> list[Detected]:
    """All sentences of both files, the repeated ones included, with made-up clusters."""
    chance = {"female": 31, "male": 47, "reflexive": 64}
    found = []
    for kind in GENDERS:
        for line, (reflexive, male, female) in enumerate(list_raw(kind), start=1):
            for condition, text in (("female", female), ("male", male), ("reflexive", reflexive)):
                dice = zlib.crc32(f"{salt} {text}".encode()) % 100
                limit = chance[condition] + (6 if kind == "male" else -5)
                clusters = (((0, 2), (3, 5)),) if dice < limit else ()
                found.append(Detected(kind, line, condition, text, clusters))
    return found


def make_classic_sheet(detected: Sequence[Detected]) -> dict[Any, Any]:
    sheet: dict[Any, Any] = {}
    for one in detected:
        tokens, at = [], 0
        for word in one.text.split(" "):
            tokens.append((at, at + len(word)))
            at += len(word) + 1
        sheet[Resolve(one.text, tuple(tokens))] = ResolveAnswer(one.clusters)
    return sheet


def make_classic_records(detected: Sequence[Detected]) -> list[Plain]:
    return [
        {
            "condition": one.condition,
            "group": f"{one.kind} occupations",
            "line": one.line,
            "text": one.text,
            "clusters": [[list(span) for span in cluster] for cluster in one.clusters],
            "detected": one.clusters != (),
        }
        for one in detected
    ]


def work_out_classic(detected: Sequence[Detected]) -> Plain:
    """Every measure of protocol 1: rates by file, then their mean."""
    unmeasured = message("no_interval")
    metric = "rate_of_detected_clusters"
    rates, sizes = {}, {}
    for condition in CONDITIONS:
        for kind in GENDERS:
            own = [one for one in detected if (one.condition, one.kind) == (condition, kind)]
            rates[condition, kind] = sum(one.clusters != () for one in own) / len(own)
            sizes[condition, kind] = len(own)
    means = {one: (rates[one, "female"] + rates[one, "male"]) / 2 for one in CONDITIONS}
    return {
        "gender_effect_size": {
            "value": round(math.log2(means["male"] / means["female"]), 2),
            "low": None,
            "high": None,
            "reason": unmeasured,
            "unstable": False,
        },
        "gap": contrast(
            message("coref_abc.cluster_gap"),
            "share",
            value=means["male"] - means["female"],
            reason=unmeasured,
        ),
        "conditions": [
            cell(
                one,
                None,
                metric,
                sizes[one, "female"] + sizes[one, "male"],
                Figure(means[one], reason=unmeasured),
            )
            for one in CONDITIONS
        ],
        "nuance": [
            cell(
                one,
                f"{kind} occupations",
                metric,
                sizes[one, kind],
                Figure(rates[one, kind], reason=unmeasured),
            )
            for one in CONDITIONS
            for kind in GENDERS
        ],
        "contrast": contrast(
            of(message("coref_abc.cluster_gap"), "male - female occupations"),
            "share",
            reason=message("none_in_protocol_1"),
        ),
        "extra": [],
        "coverage": {"sentences": len(detected)},
        "warnings": [],
        "finding": not_judged(),
        "problem": None,
    }
