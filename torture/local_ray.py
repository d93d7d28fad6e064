"""A Ray cluster on this computer, as ``ray start`` makes it."""

from __future__ import annotations

import os
import secrets
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from torture.processes import list_descendants

_TRIES = 5


@dataclass(frozen=True, slots=True)
class LocalRay:
    """A cluster: its address, and the process that all others descend from."""

    address: str
    pid: int


@contextmanager
def start_ray(plugins: Path, cpus: int = 4) -> Iterator[LocalRay]:
    """A cluster whose workers find the packages in a folder; stopped in the end."""
    token = secrets.token_hex(32)
    # Drivers started from here, and this process itself, show the same token.
    shown = {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": token}
    os.environ |= shown
    environment = os.environ | {
        "RAY_USAGE_STATS_ENABLED": "0",
        "RAY_gcs_server_port_wait_time_s": "300",
        "GENDALENS_PLUGINS": "on",
        "PYTHONPATH": os.pathsep.join(filter(None, (str(plugins), os.environ.get("PYTHONPATH")))),
    }
    try:
        for left in reversed(range(_TRIES)):
            # Ray's sockets need a short path.
            with tempfile.TemporaryDirectory(prefix="r", dir="/tmp") as folder:
                process = _start(Path(folder), cpus, environment)
                try:
                    address = _wait_for_address(process, Path(folder))
                    if address or not left:
                        yield LocalRay(address, process.pid)
                        return
                finally:
                    _end(process)
    finally:
        for name in shown:
            del os.environ[name]


def _start(folder: Path, cpus: int, environment: Mapping[str, str]) -> subprocess.Popen[bytes]:
    command = [
        *(str(Path(sys.executable).with_name("ray")), "start", "--head", "--block", "--port=0"),
        *(f"--num-cpus={cpus}", "--include-dashboard=false", "--node-ip-address=127.0.0.1"),
        *("--object-store-memory=200000000", f"--temp-dir={folder}"),
    ]
    quiet = subprocess.DEVNULL
    return subprocess.Popen(command, env=environment, stdout=quiet, stderr=quiet)


def _wait_for_address(process: subprocess.Popen[bytes], folder: Path) -> str:
    """The address; empty if Ray gave up, as it does after 30 seconds on a busy computer."""
    file = folder / "ray_current_cluster"
    while process.poll() is None:
        if file.is_file() and (address := file.read_text(encoding="utf-8").strip()):
            return address
        time.sleep(0.1)
    return ""


def _end(process: subprocess.Popen[bytes]) -> None:
    # Not gently: Ray would take half a minute to find out that nobody needs the node.
    for pid in (*list_descendants(process.pid), process.pid):
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    process.wait(60)
