"""Responses that come as server-sent events, put together as one."""

from __future__ import annotations

import json
from typing import Any

_END = "[DONE]"


def join_events(text: str) -> dict[str, Any] | None:
    """The chat completion that a stream of events spells out; None if the text is no such stream."""
    whole: dict[str, Any] = {}
    choice: dict[str, Any] = {"index": 0, "message": {"role": "assistant", "content": ""}}
    message = choice["message"]
    log_probs: list[Any] = []
    has_ended = False
    for line in text.splitlines():
        name, _, data = line.partition(":")
        if name != "data":
            continue
        if data.strip() == _END:
            has_ended = True
            continue
        try:
            event = json.loads(data)
        except (ValueError, RecursionError):
            return None
        if not isinstance(event, dict):
            return None
        whole |= {key: value for key, value in event.items() if key != "choices" and value}
        for one in event.get("choices") or ():
            if not isinstance(one, dict) or one.get("index", 0) != 0:
                continue
            for key, value in (one.get("delta") or {}).items():
                if isinstance(value, str) and key != "role":
                    message[key] = message.get(key, "") + value
            log_probs += (one.get("logprobs") or {}).get("content") or []
            choice["finish_reason"] = one.get("finish_reason") or choice.get("finish_reason")
    if not whole or not (has_ended or choice.get("finish_reason") or "error" in whole):
        return None  # no stream, or one that broke off
    if log_probs:
        choice["logprobs"] = {"content": log_probs}
    return {**whole, "choices": [choice]}
