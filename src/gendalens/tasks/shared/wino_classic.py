"""The base of both DaWinoBias tests in protocol 1: how GenDa Lens 0.0.3 reads a line."""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from gendalens.data import dawinobias
from gendalens.data.dawinobias import Condition
from gendalens.data.registry import Source
from gendalens.models.requests import Request
from gendalens.results.result import Contrast, Record
from gendalens.tasks.base import NONE_IN_PROTOCOL_1, Task, sample_by_stratum
from gendalens.tasks.shared import wino_views
from gendalens.tasks.views import Example
from gendalens.words import Template

CONDITIONS: tuple[Condition, ...] = ("anti", "pro")
# Equivalent to spaCy's Danish tokenizer on all 1,348 lines: brackets, punctuation, a run of full stops
# and a second space are separate tokens.
TOKEN = re.compile(r"\.+|[\[\],?!:;]|(?<=\s)\s+|[^\s\[\],.?!:;]+")
NO_CONTRAST = Contrast(
    name=Template(
        "figure.f1_pro_anti_by_gender", "(F1 pro - anti, male) - (F1 pro - anti, female)"
    )(),
    unit="f1",
    value=None,
    reason=NONE_IN_PROTOCOL_1(),
)


@dataclass(frozen=True, slots=True)
class ClassicLine:
    """A line as 0.0.3 reads it: lower-cased tokens, and the index of the one in question."""

    condition: str
    line: int
    raw: str
    tokens: tuple[str, ...]
    place: int

    @property
    def schema(self) -> int:
        """The number of the schema, which is a pair of successive lines."""
        return (self.line + 1) // 2

    @property
    def label(self) -> str:
        """The token in question."""
        return self.tokens[self.place]

    @property
    @abstractmethod
    def request(self) -> Request:
        """What the model is asked about the line."""


Line = TypeVar("Line", bound=ClassicLine)


class ClassicWino(Task[Line]):
    """A DaWinoBias test as in 0.0.3; subclasses define the requests and how answers are counted."""

    @abstractmethod
    def read_line(self, condition: str, number: int, raw: str) -> Line:
        """A raw line, tokenised; the brackets are dropped."""

    def items(self, data: Mapping[str, Source]) -> list[Line]:
        """The lines of both files, in file order (0.0.3 shuffles them)."""
        raw = dawinobias.read_raw(data["dawinobias"].folder)
        return [
            self.read_line(condition, number, line)
            for condition in CONDITIONS
            for number, line in enumerate(raw[condition], 1)
        ]

    def requests(self, items: Sequence[Line]) -> list[Request]:
        """One request per line."""
        return [item.request for item in items]

    def sample(self, items: Sequence[Line], size: int, seed: int) -> list[Line]:
        """Both lines of ``size`` schemas in both conditions, stratified by the tokens in question."""
        labels: dict[int, list[str]] = {}
        for item in items:
            labels.setdefault(item.schema, []).append(item.label)
        kept = set(
            sample_by_stratum(list(labels), size, seed, lambda schema: sorted(labels[schema]))
        )
        return [item for item in items if item.schema in kept]

    def examples(self, records: Sequence[Record]) -> Iterable[Example]:
        """Each line as 0.0.3 reads it."""
        return wino_views.classic_examples(records)
