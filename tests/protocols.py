"""Servers that check every field of a request by type and range, as the makers of each kind document it.

What a request does wrong is answered as that kind of server does, and written down.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from strict_server import StrictScript

Check = Callable[[Any], bool]
_ROLES = {"developer", "system", "user", "assistant", "tool"}
_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")


def _is_whole(low: int, high: int) -> Check:
    return lambda value: type(value) is int and low <= value <= high


def _is_number(low: float, high: float) -> Check:
    return lambda value: type(value) in (int, float) and low <= value <= high


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _is_switch(value: Any) -> bool:
    return isinstance(value, bool)


def _are_distinct(values: Sequence[Any]) -> bool:
    return len(values) >= 2 and len(set(values)) == len(values) and all(map(_is_text, values))


def _are_messages(value: Any) -> bool:
    return value[-1]["role"] == "user" and all(
        set(one) == {"role", "content"} and one["role"] in _ROLES and _is_text(one["content"])
        for one in value
    )


def _is_strict_schema(schema: Any) -> bool:
    """Whether it is in the part of JSON Schema that OpenAI's strict mode takes."""
    if schema["type"] == "object":
        return (
            set(schema) == {"type", "properties", "required", "additionalProperties"}
            and schema["additionalProperties"] is False
            and sorted(schema["required"]) == sorted(schema["properties"])
            and all(map(_is_strict_schema, schema["properties"].values()))
        )
    if schema["type"] == "array":
        return set(schema) == {"type", "items"} and _is_strict_schema(schema["items"])
    return schema["type"] in ("string", "integer") and set(schema) <= {"type", "enum"}


def _is_format(value: Any) -> bool:
    inner = value["json_schema"]
    return (
        set(value) == {"type", "json_schema"}
        and value["type"] == "json_schema"
        and set(inner) == {"name", "strict", "schema"}
        and bool(_NAME.fullmatch(inner["name"]))
        and _is_switch(inner["strict"])
        and _is_strict_schema(inner["schema"])
    )


#: By OpenAI's reference: what each field of a chat request may be.
CHAT: Mapping[str, Check] = {
    "model": _is_text,
    "messages": _are_messages,
    "max_tokens": _is_whole(1, 8192),
    "max_completion_tokens": _is_whole(1, 8192),
    "temperature": _is_number(0, 2),
    "top_p": _is_number(0, 1),
    "seed": _is_whole(-(2**63), 2**63 - 1),
    "logprobs": _is_switch,
    "top_logprobs": _is_whole(0, 20),
    "response_format": _is_format,
    "stream": _is_switch,
    "stream_options": lambda value: value == {"include_usage": True},
}
COMPLETIONS: Mapping[str, Check] = {
    "model": _is_text,
    "prompt": _is_text,
    "max_tokens": _is_whole(1, 8192),
    "temperature": _is_number(0, 2),
    "echo": _is_switch,
    "logprobs": _is_whole(0, 5),
}
_VLLM: Mapping[str, Check] = {
    **CHAT,
    "top_k": _is_whole(-1, 10**6),
    "min_p": _is_number(0, 1),
    "structured_outputs": lambda value: set(value) == {"choice"} and _are_distinct(value["choice"]),
}


@dataclass(frozen=True, kw_only=True)
class Protocol:
    """What a kind of server accepts; ``offers`` are options of the script."""

    offers: Mapping[str, Any]
    chat: Mapping[str, Check] = field(default_factory=lambda: CHAT)
    completions: Mapping[str, Check] = field(default_factory=dict)
    ignores_unknown: bool = False
    without: frozenset[str] = frozenset()
    unknown_status: int = 400
    unknown_route: tuple[int, Any] = (404, {"error": {"message": "Not Found", "code": None}})
    fewest_tokens: int = 1
    only_temperature: int | None = None
    filters_by_one: bool = False


PROTOCOLS = {
    "OpenAI": Protocol(offers={"top_logprobs": 20, "constraints": ("json_schema",)}),
    "OpenAI, a model that thinks": Protocol(
        offers={"constraints": ("json_schema",)},
        without=frozenset({"max_tokens", "logprobs", "top_logprobs"}),
        only_temperature=1,
    ),
    "OpenAI, decisions": Protocol(offers={"decision_route": "/decisions"}),
    "OpenAI on Azure": Protocol(offers={"top_logprobs": 20}, fewest_tokens=16),
    "Anthropic": Protocol(offers={}, ignores_unknown=True, filters_by_one=True),
    "Mistral": Protocol(
        offers={"constraints": ("json_schema",)},
        without=frozenset({"seed", "logprobs", "top_logprobs"}),
        unknown_status=422,
    ),
    "vLLM": Protocol(
        offers={"likelihoods": "prompt_logprobs"},
        chat=_VLLM,
        completions={**COMPLETIONS, "prompt_logprobs": _is_whole(-1, 20)},
        ignores_unknown=True,
    ),
    "vLLM, chat": Protocol(
        offers={"constraints": ("structured_outputs",)}, chat=_VLLM, ignores_unknown=True
    ),
    "LM Studio": Protocol(
        offers={"constraints": ("json_schema",)},
        ignores_unknown=True,
        unknown_route=(200, {"error": "Unexpected endpoint or method."}),
    ),
    "transformers serve": Protocol(offers={"decision_route": "/systemone"}, unknown_status=422),
}


class ProtocolScript(StrictScript):
    """A server that keeps to a protocol; ``wrong`` is what requests did wrong."""

    def __init__(self, protocol: Protocol, **options: Any) -> None:
        super().__init__(**protocol.offers, **options)
        self.protocol = protocol
        self.wrong: list[str] = []

    def respond(self, path: str, body: dict[str, Any] | None) -> tuple[int, Any]:
        """The usual answer to a request without any fault."""
        if body is None:
            return super().respond(path, body)
        route = path.removeprefix(self.root)
        try:
            wrong = self._find_wrong(route, body)
        except (KeyError, TypeError, IndexError) as error:
            wrong = 400, {"error": {"message": f"malformed: {error!r}"}}
        if wrong is None:
            return super().respond(path, body)
        self.wrong.append(f"{route}: {wrong}")
        return wrong

    def _find_wrong(self, route: str, body: dict[str, Any]) -> tuple[int, Any] | None:
        protocol = self.protocol
        if route == self.decision_route:
            return None if _is_decision(route, body) else (422, {"detail": "malformed"})
        known = {"/chat/completions": protocol.chat, "/completions": protocol.completions}
        if not known.get(route):
            return protocol.unknown_route
        message = next(self._list_mistakes(known[route], body), "")
        if not message:
            return None
        status = protocol.unknown_status if message.startswith("unknown") else 400
        return status, {"error": {"message": message, "type": "invalid_request_error"}}

    def _list_mistakes(self, known: Mapping[str, Check], body: dict[str, Any]) -> Any:
        protocol = self.protocol
        for name, value in body.items():
            if name in protocol.without or name not in known:
                if not protocol.ignores_unknown:
                    yield f"unknown field {name}"
            elif not known[name](value):
                yield f"invalid {name}: {value!r}"
        limits = [body[name] for name in ("max_tokens", "max_completion_tokens") if name in body]
        if len(limits) != 1:
            yield "not one limit"
        if limits and min(limits) < protocol.fewest_tokens:
            yield f"at least {protocol.fewest_tokens} tokens"
        if "top_logprobs" in body and body.get("logprobs") is not True:
            yield "top_logprobs without logprobs"
        if "stream_options" in body and not body.get("stream"):
            yield "stream_options without stream"
        if body.get("temperature", protocol.only_temperature) != (
            protocol.only_temperature
            if protocol.only_temperature is not None
            else body.get("temperature")
        ):
            yield "another temperature"
        if protocol.filters_by_one and {"temperature", "top_p"} <= set(body):
            yield "temperature and top_p together"


def _is_decision(route: str, body: dict[str, Any]) -> bool:
    """Whether a request is one by the schema of its route, without a field too many."""
    questions = body["questions"]
    if route == "/systemone":  # transformers 5.22
        return (
            set(body) == {"model", "state", "questions"}
            and _is_text(body["state"])
            and 1 <= len(questions) <= 64
            and all(
                set(one) == {"type", "instructions", "criteria"}
                and one["type"] == "choice"
                and _is_text(one["instructions"])
                and len(one["criteria"]) <= 26
                and set(one["criteria"].values()) == {None}
                for one in questions.values()
            )
        )
    return (  # the OpenAI SDK 3.51
        set(body) == {"model", "input", "questions"}
        and _is_text(body["input"])
        and 1 <= len(questions) <= 400
        and len({one["name"] for one in questions}) == len(questions)
        and all(
            set(one) == {"type", "name", "instructions", "choices"}
            and one["type"] == "choice"
            and _is_text(one["instructions"])
            and all(set(choice) == {"value"} for choice in one["choices"])
            and _are_distinct([choice["value"] for choice in one["choices"]])
            for one in questions
        )
    )


def check_headers(headers: Mapping[str, str], key: str) -> None:
    """Every request says what it brings and takes, and nothing else about the user."""
    assert headers["accept"] == "application/json"
    assert ("content-type" in headers) == ("content-length" in headers)
    assert headers.get("content-type", "application/json") == "application/json"
    assert headers["authorization"] == f"Bearer {key}"
    assert set(headers) <= {
        *("host", "user-agent", "accept", "accept-encoding", "connection"),
        *("content-type", "content-length", "authorization"),
    }
