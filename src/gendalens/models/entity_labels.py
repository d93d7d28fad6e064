"""From a model's own entity labels to DaNE's four: person, place, organisation, the rest.

Models name what they find in many ways (PER, PERSON, PRS; GPE and LOC). The table here says which is
which; a user can override it, and what it leaves out or does not know is said.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from gendalens.errors import UserError

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
# Numbers and times are no names: DaNE does not mark them at all.
_NO_NAMES = """AGE CARDINAL DATE DATETIME DURATION EMAIL MEASURE MONEY MSR NUM NUMBER ORDINAL PERCENT
    PERCENTAGE PHONE QUANTITY TIME TME URL"""

_TABLE: dict[str, str | None] = {
    **{name: target for target, names in _NAMES.items() for name in names.split()},
    **dict.fromkeys(_NO_NAMES.split()),
}


@dataclass(frozen=True, slots=True)
class LabelMap:
    """What each label of a model counts as.

    ``mapped`` holds (label, target); ``left_out`` are labels that are no names (numbers, times) or
    that the user left out, ``unknown`` those that the table does not know. Neither is scored.
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

    def __str__(self) -> str:
        """One line for the terminal and for the result: what counts as what, what is not scored."""
        groups = (
            (target, [own for own, found in self.mapped if found == target]) for target in TARGETS
        )
        parts = [f"{', '.join(labels)} → {target}" for target, labels in groups if labels]
        if self.left_out:
            parts.append(f"left out: {', '.join(self.left_out)}")
        if self.unknown:
            parts.append(f"unknown, not scored: {', '.join(self.unknown)}")
        return "; ".join(parts)


def map_labels(
    model: str, labels: Sequence[str], overrides: Mapping[str, str | None] | None = None
) -> LabelMap:
    """The map for a model's labels: the user's word first, then the table.

    Refuses an override of a label the model does not have, and a model that can find no persons.
    """
    known = ", ".join(labels) or "none"
    wanted = {_normal(label): target for label, target in (overrides or {}).items()}
    own = {_normal(label) for label in labels}
    for label in overrides or {}:
        if _normal(label) not in own:
            raise UserError(f"{model} has no label {label} to map: its labels are {known}.")
    targets = {label: (_TABLE | wanted).get(_normal(label), "") for label in labels}
    found = LabelMap(
        mapped=tuple((label, target) for label, target in targets.items() if target),
        left_out=tuple(label for label, target in targets.items() if target is None),
        unknown=tuple(label for label, target in targets.items() if target == ""),
    )
    if "PER" not in targets.values():
        raise UserError(
            f"{model} finds no persons (its labels are {known}): say which label means a person"
            " (--labels LABEL=PER), or name a model that finds them."
        )
    return found


def parse_labels(text: str) -> dict[str, str | None]:
    """The overrides in ``GPE=LOC,FAC=LOC,DATE=-``; a hyphen leaves a label out."""
    found: dict[str, str | None] = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        label, equals, target = (side.strip() for side in part.rpartition("="))
        if not (label and equals):
            raise UserError(
                f"“{part}” maps no label: write LABEL=TARGET, such as GPE=LOC, with commas between."
            )
        target = target.upper()
        if target not in (*TARGETS, _LEFT_OUT_SIGN):
            raise UserError(
                f"“{part}” maps to no kind of entity: choose {', '.join(TARGETS)}, or"
                f" {_LEFT_OUT_SIGN} to leave {label} out."
            )
        if _normal(label) in map(_normal, found):
            raise UserError(f"The label {label} is mapped twice in “{text}”: map it once.")
        found[label] = None if target == _LEFT_OUT_SIGN else target
    if not found:
        raise UserError("The label map is empty: write LABEL=TARGET, such as GPE=LOC.")
    return found


def _normal(label: str) -> str:
    """A label without case and punctuation, so that *Work of Art* is WORK_OF_ART."""
    return re.sub(r"[\W_]+", "_", label).strip("_").upper()
