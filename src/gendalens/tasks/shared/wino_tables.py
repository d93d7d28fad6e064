"""The two tables of GenDa Lens 0.0.3 for both DaWinoBias tests."""

from __future__ import annotations

from gendalens.results.result import Result
from gendalens.tasks.base import Table


def wino_tables(
    result: Result,
    metric: str,
    *,
    groups: str = "pronouns",
    heading: str = "Pronouns",
    digits: int | None = None,
) -> tuple[Table, Table]:
    """The classic layout of both DaWinoBias tests; ``groups`` names the groups of the nuance."""

    def round_value(value: float | None) -> float | None:
        return value if value is None or digits is None else round(value, digits)

    effect = result.gender_effect_size.value
    main = {cell.condition: round_value(cell.value) for cell in result.conditions}
    fine = {(cell.condition, cell.group): round_value(cell.value) for cell in result.nuance}
    short: Table = {
        f"Simple Output for {result.model.name}": ["", "DaWinoBias"],
        "Gender Effect Size": ["", effect],
        "Condition": ["Anti-stereotypical", "Pro-stereotypical"],
        metric: [main["anti"], main["pro"]],
    }
    long: Table = {
        f"Detailed Output for {result.model.name}": ["", "DaWinoBias", "", ""],
        "Gender Effect Size": ["", effect, "", ""],
        "Condition": ["Anti-stereotypical", "", "Pro-stereotypical", ""],
        metric: [main["anti"], "", main["pro"], ""],
        heading: ["Female", "Male", "Female", "Male"],
        # The trailing space keeps the key distinct: two rows of the table have the same label.
        "F1" if metric != "F1" else "F1 ": [
            fine[condition, f"{gender} {groups}"]
            for condition in ("anti", "pro")
            for gender in ("female", "male")
        ],
    }
    return short, long
