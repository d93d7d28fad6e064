"""The two tables of GenDa Lens 0.0.3 for `lm-abc`."""

from __future__ import annotations

from gendalens.results.result import Cell, Result
from gendalens.tasks.base import Table


def abc_tables(result: Result, metric: str) -> tuple[Table, Table]:
    """The classic layout of the language-model ABC test."""

    def format_cell(cell: Cell) -> str:
        if cell.value is None or cell.low is None or cell.high is None:
            return "-"
        return f"{round(cell.value, 2)} {(round(cell.low, 2), round(cell.high, 2))}"

    effect = result.gender_effect_size.value
    main = {cell.condition: format_cell(cell) for cell in result.conditions}
    fine = {(cell.condition, cell.group): format_cell(cell) for cell in result.nuance}
    short: Table = {
        f"Simple Output: {result.model.name}": ["", "ABC", "", ""],
        "Gender Effect Size": ["", effect, "", ""],
        "Pronoun": ["Female", "", "", "Male"],
        metric: ["", main["female"], "", main["male"]],
    }
    long: Table = {
        f"Detailed Output for: {result.model.name}": ["", "ABC", "", ""],
        "Gender Effect Size": ["", effect, "", ""],
        "Pronoun": ["Female", "", "Male", ""],
        metric: [main["female"], "", main["male"], ""],
        "Stereotypical Occupation": ["Female", "Male", "Female", "Male"],
        # The trailing space keeps the key distinct: two rows of the table have the same label.
        f"{metric} ": [
            fine[condition, f"{group} occupations"]
            for condition in ("female", "male")
            for group in ("female", "male")
        ],
    }
    return short, long
