"""The form of prediction files: one JSON object a line, the first one a header.

``requests.schema.json`` and ``answers.schema.json`` beside this file say the same to other programs;
docs/prediction-files.md says it to people.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, astuple
from typing import Any

from gendalens.models.base import Request
from gendalens.tasks.base import Card
from gendalens.version import __version__

REQUESTS = "gendalens-requests"
ANSWERS = "gendalens-answers"
#: Of both forms: raised when a file of before could be read wrongly.
VERSION = 1

ANSWERS_HEADER = json.dumps({"format": ANSWERS, "version": VERSION})


def request_id(request: Request) -> str:
    """Kind and digest of what is asked: an answer cannot come to stand under another question."""
    text = json.dumps([VERSION, request.kind, *astuple(request)], ensure_ascii=False)
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    return f"{request.kind}:{digest[:32]}"


def lines(
    card: Card,
    data: Mapping[str, Mapping[str, str]],
    requests: Iterable[Request],
    *,
    seed: int,
    sample: int | None,
    settings: Mapping[str, str],
) -> Iterator[str]:
    """A file of requests: the header, then each distinct request once."""
    distinct = list(dict.fromkeys(requests))
    header = {
        "format": REQUESTS,
        "version": VERSION,
        "kinds": sorted({request.kind for request in distinct}),
        "task": card.name,
        "protocol": card.protocol,
        "data": data,
        "seed": seed,
        "sample": sample,
        "settings": settings,
        "requests": len(distinct),
        "gendalens": __version__,
    }
    yield _line(header)
    for request in distinct:
        yield _line({"id": request_id(request), "kind": request.kind, **asdict(request)})


def _line(plain: Mapping[str, Any]) -> str:
    return json.dumps(plain, ensure_ascii=False) + "\n"
