"""A backend for answers that were computed elsewhere and saved in a file."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from gendalens.errors import UserError
from gendalens.models.answer_fields import WRONG, AnswerError, quote_value
from gendalens.models.answer_rules import read_answer
from gendalens.models.base import Backend
from gendalens.models.requests import Answer, FillAnswer, Request, Resolve, Tag, TagAnswer
from gendalens.predictions.cluster_file import holds_clusters, read_cluster_file
from gendalens.predictions.flaws import Flaws
from gendalens.predictions.form import ANSWERS_HEADER, request_id
from gendalens.predictions.header import Header, read_header
from gendalens.predictions.reading import numbered_lines, parse_line
from gendalens.results.model_info import (
    COREFERENCE,
    TEXT_GENERATION,
    TOKEN_CLASSIFICATION,
    ModelInfo,
)
from gendalens.system.file_reading import open_given
from gendalens.words import Message, Template, phrase

ANSWERED_ELSEWHERE = Template("answer_file", "model whose answers came from a file")
MISSING = Template("answers.missing", "requests without an answer")
UNKNOWN = Template("answers.unknown", "answers that match no request of this test")
TWICE = Template("answers.twice", "requests answered twice")
NO_ID = Template("answers.no_id", "answers without an id")
NO_CHOICE = Template("answers.no_choice", "answers without a first choice where others have one")


@dataclass(frozen=True, slots=True)
class AnsweredRequest:
    """A request whose answer is in the file."""

    request: Request
    rows: int = 1
    length: int = 1
    positions: int = 1


class AnswerFile(Backend):
    """A backend whose answers are in a file; all are checked when it is opened."""

    holds_weights: ClassVar[bool] = False

    def __init__(
        self, path: Path, requests: Iterable[Request], *, name: str, revision: str = ""
    ) -> None:
        for option, text in (("--model-name", name), ("--revision", revision or "-")):
            if not text.strip() or not text.isprintable():
                raise UserError(
                    "{option} is “{text}”: it must hold printable characters only, and not be blank.",
                    option=option,
                    text=quote_value(text),
                )
        self.name = name
        self.path = path
        wanted = {request_id(request): request for request in requests}
        self._header, self._answers, self._digest, self._notices = _read(path, wanted)
        self._revision = revision
        self._kinds = frozenset(request.kind for request in self._answers)

    @property
    def info(self) -> ModelInfo:
        """The user's description of the model, and that the answers came from this file."""
        file = f"answers sha256:{self._digest[:12]}"
        return ModelInfo(
            name=self.name,
            kind=ANSWERED_ELSEWHERE(),
            revision=f"{self._revision} {file}".strip().replace("|", "_"),
            dtype="none",
            software=self._header.software,
            hub_task=self._hub_task,
        )

    @property
    def _hub_task(self) -> str:
        if Tag.kind in self._kinds:
            return TOKEN_CLASSIFICATION
        return COREFERENCE if Resolve.kind in self._kinds else TEXT_GENERATION

    @property
    def answers(self) -> frozenset[str]:
        """The kinds of request that the file answers."""
        return self._kinds

    @property
    def labels(self) -> tuple[str, ...] | None:
        """The model's entity types: those named in the header, or else those in the answers."""
        if self._header.labels is not None or Tag.kind not in self._kinds:
            return self._header.labels
        found = (answer for answer in self._answers.values() if isinstance(answer, TagAnswer))
        return tuple(sorted({label for answer in found for _, _, label in answer.entities}))

    @property
    def max_positions(self) -> int:
        """More than any test needs: looking up answers takes no memory."""
        return 1_000_000

    @property
    def cacheable(self) -> bool:
        """False: the file already stores the answers."""
        return False

    @property
    def notices(self) -> tuple[Message, ...]:
        """What was mapped, if the file holds the clusters of a system run elsewhere."""
        return self._notices

    def fingerprint(self) -> str:
        """The digest of the file."""
        return self._digest

    def encode(self, requests: Sequence[Request]) -> list[AnsweredRequest]:
        """The requests as they are."""
        return [AnsweredRequest(request) for request in requests]

    def answer(self, batch: Sequence[AnsweredRequest]) -> list[Answer]:
        """The answers from the file."""
        return [self._answers[item.request] for item in batch]


def _read(
    path: Path, wanted: dict[str, Request]
) -> tuple[Header, dict[Request, Answer], str, tuple[Message, ...]]:
    """Header, answers, digest and notices of a file.

    It must answer every wanted request once, without a flaw.
    """
    digest = hashlib.sha256()
    try:
        with open_given(path) as file:
            if holds_clusters(file):
                found = read_cluster_file(path, file, wanted)
                return Header(), found.answers, found.digest, found.notices
            lines = numbered_lines(file, digest.update)
            first = next(lines, None)
            if first is None:
                raise UserError(
                    "{path} is empty: its first line must be {header}.",
                    path=str(path),
                    header=ANSWERS_HEADER,
                )
            header = read_header(path, _parse_first_line(first[1]))
            if header.shard is not None and header.shard.count > 1:
                raise UserError(
                    "{path} answers only shard {shard}: join all shards with `gendalens merge`, and "
                    "score the file that it writes.",
                    path=str(path),
                    shard=str(header.shard),
                )
            reader = _Reader(wanted, header)
            for number, line in lines:
                reader.read(number, line)
    except OSError as error:
        raise UserError(
            "{path} cannot be read ({reason}): name the file of answers.",
            path=str(path),
            reason=error.strerror or str(error),
        ) from None
    return header, reader.finish(path), digest.hexdigest(), ()


def _parse_first_line(line: bytes) -> object:
    try:
        return parse_line(line)
    except AnswerError:  # reported later as an invalid header
        return None


class _Reader:
    """A reader of lines that keeps their answers and collects flaws."""

    def __init__(self, wanted: dict[str, Request], header: Header) -> None:
        self._wanted = wanted
        self._header = header
        self._flaws = Flaws()
        self._lines: dict[str, int] = {}
        self._found: dict[Request, Answer] = {}

    def read(self, number: int, line: bytes) -> None:
        """Read one line after the header."""
        place = phrase("line {number}", number=number)
        try:
            plain = parse_line(line)
            name = plain.pop("id", None)
            if not isinstance(name, str):
                raise AnswerError(NO_ID, phrase("a second header") if "format" in plain else None)
            place = phrase("line {number}, {id}", number=number, id=quote_value(name))
            if name not in self._wanted:
                raise AnswerError(UNKNOWN)
            self._keep(name, number, plain)
        except AnswerError as flaw:
            self._flaws.add(flaw.kind, _add_detail(place, flaw.detail))

    def _keep(self, name: str, number: int, plain: dict[str, Any]) -> None:
        request = self._wanted[name]
        # A flawed answer still counts as one, so the request is not reported as missing.
        earlier = self._lines.setdefault(name, number)
        answer = read_answer(request, plain)
        if earlier != number:
            if self._found.get(request) == answer:
                raise AnswerError(TWICE, phrase("the same in line {number}", number=earlier))
            raise AnswerError(TWICE, phrase("differently in line {number}", number=earlier))
        if isinstance(answer, TagAnswer) and self._header.labels is not None:
            for _, _, label in answer.entities:
                if label not in self._header.labels:
                    reason = phrase(
                        "{label} is not one of the header's labels", label=quote_value(label)
                    )
                    raise AnswerError(WRONG, reason)
        self._found[request] = answer

    def finish(self, path: Path) -> dict[Request, Answer]:
        """The answers, or an error that lists the flaws."""
        for name in self._wanted:
            if name not in self._lines:
                self._flaws.add(MISSING, name)
        silent = [
            request
            for request, answer in self._found.items()
            if isinstance(answer, FillAnswer) and answer.first is None
        ]
        if len(silent) < len(self._found):
            # A single answer without a first choice would make a test treat the model as one without
            # first choices.
            for request in silent:
                self._flaws.add(NO_CHOICE, request_id(request))
        if self._flaws:
            raise UserError(
                "{path} cannot be used, so nothing was scored. {flaws} Correct the file; if answers and "
                "requests do not match, write the requests with the same test, protocol, data and "
                "options as you score with.",
                path=str(path),
                flaws=self._flaws.message,
            )
        return self._found


def _add_detail(place: Message, detail: Message | str | None) -> Message:
    if detail is None:
        return place
    return phrase("{place}: {reason}", place=place, reason=detail)
