"""Clusters as coreference systems save them, mapped onto the texts of a test by their letters.

The file is a JSON array with an object per sentence, in any order: ``document``, its tokens, and
``clusters``, lists of mentions ``[first, last]``, which are tokens, the last one included. That is what
AllenNLP's predictors and danlp's ``predict`` give, and how predictions on ABC were published.

Systems are often run on text that is written otherwise: in lower case, with other spaces, or with a full
stop at the end of the last token. Letters and digits decide which sentence a prediction belongs to and
where its mentions are; everything else about the writing is left out of the comparison.
"""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from io import BufferedReader
from itertools import accumulate
from pathlib import Path
from typing import Any

from gendalens.errors import UserError
from gendalens.models.requests import Answer, Offsets, Request, Resolve, ResolveAnswer
from gendalens.predictions.flaws import Flaws
from gendalens.words import Message, Template, phrase

#: Predictions of the whole of ABC take some 100 MB.
MOST_BYTES = 2**30
MAPPED = Template(
    "clusters.mapped",
    "{same} of {all} predictions are on the very text of the test; {mapped} are on the same letters in "
    "another case, spacing or tokens, and were mapped letter by letter.",
)
UNUSED = Template(
    "clusters.unused", "{count} predictions are on no sentence of this test and were not used."
)
DROPPED = Template(
    "clusters.dropped", "{count} mentions hold no letter or digit and were left out."
)
MISSING = Template("clusters.missing", "sentences without a prediction")
DIFFERENT = Template("clusters.different", "sentences with two different predictions")
MALFORMED = Template("clusters.malformed", "predictions of another form")


@dataclass(slots=True)
class ClusterFile:
    """The answers of such a file, its digest, and what was mapped."""

    answers: dict[Request, Answer]
    digest: str
    counts: dict[str, int] = field(default_factory=lambda: defaultdict(int))

    @property
    def notices(self) -> tuple[Message, ...]:
        """What the result must say about the mapping."""
        counts = self.counts
        told = [
            MAPPED(
                same=counts["same"], mapped=counts["mapped"], all=counts["same"] + counts["mapped"]
            )
        ]
        told += [
            template(count=counts[key])
            for key, template in (("unused", UNUSED), ("dropped", DROPPED))
            if counts[key]
        ]
        return tuple(told)


def holds_clusters(file: BufferedReader) -> bool:
    """Whether a file begins as a JSON array does; other files of answers begin with an object."""
    return file.peek(64)[:64].removeprefix(b"\xef\xbb\xbf").lstrip()[:1] == b"["


def read_cluster_file(
    path: Path, file: BufferedReader, wanted: Mapping[str, Request]
) -> ClusterFile:
    """The predictions for every wanted request; raises if one is missing, or given in two ways."""
    data = _read_bytes(path, file)
    predictions = _parse(path, data)
    by_letters: dict[str, list[Resolve]] = defaultdict(list)
    for request in wanted.values():
        if not isinstance(request, Resolve):
            raise UserError(
                "{path} holds clusters, and this test asks for none: score it with coref-abc or "
                "coref-dawinobias.",
                path=str(path),
            )
        by_letters[spell(request.text)].append(request)
    found = ClusterFile({}, hashlib.sha256(data).hexdigest())
    flaws = Flaws()
    for number, plain in enumerate(predictions, 1):
        place = phrase("prediction {number}", number=number)
        try:
            prediction = _Prediction.read(plain)
        except ValueError:
            flaws.add(MALFORMED, place)
            continue
        requests = by_letters.get(prediction.letters, [])
        if not requests:
            found.counts["unused"] += 1
        for request in requests:
            answer, dropped = prediction.map_onto(request.text)
            if found.answers.setdefault(request, answer) != answer:
                flaws.add(DIFFERENT, place)
            found.counts["dropped"] += dropped
            found.counts["same" if prediction.is_on(request.text) else "mapped"] += 1
    for name, request in wanted.items():
        if request not in found.answers:
            flaws.add(MISSING, name)
    if flaws:
        raise UserError(
            "{path} cannot be used, so nothing was scored. {flaws} It must hold a JSON array of objects "
            "with document (tokens) and clusters (lists of [first, last] token), for every sentence of "
            "the test.",
            path=str(path),
            flaws=flaws.message,
        )
    return found


def spell(text: str) -> str:
    """The letters and digits of a text in lower case.

    >>> spell("Kokken maler  sine stole.")
    'kokkenmalersinestole'
    """
    return "".join(sign.lower() for sign in text if sign.isalnum())


@dataclass(frozen=True, slots=True)
class _Prediction:
    """The tokens of a sentence, and clusters of their places."""

    tokens: tuple[str, ...]
    clusters: tuple[tuple[tuple[int, int], ...], ...]

    @classmethod
    def read(cls, plain: Any) -> _Prediction:
        """A prediction, checked; sentences of tokens are joined."""
        if not isinstance(plain, dict):
            raise ValueError
        document, clusters = plain.get("document"), plain.get("clusters")
        if not isinstance(document, list) or not isinstance(clusters, list):
            raise ValueError
        tokens = [
            token for part in document for token in (part if isinstance(part, list) else [part])
        ]
        if not all(isinstance(token, str) for token in tokens):
            raise ValueError
        return cls(
            tuple(tokens),
            tuple(tuple(_check_span(span, len(tokens)) for span in _list(one)) for one in clusters),
        )

    @property
    def letters(self) -> str:
        """Which sentence it is."""
        return spell("".join(self.tokens))

    def is_on(self, text: str) -> bool:
        """Whether its tokens are those letters and marks, in that case."""
        return "".join("".join(self.tokens).split()) == "".join(text.split())

    def map_onto(self, text: str) -> tuple[ResolveAnswer, int]:
        """Its clusters in characters of a text with the same letters, and the mentions left out."""
        places = [i for i, sign in enumerate(text) for _ in spell(sign)]
        ends = [0, *accumulate(len(spell(token)) for token in self.tokens)]
        clusters = []
        dropped = 0
        for cluster in self.clusters:
            mentions: list[Offsets] = []
            for first, last in cluster:
                start, end = ends[first], ends[last + 1]
                if start < end:
                    mentions.append((places[start], places[end - 1] + 1))
                else:
                    dropped += 1
            if mentions:
                clusters.append(tuple(mentions))
        return ResolveAnswer(tuple(clusters)), dropped


def _list(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise ValueError
    return value


def _check_span(span: Any, size: int) -> tuple[int, int]:
    match span:
        case [int(first), int(last)] if 0 <= first <= last < size:
            return first, last
    raise ValueError


def _read_bytes(path: Path, file: BufferedReader) -> bytes:
    data = file.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        raise UserError(
            "{path} is larger than {limit} MB, more than the predictions of any test take: name "
            "another file.",
            path=str(path),
            limit=MOST_BYTES // 2**20,
        )
    return data


def _parse(path: Path, data: bytes) -> list[Any]:
    try:
        found = json.loads(data.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise UserError(
            "{path} is not JSON ({reason}): name a file of answers, or a JSON array of clusters.",
            path=str(path),
            reason=str(getattr(error, "msg", None) or type(error).__name__),
        ) from None
    assert isinstance(found, list)  # it begins as one
    return found
