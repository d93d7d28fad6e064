"""Requests a second and memory of the endpoint client, against a server that answers at once.

``python benchmarks/endpoint.py`` starts the server in another process, asks it through the client with
its journal, and then in a bare loop of as many concurrent requests on the same HTTP library.
"""

from __future__ import annotations

import asyncio
import json
import os
import resource
import subprocess
import sys
import tempfile
import time

REQUESTS, AT_ONCE = 5000, 32
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
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()
asyncio.run(main())
"""


def write_bodies() -> list[dict[str, object]]:
    text = "Hvilket ord passer bedst i sætningen? Svar med et ord: han eller hun. "
    return [
        {"messages": [{"role": "user", "content": f"{text}{index}"}], "max_tokens": 8}
        for index in range(REQUESTS)
    ]


def ask_by_client(url: str) -> float:
    from gendalens.models.endpoint.server import Server
    from gendalens.models.endpoint_options import EndpointOptions

    server = Server("m", EndpointOptions(urls=(url,), most_in_flight=AT_ONCE))
    server.set_owner("benchmark")
    bodies = write_bodies()
    began = time.perf_counter()
    for start in range(0, REQUESTS, 512):
        server.ask("/chat/completions", bodies[start : start + 512])
    seconds = time.perf_counter() - began
    server.close()
    return REQUESTS / seconds


async def ask_in_bare_loop(url: str) -> float:
    import httpx2

    limits = httpx2.Limits(max_connections=AT_ONCE, max_keepalive_connections=AT_ONCE)
    waiting = [json.dumps({"model": "m", **body}) for body in write_bodies()]
    async with httpx2.AsyncClient(limits=limits, trust_env=False) as http:

        async def work() -> None:
            while waiting:
                response = await http.post(f"{url}/chat/completions", content=waiting.pop())
                response.json()

        began = time.perf_counter()
        await asyncio.gather(*(work() for _ in range(AT_ONCE)))
        return REQUESTS / (time.perf_counter() - began)


def main() -> None:
    with tempfile.TemporaryDirectory() as home:
        os.environ["GENDALENS_HOME"] = home
        server = subprocess.Popen(
            [sys.executable, "-c", _SERVER], stdout=subprocess.PIPE, text=True
        )
        try:
            assert server.stdout is not None
            url = f"http://127.0.0.1:{server.stdout.readline().strip()}/v1"
            ours = ask_by_client(url)
            megabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
            bare = asyncio.run(ask_in_bare_loop(url))
        finally:
            server.kill()
    print(
        f"client {ours:,.0f}/s, bare loop {bare:,.0f}/s, ratio {ours / bare:.2f}, {megabytes:.0f} MB"
    )


if __name__ == "__main__":
    main()
