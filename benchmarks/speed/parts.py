"""Parts of the data as plain files, for peers that cannot read them through GenDa Lens."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any

from gendalens.data import abc, dane, dawinobias
from gendalens.data.registry import find_source
from gendalens.engine.run_options import RunOptions
from gendalens.tasks import get_task

GROUPS, REPEATS = 4, 20


@dataclass(frozen=True)
class Part:
    """A file of items, and the number of items in the complete test, repetitions included."""

    file: Path
    whole: int


class Parts:
    """The parts, each written on first use; items are taken at even intervals."""

    def __init__(self, folder: Path, dane_file: Path | None) -> None:
        self._folder = folder
        self._dane = dane_file

    @cached_property
    def dawinobias(self) -> Part:
        """360 lines of 1,348, as 0.0.3 reads them."""
        raw = dawinobias.read_raw(find_source("dawinobias").folder)
        lines = [line for lines in raw.values() for line in lines]
        return self._write("dawinobias", _sample_evenly(lines, 360), len(lines))

    @cached_property
    def abc(self) -> Part:
        """100 reflexive sentences of 4,560, as 0.0.3 reads them."""
        raw = abc.read_raw(find_source("abc").folder)
        sentences = [three[0] for threes in raw.values() for three in threes]
        return self._write("abc", _sample_evenly(sentences, 100), len(sentences))

    @cached_property
    def ner(self) -> Part:
        """DaNE once; 0.0.3 tags it again for each group and repetition."""
        assert self._dane is not None
        found = [_to_plain(sentence) for sentence in dane.read(self._dane, errata=False)]
        return self._write("ner", found, len(found) * GROUPS * REPEATS)

    @cached_property
    def sentences(self) -> Part:
        """All three readings of every fortieth triple of ABC, as protocol 2 has them."""
        items: Any = get_task("lm-abc", 2).items({"abc": find_source("abc")})
        texts = [text for item in items[::40] for text in (item.reflexive, item.male, item.female)]
        return self._write("sentences", texts, len(texts))

    @cached_property
    def abc_texts(self) -> Part:
        """All three readings of 134 triples of ABC, and how many there are in all."""
        return self._write_texts("abc-texts", "lm-abc", 134)

    @cached_property
    def dawinobias_texts(self) -> Part:
        """Both readings of both lines of 60 schemas of DaWinoBias."""
        return self._write_texts("dawinobias-texts", "lm-dawinobias", 60)

    def _write_texts(self, name: str, task: str, sample: int) -> Part:
        """The sentences that a causal model scores in a test."""
        plan = RunOptions(sample=sample).plan(get_task(task, 2))
        texts: dict[str, None] = {}
        for portion in plan.portions:
            for request in portion.requests:
                words = getattr(request, "candidates", None)
                filled = [request.left + word + request.right for word in words or ()]
                texts |= dict.fromkeys(filled or [request.text])
        return self._write(name, list(texts), len(texts))

    def _write(self, name: str, items: list[Any], whole: int) -> Part:
        self._folder.mkdir(parents=True, exist_ok=True)
        file = self._folder / f"{name}.json"
        file.write_text(json.dumps(items, ensure_ascii=False), encoding="utf-8")
        return Part(file, whole)


def _sample_evenly(items: list[Any], count: int) -> list[Any]:
    return items[:: max(1, len(items) // count)][:count]


def _to_plain(sentence: Any) -> dict[str, Any]:
    """A sentence in the form that spaCy takes."""
    marks = ["O"] * len(sentence.tokens)
    for entity in sentence.entities:
        for place in entity.tokens:
            marks[place] = f"{'B' if place == entity.tokens.start else 'I'}-{entity.label}"
    tokens = sentence.tokens
    after = [token.span.end < following.span.start for token, following in pairwise(tokens)]
    words = [token.text for token in tokens]
    return {"words": words, "spaces": [*after, False], "marks": marks}
