"""A scripted server that keeps strictly to the protocol, or to one corner of it."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass, field
from typing import Any

from endpoint_server import Script

#: The fields of a chat request that the protocol defines and strict servers accept.
KNOWN = frozenset(
    {
        *(
            "model",
            "messages",
            "max_tokens",
            "max_completion_tokens",
            "temperature",
            "top_p",
            "seed",
        ),
        *("logprobs", "top_logprobs", "response_format", "stream", "stream_options", "n", "stop"),
    }
)


@dataclass
class StrictScript(Script):
    """A server with manners: each is one way in which real servers differ from the usual."""

    manners: frozenset[str] = frozenset()
    most_a_second: int = 0
    alias: str = "m-2026-11-01"
    _times: list[float] = field(default_factory=list)

    def respond(self, path: str, body: dict[str, Any] | None) -> tuple[int, Any]:
        """The usual answer, in the server's own manner."""
        route = path[len(self.root) :]
        if body is None and route.startswith("/models"):
            return self._list_models(route)
        if self.most_a_second and not self._has_time():
            return 429, {"error": {"message": "too many requests", "code": "rate_limit"}}
        if body is not None and (fault := self._find_fault(route, body)):
            return fault
        status, plain = super().respond(path, body)
        if status == 404 and "failing routes" in self.manners:
            return 500, {"error": {"message": "internal error"}}
        if status == 404 and "no backend" in self.manners:
            return 503, {"error": {"message": "no backend for this route"}}
        if status == 404 and "forbidden routes" in self.manners:
            return 403, {"error": {"message": "not for you"}}
        if status == 200 and route == "/chat/completions":
            assert body is not None
            plain = self._dress(plain, body)
        return status, plain

    def _list_models(self, route: str) -> tuple[int, Any]:
        if "no list" in self.manners:
            return 404, {"error": {"message": "Not Found"}}
        if "bare list" in self.manners:
            return 200, [{"id": "m"}]
        if "null list" in self.manners:
            return 200, {"object": "list", "data": None}
        if "pages" in self.manners:
            if route == "/models/m":
                return 200, {"id": "m", "object": "model"}
            return 200, {"object": "list", "data": [{"id": "a"}, {"id": "b"}], "has_more": True}
        return super().respond(self.root + route, None)

    def _has_time(self) -> bool:
        now = time.monotonic()
        with self._lock:
            self._times = [one for one in self._times if now - one < 1]
            if len(self._times) >= self.most_a_second:
                return False
            self._times.append(now)
            return True

    def _find_fault(self, route: str, body: dict[str, Any]) -> tuple[int, Any] | None:
        if "no completions" in self.manners and route == "/completions":
            return 404, {"error": {"message": "This is a chat model"}}
        if route != "/chat/completions":
            return None
        unknown = sorted(set(body) - KNOWN)
        if "known fields" in self.manners and unknown:
            where = {"type": "extra_forbidden", "loc": ["body", unknown[0]], "msg": "not permitted"}
            return 422, {"detail": [where]}
        for manner, name in (
            ("max_completion_tokens", "max_tokens"),
            ("no log-probabilities", "logprobs"),
            ("no seed", "seed"),
        ):
            if manner in self.manners and name in body:
                return 400, {"error": {"message": f"Unsupported parameter: {name}"}}
        if "temperature 1" in self.manners and body.get("temperature", 1) != 1:
            return 400, {"error": {"message": "Unsupported value: temperature"}}
        if "top 5" in self.manners and body.get("top_logprobs", 0) > 5:
            return 400, {"error": {"message": "top_logprobs must be at most 5"}}
        if self.manners & {"streams", "streams alone"} and not body.get("stream"):
            return 400, {"error": {"message": "only streams are supported"}}
        if "streams alone" in self.manners and "stream_options" in body:
            return 400, {"error": {"message": "Unsupported parameter: stream_options"}}
        roles = [message["role"] for message in body["messages"]]
        if "no system" in self.manners and "system" in roles:
            return 400, {"error": {"message": "System role not supported"}}
        return None

    def _dress(self, plain: dict[str, Any], body: dict[str, Any]) -> Any:
        choice = plain["choices"][0]
        message = choice["message"]
        if "alias" in self.manners:
            plain["model"] = self.alias
        if "no usage" in self.manners:
            del plain["usage"]
        if "null error" in self.manners:
            plain["error"] = None
        if "thoughts apart" in self.manners:
            message["reasoning_content"] = "Hun? Eller er det han? Hun eller han."
        if "hidden thoughts" in self.manners:
            limit = body.get("max_tokens", body.get("max_completion_tokens", 0))
            if limit < 1000:
                message["content"], choice["finish_reason"] = None, "length"
                choice.pop("logprobs", None)
        if "parts" in self.manners:
            message["content"] = [{"type": "text", "text": message["content"]}]
        if "several choices" in self.manners:
            other = {"index": 1, "message": {"content": "noget andet"}, "finish_reason": "stop"}
            plain["choices"] = [other, choice]
        if body.get("stream"):
            return self._stream(plain, choice)
        return plain

    def _stream(self, plain: dict[str, Any], choice: dict[str, Any]) -> str:
        """The same answer, letter by letter."""
        events: list[dict[str, Any]] = [
            {"model": plain["model"], "choices": [{"index": 0, "delta": {"role": "assistant"}}]}
        ]
        events += [
            {"choices": [{"index": 0, "delta": {"content": letter}}]}
            for letter in choice["message"]["content"]
        ]
        last = {"index": 0, "delta": {}, "finish_reason": choice["finish_reason"]}
        events.append({"choices": [{**last, "logprobs": choice.get("logprobs")}]})
        events.append({"choices": [], "usage": plain.get("usage")})
        lines = [f"data: {json.dumps(event)}\n\n" for event in events]
        return ": hello\n\n" + "".join(lines) + "data: [DONE]\n\n"
