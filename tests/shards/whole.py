"""A run whole and in shards, each part as on a machine of its own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import gendalens
from gendalens.results.result import Result


def files(out: Path) -> dict[str, bytes]:
    """What must be the same in every run: results and records."""
    return {
        str(path.relative_to(out)): path.read_bytes()
        for path in sorted(out.rglob("*"))
        if path.name in ("result.json", "records.jsonl")
    }


def shard_files(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*.shard-*.jsonl"))


class Machines:
    """Runs of one model, each with an empty cache of its own."""

    def __init__(self, folder: Path, patch: pytest.MonkeyPatch, model: Any, **options: Any) -> None:
        self.folder = folder
        self.patch = patch
        self.model = model
        self.options = options

    def run_whole(self) -> dict[str, bytes]:
        self.set_home("whole")
        gendalens.run(self.model, out=self.folder / "whole", **self.options)
        found = files(self.folder / "whole")
        assert found
        return found

    def run_shard(self, shard: str, **more: Any) -> Path:
        out = self.folder / shard.replace("/", "-of-")
        self.set_home(out.name)
        assert gendalens.run(self.model, out=out, shard=shard, **self.options, **more) == []
        return out

    def merge(self, *places: Path) -> tuple[list[Result], dict[str, bytes]]:
        self.set_home("merge")
        out = self.folder / f"merged-{len(places)}"
        return gendalens.merge(*places, out=out), files(out)

    def run_in_shards(self, count: int) -> dict[str, bytes]:
        parts = [self.run_shard(f"{number}/{count}") for number in range(1, count + 1)]
        # In an order that says nothing.
        return self.merge(*reversed(parts))[1]

    def set_home(self, name: str) -> None:
        self.patch.setenv("GENDALENS_HOME", str(self.folder / f"home-{name}"))
