"""From a model's own entity labels to DaNE's four: person, place, organisation, the rest.

Models name entity types in many ways (PER, PERSON, PRS; GPE and LOC). The table here maps them; a user
can override it, and the result lists the labels that it leaves out or does not know.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from gendalens.errors import UserError
from gendalens.words import Message, phrase

TARGETS = ("PER", "LOC", "ORG", "MISC")

_LEFT_OUT_SIGN = "-"

# From the label sets of CoNLL, OntoNotes, DANSK, NorNE (Norwegian), SUC (Swedish) and GermEval.
_NAMES = {
    "PER": "PER PERS PERSON PERSONS PEOPLE PRS",
    "LOC": "LOC LOCATION LOCATIONS PLACE GPE GPE_LOC",
    "ORG": "ORG ORGANIZATION ORGANISATION ORGANIZATIONS CORP CORPORATION COMPANY GPE_ORG INSTITUTION",
    "MISC": """MISC MISCELLANEOUS OTH OTHER NORP FAC FACILITY EVENT EVT EVN PRODUCT PROD OBJ
        WORK_OF_ART WRK CREATIVE_WORK CREATIVE_WORKS LANGUAGE LAW DRV GROUP NATIONALITY RELIGION TITLE""",
}
# Numbers and times are not names: DaNE does not annotate them.
_NO_NAMES = """AGE CARDINAL DATE DATETIME DURATION EMAIL MEASURE MONEY MSR NUM NUMBER ORDINAL PERCENT
    PERCENTAGE PHONE QUANTITY TIME TME URL"""

_TABLE: dict[str, str | None] = {
    **{name: target for target, names in _NAMES.items() for name in names.split()},
    **dict.fromkeys(_NO_NAMES.split()),
}


@dataclass(frozen=True, slots=True)
class LabelMap:
    """What each label of a model counts as.

    ``mapped`` holds (label, target); ``left_out`` are labels of things that are not names (numbers,
    times) or that the user left out, ``unknown`` those missing from the table. Neither is scored.
    """

    mapped: tuple[tuple[str, str], ...]
    left_out: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()

    def target(self, label: str) -> str | None:
        """PER, LOC, ORG or MISC; None for a label that is not scored."""
        return next((target for own, target in self.mapped if own == label), None)

    def spans(self, entities: Sequence[tuple[int, int, str]]) -> list[tuple[int, int, str]]:
        """The entities that are scored, under their targets' names."""
        targets = dict(self.mapped)
        return [(begin, end, targets[own]) for begin, end, own in entities if own in targets]

    @property
    def message(self) -> Message:
        """What counts as what, and what is not scored, in one line."""
        groups = ((target, self._labels_of(target)) for target in TARGETS)
        parts = [
            phrase("{labels} → {target}", labels=labels, target=target)
            for target, labels in groups
            if labels
        ]
        if self.left_out:
            parts.append(phrase("left out: {labels}", labels=self.left_out))
        if self.unknown:
            parts.append(phrase("unknown, not scored: {labels}", labels=self.unknown))
        return _join(parts)

    def __str__(self) -> str:
        return str(self.message)

    def _labels_of(self, target: str) -> tuple[str, ...]:
        return tuple(own for own, found in self.mapped if found == target)


def _join(parts: Sequence[Message]) -> Message:
    """The parts with semicolons between them."""
    if len(parts) < 2:
        return parts[0] if parts else phrase("")
    return phrase("{first}; {rest}", first=parts[0], rest=_join(parts[1:]))


def map_labels(
    model: str, labels: Sequence[str], overrides: Mapping[str, str | None] | None = None
) -> LabelMap:
    """The map for a model's labels: the user's overrides, then the table.

    Refuses an override of a label the model does not have, and a model that cannot find persons.
    """
    known = tuple(labels) or phrase("none")
    wanted = {_normalise(label): target for label, target in (overrides or {}).items()}
    own = {_normalise(label) for label in labels}
    for label in overrides or {}:
        if _normalise(label) not in own:
            raise UserError(
                "{model} has no label {label} to map: its labels are {known}.",
                model=model,
                label=label,
                known=known,
            )
    targets = {label: (_TABLE | wanted).get(_normalise(label), "") for label in labels}
    found = LabelMap(
        mapped=tuple((label, target) for label, target in targets.items() if target),
        left_out=tuple(label for label, target in targets.items() if target is None),
        unknown=tuple(label for label, target in targets.items() if target == ""),
    )
    if "PER" not in targets.values():
        raise UserError(
            "{model} finds no persons (its labels are {known}): say which label means a person"
            " (--labels LABEL=PER), or name a model that finds them.",
            model=model,
            known=known,
        )
    return found


def parse_labels(text: str) -> dict[str, str | None]:
    """The overrides in ``GPE=LOC,FAC=LOC,DATE=-``; a hyphen leaves a label out."""
    found: dict[str, str | None] = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        label, equals, target = (side.strip() for side in part.rpartition("="))
        if not (label and equals):
            raise UserError(
                "“{part}” is not a label mapping: write LABEL=TARGET pairs such as GPE=LOC, "
                "separated by commas.",
                part=part,
            )
        target = target.upper()
        if target not in (*TARGETS, _LEFT_OUT_SIGN):
            raise UserError(
                "“{part}” has an unknown target: choose {targets}, or {sign} to leave {label} out.",
                part=part,
                targets=TARGETS,
                sign=_LEFT_OUT_SIGN,
                label=label,
            )
        if _normalise(label) in map(_normalise, found):
            raise UserError(
                "The label {label} is mapped twice in “{text}”: map it once.",
                label=label,
                text=text,
            )
        found[label] = None if target == _LEFT_OUT_SIGN else target
    if not found:
        raise UserError("The label map is empty: write LABEL=TARGET, such as GPE=LOC.")
    return found


def _normalise(label: str) -> str:
    """A label normalised for case and punctuation, so that *Work of Art* equals WORK_OF_ART."""
    return re.sub(r"[\W_]+", "_", label).strip("_").upper()
