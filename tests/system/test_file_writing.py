"""Files are written whole, under names that nobody can prepare, and never through others' links."""

from __future__ import annotations

import os
import secrets
import stat
import threading
from pathlib import Path

import pytest

from gendalens.system.file_writing import (
    append_text,
    make_folders,
    make_private_folder,
    make_whole_folder,
    replace_file,
    write_target,
)


@pytest.fixture
def foreign(tmp_path: Path) -> Path:
    """A file of the user's that lies elsewhere."""
    (tmp_path / "elsewhere").mkdir()
    file = tmp_path / "elsewhere" / "letter.txt"
    file.write_text("kære Ida")
    return file


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "run").mkdir()
    return tmp_path / "run"


def test_text_in_parts_and_bytes_are_written(folder: Path) -> None:
    replace_file(folder / "a", ["æ\n", "ø\n"])
    replace_file(folder / "b", b"\xff\r\n")
    assert (folder / "a").read_bytes() == "æ\nø\n".encode()
    assert (folder / "b").read_bytes() == b"\xff\r\n"
    parts: list[bytes | memoryview] = [b"\xff", memoryview(b"\r\n")]
    replace_file(folder / "c", iter(parts))
    assert (folder / "c").read_bytes() == b"\xff\r\n"


def test_a_folder_is_there_whole_or_not_at_all(folder: Path) -> None:
    target = folder / "deep" / "whole"
    with make_whole_folder(target) as new:
        assert not target.exists()
        assert stat.S_IMODE(new.stat().st_mode) == 0o700
        (new / "a").write_text("a")
    assert [path.name for path in target.parent.iterdir()] == ["whole"]
    with pytest.raises(FileNotFoundError), make_whole_folder(folder / "deep" / "broken") as new:
        (new / "missing" / "a").write_text("b")
    with make_whole_folder(target) as new:  # somebody else was faster
        (new / "a").write_text("b")
    assert [path.name for path in target.parent.iterdir()] == ["whole"]
    assert (target / "a").read_text() == "a"


def test_a_link_of_the_name_is_replaced_and_not_followed(folder: Path, foreign: Path) -> None:
    (folder / "report.html").symlink_to(foreign)
    replace_file(folder / "report.html", "ny")
    assert foreign.read_text() == "kære Ida"
    assert not (folder / "report.html").is_symlink()
    assert (folder / "report.html").read_text() == "ny"


def test_a_hard_link_of_the_name_keeps_its_other_name_unchanged(
    folder: Path, foreign: Path
) -> None:
    os.link(foreign, folder / "report.html")
    replace_file(folder / "report.html", "ny")
    assert foreign.read_text() == "kære Ida"


def test_a_prepared_temporary_name_is_not_followed(
    folder: Path, foreign: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(secrets, "token_hex", lambda size: "known")
    (folder / ".known.tmp").symlink_to(foreign)
    with pytest.raises(FileExistsError):
        replace_file(folder / "report.html", "ny")
    assert foreign.read_text() == "kære Ida"


def test_the_old_way_of_naming_temporary_files_is_gone(folder: Path, foreign: Path) -> None:
    (folder / f".report.html.{os.getpid()}").symlink_to(foreign)
    replace_file(folder / "report.html", "ny")
    assert foreign.read_text() == "kære Ida"


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir])
def test_what_is_no_file_is_not_replaced(folder: Path, make: object) -> None:
    make(folder / "report.html")  # type: ignore[operator]
    before = (folder / "report.html").stat()
    with pytest.raises(OSError, match=r"ordinary|directory"):
        replace_file(folder / "report.html", "ny")
    assert (folder / "report.html").stat().st_ino == before.st_ino
    assert [file.name for file in folder.iterdir()] == ["report.html"]


def test_nothing_is_left_behind_when_writing_fails(folder: Path) -> None:
    def parts() -> object:
        yield "a"
        raise OSError(28, "No space left on device")

    (folder / "a").write_text("gammel")
    with pytest.raises(OSError, match="No space"):
        replace_file(folder / "a", parts())  # type: ignore[arg-type]
    assert [(file.name, file.read_text()) for file in folder.iterdir()] == [("a", "gammel")]


def test_a_folder_that_is_exchanged_meanwhile_gets_nothing(folder: Path, foreign: Path) -> None:
    def parts() -> object:
        folder.rename(folder.with_name("moved"))
        folder.symlink_to(foreign.parent)
        yield "ny"

    replace_file(folder / "letter.txt", parts())  # type: ignore[arg-type]
    assert foreign.read_text() == "kære Ida"
    assert (folder.with_name("moved") / "letter.txt").read_text() == "ny"


def test_a_link_that_the_user_typed_is_followed(folder: Path, foreign: Path) -> None:
    (folder / "page.html").symlink_to(foreign)
    write_target(folder / "page.html", "ny")
    assert foreign.read_text() == "ny"
    assert (folder / "page.html").is_symlink()


def test_a_pipe_that_the_user_typed_is_written_to(folder: Path) -> None:
    pipe = folder / "pipe"
    os.mkfifo(pipe)
    read: list[str] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_text()))
    reader.start()
    write_target(pipe, "hej")
    reader.join(10)
    assert read == ["hej"]
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_a_device_that_the_user_typed_stays_a_device() -> None:
    write_target(Path(os.devnull), "hej")
    assert stat.S_ISCHR(Path(os.devnull).stat().st_mode)


def test_folders_of_a_run_are_no_links(folder: Path, foreign: Path) -> None:
    assert make_folders(folder, "model", "lm-abc@2-0") == folder / "model" / "lm-abc@2-0"
    (folder / "other").symlink_to(foreign.parent)
    with pytest.raises(OSError, match="link"):
        make_folders(folder, "other", "lm-abc@2-0")
    assert list(foreign.parent.iterdir()) == [foreign]


def test_a_folder_of_a_run_that_becomes_a_link_gets_nothing(folder: Path, foreign: Path) -> None:
    inner = make_folders(folder, "model", "lm-abc@2-0")
    inner.rmdir()
    inner.symlink_to(foreign.parent)
    with pytest.raises(OSError, match=r"directory|symbolic"):
        replace_file(inner / "letter.txt", "ny", root=folder)
    assert foreign.read_text() == "kære Ida"
    inner.unlink()
    inner.mkdir()
    replace_file(inner / "letter.txt", "ny", root=folder)
    assert (inner / "letter.txt").read_text() == "ny"


@pytest.mark.timeout(10)
def test_text_is_added_to_an_ordinary_file_only(folder: Path, foreign: Path) -> None:
    append_text(folder / "raw", "a")
    append_text(folder / "raw", "b")
    assert (folder / "raw").read_text() == "ab"
    (folder / "link").symlink_to(foreign)
    os.link(foreign, folder / "second")
    os.mkfifo(folder / "pipe")
    for name in ("link", "second", "pipe"):
        with pytest.raises(OSError, match=r"symbolic|ordinary|No such device"):
            append_text(folder / name, "ny")
    assert foreign.read_text() == "kære Ida"


def test_files_follow_the_umask_and_private_folders_do_not(folder: Path) -> None:
    before = os.umask(0o022)
    try:
        replace_file(folder / "result.json", "{}")
        make_private_folder(folder / "home" / "pages")
    finally:
        os.umask(before)
    assert stat.S_IMODE((folder / "result.json").stat().st_mode) == 0o644
    modes = [stat.S_IMODE((folder / name).stat().st_mode) for name in ("home", "home/pages")]
    assert modes == [0o700, 0o700]


def test_a_folder_that_exists_keeps_its_permissions(folder: Path) -> None:
    folder.chmod(0o755)
    make_private_folder(folder)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o755
