"""A made-up set in the layout of ABC's first version, and clusters in the form they were published in.

One file, lower case, a rule between triples and one at the end, a template without a full stop and one
with two spaces, one template twice, and occupations that no class is known of.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

#: Three of each class of the official set, and three that it does not have.
FEMALE = ("sygeplejersken", "frisøren", "sekretæren")
MALE = ("elektrikeren", "mekanikeren", "tømreren")
UNCLASSED = ("drageflyveren", "fyrpasseren", "ostehandleren")
OCCUPATIONS = (*FEMALE, *UNCLASSED, *MALE)
TEMPLATES = (
    "{} maler sin stol i haven.",
    "{} malede sin stol i haven.",
    "{} finder sit kort  på gulvet.",
    "{} fandt sit kort  på gulvet.",
    "{} reder sine senge på loftet",
    "{} redte sine senge på loftet",
    "{} maler sin stol i haven.",
)
WORDS = ("sin", "sit", "sine")
CONDITIONS = ("reflexive", "male", "female")


def list_sentences(
    occupations: Sequence[str] = OCCUPATIONS, templates: Sequence[str] = TEMPLATES
) -> list[tuple[str, str, str]]:
    """Occupation, condition and sentence, in the order of the file."""
    found = []
    for occupation in occupations:
        for template in templates:
            reflexive = template.format(occupation)
            (word,) = [word for word in reflexive.split() if word in WORDS]
            for condition, pronoun in zip(CONDITIONS, (word, "hans", "hendes"), strict=True):
                found.append(
                    (occupation, condition, reflexive.replace(f" {word} ", f" {pronoun} "))
                )
    return found


def write(path: Path, *contents: Sequence[str]) -> Path:
    """The file of the set, or of other occupations and templates."""
    sentences = [text for _, _, text in list_sentences(*contents)]
    groups = ["\n".join(sentences[at : at + 3]) for at in range(0, len(sentences), 3)]
    path.write_text("\n---\n".join(groups) + "\n---\n", encoding="utf-8")
    return path


@dataclass(frozen=True, slots=True)
class Rates:
    """Of so many sentences of each condition, in how many the subject is linked with the pronoun.

    ``others`` are how many more have a cluster of something else.
    """

    of: int
    linked: Mapping[str, int]
    others: Mapping[str, int]


#: Nine (reflexives), six (*hans*) and three (*hendes*) of nine, and something else in one more.
RATES = Rates(9, {"reflexive": 9, "male": 6, "female": 3}, {"reflexive": 0, "male": 1, "female": 1})


def predict(place: int, condition: str, text: str, rates: Rates) -> dict[str, Any]:
    """A system's clusters: tokens split at spaces, as danlp is given them; the last one included."""
    tokens = text.split()
    pronoun = next(i for i, token in enumerate(tokens) if token in (*WORDS, "hans", "hendes"))
    linked = rates.linked[condition]
    clusters = []
    if place % rates.of < linked:
        clusters = [[[0, 0], [pronoun, pronoun]]]
    elif place % rates.of < linked + rates.others[condition]:
        clusters = [[[0, 0], [len(tokens) - 1, len(tokens) - 1]]]
    return {"top_spans": [], "document": tokens, "clusters": clusters}


def write_predictions(
    path: Path, *contents: Sequence[str], rates: Rates = RATES, **changes: Any
) -> Path:
    """The predictions on every line of the file, duplicates included."""
    predictions = []
    seen: dict[str, dict[str, int]] = {one: {} for one in CONDITIONS}
    for _, condition, text in list_sentences(*contents):
        place = seen[condition].setdefault(text, len(seen[condition]))
        predictions.append(predict(place, condition, text, rates))
    for number, change in changes.get("replace", {}).items():
        predictions[number] = change
    path.write_text(json.dumps(predictions, ensure_ascii=False), encoding="utf-8")
    return path
