"""A scripted server on the loopback that speaks the OpenAI protocol, with a planted mind and faults."""

from __future__ import annotations

import hashlib
import json
import math
import random
import re
import socket
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

REFUSAL = "Beklager, det kan jeg ikke svare på."
_FILLERS = [f"§{index}" for index in range(30)]
#: What the probe asks, and what a plain model says.
_PLAIN = {"Svar kun med ordet ja.": "ja", "Skriv kun tallet 7 og ikke andet.": "7"}


@dataclass
class Script:
    """What the server can do, what it has in mind, and which faults it shows.

    ``minds`` are the log-probabilities of the options by prompt; ``texts`` what it writes; ``scores`` the
    log-likelihood of texts. ``faults`` are shown to the n-th question after ``start_counting``.
    ``rejects`` are fields that it answers with status 400; all others that it does not know it ignores.
    """

    models: tuple[str, ...] = ("m",)
    root: str = "/v1"
    minds: dict[str, dict[str, float]] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)
    scores: dict[str, float] = field(default_factory=dict)
    likelihoods: str = ""
    constant_likelihoods: bool = False
    decision_route: str = ""
    top_logprobs: int = 0
    constant_logprobs: bool = False
    constraints: tuple[str, ...] = ()
    splits_words: bool = False
    rejects: tuple[str, ...] = ()
    key: str = ""
    html: bool = False
    repeats_headers: bool = False
    redirect: str = ""
    empty: bool = False
    thinks: bool = False
    context: int = 0
    delay: float = 0.0
    faults: dict[int, str] = field(default_factory=dict)
    changes_model_after: int = 0
    seen: Counter[str] = field(default_factory=Counter)
    answered: Counter[str] = field(default_factory=Counter)
    headers: list[dict[str, str]] = field(default_factory=list)
    most_at_once: int = 0
    counting: bool = False
    _number: int = 0
    _at_once: int = 0
    _lock: Any = field(default_factory=threading.Lock)

    def start_counting(self) -> None:
        """Forget the probe's questions."""
        self.counting = True
        self._number = 0
        self.seen.clear()
        self.answered.clear()

    @property
    def model(self) -> str:
        """The model that is served now."""
        if self.changes_model_after and self._number > self.changes_model_after:
            return "another"
        return self.models[0]

    def respond(self, path: str, body: dict[str, Any] | None) -> tuple[int, Any]:
        """Status and plain answer; a text is sent as it is."""
        if self.html:
            return 200, "<html><body>Welcome</body></html>"
        if not path.startswith(self.root):
            return 404, {"error": {"message": "Not Found"}}
        route = path[len(self.root) :]
        if route == "/models":
            names = self.models if self.model != "another" else ("another",)
            return 200, {
                "data": [
                    {"id": name, "owned_by": "script", "created": time.time()} for name in names
                ]
            }
        if body is None:
            return 404, {"error": {"message": "Not Found"}}
        for name in self.rejects:
            if name in body:
                return 400, {"error": {"message": f"unsupported field {name}"}}
        if route == "/chat/completions":
            return self._chat(body)
        if route == "/completions":
            return self._complete(body)
        if self.decision_route and route == self.decision_route:
            return self._decide(route, body)
        return 404, {"error": {"message": "Not Found"}}

    def _chat(self, body: dict[str, Any]) -> tuple[int, Any]:
        prompt = body["messages"][-1]["content"]
        if self.context and len(prompt) > self.context:
            return 400, {"error": {"message": "the request exceeds the available context size"}}
        mind = self.minds.get(prompt)
        text = self._write(prompt, mind, body)
        limit = body.get("max_tokens", body.get("max_completion_tokens", 1000))
        reason = "stop"
        if len(text) > 8 * limit:
            text, reason = text[: 8 * limit], "length"
        if self.empty:
            text = ""
        choice: dict[str, Any] = {"index": 0, "finish_reason": reason}
        choice["message"] = {
            "role": "assistant",
            "content": f"<think>Hmm.</think>{text}" if self.thinks else text,
        }
        if self.top_logprobs and body.get("logprobs"):
            count = min(self.top_logprobs, body.get("top_logprobs", 0))
            choice["logprobs"] = {"content": self._list_places(prompt, mind, text, count)}
        return 200, {
            "model": self.model,
            "choices": [choice],
            "usage": {"prompt_tokens": len(prompt) // 3, "completion_tokens": 1 + len(text) // 4},
        }

    def _write(self, prompt: str, mind: Mapping[str, float] | None, body: dict[str, Any]) -> str:
        allowed = self._read_constraint(body)
        if allowed is not None and mind is None:
            return allowed[1].replace("@", allowed[0][0])
        if mind is not None:
            chosen = max(mind, key=lambda one: mind[one])
            if body.get("temperature"):
                seed = f"{prompt}#{body.get('seed')}"
                weights = [math.exp(value) for value in mind.values()]
                chosen = random.Random(seed).choices(list(mind), weights)[0]
            return allowed[1].replace("@", chosen) if allowed is not None else chosen
        if "json_schema" in self.constraints and "response_format" in body:
            schema = body["response_format"]["json_schema"]["schema"]
            return self.texts.get(prompt) or json.dumps(dict.fromkeys(schema["required"], 1))
        return self.texts.get(prompt) or _PLAIN.get(prompt, "En kat sover.")

    def _read_constraint(self, body: dict[str, Any]) -> tuple[list[str], str] | None:
        """The options that are allowed, and the form of the answer with @ for the option."""
        if "structured_outputs" in self.constraints and "structured_outputs" in body:
            return body["structured_outputs"]["choice"], "@"
        if "guided_choice" in self.constraints and "guided_choice" in body:
            return body["guided_choice"], "@"
        if "grammar" in self.constraints and "grammar" in body:
            return re.findall(r'"([^"]+)"', body["grammar"]), "@"
        if "json_schema" in self.constraints and "response_format" in body:
            properties = body["response_format"]["json_schema"]["schema"]["properties"]
            if "enum" in (answer := properties.get("svar", {})):
                return answer["enum"], '{"svar": "@"}'
        return None

    def _list_places(
        self, prompt: str, mind: Mapping[str, float] | None, text: str, count: int
    ) -> list[dict[str, Any]]:
        first = dict(mind) if mind is not None else {text: -0.1}
        if self.constant_logprobs:
            first = {"ja": -0.1, "nej": -3.0}
        if mind is not None and self.splits_words and not self.constant_logprobs:
            whole = first
            first = {}
            for option, value in whole.items():
                first[option[0]] = math.log(math.exp(first.get(option[0], -99.0)) + math.exp(value))
            begun = {o[1:]: v - first[o[0]] for o, v in whole.items() if o[0] == text[0]}
            return [_list_place(text[0], first, count), _list_place(text[1:], begun, count)]
        token = "ja" if self.constant_logprobs else text
        return [_list_place(token, first, count)]

    def _complete(self, body: dict[str, Any]) -> tuple[int, Any]:
        prompt = body["prompt"]
        tokens = re.findall(r"\s*\S+|\s+$", prompt)
        values: list[float | None] = []
        for index, token in enumerate(tokens):
            seen = token.strip() in (one.strip() for one in tokens[:index])
            values.append(-0.1 if seen else -6.0 - index / 100)
        if self.constant_likelihoods:
            values = [-1.0] * len(tokens)
        if prompt in self.scores:
            values = [self.scores[prompt] / len(tokens)] * len(tokens)
        choice: dict[str, Any] = {
            "index": 0,
            "text": " og",
            "finish_reason": "length",
            "logprobs": None,
        }
        if self.likelihoods == "echo" and body.get("echo") and "logprobs" in body:
            choice["text"] = prompt + " og"
            choice["logprobs"] = {
                "tokens": ["<s>", *tokens, " og"],
                "token_logprobs": [None, *values, -1.0],
            }
        if self.likelihoods == "prompt_logprobs" and "prompt_logprobs" in body:
            listed: list[Any] = [None]
            for token, value in zip(tokens, values, strict=True):
                listed.append({"7": {"logprob": value, "rank": 1, "decoded_token": token}})
            choice["prompt_logprobs"] = listed
        return 200, {
            "model": self.model,
            "choices": [choice],
            "usage": {"prompt_tokens": len(tokens), "completion_tokens": 1},
        }

    def _decide(self, route: str, body: dict[str, Any]) -> tuple[int, Any]:
        named = body["questions"]
        if route == "/decisions":
            named = {one["name"]: one for one in named}
        answers = {}
        for name, question in named.items():
            options = question.get("criteria") or [one["value"] for one in question["choices"]]
            mind = self.minds.get(question["instructions"])
            if mind is None:
                mind = {
                    o: (-0.1 if f"er {o}" in question["instructions"] else -2.3) for o in options
                }
            if REFUSAL in mind:
                if route == "/decisions":
                    answers[name] = {"type": "refusal", "name": name}
                continue
            total = math.fsum(math.exp(mind[option]) for option in options)
            found = {option: math.exp(mind[option]) / total for option in options}
            shown: Any = found
            if route == "/decisions":
                shown = [{"value": one, "probability": value} for one, value in found.items()]
            answers[name] = {"type": "choice", "name": name, "probabilities": shown}
        plain: Any = answers if route == "/systemone" else list(answers.values())
        return 200, {
            "model": self.model,
            "answers": plain,
            "usage": {"input_tokens": 9, "output_tokens": 0},
        }


def _list_place(token: str, mind: Mapping[str, float], count: int) -> dict[str, Any]:
    top = sorted(mind.items(), key=lambda one: -one[1])
    top += [(filler, -14.0 - index) for index, filler in enumerate(_FILLERS)]
    listed = [{"token": one, "logprob": value} for one, value in top[:count]]
    return {"token": token, "logprob": mind.get(token, -0.1), "top_logprobs": listed}


def _make_handler(script: Script) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def log_message(self, *args: Any) -> None:
            """Say nothing."""

        def do_GET(self) -> None:
            self._serve(None)

        def do_POST(self) -> None:
            raw = self.rfile.read(int(self.headers.get("content-length", 0)))
            self._serve(json.loads(raw), raw)

        def _serve(self, body: dict[str, Any] | None, raw: bytes = b"") -> None:
            question = f"{self.path} {hashlib.sha256(raw).hexdigest()}" if raw else self.path
            with script._lock:
                script.headers.append({name.lower(): value for name, value in self.headers.items()})
                script._number += bool(raw)
                script.seen[question] += 1
                script._at_once += 1
                script.most_at_once = max(script.most_at_once, script._at_once)
                fault = script.faults.get(script._number, "") if raw and script.counting else ""
            try:
                if script.delay:
                    time.sleep(script.delay)
                if script.redirect:
                    self._send(307, {}, {"location": script.redirect})
                elif script.key and self.headers.get("authorization") != f"Bearer {script.key}":
                    self._send(
                        401,
                        {"error": {"message": f"wrong key {self.headers.get('authorization')}"}},
                    )
                elif fault == "drop":
                    self.close_connection = True
                    self.connection.shutdown(socket.SHUT_RDWR)
                elif fault == "timeout":
                    time.sleep(2.5)
                    self.close_connection = True
                elif fault:
                    self._send(int(fault), {"error": {"message": "busy"}}, {"retry-after": "0.05"})
                else:
                    status, plain = script.respond(self.path, body)
                    if script.repeats_headers:
                        plain = {**plain, "seen": dict(self.headers.items())}
                        if status == 400:
                            plain = {"error": {"message": f"not with {plain['seen']}"}}
                    self._send(status, plain)
                    if status == 200:
                        with script._lock:
                            script.answered[question] += 1
            finally:
                with script._lock:
                    script._at_once -= 1

        def _send(self, status: int, plain: Any, headers: Mapping[str, str] | None = None) -> None:
            data = plain.encode() if isinstance(plain, str) else json.dumps(plain).encode()
            self.send_response(status)
            for name, value in (headers or {}).items():
                self.send_header(name, value)
            self.send_header(
                "content-type", "text/html" if isinstance(plain, str) else "application/json"
            )
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

    return Handler


@contextmanager
def serve(script: Script) -> Iterator[str]:
    """Run the server; gives its address, ``/v1`` included."""
    ThreadingHTTPServer.request_queue_size = 128
    server = ThreadingHTTPServer(("127.0.0.1", 0), _make_handler(script))
    server.daemon_threads = True
    thread = threading.Thread(
        target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True
    )
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}{script.root}"
    finally:
        server.shutdown()
        server.server_close()
