"""CoNLL-U files with entities: ``--data dane=FILE``."""

from __future__ import annotations

import re
from pathlib import Path
from typing import ClassVar

import small_dane
import small_names

from fuzz.target import Input, Target
from gendalens.data import conllu, dane, names, renaming
from gendalens.data.conllu import Sentence

# Multiword tokens, an empty node, a genitive with an apostrophe, and no comment at all.
SECOND = """# sent_id = flettet
1-2\tforsin\t_\t_\t_\t_\t_\t_\t_\tname=O
1\tfor\t_\t_\t_\t_\t_\t_\t_\tname=O
2\tsin\t_\t_\t_\t_\t_\t_\t_\tname=O
2.1\ttom\t_\t_\t_\t_\t_\t_\t_\t_
3\tKay-Siff's\t_\t_\t_\t_\t_\t_\t_\tname=B-PER
4\tby\t_\t_\t_\tGender=Com|Case=Nom\t_\t_\t_\tSpaceAfter=No|name=O
5\t!\t_\t_\t_\t_\t_\t_\t_\tname=O

1\tÅse\t_\t_\t_\t_\t_\t_\t_\tname=B-PER
2\tÆbeløs\t_\t_\t_\tCase=Gen\t_\t_\t_\tname=I-PER

"""
NUMBER = re.compile(r"[0-9]+")
RANGE = re.compile(r"([0-9]+)-([0-9]+)")


class Conllu(Target):
    """Accepted: the sentences and tokens of the lines, in the right places; round-trips."""

    name: ClassVar[str] = "conllu"
    share: ClassVar[float] = 330
    words: ClassVar[tuple[bytes, ...]] = (
        *(
            b"name=B-PER",
            b"name=I-PER",
            b"name=O",
            b"|SpaceAfter=No",
            b"SpaceAfter=Yes",
            b"Case=Gen",
        ),
        *(b"# text = ", b"# sent_id = x", b"1-2\t", b"1.1\t", b"\t_\t", b"name=B-", b"name="),
    )

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        small = "".join(f"{line}\n" for line in small_dane.lines())
        self.bases = {
            ("small", "own.conllu"): small.encode(),
            ("second", "own.conllu"): SECOND.encode(),
        }
        self.path = folder / "own.conllu"
        register, minority = small_names.write(folder / "lists")
        pools = names.read(register, minority, "top")
        self.pool = pools[names.GROUPS[0]]

    def check_input(self, given: Input) -> None:
        """Read the file, count it independently, rename persons, write it and read it again."""
        self.path.write_bytes(given.content)
        found = dane.read(self.path, errata=False)
        assert count_tokens(given.content) == (len(found), sum(len(one.tokens) for one in found))
        for one in found:
            check_sentence(one)
            renamed = renaming.rename(one, renaming.draw_plan(one, 0, 0), self.pool)
            assert len(renamed.gold) == len(one.entities)
            for gold in renamed.gold:
                for span in (gold.span, *gold.alternatives):
                    assert 0 <= span.start < span.end <= len(renamed.text), "a renamed span"
        again = conllu.read([line for one in found for line in lines(one)], self.path)
        assert [list_fields(one) for one in again] == [list_fields(one) for one in found], (
            "it reads back"
        )


def count_tokens(content: bytes) -> tuple[int, int]:
    """The numbers of sentences and tokens, by a line count that shares no code with the reader."""
    text = content.decode("utf-8").removeprefix("\ufeff").replace("\r\n", "\n")
    blocks = [block for block in text.split("\n\n") if block.strip("\n")]
    tokens = 0
    for block in blocks:
        inside = 0
        for line in block.split("\n"):
            key = line.split("\t")[0]
            if found := RANGE.fullmatch(key):
                inside = int(found.group(2))
                tokens += 1
            elif NUMBER.fullmatch(key) and int(key) > inside:
                tokens += 1
    return len(blocks), tokens


def check_sentence(sentence: Sentence) -> None:
    """Check what must hold for every sentence."""
    end = 0
    for token in sentence.tokens:
        assert sentence.text[token.span.start : token.span.end] == token.text, "a token's place"
        assert token.span.start >= end, "tokens overlap"
        end = token.span.end
    end = 0
    for entity in sentence.entities:
        assert end <= entity.tokens.start < entity.tokens.stop <= len(sentence.tokens)
        assert entity.span.start == sentence.tokens[entity.tokens.start].span.start
        assert entity.span.end == sentence.tokens[entity.tokens.stop - 1].span.end
        end = entity.tokens.stop


def lines(sentence: Sentence) -> list[str]:
    """The sentence as plain CoNLL-U, with every multiword token as a word."""
    tags = ["O"] * len(sentence.tokens)
    for entity in sentence.entities:
        for at in entity.tokens:
            tags[at] = f"{'B' if at == entity.tokens.start else 'I'}-{entity.label}"
    made = [f"# sent_id = {sentence.id}"]
    for at, token in enumerate(sentence.tokens):
        glued = sentence.text[token.span.end : token.span.end + 1] != " "
        case = "Case=Gen" if token.genitive else "_"
        misc = f"name={tags[at]}" + ("|SpaceAfter=No" if glued else "")
        made.append(f"{at + 1}\t{token.text}\t_\t_\t_\t{case}\t_\t_\t_\t{misc}")
    return [*made, ""]


def list_fields(sentence: Sentence) -> tuple[object, ...]:
    """The parts of a sentence that must survive a round trip."""
    return sentence.id, sentence.text, sentence.tokens, sentence.entities
