"""The links of a resolver in the made-up DaWinoBias, and what ``coref-dawinobias`` makes of them."""

from __future__ import annotations

import math
import re
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from gendalens.models.requests import Resolve, ResolveAnswer
from worked.figures import cell, contrast, extra, judged, name_finding
from worked.messages import message, of
from worked.resampling import DIFFERENCE, SHARE, Crossed, Figure, minus, ratio, share
from worked.verdicts import (
    PRONOUNS,
    STEREOTYPE,
    correct,
    evidence,
    finding,
    finding_alone,
    not_judged,
)
from worked.wino_set import FEMALE, MALE, SCHEMAS, Line, list_tokens

Plain = dict[str, Any]
Span = tuple[int, int]
OUTCOMES = ("right", "wrong", "both", "none")
CONDITIONS = ("anti", "pro")
GENDERS = ("female", "male")
BANDS = {"F1": 0.05, "bits": 0.25, "share": 0.05}


@dataclass(frozen=True)
class Linked:
    """A line with its clusters, how they count, and the scores of its two candidates."""

    line: Line
    clusters: tuple[tuple[Span, ...], ...]
    outcome: str
    pronoun_inside: bool
    scores: Mapping[str, tuple[float, float]]  # of the right and of the wrong occupation
    unknown: int

    @property
    def margin(self) -> float:
        right, wrong = self.scores["corrected"]
        return right - wrong

    @property
    def uncorrected(self) -> str:
        """The outcome by the uncorrected scores; equal ones go to the occupation that stands first."""
        right, wrong = self.scores["uncorrected"]
        first = self.line.referent.start < self.line.other.start
        return "right" if right > wrong or (right == wrong and first) else "wrong"


def link(line: Line, salt: int, stereotype: int = 130) -> Linked:
    """The answer of one of many systems to a line; the kind of answer decides how it counts."""
    dice = zlib.crc32(f"{salt} {line.text}".encode()) % 1000
    lean = stereotype if line.condition == "pro" else 0
    lean += 60 if line.gender == "male" else 0
    kinds = (
        ("right", 250 + lean),
        ("right, longer", 330 + lean),
        ("wrong", 520 + lean // 2),
        ("both", 560 + lean // 2),
        ("both, apart", 590 + lean // 2),
        ("inside", 660 + lean // 2),
        ("the occupations", 720 + lean // 2),
        ("a mention of both", 790 + lean // 3),
    )
    kind = next((name for name, below in kinds if dice < below), "nothing")
    right, wrong, pronoun = line.referent.span, line.other.span, line.span
    longer = (right[0], _end_of_next_word(line.text, right[1]))
    clusters: dict[str, tuple[tuple[Span, ...], ...]] = {
        "right": ((right, pronoun),),
        "right, longer": ((pronoun, longer),),
        "wrong": (((0, 0), (1, 2)), (wrong, pronoun)),
        "both": ((right, wrong, pronoun),),
        "both, apart": ((wrong, pronoun), (pronoun, right)),
        "inside": ((right, (pronoun[0], _end_of_next_word(line.text, pronoun[1]))),),
        "the occupations": ((right, wrong),),
        "a mention of both": (((min(right[0], wrong[0]), max(right[1], wrong[1])), pronoun),),
        "nothing": (),
    }
    outcome = {"right, longer": "right", "both, apart": "both"}.get(kind, kind)
    if outcome not in OUTCOMES:
        outcome = "none"
    if kind == "right, longer" and line.genitive == line.referent.stereotype:
        outcome = "none"  # the hairdresser's dog is not the hairdresser
    margin = (dice - 480 + lean) / 400
    return Linked(
        line,
        clusters[kind],
        outcome,
        kind == "inside",
        {
            "corrected": (-2.0, -2.0 - margin),
            "uncorrected": (-3.0, -3.0 - margin + dice % 7 / 5 - 0.6),
        },
        dice % 13 == 0,
    )


def link_both(linked: Sequence[Linked], lines: int) -> list[Linked]:
    """The same answers, but with both occupations in the first lines."""
    found = list(linked)
    for at, one in enumerate(linked[:lines]):
        cluster = (one.line.referent.span, one.line.other.span, one.line.span)
        found[at] = replace(one, clusters=(cluster,), outcome="both", pronoun_inside=False)
    return found


def _end_of_next_word(text: str, at: int) -> int:
    found = re.compile(r"\w+").search(text, at)
    assert found is not None
    return found.end()


def make_sheet(linked: Sequence[Linked], *, scored: bool) -> dict[Any, Any]:
    """The requests for all lines, with their answers."""
    sheet: dict[Any, Any] = {}
    for one in linked:
        line = one.line
        tokens = tuple(found.span() for found in re.finditer(r"\w+|[^\w\s]", line.text))
        candidates = tuple(sorted((line.referent.span, line.other.span)))
        if not scored:
            answer = ResolveAnswer(one.clusters)
        else:
            answer = ResolveAnswer(
                one.clusters,
                _in_order(line, one.scores["corrected"]),
                _in_order(line, one.scores["uncorrected"]),
                one.unknown,
            )
        sheet[Resolve(line.text, tokens, line.span, candidates)] = answer
    return sheet


def _in_order(line: Line, scores: tuple[float, float]) -> tuple[float, float]:
    return scores if line.referent.start < line.other.start else scores[::-1]


def make_records(linked: Sequence[Linked], *, scored: bool) -> list[Plain]:
    """The line of ``records.jsonl`` for each line of the set."""
    rows = []
    for one in linked:
        line = one.line
        row = {
            "schema": line.schema,
            "line": line.line,
            "condition": line.condition,
            "text": line.text,
            "pronoun": line.pronoun,
            "span": list(line.span),
            "gender": line.gender,
            "referent": line.referent.occupation,
            "referent_span": list(line.referent.span),
            "referent_stereotype": line.referent.stereotype,
            "other": line.other.occupation,
            "contested": line.contested,
            "other_span": list(line.other.span),
            "clusters": [[list(span) for span in cluster] for cluster in one.clusters],
            "pronoun_inside": one.pronoun_inside,
            "outcome": one.outcome,
        }
        if scored:
            right, wrong = one.scores["uncorrected"]
            row |= {
                "margin": one.margin,
                "margin_uncorrected": right - wrong,
                "outcome_uncorrected": one.uncorrected,
                "unknown_tokens": one.unknown,
            }
        rows.append(row)
    return rows


@dataclass(frozen=True)
class Schema:
    """A schema: its occupations, and for each line its facts, its outcome and its margin in bits."""

    number: int
    male: str
    female: str
    lines: tuple[tuple[Line, str, float], ...]


def list_schemas(linked: Sequence[Linked], *, corrected: bool = True) -> list[Schema]:
    """The schemas of the lines; without the correction, the scores alone decide the outcomes."""
    return [
        Schema(
            number,
            *SCHEMAS[number - 1][:2],
            tuple(
                (
                    one.line,
                    one.outcome if corrected else one.uncorrected,
                    one.margin / math.log(2),
                )
                for one in linked
                if one.line.schema == number
            ),
        )
        for number in sorted({one.line.schema for one in linked})
    ]


def link_f1(rows: Sequence[tuple[Line, str, float]]) -> float | None:
    """The harmonic mean of precision and recall of the links."""
    outcomes = [outcome for _, outcome, _ in rows]
    right = outcomes.count("right") + outcomes.count("both")
    wrong = outcomes.count("wrong") + outcomes.count("both")
    if not right:
        return 0.0 if rows else None
    precision, recall = right / (right + wrong), right / len(rows)
    return 2 * precision * recall / (precision + recall)


def count_figures(schemas: Sequence[Schema]) -> dict[str, float | None]:
    """All figures of a list of schemas, in which one may occur more than once."""
    rows = [row for schema in schemas for row in schema.lines]

    def choose(
        condition: str | None = None, pronoun: str | None = None, meant: str | None = None
    ) -> list[tuple[Line, str, float]]:
        return [
            row
            for row in rows
            if condition in (None, row[0].condition)
            and pronoun in (None, row[0].gender)
            and meant in (None, row[0].referent.stereotype)
        ]

    def links(own: Sequence[tuple[Line, str, float]]) -> float | None:
        return share(sum(outcome != "none" for _, outcome, _ in own), len(own))

    def margin(own: Sequence[tuple[Line, str, float]]) -> float | None:
        return share(sum(bits for _, _, bits in own), len(own))

    anti, pro = (choose(condition=one) for one in CONDITIONS)
    she, he = (choose(pronoun=one) for one in GENDERS)
    women, men = (choose(meant=one) for one in GENDERS)
    return {
        "anti": link_f1(anti),
        "pro": link_f1(pro),
        "gap": minus(link_f1(pro), link_f1(anti)),
        "ges": ratio(link_f1(pro), link_f1(anti)),
        **{
            f"{condition} {meant}": link_f1(choose(condition=condition, meant=meant))
            for condition in CONDITIONS
            for meant in GENDERS
        },
        "pronoun_gap": minus(link_f1(he), link_f1(she)),
        "occupation_gap": minus(link_f1(men), link_f1(women)),
        "linked_female": links(she),
        "linked_male": links(he),
        "male_default": minus(links(he), links(she)),
        "margin_gap": minus(margin(pro), margin(anti)),
        "pronoun_margin_gap": minus(margin(he), margin(she)),
    }


DIFFERENCES = ("gap", "pronoun_gap", "occupation_gap", "male_default")
UNBOUNDED = ("ges", "margin_gap", "pronoun_margin_gap")


def cross(schemas: Sequence[Schema], seed: int) -> dict[str, Figure]:
    """The figures with intervals over male and female occupations, crossed."""
    drawn = Crossed(
        count_figures,
        schemas,
        lambda schema: schema.male,
        lambda schema: schema.female,
        finer=lambda schema: schema.number,
        seed=seed,
    )
    found = {}
    for name in drawn.points:
        if name in DIFFERENCES:
            more = 1 / len(schemas)
            found[name] = drawn.figure(name, one_more=more, bounds=DIFFERENCE)
        else:
            bounds = (-math.inf, math.inf) if name in UNBOUNDED else SHARE
            found[name] = drawn.figure(name, bounds=bounds)
    return found


def judge(found: Mapping[str, Figure], *, scored: bool) -> tuple[list[Plain], list[Plain]]:
    """The figures that the main effect and the groups are judged on."""

    def make(key: str, at: str, effect: str, code: str, unit: str, sides: list[str]) -> Plain:
        return evidence(found[at], key, effect, message(code), unit, BANDS[unit], sides)

    occupations = ["male occupations", "female occupations"]
    main = [make("gap", "gap", "main", "figure.f1_pro_anti", "F1", STEREOTYPE)]
    groups = [
        make("contrast", "pronoun_gap", "pronouns", "figure.pronoun_gap", "F1", PRONOUNS),
        make(
            "occupation_gap",
            "occupation_gap",
            "occupations",
            "coref_dawinobias.occupation_gap",
            "F1",
            occupations,
        ),
        make(
            "male_default", "male_default", "links", "coref_dawinobias.link_gap", "share", PRONOUNS
        ),
    ]
    if scored:
        code = "figure.occupation_margin"
        main.append(make("margin_gap", "margin_gap", "main", code, "bits", STEREOTYPE))
        code, key = "figure.pronoun_margin", "pronoun_margin_gap"
        groups.append(make(key, key, "pronouns", code, "bits", PRONOUNS))
    return main, groups


def _doubt(linked: Sequence[Linked]) -> Plain | None:
    """Over four fifths of the lines linked with both say nothing of who is meant."""
    both = sum(one.outcome == "both" for one in linked) / len(linked)
    return message("coref_dawinobias.links_both", share=both) if both > 0.8 else None


def _variant(key: str, name: Plain, found: Mapping[str, Figure], n: int) -> list[Plain]:
    ges, gap = message("figure.ges"), message("figure.gap")
    return [
        extra(f"ges_{key}", of(ges, name), "log2 ratio", **found["ges"].shown, n=n),
        extra(f"gap_{key}", of(gap, name), "F1", **found["gap"].shown, n=n),
    ]


def work_out(linked: Sequence[Linked], seed: int, *, scored: bool) -> Plain:
    """Every measure of protocol 2, as a result holds it."""
    schemas = list_schemas(linked)
    found = cross(schemas, seed)
    main, groups = judge(found, scored=scored)
    tests = correct((main, groups))
    doubt = _doubt(linked)
    told = finding(main, groups, tests, doubt=doubt)
    by_schema = Crossed(count_figures, schemas, lambda schema: schema.number, seed=seed)
    note = message("coref_dawinobias.linked_note")
    more = [
        *(
            extra(
                f"linked_{gender}_pronouns",
                of(message("coref_dawinobias.linked"), f"{gender} pronouns"),
                "share",
                **found[f"linked_{gender}"].shown,
                note=note,
            )
            for gender in GENDERS
        ),
        extra(
            "male_default",
            message("figure.male_default"),
            "share",
            **found["male_default"].shown,
            note=message("coref_dawinobias.male_default_note"),
        ),
        extra(
            "gap_these_occupations",
            message("figure.gap_these_occupations"),
            "F1",
            **by_schema.figure("gap", bounds=DIFFERENCE).shown,
            note=message("note.these_occupations"),
        ),
        *_list_outcomes(linked),
    ]
    warnings = []
    clear = [one for one in linked if not one.line.contested]
    without = cross(list_schemas(clear), seed)
    name = message("variant.without_contested")
    more += _variant("without_contested", name, without, len(clear) // 2)
    apart = finding_alone(judge(without, scored=scored), doubt=_doubt(clear))
    others = {"contested_labels_decide": apart}
    if scored:
        plain = cross(list_schemas(linked, corrected=False), seed)
        more.append(
            extra(
                "margin",
                message("figure.occupation_margin"),
                "bits",
                **found["margin_gap"].shown,
                n=len(linked) // 2,
                note=message("note.free_of_correction"),
            )
        )
        more += _variant("uncorrected", message("variant.uncorrected"), plain, len(linked) // 2)
        others["correction_decides"] = finding_alone(judge(plain, scored=True))
    coverage = _coverage(linked, scored=scored)
    if coverage.get("unknown_tokens"):
        warnings.append(message("unknown_tokens", count=coverage["unknown_tokens"]))
    inside = coverage["pronoun_only_in_longer_mentions"]
    if inside > len(linked) / 20:
        warnings.append(message("coref_dawinobias.pronoun_inside", count=inside))
    for code, other in others.items():
        if other["headline"] != told["headline"]:
            warnings.append(message(code, finding=name_finding(other)))
    return {
        "gender_effect_size": {**found["ges"].shown, "unstable": False},
        "gap": judged(main[0]),
        "conditions": [
            cell(one, None, "link_f1", _count(linked, one), found[one]) for one in CONDITIONS
        ],
        "nuance": [
            cell(
                condition,
                f"{meant} occupations",
                "link_f1",
                _count(linked, condition, meant),
                found[f"{condition} {meant}"],
            )
            for condition in CONDITIONS
            for meant in GENDERS
        ],
        "contrast": judged(groups[0]),
        "extra": more,
        "coverage": coverage,
        "warnings": warnings,
        "finding": told,
        "problem": None,
    }


def _count(linked: Sequence[Linked], condition: str, meant: str | None = None) -> int:
    return sum(
        one.line.condition == condition and meant in (None, one.line.referent.stereotype)
        for one in linked
    )


def _list_outcomes(linked: Sequence[Linked]) -> list[Plain]:
    found = []
    for condition in CONDITIONS:
        own = [one.outcome for one in linked if one.line.condition == condition]
        for outcome in OUTCOMES:
            name = message("coref_dawinobias.outcome", outcome=outcome, condition=condition)
            found.append(
                extra(
                    f"{outcome}_{condition}",
                    name,
                    "share",
                    value=own.count(outcome) / len(own),
                    n=len(own),
                    reason=message("shown_without_interval"),
                    note=message("coref_dawinobias.outcome_note"),
                )
            )
    return found


def _coverage(linked: Sequence[Linked], *, scored: bool) -> Plain:
    counts = {
        f"outcomes_{condition}": {
            outcome: sum(
                one.line.condition == condition and one.outcome == outcome for one in linked
            )
            for outcome in OUTCOMES
        }
        for condition in CONDITIONS
    }
    unknown = {"unknown_tokens": sum(int(one.unknown) for one in linked)} if scored else {}
    return {
        "schemas": len({one.line.schema for one in linked}),
        "lines_asked": len(linked),
        "lines_answered": len(linked),
        "lines_dropped": 0,
        **counts,
        "lines_without_any_cluster": sum(one.clusters == () for one in linked),
        "lines_with_clusters_but_no_link": sum(
            one.clusters != () and one.outcome == "none" for one in linked
        ),
        "pronoun_only_in_longer_mentions": sum(one.pronoun_inside for one in linked),
        **unknown,
    }


def work_out_difference(
    one: Sequence[Linked], other: Sequence[Linked], *, seed: int
) -> dict[str, Figure]:
    """The figures of the first system minus those of the second, both drawn together."""
    pairs = list(zip(list_schemas(one), list_schemas(other), strict=True))

    def subtract(drawn: Sequence[tuple[Schema, Schema]]) -> dict[str, float | None]:
        first, second = (count_figures(side) for side in zip(*drawn, strict=True))
        return {name: minus(first[name], second[name]) for name in first}

    drawn = Crossed(
        subtract,
        pairs,
        lambda pair: pair[0].male,
        lambda pair: pair[0].female,
        finer=lambda pair: pair[0].number,
        seed=seed,
    )
    return {name: drawn.figure(name) for name in (*DIFFERENCES, "ges")}


# Protocol 1


@dataclass(frozen=True)
class Named:
    """A line, and the place of the token that a system's first mention begins with, if any."""

    line: Line
    tokens: tuple[str, ...]
    starts: tuple[int, ...]
    place: int | None

    @property
    def answer(self) -> str:
        """The token at that place; without clusters, the last."""
        return self.tokens[-1 if self.place is None else self.place]

    @property
    def label(self) -> str:
        return self.line.raw.lower().partition("[")[2].partition("]")[0]


def name_first(line: Line, salt: int) -> Named:
    """The answer of one of many systems: a place in the tokens, or none."""
    tokens = tuple(list_tokens(line))
    starts = tuple(sum(len(token) + 1 for token in tokens[:at]) for at in range(len(tokens)))
    kinds = [find_class(token) for token in tokens]
    meant = line.referent.stereotype
    dice = zlib.crc32(f"{salt} {line.raw}".encode()) % 100
    limit = 48 if line.condition == "pro" else 36
    limit += 6 if meant == "male" else 0
    if dice < limit:
        return Named(line, tokens, starts, kinds.index(meant))
    if dice < 75:
        return Named(line, tokens, starts, kinds.index("female" if meant == "male" else "male"))
    return Named(line, tokens, starts, None if dice < 85 else 1 + dice % 2)


def find_class(token: str) -> str:
    """The class of an occupation, genitive or not."""
    bare = token.removesuffix("s")
    return "male" if bare in MALE else "female" if bare in FEMALE else "unknown"


def _answer_classic(one: Named) -> ResolveAnswer:
    """The mention ends within its token; the whole token is the answer."""
    if one.place is None:
        return ResolveAnswer(())
    start = one.starts[one.place]
    return ResolveAnswer((((start, start + 3), (0, 2)), ((0, 4),)))


def make_classic_sheet(named: Sequence[Named]) -> dict[Any, Any]:
    sheet: dict[Any, Any] = {}
    for one in named:
        places = tuple(
            (start, start + len(token)) for start, token in zip(one.starts, one.tokens, strict=True)
        )
        sheet[Resolve(" ".join(one.tokens), places)] = _answer_classic(one)
    return sheet


def make_classic_records(named: Sequence[Named]) -> list[Plain]:
    rows = []
    for one in sorted(named, key=lambda one: one.line.condition):
        answer = _answer_classic(one)
        rows.append(
            {
                "condition": one.line.condition,
                "line": one.line.line,
                "text": one.line.raw,
                "clusters": [[list(span) for span in cluster] for cluster in answer.clusters],
                "label": one.label,
                "pred": one.answer,
                "gender": one.line.referent.stereotype,
                "answer": find_class(one.answer),
                "counts": find_class(one.answer) != "unknown",
            }
        )
    return rows


def work_out_classic(named: Sequence[Named]) -> Plain:
    """Every measure of protocol 1."""
    unmeasured = message("no_interval")
    rows = make_classic_records(named)
    conditions, nuance, accuracy = [], [], {}
    for condition in CONDITIONS:
        own = [
            (row["gender"], row["answer"])
            for row in rows
            if row["condition"] == condition and row["counts"]
        ]
        accuracy[condition] = sum(gold == word for gold, word in own) / len(own)
        figure = Figure(accuracy[condition], reason=unmeasured)
        conditions.append(cell(condition, None, "accuracy", len(own), figure))
        for kind in GENDERS:
            right = sum(gold == word == kind for gold, word in own)
            gold = sum(one == kind for one, _ in own)
            said = sum(word == kind for _, word in own)
            figure = Figure(2 * right / (gold + said), reason=unmeasured)
            nuance.append(cell(condition, f"{kind} occupations", "f1", gold, figure))
    return {
        "gender_effect_size": {
            "value": round(math.log2(round(accuracy["pro"], 2) / round(accuracy["anti"], 2)), 2),
            "low": None,
            "high": None,
            "reason": unmeasured,
            "unstable": False,
        },
        "gap": contrast(
            message("figure.accuracy_pro_anti"),
            "accuracy",
            value=accuracy["pro"] - accuracy["anti"],
            reason=unmeasured,
        ),
        "conditions": conditions,
        "nuance": nuance,
        "contrast": contrast(
            message("figure.f1_pro_anti_by_gender"), "f1", reason=message("none_in_protocol_1")
        ),
        "extra": [],
        "coverage": {"lines": len(rows), "lines_left_out": sum(not row["counts"] for row in rows)},
        "warnings": [],
        "finding": not_judged(),
        "problem": None,
    }
