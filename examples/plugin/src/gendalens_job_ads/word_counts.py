"""``counts:FILE``: a model that knows nothing but how often each word occurs in a text file."""

from __future__ import annotations

import hashlib
import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from gendalens.errors import UserError
from gendalens.models.base import Backend, LoadOptions
from gendalens.models.requests import Answer, Fill, FillAnswer, Request, Score, ScoreAnswer
from gendalens.results.model_info import TEXT_GENERATION, ModelInfo
from gendalens.words import Template

KIND = Template("word-counts.kind", "table of word counts")
WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Question:
    """A request with its sizes, by which the engine makes batches; here every one costs the same."""

    request: Request
    rows: int = 1
    length: int = 1
    positions: int = 1


class WordCounts(Backend):
    """A unigram model: a word is as likely as it is frequent, whatever stands around it."""

    label = "tables of word counts"
    prefix = "counts:"
    answers = frozenset({Fill.kind, Score.kind})
    words = {
        "da": {
            "table of word counts": "tabel over ordfrekvenser",
            "tables of word counts": "tabeller over ordfrekvenser",
            "{path} cannot be read ({reason}): name a text file, as in counts:corpus.txt.": "{path} kan "
            "ikke læses ({reason}): Angiv en tekstfil, f.eks. counts:corpus.txt.",
        }
    }

    @classmethod
    def load(cls, name: str, options: LoadOptions) -> WordCounts:
        """The counts of the file behind ``counts:``."""
        path = Path(name.removeprefix(cls.prefix))
        try:
            return cls(path.name, path.read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError) as error:
            raise UserError(
                "{path} cannot be read ({reason}): name a text file, as in counts:corpus.txt.",
                path=str(path),
                reason=str(getattr(error, "strerror", None) or "it is not UTF-8"),
            ) from error

    def __init__(self, name: str, text: str) -> None:
        self.name = name
        self.digest = hashlib.sha256(text.encode()).hexdigest()
        self.counts = Counter(WORD.findall(text.lower()))
        # One more of every word, so that none is impossible.
        self.total = self.counts.total() + len(self.counts) + 1

    @property
    def info(self) -> ModelInfo:
        """The file's name, and the digest of its text as the revision."""
        return ModelInfo(
            name=f"{self.prefix}{self.name}",
            kind=KIND(),
            revision=f"sha256:{self.digest[:12]}",
            dtype="float64",
            hub_task=TEXT_GENERATION,
        )

    def fingerprint(self) -> str:
        """The text decides every answer."""
        return f"word-counts-1:{self.digest}"

    def encode(self, requests: Sequence[Request]) -> list[Question]:
        """There is nothing to tokenise."""
        return [Question(request) for request in requests]

    def answer(self, batch: Sequence[Question]) -> list[Answer]:
        """The answers to a batch, in order."""
        return [self._answer(question.request) for question in batch]

    def _answer(self, request: Request) -> Answer:
        if isinstance(request, Fill):
            scores = tuple(self._log_prob(word) for word in request.candidates)
            return FillAnswer(scores, (1,) * len(scores), None)
        assert isinstance(request, Score)  # what `answers` offers
        words = WORD.findall(request.text)
        return ScoreAnswer(math.fsum(map(self._log_prob, words)), max(1, len(words)))

    def _log_prob(self, word: str) -> float:
        return math.log((self.counts[word.lower()] + 1) / self.total)
