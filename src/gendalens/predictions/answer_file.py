"""Answers that were made elsewhere and come as a file: one more backend."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from gendalens.errors import UserError
from gendalens.models.base import Answer, FillAnswer, ModelInfo, Request, TagAnswer
from gendalens.predictions import answers, header
from gendalens.predictions.flaws import Flaws, LineError, shown
from gendalens.predictions.form import ANSWERS_HEADER, request_id
from gendalens.predictions.header import Header
from gendalens.predictions.reading import numbered_lines, parse

MISSING = "requests without an answer"
UNKNOWN = "answers to no request of this test"
TWICE = "requests answered twice"
NO_ID = "answers without an id"
NO_CHOICE = "answers without a first choice where others have one"


@dataclass(frozen=True, slots=True)
class Asked:
    """A request as a file answers it: it takes no work."""

    request: Request
    rows: int = 1
    length: int = 1
    positions: int = 1


class AnswerFile:
    """A backend whose answers to a test's requests lie in a file; all are checked as it is opened."""

    max_positions: ClassVar[int] = 1_000_000
    #: The file is the store.
    cacheable: ClassVar[bool] = False

    def __init__(
        self, path: Path, requests: Iterable[Request], *, name: str, revision: str = ""
    ) -> None:
        for what, text in (("--model-name", name), ("--revision", revision or "-")):
            if not text.strip() or not text.isprintable():
                raise UserError(f"{what} is “{shown(text)}”: it must hold printable signs.")
        self.name = name
        self.path = path
        wanted = {request_id(request): request for request in requests}
        self._header, self._answers, self._digest = _read(path, wanted)
        self._revision = revision
        self.answers = frozenset(request.kind for request in self._answers)

    @property
    def info(self) -> ModelInfo:
        """What the user says of the model, and that the answers came from this file."""
        file = f"answers sha256:{self._digest[:12]}"
        return ModelInfo(
            name=self.name,
            kind="model whose answers came from a file",
            revision=f"{self._revision} {file}".strip().replace("|", "_"),
            dtype="none",
            software=self._header.software,
        )

    @property
    def labels(self) -> tuple[str, ...] | None:
        """The types of entity the model knows: those the header names, else those it found."""
        if self._header.labels is not None or "tag" not in self.answers:
            return self._header.labels
        found = (answer for answer in self._answers.values() if isinstance(answer, TagAnswer))
        return tuple(sorted({label for answer in found for _, _, label in answer.entities}))

    def fingerprint(self) -> str:
        """The digest of the file."""
        return self._digest

    def encode(self, requests: Sequence[Request]) -> list[Asked]:
        """The requests as they are."""
        return [Asked(request) for request in requests]

    def answer(self, batch: Sequence[Asked]) -> list[Answer]:
        """What the file says."""
        return [self._answers[item.request] for item in batch]


def _read(path: Path, wanted: dict[str, Request]) -> tuple[Header, dict[Request, Answer], str]:
    """Header, answers and digest of a file that answers each wanted request once, soundly."""
    digest = hashlib.sha256()
    try:
        with path.open("rb") as file:
            lines = numbered_lines(file, digest.update)
            first = next(lines, None)
            if first is None:
                raise UserError(f"{path} is empty: its first line must be {ANSWERS_HEADER}.")
            said = _header(path, first[1])
            reader = _Reader(wanted, said)
            for number, line in lines:
                reader.take(number, line)
    except OSError as error:
        raise UserError(
            f"{path} cannot be read ({error.strerror or error}): name the file of answers."
        ) from None
    return said, reader.finished(path), digest.hexdigest()


def _header(path: Path, line: bytes) -> Header:
    try:
        plain: object = parse(line)
    except LineError:
        plain = None
    return header.read(path, plain)


class _Reader:
    """Takes lines, keeps the answers in them, and remembers what is wrong."""

    def __init__(self, wanted: dict[str, Request], said: Header) -> None:
        self._wanted = wanted
        self._said = said
        self._flaws = Flaws()
        self._lines: dict[str, int] = {}
        self._found: dict[Request, Answer] = {}

    def take(self, number: int, line: bytes) -> None:
        """One line behind the header."""
        place = f"line {number}"
        try:
            plain = parse(line)
            name = plain.pop("id", None)
            if not isinstance(name, str):
                raise LineError(NO_ID, "a second header" if "format" in plain else "")
            place = f"{place}, {shown(name)}"
            if name not in self._wanted:
                raise LineError(UNKNOWN)
            self._keep(name, number, plain)
        except LineError as flaw:
            self._flaws.add(flaw.kind, f"{place}: {flaw.detail}" if flaw.detail else place)

    def _keep(self, name: str, number: int, plain: dict[str, Any]) -> None:
        request = self._wanted[name]
        # Even a flawed answer is one: the request is then not missing.
        earlier = self._lines.setdefault(name, number)
        answer = answers.read(request, plain)
        if earlier != number:
            same = "the same" if self._found.get(request) == answer else "otherwise"
            raise LineError(TWICE, f"{same} in line {earlier}")
        if isinstance(answer, TagAnswer) and self._said.labels is not None:
            for _, _, label in answer.entities:
                if label not in self._said.labels:
                    raise LineError(answers.WRONG, f"{shown(label)} is none of the header's labels")
        self._found[request] = answer

    def finished(self, path: Path) -> dict[Request, Answer]:
        """The answers, if there is nothing wrong anywhere."""
        for name in self._wanted:
            if name not in self._lines:
                self._flaws.add(MISSING, name)
        silent = [
            request
            for request, answer in self._found.items()
            if isinstance(answer, FillAnswer) and answer.first is None
        ]
        if len(silent) < len(self._found):
            # A test takes a model for one without a choice of its own if one answer has none.
            for request in silent:
                self._flaws.add(NO_CHOICE, request_id(request))
        if self._flaws:
            raise UserError(
                f"{path} cannot be scored, and nothing was. {self._flaws} Mend the file; if "
                "answers and requests do not fit, write the requests with the same test, protocol, "
                "data and options as you score with."
            )
        return self._found
