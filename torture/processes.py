"""The processes that a process has started, and those have started in turn."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path


def list_descendants(pid: int) -> dict[int, str]:
    """The command line of each living process below ``pid``."""
    parents = dict(_read_parents())
    found: dict[int, str] = {}
    wanted = {pid}
    while wanted:
        wanted = {child for child, parent in parents.items() if parent in wanted}
        found |= {child: _read_command(child) for child in wanted}
    return found


def list_workers(pid: int) -> list[int]:
    """The workers of a Ray cluster below ``pid``."""
    return [child for child, command in list_descendants(pid).items() if "ray::Worker" in command]


def is_alive(pid: int) -> bool:
    """Whether a process runs, and is not just waiting to be reaped."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def _read_parents() -> Iterator[tuple[int, int]]:
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit() and is_alive(int(folder.name)):
            try:
                fields = (folder / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            yield int(folder.name), int(fields[1])


def _read_command(pid: int) -> str:
    try:
        return (
            Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        )
    except OSError:
        return ""
