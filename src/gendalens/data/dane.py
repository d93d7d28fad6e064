"""DaNE: the test split of the Danish treebank with its persons, places and organisations.

Read from CoNLL-U. Errata name lines of the official file, so they are for that file only.
"""

from __future__ import annotations

from pathlib import Path

from gendalens.data import conllu
from gendalens.data import errata as known
from gendalens.data.conllu import Sentence
from gendalens.data.text import read_lines
from gendalens.errors import UserError

PERSON = "PER"
LABELS = ("PER", "LOC", "ORG", "MISC")


def read(path: Path, *, errata: bool) -> list[Sentence]:
    """The sentences of a CoNLL-U file; ``errata`` for the official one alone."""
    lines = read_lines(path)
    if errata:
        lines = known.correct(lines, known.entries("dane"), condition="test", path=path)
    sentences = conllu.read(lines, path)
    labels = {entity.label for sentence in sentences for entity in sentence.entities}
    if PERSON not in labels:
        said = f"its labels are {', '.join(sorted(labels))}" if labels else "it has no entities"
        raise UserError(
            f"{path.name} names no person (label {PERSON}; {said[:200]}), so there is nobody to "
            "rename: use a file like DaNE's."
        )
    return sentences
