"""A server on the loopback that gives the likelihood of prompts, by a real model of transformers.

It speaks the OpenAI protocol as vLLM does (``/completions`` with ``echo`` and ``logprobs``): the tokens
of the prompt with their log-probabilities, the first without one, and then what the model writes.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import torch


class LikelihoodModel:
    """A causal model and its tokenizer, asked one text at a time."""

    def __init__(self, model: Any, tokenizer: Any) -> None:
        self.model = model.eval()
        self.tokenizer = tokenizer
        self._lock = threading.Lock()

    def complete(self, body: dict[str, Any]) -> dict[str, Any]:
        """A completion of one token, with the prompt in front."""
        ids = self.tokenizer(body["prompt"])["input_ids"]
        with self._lock, torch.inference_mode():
            logits = self.model(torch.tensor([ids])).logits[0].float()
        log_probs = torch.log_softmax(logits, dim=-1)
        best = int(log_probs[-1].argmax())
        values = [float(log_probs[at - 1, ids[at]]) for at in range(1, len(ids))]
        tokens = [self._show(one) for one in (*ids, best)]
        choice: dict[str, Any] = {"index": 0, "text": tokens[-1], "finish_reason": "length"}
        if body.get("echo") and body.get("logprobs") is not None:
            choice["text"] = body["prompt"] + tokens[-1]
            choice["logprobs"] = {
                "tokens": tokens,
                "token_logprobs": [None, *values, float(log_probs[-1, best])],
            }
        usage = {"prompt_tokens": len(ids), "completion_tokens": 1}
        return {"model": "m", "choices": [choice], "usage": usage}

    def _show(self, one: int) -> str:
        """A token as vLLM shows it: decoded alone, with the space that its mark stands for."""
        text = str(self.tokenizer.decode([one]))
        raw = self.tokenizer.convert_ids_to_tokens(one)
        return f" {text}" if raw.startswith("▁") and not text.startswith(" ") else text


@contextmanager
def serve_likelihoods(model: Any, tokenizer: Any) -> Iterator[str]:
    """Run the server; gives its address, ``/v1`` included."""
    asked = LikelihoodModel(model, tokenizer)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def log_message(self, *args: Any) -> None:
            """Say nothing."""

        def do_GET(self) -> None:
            self._send(*((200, {"data": [{"id": "m"}]}) if self.path == "/v1/models" else _NONE))

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            self._send(*((200, asked.complete(body)) if self.path == "/v1/completions" else _NONE))

        def _send(self, status: int, plain: Any) -> None:
            data = json.dumps(plain).encode()
            self.send_response(status)
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        server.shutdown()
        server.server_close()


_NONE = (404, {"error": {"message": "Not Found"}})
