"""A Ray cluster on this computer, as ``ray start`` makes it."""

from __future__ import annotations

import os
import secrets
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from torture.processes import list_descendants


@dataclass(frozen=True, slots=True)
class LocalRay:
    """A cluster: its address, and the process that all others descend from."""

    address: str
    pid: int


@contextmanager
def start_ray(plugins: Path, cpus: int = 4) -> Iterator[LocalRay]:
    """A cluster whose workers find the packages in a folder; stopped in the end."""
    program = str(Path(sys.executable).with_name("ray"))
    # Ray's sockets need a short path.
    with tempfile.TemporaryDirectory(prefix="r", dir="/tmp") as folder:
        token = Path(folder) / "token"
        token.write_text(secrets.token_hex(32), encoding="utf-8")
        token.chmod(0o600)
        # Drivers started from here, and this process itself, show the same token.
        os.environ |= {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN_PATH": str(token)}
        environment = os.environ | {
            "RAY_USAGE_STATS_ENABLED": "0",
            "GENDALENS_PLUGINS": "on",
            "PYTHONPATH": os.pathsep.join(
                filter(None, (str(plugins), os.environ.get("PYTHONPATH")))
            ),
        }
        command = [
            *(program, "start", "--head", "--block", "--port=0", f"--num-cpus={cpus}"),
            *("--include-dashboard=false", "--node-ip-address=127.0.0.1"),
            *("--object-store-memory=200000000", f"--temp-dir={folder}"),
        ]
        with (Path(folder) / "output").open("w", encoding="utf-8") as output:
            process = subprocess.Popen(command, env=environment, stdout=output, stderr=output)
        try:
            yield LocalRay(_wait_for_address(process, Path(folder)), process.pid)
        finally:
            started = list_descendants(process.pid)
            # Not gently: Ray would take half a minute to find out that nobody needs the node.
            for pid in (process.pid, *started):
                _end(pid)
            process.wait(60)
            del os.environ["RAY_AUTH_MODE"], os.environ["RAY_AUTH_TOKEN_PATH"]


def _wait_for_address(process: subprocess.Popen[bytes], folder: Path) -> str:
    file = folder / "ray_current_cluster"
    for _ in range(3000):
        if process.poll() is not None:
            output = (folder / "output").read_text(encoding="utf-8")
            raise RuntimeError(f"ray start ended with {process.returncode}: {output[-2000:]}")
        if file.is_file() and (address := file.read_text(encoding="utf-8").strip()):
            return address
        time.sleep(0.1)
    raise TimeoutError("ray start takes too long")


def _end(pid: int) -> None:
    try:
        os.kill(pid, 9)
    except ProcessLookupError:
        return
