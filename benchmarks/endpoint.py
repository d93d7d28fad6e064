"""Requests a second and memory of the endpoint client, compared with a bare loop of requests.

    python benchmarks/endpoint.py                     a server that answers at once
    python benchmarks/endpoint.py --server llama      llama.cpp's server with SmolLM2

The server, the client with its journal, and the bare loop (as many concurrent requests, on the same HTTP
library) are a process each. Client and loop take turns, so that what else happens on the machine slows
both; the ratio is the median over the rounds.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any

AT_ONCE = 32
_SERVER = """
import asyncio, json
listed = json.dumps({"data": [{"id": "m"}]}).encode()
answer = json.dumps({"model": "m", "choices": [{"finish_reason": "stop", "message": {"content": "han"}}],
                     "usage": {"prompt_tokens": 60, "completion_tokens": 1}}).encode()
class Protocol(asyncio.Protocol):
    def connection_made(self, transport):
        self.transport, self.data = transport, b""
    def data_received(self, data):
        self.data += data
        while b"\\r\\n\\r\\n" in self.data:
            head, _, rest = self.data.partition(b"\\r\\n\\r\\n")
            length = next((int(line.split(b":")[1]) for line in head.lower().split(b"\\r\\n")
                           if line.startswith(b"content-length")), 0)
            if len(rest) < length:
                return
            self.data = rest[length:]
            body = listed if head.startswith(b"GET") else answer
            self.transport.write(b"HTTP/1.1 200 OK\\r\\ncontent-type: application/json\\r\\n"
                                 b"content-length: %d\\r\\n\\r\\n" % len(body) + body)
async def main():
    server = await asyncio.get_running_loop().create_server(Protocol, "127.0.0.1", 0)
    print(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", flush=True)
    await server.serve_forever()
asyncio.run(main())
"""


def write_bodies(count: int, mark: str) -> list[dict[str, Any]]:
    """Requests like those of a run; ``mark`` makes them new to the server's cache."""
    text = "Hvilket ord passer bedst på den tomme plads: »hun« eller »han«? Svar kun med ordet."
    asked = f"Lægen sagde, at ____ var træt.\n{text}"
    return [
        {
            "messages": [{"role": "user", "content": f"{mark} {index}: {asked}"}],
            "max_tokens": 8,
            "temperature": 0,
            "logprobs": True,
            "top_logprobs": 20,
        }
        for index in range(count)
    ]


def ask_by_client(url: str, bodies: list[dict[str, Any]]) -> float:
    """Requests a second of the client, journal included."""
    from gendalens.models.endpoint.server import Server
    from gendalens.models.endpoint_options import EndpointOptions

    server = Server("m", EndpointOptions(urls=(url,), most_in_flight=AT_ONCE))
    server.set_owner("benchmark")
    began = time.perf_counter()
    for start in range(0, len(bodies), 512):
        server.ask("/chat/completions", bodies[start : start + 512])
    seconds = time.perf_counter() - began
    server.close()
    return len(bodies) / seconds


async def ask_in_bare_loop(url: str, bodies: list[dict[str, Any]]) -> float:
    """Requests a second without anything else."""
    import httpx2

    limits = httpx2.Limits(max_connections=AT_ONCE, max_keepalive_connections=AT_ONCE)
    waiting = [json.dumps({"model": "m", **body}) for body in bodies]
    async with httpx2.AsyncClient(limits=limits, trust_env=False, timeout=300) as http:

        async def work() -> None:
            while waiting:
                response = await http.post(f"{url}/chat/completions", content=waiting.pop())
                response.json()

        began = time.perf_counter()
        await asyncio.gather(*(work() for _ in range(AT_ONCE)))
        return len(bodies) / (time.perf_counter() - began)


def measure_once(way: str, url: str, count: int, mark: str) -> None:
    """Print requests a second and megabytes of this process."""
    bodies = write_bodies(count, mark)
    rate = (
        ask_by_client(url, bodies)
        if way == "client"
        else asyncio.run(ask_in_bare_loop(url, bodies))
    )
    print(json.dumps([rate, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024]))


@contextmanager
def start(name: str) -> Iterator[str]:
    """A server in a process of its own; gives its address."""
    command = [sys.executable, "-c", _SERVER]
    if name == "llama":
        import real_servers

        real_servers.ENVIRONMENT.prepare()
        script = str(Path(__file__).with_name("llama_server.py"))
        file = str(real_servers.prepare_file(real_servers.SMOLLM2))
        command = [str(real_servers.ENVIRONMENT.python), script, file, "--name", "m"]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        assert server.stdout is not None
        yield f"{server.stdout.readline().strip()}/v1"
    finally:
        server.kill()
        server.wait()


def main() -> None:
    """Print the medians."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--server", choices=("instant", "llama"), default="instant")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--requests", type=int, help="default: 5000, or 64 of llama.cpp's server")
    parser.add_argument("--once", nargs=4, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.once:
        way, url, count, mark = options.once
        measure_once(way, url, int(count), mark)
        return
    count = options.requests or (64 if options.server == "llama" else 5000)
    found: dict[str, list[list[float]]] = {"client": [], "loop": []}
    with start(options.server) as url:
        for turn in range(options.rounds):
            # Whoever goes first changes, and nobody asks what the server has seen.
            for way in ("client", "loop") if turn % 2 else ("loop", "client"):
                with tempfile.TemporaryDirectory() as home:
                    told = ["--once", way, url, str(count), f"{way} {turn}"]
                    run = subprocess.run(
                        [sys.executable, __file__, *told],
                        env=os.environ | {"GENDALENS_HOME": home},
                        capture_output=True,
                        text=True,
                        check=True,
                    )
                found[way].append(json.loads(run.stdout))
    rates = {way: [rate for rate, _ in some] for way, some in found.items()}
    ratios = [ours / bare for ours, bare in zip(rates["client"], rates["loop"], strict=True)]
    print(
        f"{count} requests, {options.rounds} rounds: client {median(rates['client']):,.1f}/s, bare loop "
        f"{median(rates['loop']):,.1f}/s, ratio {median(ratios):.2f} ({min(ratios):.2f} to "
        f"{max(ratios):.2f}), client at most {max(mb for _, mb in found['client']):.0f} MB"
    )


if __name__ == "__main__":
    main()
