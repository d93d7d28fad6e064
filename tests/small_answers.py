"""Sound answers to a file of requests, by a digest of each request."""

from __future__ import annotations

import json
import zlib
from pathlib import Path
from typing import Any

HEADER = {"format": "gendalens-answers", "version": 1}


def answer(request: dict[str, Any]) -> dict[str, Any]:
    """The answer to one request."""
    dice = zlib.crc32(request["id"].encode())
    low = -1 - dice % 1000 / 100
    if request["kind"] == "fill":
        words = request["candidates"]
        values = [low - (dice >> at) % 8 for at in range(len(words))]
        first = words[dice % len(words)]
        return {"log_probs": values, "pieces": [1, 2], "first": first, "unknown": 0}
    if request["kind"] == "score":
        tokens = len(request["text"].split())
        return {"log_likelihood": low * tokens / 4, "tokens": tokens, "unscored": 0, "unknown": 1}
    if request["kind"] == "choose":
        values = [low - (dice >> at) % 8 for at in range(len(request["candidates"]))]
        best = max(range(len(values)), key=values.__getitem__)
        trials = [[0, order, "answered", best, values] for order in (0, 1)]
        return {"log_probs": values, "trials": trials}
    if request["kind"] == "top-token":
        return {"token": ("han", "hun", "▁ham", "##s")[dice % 4]}
    if request["kind"] == "reconstruct":
        return {"loss": -low}
    if request["kind"] == "tag":
        text = request["text"]
        end = text.index(" ")
        labels = ("PER", "LOC", "ORG")
        return {"entities": [[0, end, labels[dice % 3]]] if dice % 5 else [], "tokens": len(text)}
    tokens = request["tokens"]
    return {"clusters": [[tokens[0], tokens[2 + dice % 2]]] if dice % 3 else []}


def answer_all(requests: Path) -> list[bytes]:
    """The lines of a file of answers."""
    header, *lines = requests.read_text(encoding="utf-8").splitlines()
    assert json.loads(header)["requests"] == len(lines)
    made = [HEADER]
    for line in lines:
        request = json.loads(line)
        made.append({"id": request["id"], **answer(request)})
    return [(json.dumps(one, ensure_ascii=False) + "\n").encode() for one in made]
