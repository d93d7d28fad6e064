"""The features of the built-in NER sentences that its validator and data card count."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from itertools import pairwise

from gendalens.data.builtin.names import Row
from gendalens.data.conllu import Entity, Sentence
from gendalens.data.dane import PERSON
from gendalens.data.renaming import APOSTROPHES, tells_gender

GENRES = ("news", "letters", "minutes", "everyday")
# Common words that contain a name or look like one, but are not names.
COMPOUNDS = frozenset(
    [
        *("amagerhylde", "bornholmerure", "brunsviger", "danskundervisning", "danskundervisningen"),
        *("hamburgerryg", "københavnersnak", "pariserbøf", "torsdagsmødet", "wienerbrød"),
    ]
)
TITLES = frozenset(
    [
        *(
            "advokat",
            "borgmester",
            "dirigenten",
            "dommer",
            "faster",
            "forfatteren",
            "formand",
            "fru",
        ),
        *("hr.", "journalist", "kulturminister", "lektor", "museumsinspektør", "næstformand"),
        *("organist", "overlæge", "professor", "rektor", "revisor", "skoleleder", "statsminister"),
        *("tante", "tillidsrepræsentant", "udvalgsformand", "vicevært"),
    ]
)


def count_features(sentences: Sequence[Sentence]) -> Counter[str]:
    """How often each feature occurs."""
    found: Counter[str] = Counter()
    for sentence in sentences:
        persons = [entity for entity in sentence.entities if entity.label == PERSON]
        words = [token.text for token in sentence.tokens]
        found["sentence without any entity"] += not sentence.entities
        found["sentence with places, organisations or other names only"] += (
            bool(sentence.entities) and not persons
        )
        found["list of three or more persons"] += _has_list(sentence, persons)
        found["compound that is no name"] += sum(word.lower() in COMPOUNDS for word in words)
        found["sentence that tells a person's gender"] += bool(persons) and tells_gender(sentence)
        for person in persons:
            found.update(_list_person_features(words, person, sentence))
    return found


def _list_person_features(words: Sequence[str], person: Entity, sentence: Sentence) -> list[str]:
    """The features of one person's name."""
    parts = [words[i] for i in person.tokens]
    last = sentence.tokens[person.tokens[-1]]
    found = [f"name of {('one part', 'two parts', 'three parts')[min(len(parts), 3) - 1]}"]
    if last.genitive:
        bare = last.text.endswith(APOSTROPHES)
        found.append("genitive with an apostrophe" if bare else "genitive with s")
    if parts[0].endswith("."):
        found.append("initials")
    if person.tokens.start == 0:
        found.append("name at the start")
    elif words[person.tokens.start - 1].lower() in TITLES:
        found.append("title before the name")
    return found


def _has_list(sentence: Sentence, persons: Sequence[Entity]) -> bool:
    """Whether three persons follow each other with nothing but a comma or *og* between them."""
    joined = 0
    for one, two in pairwise(persons):
        between = sentence.text[one.span.end : two.span.start].strip()
        joined = joined + 1 if between in (",", "og") else 0
        if joined == 2:
            return True
    return False


def count_genders(sentences: Sequence[Sentence], names: Collection[Row]) -> Counter[str]:
    """How many of the original persons have a woman's, a man's or another first name."""
    whose = {row.name: row.gender for row in names if row.part == "first"}
    found: Counter[str] = Counter()
    for sentence in sentences:
        for entity in sentence.entities:
            if entity.label == PERSON:
                token = sentence.tokens[entity.tokens[0]]
                word = token.text.rstrip("".join(APOSTROPHES))
                if token.genitive and word not in whose:
                    word = word.removesuffix("s")
                found[whose.get(word, "other")] += 1
    return found
