"""The format of prediction files: one JSON object per line, the first one a header.

``requests.schema.json`` and ``answers.schema.json`` beside this file describe it for programs,
docs/prediction-files.md for people.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, astuple
from typing import Any

from gendalens.models.division import Shard, divide
from gendalens.models.requests import Request
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
    shard: Shard | None = None,
) -> Iterator[str]:
    """The lines of a request file: the header, then each distinct request (of the shard) once."""
    distinct = list(dict.fromkeys(requests))
    if shard is not None:
        distinct = _take_shard(distinct, shard)
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
        **({} if shard is None else {"shard": str(shard)}),
    }
    yield _format_line(header)
    yield from map(_format_request, distinct)


def _take_shard(requests: Sequence[Request], shard: Shard) -> list[Request]:
    """Neighbouring requests, of about as much text as the other shards have."""
    parts = divide([len(_format_request(request)) for request in requests], shard.count)
    return [
        request for request, part in zip(requests, parts, strict=True) if part == shard.number - 1
    ]


def _format_request(request: Request) -> str:
    return _format_line({"id": request_id(request), "kind": request.kind, **asdict(request)})


def _format_line(plain: Mapping[str, Any]) -> str:
    return json.dumps(plain, ensure_ascii=False) + "\n"
