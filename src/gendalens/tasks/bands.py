"""The user's own bands, as the command line and the Python interface take them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gendalens.errors import UserError

#: Bands by test and unit; an empty unit is that of the test's gap.
Bands = dict[str, dict[str, float]]
#: Units of which 1 is everything.
SHARES = ("F1", "recall", "share")


def check_share(unit: str, value: float, test: str) -> None:
    """Refuse a band or limit of a share that no difference of shares can exceed."""
    if unit in SHARES and value >= 1:
        raise UserError(
            "{test} is judged in shares, and {value:g} would be {points:g} points: write 0.03 for 3 "
            "points.",
            test=test,
            value=value,
            points=100 * value,
        )


def parse_bands(pairs: Sequence[str]) -> Bands:
    """The bands of the command line: ``TEST=VALUE`` or ``TEST:UNIT=VALUE``.

    >>> parse_bands(["ner-dane=0.02", "lm-dawinobias:bits=0.5"])
    {'ner-dane': {'': 0.02}, 'lm-dawinobias': {'bits': 0.5}}
    """
    found = {}
    for pair in pairs:
        place, equals, number = pair.partition("=")
        try:
            found[place] = float(number)
        except ValueError:
            equals = ""
        if not equals or not place:
            raise UserError(
                "--negligible {pair}: write TEST=VALUE or TEST:UNIT=VALUE, for instance "
                "ner-dane=0.02.",
                pair=pair,
            )
    return read_bands(found)


def read_bands(bands: Mapping[str, float] | None) -> Bands:
    """The bands of the Python interface: ``{"ner-dane": 0.02, "lm-dawinobias:bits": 0.5}``."""
    found: Bands = {}
    for place, value in (bands or {}).items():
        test, _, unit = place.partition(":")
        try:
            found.setdefault(test, {})[unit] = float(value)
        except (TypeError, ValueError):
            raise UserError(
                "The band of {test} is {value}; it must be a number above 0.",
                test=place,
                value=repr(value),
            ) from None
    return found
