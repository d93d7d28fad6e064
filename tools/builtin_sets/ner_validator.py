"""A check of the built-in NER sentences and name lists; one sentence per defect."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Sequence
from pathlib import Path

from gendalens.data import conllu, dane
from gendalens.data.builtin import names
from gendalens.data.builtin.names import Row
from gendalens.data.conllu import Entity, Sentence
from gendalens.data.name_lists import WORD, capitalise
from gendalens.data.renaming import APOSTROPHES, SIBILANTS, tells_gender
from gendalens.errors import UserError
from tools.builtin_sets.ner_features import (
    COMPOUNDS,
    GENRES,
    count_features,
    count_genders,
)

SENTENCES = 300
PERSONS = 260
OTHERS = 25  # of each other label
GENRE_SHARE = (0.2, 0.3)
NAMELESS_SHARE = (0.1, 0.2)
GENDER_REVEALED = 0.1  # of the sentences with a person
WOMEN_SHARE = (0.45, 0.55)
BEARERS = 10
TIMES = {
    "genitive with s": 15,
    "genitive with an apostrophe": 5,
    "initials": 5,
    "list of three or more persons": 5,
    "name at the start": 30,
    "title before the name": 10,
    "name of one part": 50,
    "name of two parts": 50,
    "name of three parts": 5,
    "compound that is no name": 8,
}
# Capitalised words that are not names: the polite pronouns and *I* (you).
CAPITALS = frozenset(["De", "Dem", "Deres", "I"])
OPENERS = frozenset([":", '"', "("])


def find_sentence_problems(lines: Sequence[str], rows: Collection[Row]) -> list[str]:
    """What is wrong with a CoNLL-U file like ``ner.conllu``, given the rows of ``names.csv``."""
    try:
        sentences = conllu.read(lines, Path("ner.conllu"))
    except UserError as error:
        return [f"structure: {error}"]
    stated = [line.removeprefix("# text = ") for line in lines if line.startswith("# text = ")]
    found = _check_texts(sentences, stated)
    known = {row.name for row in rows}
    for sentence in sentences:
        reasons = [r for entity in sentence.entities for r in _check_span(sentence, entity)]
        reasons += _find_unmarked(sentence, known)
        found += [f"{sentence.id}: {reason}" for reason in reasons]
    found += _find_duplicates(sentences) + _check_counts(sentences)
    return found + _check_balance(sentences, rows)


def _check_texts(sentences: Sequence[Sentence], stated: Sequence[str]) -> list[str]:
    """Sentences whose words and spaces do not rebuild their ``# text`` character by character."""
    if len(stated) != len(sentences):
        return [f"text: {len(stated)} texts are stated for {len(sentences)} sentences"]
    return [
        f"{sentence.id}: text: the words make “{sentence.text}”, stated is “{text}”"
        for sentence, text in zip(sentences, stated, strict=True)
        if sentence.text != text
    ]


def _check_span(sentence: Sentence, entity: Entity) -> list[str]:
    """Why a span may be wrong: it cuts a word, its edges are not a name's, or its label is unknown."""
    start, end = entity.span.start, entity.span.end
    name = sentence.text[start:end]
    around = sentence.text[start - 1 : start] + sentence.text[end : end + 1]
    words = [sentence.tokens[i].text for i in entity.tokens]
    found = []
    if entity.label not in dane.LABELS:
        found.append(f"span: {entity.label} is not a label")
    if any(c.isalnum() or c in APOSTROPHES for c in around):
        found.append(f"span: “{name}” begins or ends inside a word")
    if not words[0][0].isalnum() or not words[-1][0].isalnum():
        found.append(f"span: “{name}” begins or ends with punctuation")
    # Persons have a capital in every word; places and organisations in the first and last (*Teknik og
    # Miljø*).
    edges = words if entity.label == dane.PERSON else (words[0], words[-1])
    if entity.label == "MISC":  # *dansk*; *Vild med dans*
        edges = words[:1] if len(words) > 1 else []
    if any(word[0].islower() for word in edges):
        found.append(f"span: “{name}” has a small letter where {entity.label} needs a capital")
    if not COMPOUNDS.isdisjoint(word.lower() for word in words):
        found.append(f"span: “{name}” holds a common word")
    if sentence.tokens[entity.tokens[-1]].genitive and not _is_genitive(words[-1]):
        found.append(f"genitive: “{name}” does not end as one")
    return found


def _is_genitive(word: str) -> bool:
    """Whether a word ends as Danish genitives do.

    >>> [_is_genitive(word) for word in ("Mettes", "Lars'", "EU's", "Mette's", "Bo'", "Larss")]
    [True, True, True, False, False, False]
    """
    if word.endswith(APOSTROPHES):
        return word[:-1].lower().endswith(SIBILANTS)
    bare = word.removesuffix("s")
    if bare.endswith(APOSTROPHES):
        return bare[:-1].isupper()  # abbreviations alone take 's
    return bare != word and not bare.lower().endswith(SIBILANTS)


def _find_unmarked(sentence: Sentence, known: Collection[str]) -> list[str]:
    """Words outside the entities that look like names or are known names."""
    inside = {i for entity in sentence.entities for i in entity.tokens}
    words = [token.text for token in sentence.tokens]
    found = []
    for i, word in enumerate(words):
        if i in inside or not word[0].isupper():
            continue
        opens = i == 0 or words[i - 1] in OPENERS
        bare = word.rstrip("".join(APOSTROPHES))
        if bare in known or bare.removesuffix("s") in known:
            found.append(f"name: “{word}” is a name outside the entities")
        elif not opens and word not in CAPITALS:
            found.append(f"name: “{word}” has a capital and is outside the entities")
    return found


def _find_duplicates(sentences: Sequence[Sentence]) -> list[str]:
    """Sentences that are identical, or identical except for their names."""
    texts = Counter(re.sub(r"\W+", " ", sentence.text.lower()) for sentence in sentences)
    frames = Counter(_blank_names(sentence) for sentence in sentences if sentence.entities)
    found = [f"duplicate: “{text}”" for text, times in texts.items() if times > 1]
    return found + [f"duplicate: “{text}”" for text, times in frames.items() if times > 1]


def _blank_names(sentence: Sentence) -> str:
    """The text with labels in place of names."""
    pieces: list[str] = []
    done = 0
    for entity in sentence.entities:
        pieces += (sentence.text[done : entity.span.start], entity.label)
        done = entity.span.end
    return "".join((*pieces, sentence.text[done:]))


def _check_counts(sentences: Sequence[Sentence]) -> list[str]:
    """Too few sentences, entities of a label, or occurrences of a feature."""
    labels = Counter(entity.label for sentence in sentences for entity in sentence.entities)
    wanted = {label: PERSONS if label == dane.PERSON else OTHERS for label in dane.LABELS}
    occurrences = count_features(sentences)
    found = []
    if len(sentences) < SENTENCES:
        found.append(f"count: {len(sentences)} sentences, {SENTENCES} are needed")
    for label, least in wanted.items():
        if labels[label] < least:
            found.append(f"count: {labels[label]} {label}, {least} are needed")
    for feature, least in TIMES.items():
        if occurrences[feature] < least:
            found.append(f"feature: {feature}: {occurrences[feature]} times, {least} are needed")
    return found


def _check_balance(sentences: Sequence[Sentence], rows: Collection[Row]) -> list[str]:
    """Shares out of bounds: genres, sentences without names, revealed genders, women and men."""
    found = []
    genres = Counter(sentence.id.rpartition("-")[0] for sentence in sentences)
    for genre in (*GENRES, *(genres.keys() - set(GENRES))):
        share = genres[genre] / len(sentences)
        if genre not in GENRES or not GENRE_SHARE[0] <= share <= GENRE_SHARE[1]:
            found.append(f"balance: {share:.0%} of the sentences are of the genre “{genre}”")
    nameless = sum(not sentence.entities for sentence in sentences) / len(sentences)
    if not NAMELESS_SHARE[0] <= nameless <= NAMELESS_SHARE[1]:
        found.append(f"balance: {nameless:.0%} of the sentences are without a name")
    peopled = [s for s in sentences if any(e.label == dane.PERSON for e in s.entities)]
    revealing = sum(map(tells_gender, peopled))
    if revealing >= GENDER_REVEALED * len(peopled):
        found.append(f"balance: {revealing} of {len(peopled)} sentences reveal the person's gender")
    whose = count_genders(sentences, rows)
    women = whose["female"] / max(whose["female"] + whose["male"], 1)
    if not WOMEN_SHARE[0] <= women <= WOMEN_SHARE[1]:
        found.append(f"balance: {women:.0%} of the persons are women")
    return found


def find_name_problems(rows: Sequence[Row]) -> list[str]:
    """What is wrong with the name lists."""
    found = []
    for row in rows:
        if not WORD.fullmatch(row.name) or row.name != capitalise(row.name):
            found.append(f"{row.name}: not a name, or its capitals are wrong")
        if row.bearers < BEARERS:
            found.append(f"{row.name}: {row.bearers} bearers, fewer than {BEARERS}")
        if (row.part == "last") != (row.gender == "both"):
            found.append(f"{row.name}: a surname is of both genders, a first name is not")
    for (part, name), times in Counter((row.part, row.name) for row in rows).items():
        if times > 1:
            found.append(f"{name}: {times} times among the {part} names")
    if list(rows) != sorted(rows, key=names.sort_key):
        found.append("order: by part, origin and gender, most common first")
    return found


def find_problems(sentences: Path, name_file: Path = names.FILE) -> list[str]:
    """All defects of the two files."""
    rows = names.read(name_file)
    lines = sentences.read_text(encoding="utf-8").split("\n")[:-1]
    return [*find_sentence_problems(lines, rows), *find_name_problems(rows)]
