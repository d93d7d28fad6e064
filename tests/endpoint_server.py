"""A scripted server on the loopback that speaks the OpenAI protocol, with a planted mind and faults."""

from __future__ import annotations

import base64
import hashlib
import json
import math
import random
import re
import socket
import ssl
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import quote, quote_plus

from gendalens.models.endpoint.option_tokens import _list_letters

REFUSAL = "Beklager, det kan jeg ikke svare på."
#: Faults that look like something else: status, answer and headers.
FAULTS: dict[str, tuple[int, Any, dict[str, str]]] = {
    "damaged": (200, "{}", {"content-encoding": "gzip"}),
    "hidden": (200, {"error": {"message": "upstream", "code": 502}}, {}),
    "failed": (
        200,
        {"model": "m", "choices": [{"index": 0, "finish_reason": "error", "message": {}}]},
        {},
    ),
    "empty": (200, {"model": "m", "choices": []}, {}),
    "numbered": (200, {"error": {"message": "slow down", "code": "429"}}, {}),
    "told": (200, {"error": "upstream timed out"}, {}),
    "nothing": (200, {"model": "m"}, {}),
    "void": (204, "", {}),
    "page": (503, "<html><head><title>503 Too Busy</title></head><body>nginx</body></html>", {}),
    "quota": (429, {"error": {"message": "no money", "code": "insufficient_quota"}}, {}),
}
_FILLERS = [f"x{index}" for index in range(30)]
#: How the vocabulary of a byte-level tokenizer writes bytes.
LETTERS = {byte: letter for letter, byte in _list_letters().items()}
#: What the probe asks, and what a plain model says.
_PLAIN = {"Svar kun med ordet ja.": "ja", "Skriv kun tallet 7 og ikke andet.": "7"}


def is_of_probe(body: dict[str, Any]) -> bool:
    """Whether a chat request is one of the probe's."""
    messages = body.get("messages") or [{}]
    return messages[-1].get("content") in (*_PLAIN, "Skriv en kort sætning om en kat.")


@dataclass
class Script:
    """What the server can do, what it has in mind, and which faults it shows.

    ``minds`` are the log-probabilities of the options by prompt; ``texts`` what it writes; ``scores`` the
    log-likelihood of texts. ``faults`` are shown to the n-th question after ``start_counting``.
    ``rejects`` are fields that it answers with status 400; all others that it does not know it ignores.
    ``splits`` is the number of bytes of the first token of an option (0: an option is one token), and
    ``token_style`` how tokens are shown. ``temperature`` is "honoured", or always "zero" or "one".
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
    certain_logprobs: bool = False
    constraints: tuple[str, ...] = ()
    splits: int = 0
    token_style: str = "bytes"
    temperature: str = "honoured"
    rejects: tuple[str, ...] = ()
    key: str = ""
    html: bool = False
    http: str = "HTTP/1.1"
    repeats_headers: bool = False
    retry_after: str = "0.05"
    headers_sent: dict[str, str] = field(default_factory=dict)
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
    _drawn: int = 0
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
        heat = {"zero": 0, "one": 1}.get(self.temperature, body.get("temperature", 1))
        with self._lock:
            self._drawn += 1
        # Without a seed, and at a temperature that is not the one asked for, every draw is another.
        by_chance = self.temperature == "one" or "seed" not in body
        dice = random.Random(f"{prompt}#{self._drawn if by_chance else body['seed']}")
        if mind is not None:
            chosen = max(mind, key=lambda one: mind[one])
            if heat:
                weights = [math.exp(value) for value in mind.values()]
                chosen = dice.choices(list(mind), weights)[0]
            return allowed[1].replace("@", chosen) if allowed is not None else chosen
        if "json_schema" in self.constraints and "response_format" in body:
            schema = body["response_format"]["json_schema"]["schema"]
            return self.texts.get(prompt) or json.dumps(dict.fromkeys(schema["required"], 1))
        plain = self.texts.get(prompt) or _PLAIN.get(prompt)
        return plain or f"En kat sover{dice.choice('.!?…') * 3 if heat else '.'}"

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
        """The exact probabilities of the next token, along the answer."""
        if self.constant_logprobs:
            return [self._list_place(b"ja", {b"ja": -0.1, b"nej": -3.0}, count)]
        mind = mind if mind is not None else {text: -0.1}
        ways = {self._split(option): math.exp(value) for option, value in mind.items()}
        places = []
        written = self._split(text)
        for place, token in enumerate(written):
            left = {way: p for way, p in ways.items() if way[:place] == written[:place]}
            total = math.fsum(left.values()) if place else 1.0
            following: dict[bytes, float] = {}
            for way, p in left.items():
                after = way[place] if place < len(way) else b"<|end|>"
                following[after] = following.get(after, 0.0) + p / total
            logs = {one: math.log(p) for one, p in following.items()}
            places.append(self._list_place(token, logs, count))
        return places

    def _split(self, text: str) -> tuple[bytes, ...]:
        data = text.encode()
        parts = (data[: self.splits], data[self.splits :]) if self.splits else (data,)
        return tuple(part for part in parts if part)

    def _list_place(self, token: bytes, mind: Mapping[bytes, float], count: int) -> dict[str, Any]:
        top = sorted(mind.items(), key=lambda one: -one[1])
        top += [(filler.encode(), -14.0 - index) for index, filler in enumerate(_FILLERS)]
        if self.certain_logprobs:  # after a division by a temperature of zero
            top = [
                (one, 0.0 if one == token else -9999.0 - index)
                for index, (one, _) in enumerate(top)
            ]
        listed = [self._show(one, value) for one, value in top[:count]]
        return {**self._show(token, mind.get(token, -0.1)), "top_logprobs": listed}

    def _show(self, token: bytes, log_prob: float) -> dict[str, Any]:
        shown: dict[str, Any] = {"token": token.decode(errors="replace"), "logprob": log_prob}
        if self.token_style == "bytes":
            shown["bytes"] = list(token)
        if self.token_style == "raw":
            shown["token"] = "".join(LETTERS[byte] for byte in token)
        return shown

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


def _make_handler(script: Script) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = script.http
        disable_nagle_algorithm = True

        def log_message(self, *args: Any) -> None:
            """Say nothing."""

        def do_GET(self) -> None:
            self._serve(None)

        def do_POST(self) -> None:
            raw = self.rfile.read(int(self.headers.get("content-length", 0)))
            self._serve(json.loads(raw), raw)

        def _serve(self, body: dict[str, Any] | None, raw: bytes = b"") -> None:
            question, is_counted = self.path, False
            if body is not None:
                # What the probe asks is counted apart: it is asked again before each run.
                is_counted = not is_of_probe(body)
                kind = self.path if is_counted else "probe"
                question = f"{kind} {hashlib.sha256(raw).hexdigest()}"
            with script._lock:
                script.headers.append({name.lower(): value for name, value in self.headers.items()})
                script._number += is_counted
                script.seen[question] += 1
                script._at_once += 1
                script.most_at_once = max(script.most_at_once, script._at_once)
                fault = (
                    script.faults.get(script._number, "") if is_counted and script.counting else ""
                )
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
                elif fault in FAULTS:
                    self._send(*FAULTS[fault])
                elif fault in ("cut", "garbled"):
                    self._break_off(fault)
                elif fault:
                    after = {"retry-after": script.retry_after} if script.retry_after else {}
                    self._send(int(fault), {"error": {"message": "busy"}}, after)
                else:
                    status, plain = script.respond(self.path, body)
                    if script.repeats_headers:
                        plain = {**plain, "seen": self._repeat_headers()}
                        if status == 400:
                            plain = {"error": {"message": f"not with {plain['seen']}"}}
                    self._send(status, plain)
                    if status == 200:
                        with script._lock:
                            script.answered[question] += 1
            finally:
                with script._lock:
                    script._at_once -= 1

        def _repeat_headers(self) -> list[str]:
            """The headers as they are, and in all the forms that a server may give them."""
            values = [
                part for value in self.headers.values() for part in (value, value.split()[-1])
            ]
            encoded = [base64.b64encode(value.encode()).decode() for value in values]
            return [*values, *map(quote, values), *map(quote_plus, values), *encoded]

        def _break_off(self, fault: str) -> None:
            """An answer of which half arrives, by a connection that breaks or as if it were whole."""
            data = b'{"model": "m", "choices": [{"index": 0, "mess'
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(2 * len(data) if fault == "cut" else len(data)))
            self.end_headers()
            self.wfile.write(data)
            self.wfile.flush()
            self.close_connection = True

        def _send(self, status: int, plain: Any, headers: Mapping[str, str] | None = None) -> None:
            data = plain.encode() if isinstance(plain, str) else json.dumps(plain).encode()
            if script.repeats_headers:
                # Once more, with every letter of it written as an escape.
                again = "".join(f"\\u{ord(sign):04x}" for sign in str(self.headers))
                data = data[:-1] + f', "again": "{again}"}}'.encode()
            self.send_response(status)
            for name, value in {**script.headers_sent, **(headers or {})}.items():
                self.send_header(name, value)
            self.send_header(
                "content-type", "text/html" if isinstance(plain, str) else "application/json"
            )
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

    return Handler


@contextmanager
def serve(script: Script, context: ssl.SSLContext | None = None) -> Iterator[str]:
    """Run the server, encrypted if there is a context; gives its address, ``/v1`` included."""
    ThreadingHTTPServer.request_queue_size = 128
    server = ThreadingHTTPServer(("127.0.0.1", 0), _make_handler(script))
    server.daemon_threads = True
    server.handle_error = lambda *_: None  # type: ignore[method-assign] # clients that go away are no news
    scheme = "http"
    if context is not None:
        scheme = "https"
        server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(
        target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True
    )
    thread.start()
    try:
        yield f"{scheme}://127.0.0.1:{server.server_address[1]}{script.root}"
    finally:
        server.shutdown()
        server.server_close()
