"""The wording of results: identifiers, findings and their meaning, and names that fit a line."""

from __future__ import annotations

from gendalens.models import detect
from gendalens.results.figures import show_band, show_size
from gendalens.results.result import Cell, Result
from gendalens.stats.evidence import Evidence
from gendalens.stats.findings import CROSSES_BAND, LOST_BY_CORRECTION, EffectFinding, Finding
from gendalens.tasks import all_tasks, get_task
from gendalens.tasks.base import Band, Card, Readings
from gendalens.tasks.shared.words import REFUSAL_READINGS
from gendalens.words import N_, Message, phrase, translate

#: For a test that has no sentence for a side.
_DIFFERS_BY_GROUP = N_("The effect differs by group.")
#: Units that need more words when they are the title of an axis.
_LEANING_UNITS = {"share": phrase("difference of shares")}


def name_identifier(identifier: str, language: str | None = None) -> str:
    """A condition, group, metric, unit or outcome in words (default: in the language in use).

    >>> name_identifier("link_f1", "en"), name_identifier("majority names", "en")
    ('link F1', 'majority names')
    """
    spaced = identifier.replace("_", " ").replace("f1", "F1")
    for text in (identifier, spaced):
        found = translate(text, language)
        if found != text:
            return found
    return spaced


def picture_result(result: Result) -> list[Message]:
    """The result in counts that a person can picture; those of the groups if there is a bias in them."""
    if result.problem is not None:
        return []
    pictures = list(get_task(result.task, result.protocol).picture(result))
    return pictures if result.finding.groups.verdict == "bias" else pictures[:1]


def explain_finding(result: Result, card: Card) -> list[Message]:
    """What the finding means for this test, in plain sentences: first the effect that heads it."""
    finding = result.finding
    if result.problem is not None:
        return [result.problem]
    if not finding.is_measured:
        return [finding.reason or finding.message]
    main, groups = (
        _explain_main(finding, card.readings),
        _explain_groups(finding, card.readings),
    )
    return [*groups, *main] if finding.leading is finding.groups else [*main, *groups]


def _explain_main(finding: Finding, readings: Readings) -> list[Message]:
    """The main effect in plain words; beside a bias in groups, it must not acquit the model."""
    main = finding.main
    match main.verdict:
        case "bias":
            value = main.deciding.value if main.deciding else None
            return [phrase(readings.male if (value or 0) > 0 else readings.female)]
        case "negligible" if finding.headline == "negligible":
            band = _find_band(main)
            return [
                phrase(readings.alike),
                phrase("Any difference is within {band}, too small to matter.", band=band),
            ]
        case "negligible" if finding.is_in_groups_only:
            band = _find_band(main)
            return [
                phrase("The main effect alone does not show this: it is within {band}.", band=band)
            ]
        case "negligible":
            band = _find_band(main)
            return [phrase("The main effect is within {band}, too small to matter.", band=band)]
        case "undecided" if finding.is_in_groups_only:
            return [phrase("The main effect alone is not settled."), *_limit(main)]
        case "undecided":
            return [
                phrase("Whether there is a difference of a size that matters is not settled."),
                *_limit(main),
            ]
        case "not_measurable":
            return [phrase("The main effect cannot be measured: {reason}.", reason=main.reason)]
    return []


def _explain_groups(finding: Finding, readings: Readings) -> list[Message]:
    """The effect on groups in plain words."""
    groups = finding.groups
    match groups.verdict:
        case "bias":
            directions = dict.fromkeys(one.direction for one in list_biases(groups))
            by_side = {**REFUSAL_READINGS, **readings.groups}
            return [phrase(by_side.get(one, _DIFFERS_BY_GROUP)) for one in directions]
        case "negligible":
            return [phrase("Differences between groups are too small to matter.")]
        case "undecided":
            not_settled = phrase("Whether groups are treated differently is not settled.")
            return [not_settled, *(_limit(groups) if finding.leading is groups else ())]
        case "not_measurable" if groups.reason != finding.main.reason:
            return [phrase("The groups cannot be measured: {reason}.", reason=groups.reason)]
    return []


def list_biases(effect: EffectFinding) -> list[Evidence]:
    """A figure for each effect with a bias, the deciding one first; none if it cannot be measured."""
    if effect.verdict != "bias":
        return []
    first: dict[str, Evidence] = {}
    for one in (effect.deciding, *effect.evidence):
        if one is not None and one.verdict == "bias":
            first.setdefault(one.effect, one)
    return list(first.values())


def _find_band(effect: EffectFinding) -> Message:
    """The band of the figure that shows an effect to be negligible."""
    last = [one for one in effect.evidence if one.verdict == "negligible"][-1]
    return show_band(last.band, last.unit)


def _limit(effect: EffectFinding) -> list[Message]:
    """Why an effect is undecided: what the data would have shown, and what they could have ruled out."""
    one, reason = effect.deciding, effect.reason
    lost = reason is not None and reason.code == LOST_BY_CORRECTION.code
    if one is None or one.seen is None or one.acquitted is None or lost:
        return [reason] if reason else []
    return [
        phrase(
            "The data would have shown a difference of {seen} or more, and could have ruled out one "
            "of {acquitted}.",
            seen=show_size(one.seen, one.unit),
            acquitted=show_size(one.acquitted, one.unit),
        )
    ]


def explain_band(band: Band) -> Message:
    """What is too small to matter, and why."""
    return phrase("{band} ({why:t})", band=show_band(band.value, band.unit), why=band.why)


def explain_reason(effect: EffectFinding) -> Message | None:
    """Why an effect is undecided or not measurable, with its band in the unit of effects."""
    reason, one = effect.reason, effect.deciding
    if reason is None or one is None or reason.code != CROSSES_BAND.code:
        return reason
    return phrase(
        "the interval includes 0 and reaches beyond {band}", band=show_band(one.band, one.unit)
    )


def explain_note(note: Message) -> Message:
    """Why models are compared by a figure other than their headline."""
    return phrase(
        "Compared by the {reading}, which all of these models have. A model's headline may be a "
        "different figure; see its report.",
        reading=note,
    )


def write_formula(card: Card, language: str | None = None) -> str:
    """The formula of the gender effect size, without ``GES =``."""
    return translate(card.formula, language).removeprefix("GES = ")


def name_leaning_unit(unit: str) -> Message:
    """The unit of leanings as the title of an axis."""
    return _LEANING_UNITS.get(unit, phrase(unit))


def has_quartiles(cells: tuple[Cell, ...]) -> bool:
    """Whether the brackets in a table hold quartiles instead of intervals."""
    return any(cell.brackets == "quartiles" for cell in cells)


def capitalize(text: str) -> str:
    """A text with its first letter capitalised and the rest unchanged."""
    return text[:1].upper() + text[1:]


def end_sentence(text: str) -> str:
    """A text as a sentence, with an initial capital and a full stop."""
    return capitalize(text) + ("" if text.endswith((".", "!", "?")) else ".")


def shorten(name: str, most: int = 60) -> str:
    """A name that fits on a line: without control or direction marks, and with its middle elided."""
    plain = "".join(c if c.isprintable() else " " for c in name)
    plain = " ".join(plain.split()) or "?"
    if len(plain) <= most:
        return plain
    return f"{plain[: most * 2 // 3]}…{plain[-(most // 3 - 1) :]}"


def load_plugin_words() -> None:
    """Make the words of plug-ins known, which are read when the plug-ins are loaded."""
    all_tasks()
    detect.load_plugin_words()
