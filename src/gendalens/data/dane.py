"""DaNE: the test split of the Danish treebank with its persons, places and organisations.

Read from CoNLL-U. Errata refer to lines of the official file, so they apply to that file only.
"""

from __future__ import annotations

from pathlib import Path

from gendalens.data import conllu
from gendalens.data import errata as known
from gendalens.data.conllu import Sentence
from gendalens.data.documents import assign_documents
from gendalens.data.text import read_lines
from gendalens.errors import UserError

PERSON = "PER"
LABELS = ("PER", "LOC", "ORG", "MISC")


def read(path: Path, *, errata: bool) -> list[Sentence]:
    """The sentences of a CoNLL-U file with their documents; set ``errata`` only for the official file."""
    lines = read_lines(path)
    if errata:
        lines = known.apply_errata(lines, known.find_errata("dane"), condition="test", path=path)
    sentences = conllu.read(lines, path)
    labels = {entity.label for sentence in sentences for entity in sentence.entities}
    if PERSON not in labels:
        raise _no_persons_error(path, ", ".join(sorted(labels))[:200])
    return assign_documents(sentences)


def _no_persons_error(path: Path, labels: str) -> UserError:
    """The error for a file without persons, with other entities or with none."""
    if not labels:
        return UserError(
            "{file} has no named entities, so there is nobody to rename: use a file like DaNE's, with "
            "the label {person}.",
            file=path.name,
            person=PERSON,
        )
    return UserError(
        "{file} has no entity with the label {person} (its labels are {labels}), so there is nobody to "
        "rename: use a file like DaNE's.",
        file=path.name,
        person=PERSON,
        labels=labels,
    )
