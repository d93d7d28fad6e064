"""The class of an occupation as a code: female-typed, male-typed, or none.

An occupation without a class counts in the main effect and in neither group.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from gendalens.results.result import Record
from gendalens.stats.estimate import FloatArray
from gendalens.words import N_

FEMALE, MALE, NONE = range(3)
CODES = {"female": FEMALE, "male": MALE}
UNCLASSED = N_("occupations without a class")


def encode_classes(classes: Iterable[str | None]) -> npt.NDArray[np.intp]:
    """A code for each class; they are also the strata in which occupations are drawn."""
    return np.array([CODES.get(one or "", NONE) for one in classes], dtype=np.intp)


def split_by_class(units: FloatArray, codes: npt.NDArray[np.intp]) -> FloatArray:
    """The units three times side by side: those of the female, the male, and no class, else zeros."""
    return np.column_stack([units * (codes == code)[:, None] for code in (FEMALE, MALE, NONE)])


def name_class(occupation_class: str | None) -> str:
    """The group of an occupation, as examples and tables call it."""
    return f"{occupation_class} occupations" if occupation_class else UNCLASSED


def has_both_classes(classes: Iterable[str | None]) -> bool:
    """Whether both classes occur."""
    return {"female", "male"} <= set(classes)


def count_unclassed(records: Iterable[Record]) -> dict[str, int]:
    """The coverage of occupations without a class, if there are any."""
    names = {row["occupation"] for row in records if row["occupation_class"] is None}
    return {"occupations_without_a_class": len(names)} if names else {}
