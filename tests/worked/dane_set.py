"""A made-up DaNE of twelve documents, and the two lists of names, as plain tables and as files."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

#: Two sentences per document. A star marks a genitive.
DOCUMENTS = (
    ("[PER:Mette Lund] har en hund.", "Det regner i [LOC:Ribe]."),
    (
        "[PER*:Søren Bergs] bog udkom i [LOC:Odense] hos [ORG:Æblet], siger hun.",
        "[PER:Ida] dansede med [PER:Jens Bo Riis], og [PER:Riis] roste [PER*:Idas] kjole.",
    ),
    (
        "I går mødte [PER:Karen] [ORG:Kajakklubben Vest].",
        "[ORG:Nordhavn Bageri] lukker i [LOC:Vejle].",
    ),
    (
        "[PER:Poul Holm] og [PER:Grethe Holm] bor i [LOC:Skagen].",
        "Han ringede til [PER:Bent].",
    ),
    ("[PER:Aage] vandt.", "[MISC:Solcuppen] spilles i [LOC:Herning]."),
    ("[PER*:Lones] mor kender [PER:Erik Vestergaard Skov].", "[PER:Tove] maler."),
    (
        "Måske kommer [PER:Viggo Krog] til [LOC:Møn], hvis hun vil.",
        "[ORG:Havnelauget] takker [PER:Rita].",
    ),
    ("[PER:Henning] og hans bror sejler.", "De spiste hos [PER:Lis Dam], mens hun sov."),
    ("[PER:Bo] sover.", "[PER:Ulla Friis] læser, og [PER:Ulla] griner."),
    ("Her bor [PER*:Niels'] søster.", "[LOC:Fanø] er smuk."),
    ("[PER:Asta Toft] cykler til [LOC:Tønder].", "[PER:Kaj] synger for [ORG:Koret]."),
    ("[PER:Dora] og [PER:Finn] gik.", "[PER:Gudrun Lyng] skrev til [ORG:Byrådet]."),
)
CLASHING = ("d02-1", "d04-2", "d07-1", "d08-1", "d08-2")
MARK = re.compile(r"\[(\w+)(\*?):([^\]]+)\]")


def read_counts(text: str) -> dict[str, int]:
    """Names and numbers, separated by commas."""
    pairs = (pair.split() for pair in text.split(","))
    return {name: int(number) for name, number in pairs}


#: First names with their bearers, the most common first; two are men's names and unisex.
FIRST = {
    "majority female": read_counts("""
Mie 920, Anne 889, Inger 858, Kirsten 827, Birthe 796, Lene 765, Hanne 734, Susanne 703,
Marianne 672, Camilla 641, Charlotte 610, Dorthe 579, Ellen 548
"""),
    "majority male": read_counts("""
Ole 960, Jens 917, Torben 874, Lars 831, Erik 788, Peter 745, Henrik 702, Michael 659,
Mads 616, Bjarne 573, Kim 180, Robin 105
"""),
    "minority female": read_counts("""
Leila 130, Fatima 123, Amina 116, Salma 109, Yasmin 102, Nour 95, Hana 88, Layla 81,
Maryam 74, Zainab 67, Khadija 60
"""),
    "minority male": read_counts("""
Omar 140, Abbas 134, Hassan 128, Mahmoud 122, Yusuf 116, Bilal 110, Ahmed 104, Ibrahim 98,
Khaled 92, Mustafa 86, Tarek 80, Samir 74, Walid 68, Jamal 62
"""),
    "majority unisex": read_counts("""
Kim 300, Robin 200
"""),
}
WOMEN_WITH_UNISEX_NAMES = {"Kim": 120, "Robin": 95}
LAST = {
    "majority": {"Jensen": 5000, "Falk": 4000, "Nys": 3000, "Brandt": 2000},
    "minority": {"Aziz": 90, "Khan": 80, "Malik": 70},
}
GROUPS = ("majority female", "majority male", "minority female", "minority male")
PATTERNS: tuple[tuple[str, ...], ...] = (("first",), ("first", "last"), ("first", "last", "last"))


@dataclass(frozen=True)
class Entity:
    """An entity of the original: where it stands, its label, and its words without a genitive."""

    start: int
    end: int
    label: str
    words: tuple[str, ...]
    genitive: bool


@dataclass(frozen=True)
class Sentence:
    """A sentence of a document."""

    name: str
    document: str
    text: str
    entities: tuple[Entity, ...]

    @property
    def persons(self) -> list[int]:
        return [i for i, entity in enumerate(self.entities) if entity.label == "PER"]

    @property
    def clashes(self) -> bool:
        return self.name in CLASHING


@dataclass(frozen=True)
class Given:
    """The name that a person was given."""

    place: int
    parts: tuple[str, ...]
    ending: str
    bearers: int | None


@dataclass(frozen=True)
class Version:
    """A sentence with the names of one group and draw."""

    sentence: Sentence
    group: str | None
    repeat: int | None
    text: str
    gold: tuple[tuple[int, int, str], ...]
    names: tuple[Given, ...]


Pools = Mapping[str, tuple[Sequence[tuple[str, int]], Sequence[str]]]


def list_sentences() -> list[Sentence]:
    return [
        _read_sentence(f"d{number:02}-{place}", f"newdoc id = d{number:02}", marked)
        for number, two in enumerate(DOCUMENTS, start=1)
        for place, marked in enumerate(two, start=1)
    ]


def _read_sentence(name: str, document: str, marked: str) -> Sentence:
    text, entities, done = "", [], 0
    for found in MARK.finditer(marked):
        text += marked[done : found.start()]
        label, star, words = found.groups()
        bare = words.removesuffix("'") if words.endswith("'") else words[:-1] if star else words
        span = (len(text), len(text) + len(words))
        entities.append(Entity(*span, label, tuple(bare.split()), bool(star)))
        text += words
        done = found.end()
    return Sentence(name, document, text + marked[done:], tuple(entities))


def list_pools(*, unisex: bool) -> Pools:
    """The names of each group in the order in which they are drawn."""
    return {
        group: (list(FIRST[group].items()), list(LAST[group.split()[0]]))
        for group in (*GROUPS, *(["majority unisex"] if unisex else []))
    }


def list_versions(pools: Pools, repeats: int, seed: int, *, protocol: int = 2) -> list[Version]:
    """Every sentence in every version, those without a person once."""
    found = []
    for sentence in list_sentences():
        if not sentence.persons:
            gold = tuple((one.start, one.end, one.label) for one in sentence.entities)
            found.append(Version(sentence, None, None, sentence.text, gold, ()))
            continue
        for repeat in range(repeats):
            for group, pool in pools.items():
                found.append(_rename(sentence, group, repeat, pool, seed, protocol))
    return found


def _draw_numbers(seed: int, repeat: int, sentence: str, slot: int) -> list[float]:
    """Four numbers in [0, 1) from a digest, each from the upper 53 bits of eight bytes."""
    key = f"{seed}\x1f{repeat}\x1f{slot}\x1f{sentence}".encode()
    digest = hashlib.blake2b(key, digest_size=32).digest()
    return [int.from_bytes(digest[8 * i : 8 * i + 8], "big") // 2**11 / 2**53 for i in range(4)]


def _rename(
    sentence: Sentence,
    group: str,
    repeat: int,
    pool: tuple[Sequence[tuple[str, int]], Sequence[str]],
    seed: int,
    protocol: int,
) -> Version:
    first, last = pool
    numbers = {
        place: _draw_numbers(seed, repeat, sentence.name, slot)
        for slot, place in enumerate(sentence.persons)
    }
    known: dict[tuple[str, ...], tuple[tuple[str, ...], list[float]]] = {}
    given: dict[int, Given] = {}
    size = {i: len(_words(sentence, i, protocol)) for i in sentence.persons}
    for place in sorted(sentence.persons, key=lambda i: (-len(sentence.entities[i].words), i)):
        words, (pick, *draws) = _words(sentence, place, protocol), numbers[place]
        pattern = PATTERNS[int(3 * pick) if protocol == 1 else min(3, size[place]) - 1]
        if words not in known:
            known[words] = (pattern, draws[: len(pattern)])
            if len(words) > 1:
                known.setdefault(words[:1], (("first",), draws[:1]))
                known.setdefault(words[-1:], (("last",), [draws[len(pattern) - 1]]))
        pattern, draws = known[words]
        parts, bearers = [], None
        for kind, u in zip(pattern, draws, strict=True):
            if kind == "first":
                name, bearers = first[int(u * len(first))]
            else:
                name = last[int(u * len(last))]
            parts.append(name)
        ending = ""
        if sentence.entities[place].genitive and protocol == 2:
            ending = "'" if parts[-1][-1] in "sxz" else "s"
        given[place] = Given(place, tuple(parts), ending, bearers)
    text, gold, done = "", [], 0
    for place, entity in enumerate(sentence.entities):
        text += sentence.text[done : entity.start]
        words_now = sentence.text[entity.start : entity.end]
        if place in given:
            words_now = " ".join(given[place].parts) + given[place].ending
        gold.append((len(text), len(text) + len(words_now), entity.label))
        text += words_now
        done = entity.end
    names = tuple(given[place] for place in sorted(given))
    return Version(sentence, group, repeat, text + sentence.text[done:], tuple(gold), names)


def _words(sentence: Sentence, place: int, protocol: int) -> tuple[str, ...]:
    """What identifies a person within a sentence."""
    entity = sentence.entities[place]
    return (sentence.text[entity.start : entity.end],) if protocol == 1 else entity.words


def write_dane(path: Path) -> Path:
    """The documents as CoNLL-U."""
    lines: list[str] = []
    document = ""
    for sentence in list_sentences():
        if sentence.document != document:
            document = sentence.document
            lines.append(f"# {document}")
        lines += [f"# sent_id = {sentence.name}", f"# text = {sentence.text}"]
        tokens = list(re.finditer(r"[\w']+|[.,]", sentence.text))
        for number, token in enumerate(tokens, start=1):
            tag, features = "O", "_"
            for entity in sentence.entities:
                if entity.start <= token.start() and token.end() <= entity.end:
                    tag = f"{'B' if token.start() == entity.start else 'I'}-{entity.label}"
                    if entity.genitive and token.end() == entity.end:
                        features = "Case=Gen"
            after = sentence.text[token.end() : token.end() + 1]
            misc = f"name={tag}" + ("" if after == " " else "|SpaceAfter=No")
            lines.append(f"{number}\t{token[0]}\t_\t_\t_\t{features}\t_\t_\t_\t{misc}")
        lines.append("")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def write_names(folder: Path) -> tuple[Path, Path]:
    """The register and the minority list."""
    register, minority = folder / "names", folder / "minority-names"
    register.mkdir(parents=True)
    minority.mkdir()
    women = {
        **FIRST["majority female"],
        **WOMEN_WITH_UNISEX_NAMES,
        **FIRST["minority female"],
    }
    men = {**FIRST["majority male"], **FIRST["minority male"]}
    files = {
        "first_names_2023_women": women,
        "first_names_2023_men": men,
        "last_names_2023": {**LAST["majority"], **LAST["minority"]},
        "unisex_names": {},
    }
    for file, counts in files.items():
        rows = ["Navn,Antal", *(f"{name.upper()},{count}" for name, count in counts.items())]
        (register / f"{file}.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    listed = [name for group in GROUPS[2:] for name in FIRST[group]]
    rows = [",duplicates,origin", *(f"{i},{name},M" for i, name in enumerate(listed))]
    (register / "overlapping_names.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    rows = ["count,name,ethnicity,gender,first_name"]
    for group, gender in (("minority female", "female"), ("minority male", "male")):
        rows += [f"{n}.0,{name},muslim,{gender},True" for name, n in FIRST[group].items()]
    rows += [f",{name},muslim,both,False" for name in LAST["minority"]]
    (minority / "names.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    return register, minority


def name_files(register: Path, minority: Path) -> tuple[list[Path], list[Path]]:
    """The files of both lists."""
    return sorted(register.glob("*.csv")), sorted(minority.glob("*.csv"))
