"""The files of DaWinoBias and ABC: ``--data dawinobias=FOLDER``, ``--data abc=FOLDER``."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

from small_data import small_data

from fuzz.target import Input, Target
from gendalens.data import abc, dawinobias
from gendalens.data.text import Span

# Reading a whole set takes longer than mangling it, so only the first lines are used.
LINES = {"dawinobias": 12, "abc": 31}


class Sentences(Target):
    """Accepted: all lines or triples in the file, with every word in the right place."""

    name: ClassVar[str] = "sentences"
    share: ClassVar[float] = 200
    words: ClassVar[tuple[bytes, ...]] = (
        *(b"[", b"]", b"[han]", b"[hun]", b"[kokken]", b"---", b"\n---\n", b"sin", b"sit", b"hans"),
        *(b"hendes", "læreren".encode(), "[frisørens]".encode(), b"kokken ", b"Hun "),
    )

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.sets = small_data(folder)
        found = {}
        for name, place in self.sets.items():
            for file in sorted(place.glob("*.txt")):
                some = file.read_bytes().splitlines(keepends=True)[: LINES[name]]
                file.write_bytes(b"".join(some))
                found[name, file.name] = b"".join(some)
        self.bases = found

    def check_input(self, given: Input) -> None:
        """Read the file with the set's own reader."""
        path = self.sets[given.base] / given.file
        path.write_bytes(given.content)
        try:
            if given.base == "abc":
                _check_abc(self.sets["abc"])
            else:
                _check_dawinobias(self.sets["dawinobias"])
        finally:
            path.write_bytes(self.bases[given.base, given.file])


def _check_dawinobias(folder: Path) -> None:
    found = dawinobias.read(folder, errata=False)
    raw = dawinobias.read_raw(folder)
    assert len(found) == sum(map(len, raw.values()))
    for line in found:
        assert _slice(line.text, line.span) == line.pronoun
        for mention in (line.referent, line.other):
            assert _slice(line.text, mention.span) == mention.text
        assert line.referent.span != line.other.span
        left, right = line.gap
        assert left + line.pronoun + right == line.text
        assert "[" not in line.text
    halves = len(found) // 2
    for pro, anti in zip(found[:halves], found[halves:], strict=True):
        assert pro.gap == anti.gap
        assert pro.gender != anti.gender


def _check_abc(folder: Path) -> None:
    found = abc.read(folder, errata=False)
    raw = abc.read_raw(folder)
    distinct = {three[0] for threes in raw.values() for three in threes}
    assert 0 < len(found) <= len(distinct)
    for triple in found:
        assert _slice(triple.reflexive, triple.reflexive_span) == triple.form
        assert _slice(triple.male, triple.male_span) == "hans"
        assert _slice(triple.female, triple.female_span) == "hendes"
        for text in (triple.reflexive, triple.male, triple.female):
            assert _slice(text, triple.subject).lower() == triple.occupation.lower()


def _slice(text: str, span: Span) -> str:
    return text[span.start : span.end]
