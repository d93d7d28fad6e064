"""Other users of the machine: what is private, what follows the umask, and what has a random name."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

import gendalens
from gendalens.data import registry
from gendalens.data.home import find_home


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("GENDALENS_HOME", str(tmp_path / "mine" / "home"))
    return find_home()


@pytest.fixture(params=[0o022, 0o027, 0o002])
def umask(request: pytest.FixtureRequest) -> Iterator[int]:
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_results_are_as_readable_as_the_umask_says_and_the_cache_is_not(
    home: Path, umask: int, tmp_path: Path
) -> None:
    out = tmp_path / "run"
    gendalens.run("demo-lm", tasks=["lm-dawinobias"], data="builtin", sample=2, out=out)
    for path in out.rglob("*"):
        assert mode(path) == (0o777 if path.is_dir() else 0o666) & ~umask, path
    assert mode(home) == 0o700
    assert (home / "cache.sqlite").is_file()
    assert not [path for path in out.rglob(".*") if path.name.endswith(".tmp")]


def test_fetched_data_lie_in_a_private_folder(
    home: Path, umask: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[int] = []

    def look(requirement: str, digest: str, folder: Path) -> Path:
        seen.extend(mode(part) for part in (folder, folder.parent, home))
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(registry, "download", look)
    with pytest.raises(gendalens.errors.UserError, match="cannot be written"):
        registry.pull("dawinobias")
    assert seen == [0o700] * 3
    assert not list((home / "data").iterdir())


def test_a_shared_home_keeps_its_permissions(home: Path, tmp_path: Path) -> None:
    home.mkdir(parents=True)
    home.chmod(0o2775)
    gendalens.run(
        "demo-lm", tasks=["lm-dawinobias"], data="builtin", sample=2, out=tmp_path / "run"
    )
    assert mode(home) == 0o2775
