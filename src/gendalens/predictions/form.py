"""The format of prediction files: one JSON object per line, the first one a header.

``requests.schema.json`` and ``answers.schema.json`` beside this file describe it for programs,
docs/prediction-files.md for people.
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
#: The version of both formats; it changes whenever an older file could be misread.
VERSION = 1

ANSWERS_HEADER = json.dumps({"format": ANSWERS, "version": VERSION})


def request_id(request: Request) -> str:
    """The kind and digest of a request, so that no answer can be matched to the wrong request."""
    text = json.dumps([VERSION, request.kind, *astuple(request)], ensure_ascii=False)
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    return f"{request.kind}:{digest[:32]}"


def format_requests(
    card: Card,
    data: Mapping[str, Mapping[str, str]],
    requests: Iterable[Request],
    *,
    seed: int,
    sample: int | None,
    settings: Mapping[str, str],
) -> Iterator[str]:
    """The lines of a request file: the header, then each distinct request once."""
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
    yield _format_line(header)
    for request in distinct:
        yield _format_line({"id": request_id(request), "kind": request.kind, **asdict(request)})


def _format_line(plain: Mapping[str, Any]) -> str:
    return json.dumps(plain, ensure_ascii=False) + "\n"
