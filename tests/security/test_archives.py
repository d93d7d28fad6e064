"""What is unpacked lands under the names that we chose, and nothing else of an archive lands anywhere."""

from __future__ import annotations

import stat
import zipfile
from pathlib import Path

import pytest

from gendalens.data import fetch, hub
from gendalens.errors import UserError


def wheel(folder: Path, *members: tuple[str | zipfile.ZipInfo, bytes]) -> Path:
    path = folder / "data-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for member, content in members:
            archive.writestr(member, content)
    return path


OUTSIDE = ("../../evil.txt", "/tmp/evil.txt", "a/../../evil.txt", "..\\evil.txt")


@pytest.mark.parametrize("member", OUTSIDE)
def test_a_member_that_points_outside_stays_inside(member: str, tmp_path: Path) -> None:
    archive = wheel(tmp_path, (member, b"hej"), ("good/names.csv", b"Navn"))
    inside = tmp_path / "deep" / "down"
    inside.mkdir(parents=True)
    before = set(tmp_path.rglob("*"))
    fetch.unpack(archive, {"good/names.csv": "names.csv", member: "other.txt"}, inside)
    assert set(tmp_path.rglob("*")) - before == {inside / "names.csv", inside / "other.txt"}
    assert not Path("/tmp/evil.txt").exists()


def test_a_link_becomes_a_plain_file(tmp_path: Path) -> None:
    link = zipfile.ZipInfo("names.csv")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    archive = wheel(tmp_path, (link, b"/etc/passwd"))
    inside = tmp_path / "inside"
    inside.mkdir()
    fetch.unpack(archive, {"names.csv": "names.csv"}, inside)
    assert not (inside / "names.csv").is_symlink()
    assert (inside / "names.csv").read_bytes() == b"/etc/passwd"


def test_a_file_that_swells_is_refused_before_it_fills_anything(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fetch, "LARGEST", 2 * 1024**2)
    archive = wheel(tmp_path, ("names.csv", b"\0" * (fetch.LARGEST + 1)))
    assert archive.stat().st_size < 10_000
    with pytest.raises(UserError, match="is over 2 MB when unpacked"):
        fetch.unpack(archive, {"names.csv": "names.csv"}, tmp_path)
    assert not (tmp_path / "names.csv").exists()


def test_a_damaged_archive_is_reported(tmp_path: Path) -> None:
    archive = wheel(tmp_path, ("names.csv", bytes(range(256)) * 4))
    content = archive.read_bytes()
    told: list[str] = []
    for at in range(len(content)):
        archive.write_bytes(content[:at] + bytes([content[at] ^ 0x15]) + content[at + 1 :])
        try:
            fetch.unpack(archive, {"names.csv": "names.csv"}, tmp_path)
        except UserError as error:
            told.append(str(error))
    assert told
    assert all("does not hold the files it should" in sentence for sentence in told)


def test_a_list_of_files_that_points_outside_is_not_followed() -> None:
    served = ["../../test.conllu", "/etc/test.conllu", "a/../../test.jsonl", "..\\test.parquet"]
    assert hub.choose_files(served) == []
    assert hub.choose_files([*served, "data/test.jsonl"]) == ["data/test.jsonl"]
