"""Danish third-person pronouns that carry gender, by case."""

from __future__ import annotations

from typing import Literal

Gender = Literal["female", "male"]
Case = Literal["subject", "object", "genitive"]

PAIRS: dict[Case, dict[Gender, str]] = {
    "subject": {"female": "hun", "male": "han"},
    "object": {"female": "hende", "male": "ham"},
    "genitive": {"female": "hendes", "male": "hans"},
}
GENDERS: dict[str, Gender] = {
    form: gender for pair in PAIRS.values() for gender, form in pair.items()
}
CASES: dict[str, Case] = {form: case for case, pair in PAIRS.items() for form in pair.values()}
OTHER: dict[Gender, Gender] = {"female": "male", "male": "female"}
