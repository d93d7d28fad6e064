"""Responses that come as server-sent events, put together as one."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from gendalens.models.endpoint.plain import read_dict, read_json, read_list

_END = "[DONE]"
# Only these end a line of events; JSON may hold others, such as U+2028, as they are.
_LINE_END = re.compile(r"\r\n|\n|\r")


def is_stream(text: str) -> bool:
    """Whether a text begins as a stream of events does, with a field or a comment."""
    return text.lstrip().startswith(("data:", "event:", "id:", "retry:", ":"))


def join_events(text: str) -> dict[str, Any] | None:
    """The chat completion that a stream of events spells out; None if the text is no such stream."""
    whole: dict[str, Any] = {}
    choice: dict[str, Any] = {"index": 0, "message": {"role": "assistant", "content": ""}}
    message = choice["message"]
    log_probs: list[Any] = []
    has_ended = False
    for data in _list_data(text):
        if data.strip() == _END:
            has_ended = True
            continue
        event = read_json(data)
        if not isinstance(event, dict):
            return None
        whole |= {key: value for key, value in event.items() if key != "choices" and value}
        for one in map(read_dict, read_list(event.get("choices"))):
            if one.get("index", 0) != 0:
                continue
            for key, value in read_dict(one.get("delta")).items():
                if isinstance(value, str) and key != "role":
                    message[key] = message.get(key, "") + value
            log_probs += read_list(read_dict(one.get("logprobs")).get("content"))
            choice["finish_reason"] = one.get("finish_reason") or choice.get("finish_reason")
    if not whole or not (has_ended or choice.get("finish_reason") or "error" in whole):
        return None  # no stream, or one that broke off
    if log_probs:
        choice["logprobs"] = {"content": log_probs}
    return {**whole, "choices": [choice]}


def _list_data(text: str) -> Iterator[str]:
    """The data of each event: its lines together, unless each is JSON of its own."""
    lines: list[str] = []
    for line in (*_LINE_END.split(text), ""):
        name, _, data = line.partition(":")
        if name == "data":
            lines.append(data.removeprefix(" "))
        elif not line and lines:
            whole = "\n".join(lines)
            yield from lines if read_json(whole) is None else [whole]
            lines = []
