"""A hub on the loopback: the parts of its protocol that huggingface_hub uses, and its faults."""

from __future__ import annotations

import hashlib
import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

COMMIT = "0123456789abcdef0123456789abcdef01234567"
LARGE = (".safetensors", ".bin", ".parquet")


class HubServer(ThreadingHTTPServer):
    """One repository, whose files are those of a folder."""

    daemon_threads = True

    def __init__(self, folder: Path) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.folder = folder
        self.fault: Any = None  # a status, or a word
        self.only = ""  # the fault concerns paths that contain this
        self.headers: dict[str, str] = {}  # sent with the fault
        self.commit = COMMIT
        self.extra: list[str] = []  # names that are listed though there is no such file
        self.moved: dict[str, str] = {}  # the beginning of an address, and of the one it leads to
        self.asked: list[str] = []
        self.tokens: list[str | None] = []  # the access token of each request

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class _Handler(BaseHTTPRequestHandler):
    server: HubServer
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: Any) -> None:
        pass

    def do_HEAD(self) -> None:
        self.do_GET()

    def do_GET(self) -> None:
        hub = self.server
        hub.asked.append(f"{self.command} {self.path}")
        hub.tokens.append(self.headers.get("Authorization"))
        fault = hub.fault if hub.only in self.path else None
        if (
            lead := next((one for one in hub.moved if self.path.startswith(one)), None)
        ) is not None:
            address = hub.moved[lead] + self.path.removeprefix(lead)
            self._send(b"", 307, {"Location": address} | self._describe_file())
        elif isinstance(fault, int):
            self._send(b'{"error": "no"}', fault, hub.headers)
        elif fault == "portal":
            self._send(b"<html>Log in</html>", 200, {"Content-Type": "text/html"})
        elif self.path.startswith("/api/") and "/tree/" in self.path:
            self._send(self._list(), 200, {"Content-Type": "application/json"})
        elif self.path.startswith("/api/"):
            self._send(self._describe(), 200, {"Content-Type": "application/json"})
        elif "/resolve/" in self.path:
            self._resolve(fault)
        else:
            self._send(b"{}", 404, {})

    def _list(self) -> bytes:
        """The files of the repository itself; there are no folders."""
        names = [] if self.path.partition("/tree/")[2].count("/") else self.server.folder.iterdir()
        files = [{"type": "file", "path": p.name, "size": 1, "oid": COMMIT} for p in names]
        return json.dumps(files).encode()

    def _describe(self) -> bytes:
        folder = self.server.folder
        siblings = []
        for file in sorted(p for p in folder.rglob("*") if p.is_file()):
            content = file.read_bytes()
            blob = hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()
            one: dict[str, Any] = {
                "rfilename": file.relative_to(folder).as_posix(),
                "size": len(content),
                "blobId": blob,
            }
            if file.suffix in LARGE:
                sha = hashlib.sha256(content).hexdigest()
                one["lfs"] = {"sha256": sha, "size": len(content), "pointerSize": 130}
            siblings.append(one)
        siblings += [{"rfilename": name, "size": 3} for name in self.server.extra]
        return json.dumps(
            {"id": "org/model", "sha": self.server.commit, "siblings": siblings}
        ).encode()

    def _find(self) -> Path | None:
        """The file that the address names."""
        if "/resolve/" not in self.path:
            return None
        file = self.server.folder / self.path.split("/resolve/")[1].split("/", 1)[1]
        return file if file.is_file() else None

    def _describe_file(self) -> dict[str, str]:
        """What the hub says of a file before it leads elsewhere."""
        file = self._find()
        if file is None:
            return {}
        content = file.read_bytes()
        return {
            "X-Repo-Commit": COMMIT,
            "X-Linked-Etag": f'"{hashlib.sha256(content).hexdigest()}"',
            "X-Linked-Size": str(len(content)),
        }

    def _resolve(self, fault: Any) -> None:
        file = self._find()
        if file is None:
            self._send(b"", 404, {"X-Error-Code": "EntryNotFound"})
            return
        content = file.read_bytes()
        headers = {
            "X-Repo-Commit": COMMIT,
            "ETag": f'"{hashlib.sha256(content).hexdigest()}"',
        } | self.server.headers
        if fault == "flipped":
            content = content[:-1] + bytes([content[-1] ^ 1])
        if fault == "slow" and self.command == "GET":
            time.sleep(1.5)
        if fault == "wrong size" and self.command == "HEAD":
            content += b"more"
        cut = fault in ("truncated", "truncated once")
        if fault == "truncated once" and self.command == "GET":
            self.server.fault = None
        self._send(content, 200, headers, cut=cut)

    def _send(
        self, content: bytes, status: int, headers: dict[str, str], *, cut: bool = False
    ) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(content[: len(content) // 2] if cut else content)
        if cut:
            self.close_connection = True


@contextmanager
def serve(folder: Path) -> Iterator[HubServer]:
    """A running hub."""
    hub = HubServer(folder)
    thread = threading.Thread(target=hub.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield hub
    finally:
        hub.shutdown()
        hub.server_close()
