"""The two tables of GenDa Lens 0.0.3 for `ner-dane`."""

from __future__ import annotations

from collections.abc import Mapping

from gendalens.results.result import Result
from gendalens.tasks.base import Table


def ner_tables(result: Result, metric: str) -> tuple[Table, Table]:
    """The classic layout of the NER test."""

    def format_cell(value: float | None, low: float | None, high: float | None) -> str:
        if value is None:
            return "-"
        if low is None or high is None:
            return f"{round(value, 4)}"
        return f"{round(value, 4)} {(round(low, 4), round(high, 4))}"

    cells = {
        (str(cell.group).removesuffix(" names"), cell.condition): format_cell(
            cell.value, cell.low, cell.high
        )
        for cell in result.nuance
    }
    return ner_layout(result, metric, cells)


def ner_layout(
    result: Result, metric: str, cells: Mapping[tuple[str, str], str]
) -> tuple[Table, Table]:
    """The two classic tables, from the four cells by origin and gender."""
    effect, name = result.gender_effect_size.value, result.title
    women, men = cells["majority", "female"], cells["majority", "male"]
    short: Table = {
        f"Simple Output {name}": ["", "Augmented DaNe", ""],
        "Gender Effect Size": ["", effect, ""],
        "Name Augmentation": ["Female", "", "Male"],
        metric: [women, "", men],
    }
    long: Table = {
        f"Detailed Output for {name}": ["", "Augmented DaNe", "", ""],
        "Gender Effect Size": ["", effect, "", ""],
        "Name Augmentation": ["Female", "", "Male", ""],
        metric: [women, "", men, ""],
        # The trailing space keeps the key distinct: two rows of the table have the same label.
        "Name Augmentation ": [
            "Majority Female",
            "Minority Female",
            "Majority Male",
            "Minority Male",
        ],
        f"{metric} ": [women, cells["minority", "female"], men, cells["minority", "male"]],
    }
    return short, long
