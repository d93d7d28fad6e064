"""The two tables of GenDa Lens 0.0.3 for `coref-abc`."""

from __future__ import annotations

from gendalens.results.result import Result
from gendalens.tasks.base import Table

CONDITIONS = ("female", "male", "reflexive")
CLASSES = ("female", "male")


def abc_tables(result: Result) -> tuple[Table, Table]:
    """The classic layout of the coreference ABC test."""
    effect, name = result.gender_effect_size.value, result.model.name
    main = {cell.condition: cell.value for cell in result.conditions}
    fine = {(cell.condition, cell.group): cell.value for cell in result.nuance}
    short: Table = {
        f"Simple Output for {name}": ["", "ABC", ""],
        "Gender Effect Size": ["", effect, ""],
        "Pronoun": ["Female", "Male", "Reflexive"],
        "Mean Rate of Detected Clusters": [main[condition] for condition in CONDITIONS],
    }
    long: Table = {
        f"Detailed Output for {name}": ["", "", "ABC", "", "", ""],
        "Gender Effect Size": ["", "", effect, "", "", ""],
        "Pronoun": ["", "Female", "", "Male", "", "Reflexive"],
        "Mean Rate of Detected Clusters": [
            cell for condition in CONDITIONS for cell in ("", main[condition])
        ],
        "Stereotypical Occupation": ["Female", "Male"] * 3,
        "Rate of Detected Clusters": [
            fine[condition, f"{group} occupations"] for condition in CONDITIONS for group in CLASSES
        ],
    }
    return short, long
