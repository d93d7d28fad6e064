"""The percentage of women in the occupations of a data set, in Denmark."""

from __future__ import annotations

from gendalens.data.builtin.occupations import read_occupations as read_builtin_occupations
from gendalens.data.occupations import read_occupations


def find_shares(set_name: str, *, builtin: bool) -> dict[str, float]:
    """The occupations of a set, official or built in, for which a Danish figure is known."""
    shares = (
        {name: one.dk_pct_women for name, one in read_builtin_occupations().items()}
        if builtin
        else {name: one.dk_pct_women for name, one in read_occupations(set_name).items()}
    )
    return {name: women for name, women in shares.items() if women is not None}
