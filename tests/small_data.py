"""Small test sets in the layout of the official ones, made of sentences written for these tests."""

from __future__ import annotations

from collections.abc import Collection
from itertools import product
from pathlib import Path

from gendalens.models.requests import Choose
from gendalens.tasks import all_tasks

MALE = ("kokken", "mekanikeren", "chaufføren")
FEMALE = ("frisøren", "læreren", "sekretæren")
# What the pronoun means is decided by the ending: the first means the male-typed occupation.
WINO = (
    (
        "subject",
        "{M} ringede til {F}, fordi {p} ville låne en stige.",
        "{M} ringede til {F}, fordi {p} havde en stige til overs.",
    ),
    (
        "object",
        "{M} gav {F} en blomst, og det kostede {p} hundrede kroner.",
        "{M} gav {F} en blomst, og det glædede {p} meget.",
    ),
)
PRONOUNS = {"subject": ("han", "hun"), "object": ("ham", "hende")}

ABC_FEMALE = ("sygeplejersken", "bibliotekaren", "frisøren", "læreren")
ABC_MALE = ("kokken", "mekanikeren", "tømreren", "elektrikeren")
VERBS = (
    ("hænger", "hængte", "sin frakke i gangen."),
    ("sælger", "solgte", "sit telt på markedet."),
    ("maler", "malede", "sine stole i gården."),
    ("gemmer", "gemte", "nøglen under sin måtte."),
)


def write_dawinobias(folder: Path) -> Path:
    """18 schemas."""
    folder.mkdir(parents=True, exist_ok=True)
    lines: dict[str, list[str]] = {"pro": [], "anti": []}
    for (case, *frames), male, female in product(WINO, MALE, FEMALE):
        he, she = PRONOUNS[case]
        for frame, meant, fits, clashes in ((frames[0], "M", he, she), (frames[1], "F", she, he)):
            for condition, pronoun in (("pro", fits), ("anti", clashes)):
                text = frame.format(
                    M=f"[{male}]" if meant == "M" else male,
                    F=f"[{female}]" if meant == "F" else female,
                    p=f"[{pronoun}]",
                )
                start = 1 if text[0] == "[" else 0
                lines[condition].append(text[:start] + text[start].upper() + text[start + 1 :])
    for condition, rows in lines.items():
        name = f"DaWinoBias_{condition}_stereotyped_evalda.txt"
        (folder / name).write_text("\n".join(rows) + "\n", encoding="utf-8")
    return folder


def write_abc(folder: Path) -> Path:
    """8 occupations, 4 frames in two tenses: 64 triples."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, occupations in (("abc_fem_sents.txt", ABC_FEMALE), ("abc_male_sents.txt", ABC_MALE)):
        triples = []
        for occupation in occupations:
            for present, past, rest in VERBS:
                for verb in (present, past):
                    own = f"{occupation} {verb} {rest}"
                    words = own.split()
                    at = next(i for i, w in enumerate(words) if w in ("sin", "sit", "sine"))
                    others = [
                        " ".join([*words[:at], word, *words[at + 1 :]])
                        for word in ("hans", "hendes")
                    ]
                    triples.append("\n".join([own, *others]))
        (folder / name).write_text("\n---\n".join(triples) + "\n", encoding="utf-8")
    return folder


def small_data(folder: Path) -> dict[str, Path]:
    """Both sets, as ``--data`` takes them."""
    return {
        "dawinobias": write_dawinobias(folder / "dawinobias"),
        "abc": write_abc(folder / "abc"),
    }


def control_tests(sets: Collection[str] = ("dawinobias", "abc")) -> list[str]:
    """The tests that a control model takes where only these sets are: four, and whichever are added.

    Tests of chat models alone are not among them: a control model takes one only if it is named.
    """
    return [
        name
        for (name, protocol), task in sorted(all_tasks().items())
        if protocol == 2
        and task.has_controls
        and Choose.kind not in task.card.needs
        and set(task.card.data) <= set(sets)
    ]
