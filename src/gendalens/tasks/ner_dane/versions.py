"""The items of ``ner-dane``: every sentence in a version per group and draw of names."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

from gendalens.data import dane
from gendalens.data.conllu import Sentence
from gendalens.data.names import Group, NamePool
from gendalens.data.renaming import (
    Plan,
    RenamedSentence,
    draw_plan,
    keep_names,
    rename,
    tells_gender,
)
from gendalens.system.lazy_sequence import LazySequence


@dataclass(frozen=True, slots=True)
class Version:
    """A sentence with the names of one group and draw; both are None if it has no person."""

    sentence: Sentence
    renamed: RenamedSentence
    group: Group | None
    repeat: int | None

    @property
    def clashes(self) -> bool:
        """Whether a gendered pronoun or title may no longer agree with the name."""
        return self.group is not None and tells_gender(self.sentence)


class Versions(LazySequence[Version]):
    """The versions of all sentences: one per draw and group, or just one if it has no person.

    A version is made from the seed when it is accessed, so hundreds of draws take no memory.
    """

    def __init__(
        self,
        sentences: Sequence[Sentence],
        pools: Mapping[Group, NamePool],
        repeats: int,
        seed: int,
        protocol: int = 2,
        surnames: Collection[str] = frozenset(),
    ) -> None:
        self.sentences = sentences
        self._pools = pools
        self._repeats = repeats
        self._seed = seed
        self._protocol = protocol
        self._surnames = surnames
        each = repeats * len(pools)
        self._ends = list(accumulate(each if has_person(s) else 1 for s in sentences))

    def keep(self, names: Collection[str]) -> Versions:
        """All versions of the sentences with these ids."""
        kept = [sentence for sentence in self.sentences if sentence.id in names]
        return Versions(
            kept, self._pools, self._repeats, self._seed, self._protocol, self._surnames
        )

    def __len__(self) -> int:
        return self._ends[-1] if self._ends else 0

    def __iter__(self) -> Iterator[Version]:
        for sentence in self.sentences:
            if not has_person(sentence):
                yield Version(sentence, keep_names(sentence), None, None)
                continue
            for repeat in range(self._repeats):
                drawn = self._draw(sentence, repeat)
                for group, pool in self._pools.items():
                    yield Version(sentence, rename(sentence, drawn, pool), group, repeat)

    def _member_at(self, place: int) -> Version:
        number = bisect_right(self._ends, place)
        sentence = self.sentences[number]
        if not has_person(sentence):
            return Version(sentence, keep_names(sentence), None, None)
        within = place - (self._ends[number - 1] if number else 0)
        repeat, which = divmod(within, len(self._pools))
        group, pool = list(self._pools.items())[which]
        drawn = self._draw(sentence, repeat)
        return Version(sentence, rename(sentence, drawn, pool), group, repeat)

    def _draw(self, sentence: Sentence, repeat: int) -> Plan:
        return draw_plan(
            sentence, self._seed, repeat, protocol=self._protocol, surnames=self._surnames
        )


def has_person(sentence: Sentence) -> bool:
    """Whether the sentence names a person."""
    return any(entity.label == dane.PERSON for entity in sentence.entities)
