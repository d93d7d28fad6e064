"""Own Danish sentences with persons, as CoNLL-U."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from gendalens.data import conllu
from gendalens.data.conllu import Sentence

# A word is (form, tag), or (form, tag, features); a form that ends in "_" has no space after it.
Word = tuple[str, str] | tuple[str, str, str]

SENTENCES: dict[str, list[Word]] = {
    "hund": [
        ("Mette", "B-PER"),
        ("Lund", "I-PER"),
        ("har", "O"),
        ("en", "O"),
        ("hund_", "O"),
        (".", "O"),
    ],
    "bog": [
        ("Søren", "B-PER"),
        ("Bergs", "I-PER", "Case=Gen"),
        ("bog", "O"),
        ("udkom", "O"),
        ("i", "O"),
        ("Odense", "B-LOC"),
        ("hos", "O"),
        ("Æblet", "B-ORG"),
        ("og_", "I-ORG"),
        (",", "O"),
        ("siger", "O"),
        ("hun_", "O"),
        (".", "O"),
    ],
    "fest": [
        ("Ida", "B-PER"),
        ("dansede", "O"),
        ("med", "O"),
        ("Jens", "B-PER"),
        ("Bo", "I-PER"),
        ("Riis_", "I-PER"),
        (",", "O"),
        ("og", "O"),
        ("Riis", "B-PER"),
        ("roste", "O"),
        ("Idas", "B-PER", "Case=Gen"),
        ("kjole", "O"),
        ("og", "O"),
        ("Jens'", "B-PER", "Case=Gen"),
        ("sko_", "O"),
        (".", "O"),
    ],
    "regn": [("Det", "O"), ("regner", "O"), ("i", "O"), ("Ribe_", "B-LOC"), (".", "O")],
}


def block(name: str, words: Sequence[Word]) -> list[str]:
    """The lines of one sentence."""
    lines, text = [], ""
    for number, word in enumerate(words, start=1):
        form = word[0].removesuffix("_")
        glued = form != word[0]
        features = word[2] if len(word) == 3 else "_"
        misc = f"name={word[1]}" + ("|SpaceAfter=No" if glued else "")
        lines.append(f"{number}\t{form}\t_\t_\t_\t{features}\t_\t_\t_\t{misc}")
        text += form if glued else f"{form} "
    return [f"# sent_id = {name}", f"# text = {text.strip()}", *lines, ""]


def lines() -> list[str]:
    return [line for name, words in SENTENCES.items() for line in block(name, words)]


def write(path: Path) -> Path:
    path.write_text("".join(f"{line}\n" for line in lines()), encoding="utf-8")
    return path


def sentences() -> dict[str, Sentence]:
    return {s.id: s for s in conllu.read(lines(), Path("eksempel.conllu"))}
