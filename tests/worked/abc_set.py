"""A made-up ABC: four female and five male occupations, six events in one or two tenses."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

#: In the order of the files. The word *sygeplejersken* carries gender, and Danish figures contradict the
#: class of *lægen*.
OCCUPATIONS = {
    "female": ("sygeplejersken", "frisøren", "bibliotekaren", "læreren"),
    "male": ("kokken", "lægen", "tømreren", "elektrikeren", "maleren"),
}
CONTESTED = ("sygeplejersken", "lægen")
#: Verbs in the present and in the past, and the rest with its reflexive.
EVENTS = (
    ("hænger", "hængte", "sin frakke i gangen."),
    ("sælger", "solgte", "sit telt på markedet."),
    ("maler", "malede", "sine stole i gården."),
    ("gemmer", "gemte", "nøglen under sin måtte."),
    ("bærer", "bar", "sin taske hjem."),
    ("lapper", None, "sit dæk selv."),
)
BARE = " stole i gården."  # the files lack its full stop
FORMS = ("sin", "sit", "sine")


@dataclass(frozen=True)
class Triple:
    """A sentence with its reflexive, with *hans* and with *hendes*."""

    frame: int
    template: int
    tense: str
    occupation: str
    occupation_class: str
    form: str
    reflexive: str
    male: str
    female: str
    at: int

    @property
    def contested(self) -> bool:
        return self.occupation in CONTESTED

    @property
    def subject(self) -> tuple[int, int]:
        return 0, len(self.occupation)

    def span(self, condition: str) -> tuple[int, int]:
        """Where the pronoun of a sentence stands."""
        word = {"female": "hendes", "male": "hans", "reflexive": self.form}[condition]
        return self.at, self.at + len(word)

    def text(self, condition: str) -> str:
        return {"female": self.female, "male": self.male, "reflexive": self.reflexive}[condition]


def list_triples() -> list[Triple]:
    """The distinct triples as the files have them, women's occupations first."""
    found = []
    for kind, occupations in OCCUPATIONS.items():
        for number, occupation in enumerate(occupations):
            template = 0
            for frame, (present, past, rest) in enumerate(EVENTS, start=1):
                for verb in (present, past):
                    if verb is None or _is_missing(number, frame, verb == past):
                        continue
                    template += 1
                    form = next(word for word in rest.split() if word in FORMS)
                    text = f"{occupation} {verb} {rest}"
                    at = text.index(f" {form} ") + 1

                    def put(word: str, text: str = text, at: int = at, form: str = form) -> str:
                        made = text[:at] + word + text[at + len(form) :]
                        return made[0].upper() + made[1:]

                    found.append(
                        Triple(
                            frame=frame,
                            template=template,
                            tense="past" if verb == past else "present",
                            occupation=occupation,
                            occupation_class=kind,
                            form=form,
                            reflexive=put(form),
                            male=put("hans"),
                            female=put("hendes"),
                            at=at,
                        )
                    )
    return found


def _is_missing(occupation: int, frame: int, is_past: bool) -> bool:
    """Some cells hold one tense only, so that cells are of unequal size."""
    return is_past and (occupation + frame) % 3 == 0


def files(folder: Path) -> dict[str, Path]:
    return {"female": folder / "abc_fem_sents.txt", "male": folder / "abc_male_sents.txt"}


def write(folder: Path) -> Path:
    """The two files, in lower case as the official ones; the last triple of each stands there twice."""
    folder.mkdir(parents=True)
    for kind, file in files(folder).items():
        groups = ["\n".join(three) for three in list_raw(kind)]
        file.write_text("\n---\n".join(groups) + "\n", encoding="utf-8")
    return folder


def list_raw(kind: str) -> list[tuple[str, str, str]]:
    """The groups of a file: reflexive, *hans*, *hendes*."""
    own = [triple for triple in list_triples() if triple.occupation_class == kind]
    rows = [(one.reflexive, one.male, one.female) for one in (*own, own[-1])]
    low = [
        tuple((text[0].lower() + text[1:]).replace(BARE, BARE[:-1]) for text in row) for row in rows
    ]
    return [(a, b, c) for a, b, c in low]
