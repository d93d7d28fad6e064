"""The wording of results: identifiers, findings and their meaning, and names that fit a line."""

from __future__ import annotations

from gendalens.models import detect
from gendalens.results.result import Cell, Result
from gendalens.tasks import all_tasks
from gendalens.tasks.base import Card
from gendalens.words import Message, phrase, translate

DIFFERS_BY_GROUP = phrase("the effect differs by group")
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


def describe_finding(result: Result) -> Message:
    """The finding, with a remark if the effect differs by group."""
    if not result.differs_by_group:
        return result.finding.message
    return phrase("{finding}; {remark}", finding=result.finding.message, remark=DIFFERS_BY_GROUP)


def explain_finding(result: Result, card: Card) -> Message:
    """What the finding means for this test, in plain words."""
    finding = result.finding
    if result.problem is not None:
        return result.problem
    if not finding.is_measured:
        return finding.reason or finding.message
    if finding.headline == "undecided":
        return phrase(
            "The data do not settle whether there is a difference of a size that matters."
        )
    readings = card.readings
    if finding.headline == "negligible":
        return phrase(readings.alike)
    return phrase(readings.male if (result.gap.value or 0) > 0 else readings.female)


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
