"""The likelihoods that a model gives the made-up ABC, and what ``lm-abc`` makes of them."""

from __future__ import annotations

import math
import statistics
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from gendalens.models.requests import Reconstruct, ReconstructAnswer, Score, ScoreAnswer
from worked.abc_set import FORMS, Triple, list_raw
from worked.figures import cell, contrast, extra, judged, name_finding
from worked.messages import message, of
from worked.resampling import Crossed, Figure, mean, minus, ratio
from worked.verdicts import correct, evidence, finding, finding_alone, not_judged

Plain = dict[str, Any]
GENDERS = ("female", "male")
PRONOUN = {"female": "hendes", "male": "hans"}
METRIC = "median_relative_perplexity"
BAND = 0.25
CLASS_SIDES = ["with the stereotype", "against the stereotype"]


@dataclass(frozen=True)
class Scored:
    """A triple with the answers to its three sentences."""

    triple: Triple
    reflexive: ScoreAnswer
    male: ScoreAnswer
    female: ScoreAnswer

    @property
    def bits(self) -> float:
        """By how much *hans* is likelier than *hendes*."""
        return (self.male.log_likelihood - self.female.log_likelihood) / math.log(2)

    def perplexity(self, answer: ScoreAnswer) -> float:
        """With one length for the three sentences, that of the reflexive one."""
        return math.exp(-answer.log_likelihood / self.reflexive.tokens)

    def more(self, gender: str) -> float:
        """How much more surprising a pronoun is than the reflexive."""
        return self.perplexity(getattr(self, gender)) - self.perplexity(self.reflexive)


def score(triple: Triple, salt: int, *, male: float, stereotype: float, grammar: float) -> Scored:
    """The answers of one of many models; the leanings and the grammar are in nats."""

    def dice(*what: object) -> float:
        """A number between -1 and 1."""
        text = " ".join(map(str, (salt, *what)))
        return zlib.crc32(text.encode()) % 2001 / 1000 - 1

    name = (triple.occupation, triple.frame, triple.tense)
    words = len(triple.reflexive.split())
    tokens = words + zlib.crc32(triple.occupation.encode()) % 3
    own = -2.1 * tokens + dice("own", *name)
    side = 1 if triple.occupation_class == "male" else -1
    lean = male + side * stereotype + dice("occupation", triple.occupation)
    lean += dice("event", triple.frame) + 1.5 * dice("both", *name)
    cost = grammar + 1.2 * dice("cost", *name)

    def make(gender: str, half: float, longer: int) -> ScoreAnswer:
        at = zlib.crc32(f"{salt} {gender} {name}".encode())
        likelihood = round(own - cost + half * lean, 3)
        return ScoreAnswer(likelihood, tokens + at % longer, at // 7 % 9 == 0, at // 11 % 4 == 0)

    unknown = zlib.crc32(triple.reflexive.encode()) % 3
    answer = ScoreAnswer(round(own, 3), tokens, 0, unknown)
    return Scored(triple, answer, make("male", 0.5, 2), make("female", -0.5, 3))


def make_sheet(scored: Sequence[Scored]) -> dict[Any, Any]:
    """The requests for all sentences, with their answers."""
    sheet: dict[Any, Any] = {}
    for one in scored:
        sheet[Score(one.triple.reflexive)] = one.reflexive
        sheet[Score(one.triple.male)] = one.male
        sheet[Score(one.triple.female)] = one.female
    return sheet


def make_records(scored: Sequence[Scored]) -> list[Plain]:
    """The lines of ``records.jsonl``: a row per triple and pronoun."""
    rows = []
    for one in scored:
        triple, own = one.triple, one.reflexive
        for gender in GENDERS:
            answer: ScoreAnswer = getattr(one, gender)
            rows.append(
                {
                    "frame": triple.frame,
                    "template": triple.template,
                    "tense": triple.tense,
                    "occupation": triple.occupation,
                    "occupation_class": triple.occupation_class,
                    "contested": triple.contested,
                    "condition": gender,
                    "text": triple.text(gender),
                    "reflexive": triple.reflexive,
                    "form": triple.form,
                    "log_likelihood": answer.log_likelihood,
                    "tokens": answer.tokens,
                    "log_likelihood_reflexive": own.log_likelihood,
                    "tokens_reflexive": own.tokens,
                    "unscored_tokens": answer.unscored,
                    "unknown_tokens": answer.unknown,
                    "unknown_tokens_reflexive": own.unknown,
                    "perplexity": one.perplexity(answer),
                    "perplexity_reflexive": one.perplexity(own),
                    "relative_perplexity": one.more(gender),
                }
            )
    return rows


def count_figures(scored: Sequence[Scored]) -> dict[str, float | None]:
    """All figures of a list of triples, in which one may occur more than once."""
    parts = {
        "": scored,
        " female": [one for one in scored if one.triple.occupation_class == "female"],
        " male": [one for one in scored if one.triple.occupation_class == "male"],
    }
    found: dict[str, float | None] = {}
    for part, own in parts.items():
        for gender in GENDERS:
            values = [one.more(gender) for one in own]
            found[f"{gender}{part}"] = statistics.median(values) if values else None
        found[f"bits{part}"] = mean(*(one.bits for one in own)) if own else None
    found["ges"] = ratio(found["female"], found["male"])
    found["contrast"] = minus(found["bits male"], found["bits female"])
    return found


def cross(
    units: Sequence[Any],
    seed: int,
    statistic: Callable[[Sequence[Any]], dict[str, float | None]] = count_figures,
    triple: Callable[[Any], Triple] = lambda one: one.triple,
) -> Crossed:
    """The figures with intervals over events and occupations, crossed; the classes keep their size."""
    return Crossed(
        statistic,
        units,
        lambda unit: triple(unit).frame,
        lambda unit: triple(unit).occupation,
        stratum=lambda unit: triple(unit).occupation_class,
        seed=seed,
    )


def estimate(scored: Sequence[Scored], seed: int) -> dict[str, Figure]:
    """The figures; those of one class have its number of occupations, if there are fewer than events."""
    drawn = cross(scored, seed)
    events = len({one.triple.frame for one in scored})
    of_class = {
        kind: len(
            {t.occupation for t in (one.triple for one in scored) if t.occupation_class == kind}
        )
        for kind in GENDERS
    }
    df = {kind: min(events, size) - 1 for kind, size in of_class.items()}
    found = {}
    for name in drawn.points:
        own = df.get(name.partition(" ")[2])
        found[name] = drawn.figure(name, df=min(df.values()) if name == "contrast" else own)
    return found


def judge(found: Mapping[str, Figure]) -> tuple[list[Plain], list[Plain]]:
    """The figures that the main effect and the groups are judged on."""
    name = message("lm_abc.preference")
    classes = of(name, "male - female occupations")
    return (
        [evidence(found["bits"], "gap", "main", name, "bits", BAND, ["male", "female"])],
        [
            evidence(
                found["contrast"], "contrast", "classes", classes, "bits", 2 * BAND, CLASS_SIDES
            )
        ],
    )


def show_effect(found: Mapping[str, Figure]) -> Plain:
    """GES, with the reason if it is undefined or unstable."""
    faults = [
        message("lm_abc.not_more_surprising", pronoun=PRONOUN[gender], size=found[gender].value)
        for gender in GENDERS
        if (found[gender].value or 0) <= 0
    ]
    if faults:
        reason = faults[0] if len(faults) == 1 else message("both_sides", faults=faults)
        return {**Figure(None, reason=reason).shown, "unstable": False}
    shaky = find_shaky_sides(found)
    figure = (
        replace(found["ges"], reason=message("unstable", causes=shaky)) if shaky else found["ges"]
    )
    return {**figure.shown, "unstable": bool(shaky)}


def find_shaky_sides(found: Mapping[str, Figure]) -> list[Plain]:
    """The sides whose interval includes zero."""
    return [
        message("side_includes_zero", measure="P", pronoun=PRONOUN[gender])
        for gender in GENDERS
        if (side := found[gender]).low is not None and side.low <= 0 <= (side.high or 0)
    ]


def work_out(scored: Sequence[Scored], seed: int) -> Plain:
    """Every measure of protocol 2, as a result holds it."""
    found = estimate(scored, seed)
    main, groups = judge(found)
    tests = correct((main, groups))
    effect = show_effect(found)
    warnings = []
    if effect["unstable"]:
        warnings.append(message("ges_unstable", causes=find_shaky_sides(found)))
    more = _list_extras(scored, found)
    clear = [one for one in scored if not one.triple.contested]
    without = estimate(clear, seed)
    name = message("variant.without_contested")
    shown = {part: one for part, one in show_effect(without).items() if part != "unstable"}
    for key, code, unit, parts in (
        ("ges", "figure.ges", "log2 ratio", shown),
        ("preference", "lm_abc.preference", "bits", without["bits"].shown),
        ("class_contrast", "figure.class_contrast", "bits", without["contrast"].shown),
    ):
        key = f"{key}_without_contested"
        more.append(extra(key, of(message(code), name), unit, **parts, n=len(clear)))
    coverage = _coverage(scored)
    if coverage["unscored_first_tokens"]:
        warnings.append(message("lm_abc.first_token_unscored"))
    if coverage["unknown_tokens"]:
        warnings.append(message("unknown_tokens", count=coverage["unknown_tokens"]))
    told, apart = finding(main, groups, tests), finding_alone(judge(without))
    if told["headline"] != apart["headline"]:
        warnings.append(message("contested_classes_decide", finding=name_finding(apart)))
    return {
        "gender_effect_size": effect,
        "gap": judged(main[0]),
        "conditions": [
            cell(gender, None, METRIC, len(scored), found[gender]) for gender in GENDERS
        ],
        "nuance": [
            cell(
                gender,
                f"{kind} occupations",
                METRIC,
                sum(one.triple.occupation_class == kind for one in scored),
                found[f"{gender} {kind}"],
            )
            for gender in GENDERS
            for kind in GENDERS
        ],
        "contrast": judged(groups[0]),
        "extra": more,
        "coverage": coverage,
        "warnings": warnings,
        "finding": told,
        "problem": None,
    }


def _list_extras(scored: Sequence[Scored], found: Mapping[str, Figure]) -> list[Plain]:
    apart = message("shown_without_interval")
    likelier = message("lm_abc.hans_likelier")

    def wins(key: str, name: Plain, own: Sequence[Scored]) -> Plain:
        count = sum(one.male.log_likelihood > one.female.log_likelihood for one in own)
        return extra(key, name, "share", value=count / len(own), n=len(own), reason=apart)

    classes = {
        kind: [one for one in scored if one.triple.occupation_class == kind] for kind in GENDERS
    }
    known = sum(
        one.reflexive.log_likelihood > one.male.log_likelihood
        and one.reflexive.log_likelihood > one.female.log_likelihood
        for one in scored
    )
    return [
        *(
            extra(
                f"preference_{kind}_occupations",
                of(message("lm_abc.preference"), f"{kind} occupations"),
                "bits",
                **found[f"bits {kind}"].shown,
            )
            for kind in GENDERS
        ),
        wins("hans_likelier", likelier, scored),
        *(
            wins(f"hans_likelier_{kind}_occupations", of(likelier, f"{kind} occupations"), own)
            for kind, own in classes.items()
        ),
        extra(
            "reflexive_likeliest",
            message("lm_abc.reflexive_likeliest"),
            "share",
            value=known / len(scored),
            n=len(scored),
            reason=apart,
            note=message("lm_abc.grammar_note"),
        ),
    ]


def _coverage(scored: Sequence[Scored]) -> Plain:
    longer = {
        gender: [getattr(one, gender).tokens - one.reflexive.tokens for one in scored]
        for gender in GENDERS
    }
    both = [answer for one in scored for answer in (one.female, one.male)]
    return {
        "triples_asked": len(scored),
        "triples_answered": len(scored),
        "triples_dropped": 0,
        "frames": len({one.triple.frame for one in scored}),
        "occupations": len({one.triple.occupation for one in scored}),
        "unscored_first_tokens": sum(int(answer.unscored) for answer in both),
        "unknown_tokens": sum(int(answer.unknown) for answer in both)
        + sum(one.reflexive.unknown for one in scored),
        "tokens_more_than_reflexive": {
            gender: sum(values) / len(values) for gender, values in longer.items()
        },
        "triples_of_unequal_tokens": sum(
            not one.female.tokens == one.male.tokens == one.reflexive.tokens for one in scored
        ),
    }


def work_out_difference(
    one: Sequence[Scored], other: Sequence[Scored], *, seed: int
) -> dict[str, Figure]:
    """The figures of the first model minus those of the second, both drawn together."""

    def subtract(drawn: Sequence[tuple[Scored, Scored]]) -> dict[str, float | None]:
        first, second = (count_figures(side) for side in zip(*drawn, strict=True))
        return {name: minus(first[name], second[name]) for name in first}

    pairs = list(zip(one, other, strict=True))
    drawn = cross(pairs, seed, subtract, lambda pair: pair[0].triple)
    return {name: drawn.figure(name) for name in ("bits", "contrast", "ges")}


# Protocol 1


@dataclass(frozen=True)
class Rebuilt:
    """A reflexive sentence of a file and the losses with its own word, *hendes* and *hans*."""

    kind: str
    line: int
    text: str
    loss: dict[str | None, float]


def rebuild(shift: float = 0.0, hans: float = 0.0) -> list[Rebuilt]:
    """The sentences of both files, the repeated ones included, with made-up losses."""
    found = []
    for kind in GENDERS:
        for line, (text, _, _) in enumerate(list_raw(kind), start=1):
            dice = zlib.crc32(text.encode())
            own = 0.2 + dice % 97 / 100
            side = 0.11 if kind == "male" else -0.07
            losses: dict[str | None, float] = {
                "hendes": own + 0.3 + shift + side + dice // 7 % 89 / 80,
                "hans": own + 0.2 + shift + hans - side + dice // 11 % 83 / 90,
            }
            found.append(Rebuilt(kind, line, text, {None: own, **losses}))
    return found


def make_classic_sheet(rebuilt: Sequence[Rebuilt]) -> dict[Any, Any]:
    return {
        Reconstruct(one.text, FORMS, word): ReconstructAnswer(loss)
        for one in rebuilt
        for word, loss in one.loss.items()
    }


def make_classic_records(rebuilt: Sequence[Rebuilt]) -> list[Plain]:
    return [
        {
            "condition": gender,
            "group": f"{one.kind} occupations",
            "line": one.line,
            "text": one.text,
            "word": PRONOUN[gender],
            "perplexity_reflexive": math.exp(one.loss[None]),
            "perplexity": math.exp(one.loss[PRONOUN[gender]]),
            "relative_perplexity": math.exp(one.loss[PRONOUN[gender]]) - math.exp(one.loss[None]),
        }
        for one in rebuilt
        for gender in GENDERS
    ]


def _quantile(values: Sequence[float], share: float) -> float:
    """The value at a share of the way through the sorted list, between its neighbours."""
    ranked = sorted(values)
    at = share * (len(ranked) - 1)
    below = math.floor(at)
    above = min(below + 1, len(ranked) - 1)
    return ranked[below] + (at - below) * (ranked[above] - ranked[below])


def work_out_classic(rebuilt: Sequence[Rebuilt]) -> Plain:
    """Every measure of protocol 1."""
    rows = make_classic_records(rebuilt)

    def make(gender: str, group: str | None) -> Plain:
        values = [
            row["relative_perplexity"]
            for row in rows
            if row["condition"] == gender and group in (None, row["group"])
        ]
        low, middle, high = (round(_quantile(values, share), 2) for share in (0.25, 0.5, 0.75))
        figure = Figure(middle, low, high, message("lm_abc.quartiles"))
        return {**cell(gender, group, METRIC, len(values), figure), "brackets": "quartiles"}

    conditions = [make(gender, None) for gender in GENDERS]
    female, male = (one["value"] for one in conditions)
    nothing = message("none_in_protocol_1")
    return {
        "gender_effect_size": {
            "value": round(math.log2(female / male), 2),
            "low": None,
            "high": None,
            "reason": message("no_interval"),
            "unstable": False,
        },
        "gap": contrast(message("lm_abc.classic_preference_bits"), "bits", reason=nothing),
        "conditions": conditions,
        "nuance": [make(gender, f"{kind} occupations") for gender in GENDERS for kind in GENDERS],
        "contrast": contrast(
            of(message("lm_abc.classic_preference"), "male - female occupations"),
            "bits",
            reason=nothing,
        ),
        "extra": [],
        "coverage": {"sentences": len(rebuilt)},
        "warnings": [message("lm_abc.negative_medians")] if female < 0 and male < 0 else [],
        "finding": not_judged(),
        "problem": None,
    }
