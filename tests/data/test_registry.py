from __future__ import annotations

import hashlib
import importlib
import subprocess
import sys
import tempfile
import zipfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import get_args

import pytest

from gendalens.data import fetch, registry
from gendalens.data.home import find_home
from gendalens.data.registry import DataFile, DataSet, Wheel
from gendalens.errors import UserError

FILES = {"fugle/data/spurve.txt": b"spurv\n", "fugle/data/ravne.txt": "råb\n".encode()}
METADATA = b"Metadata-Version: 2.1\nName: fugle\nVersion: 1.0\n"


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


@dataclass
class Index:
    """A package index of one own-made wheel, and the sets that come from it."""

    wheel: Path

    def serve(self, files: dict[str, bytes]) -> str:
        with zipfile.ZipFile(self.wheel, "w") as archive:
            for member, data in files.items():
                archive.writestr(member, data)
            archive.writestr("fugle-1.0.dist-info/METADATA", METADATA)
            archive.writestr("fugle-1.0.dist-info/RECORD", "")
            archive.writestr(
                "fugle-1.0.dist-info/WHEEL",
                "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
            )
        return digest(self.wheel.read_bytes())


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Index:
    """pip's index is a folder with one wheel; the registry knows two sets in it."""
    links = tmp_path / "links"
    links.mkdir()
    index = Index(links / "fugle-1.0-py3-none-any.whl")
    wheel = Wheel("fugle==1.0", index.serve(FILES))
    sets = {
        name: DataSet(
            name, "fugle", wheel, (DataFile(member, digest(FILES[member])),), "-", "-", None
        )
        for name, member in (("spurve", "fugle/data/spurve.txt"), ("ravne", "fugle/data/ravne.txt"))
    }
    monkeypatch.setattr(registry, "SETS", sets)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(links))
    return index


def no_pip(*args: object, **kwargs: object) -> None:
    raise AssertionError("pip was called")


def test_a_set_is_fetched_on_first_use_and_not_again(
    index: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = registry.locate("ravne")
    assert (folder / "ravne.txt").read_bytes() == FILES["fugle/data/ravne.txt"]
    monkeypatch.setattr(subprocess, "run", no_pip)
    assert registry.locate("ravne") == folder == find_home() / "data" / "ravne"


def test_sets_of_the_same_wheel_come_along_and_nothing_else_is_left(
    index: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    registry.pull("ravne")
    monkeypatch.setattr(subprocess, "run", no_pip)
    registry.locate("spurve", offline=True)
    left = sorted(
        p.relative_to(find_home()).as_posix() for p in find_home().rglob("*") if p.is_file()
    )
    assert left == ["data/ravne/ravne.txt", "data/spurve/spurve.txt"]


def test_a_changed_file_is_never_used_and_pulling_again_mends_it(index: Index) -> None:
    folder = registry.locate("ravne")
    (folder / "ravne.txt").write_bytes(b"ravn\n")
    with pytest.raises(UserError, match=r"ravne\.txt is not the published.*data pull ravne"):
        registry.locate("ravne")
    registry.pull("ravne")
    assert registry.locate("ravne", offline=True) == folder


def test_a_truncated_file_is_never_used(index: Index) -> None:
    (registry.locate("spurve") / "spurve.txt").write_bytes(b"")
    with pytest.raises(UserError, match="SHA-256 differs"):
        registry.locate("spurve")


def test_a_deleted_file_is_fetched_again(index: Index) -> None:
    (registry.locate("ravne") / "ravne.txt").unlink()
    assert (registry.locate("ravne") / "ravne.txt").is_file()


def test_offline_and_not_cached_says_what_to_do(
    index: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(subprocess, "run", no_pip)
    with pytest.raises(UserError, match=r"offline: run `gendalens data pull ravne`"):
        registry.locate("ravne", offline=True)


def test_a_wheel_with_another_hash_is_refused_and_nothing_stored(index: Index) -> None:
    index.serve({**FILES, "fugle/__init__.py": b"print('hej')"})
    with pytest.raises(UserError, match=r"fugle==1\.0 .*not the published one"):
        registry.locate("ravne")
    assert not [p for p in find_home().rglob("*") if p.is_file()]


def test_a_truncated_wheel_is_refused(index: Index) -> None:
    index.wheel.write_bytes(index.wheel.read_bytes()[:300])
    with pytest.raises(UserError, match=r"fugle==1\.0"):
        registry.locate("ravne")


def test_a_package_that_the_index_does_not_carry_is_named_with_pips_reason(index: Index) -> None:
    index.wheel.unlink()
    with pytest.raises(UserError, match=r"fugle==1\.0 cannot be fetched \(No matching"):
        registry.locate("ravne")


def test_a_file_that_differs_inside_the_right_wheel_is_refused(
    index: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    ravne = registry.SETS["ravne"]
    bad = replace(ravne, files=(replace(ravne.files[0], sha256="0" * 64),))
    monkeypatch.setitem(registry.SETS, "ravne", bad)
    with pytest.raises(UserError, match=r"ravne\.txt in fugle-1\.0.*SHA-256 differs"):
        registry.locate("ravne")


def test_a_member_that_the_wheel_lacks_is_an_error_in_words(tmp_path: Path, index: Index) -> None:
    with pytest.raises(UserError, match="does not hold the files"):
        fetch.unpack(index.wheel, {"fugle/ugler.txt": "ugler.txt"}, tmp_path)
    index.wheel.write_bytes(b"no zip")
    with pytest.raises(UserError, match="does not hold the files"):
        fetch.unpack(index.wheel, {}, tmp_path)


def test_a_stored_file_has_a_plain_name_whatever_its_path_in_the_wheel() -> None:
    assert DataFile("../../etc/ravne.txt", "").name == "ravne.txt"


def test_a_home_that_cannot_be_made_is_named(
    index: Index, own_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own_home.write_text("a file, not a folder")
    monkeypatch.setattr(subprocess, "run", no_pip)
    with pytest.raises(UserError, match=r"cannot be written .*set GENDALENS_HOME"):
        registry.locate("ravne")


def test_a_home_without_permission_is_named(index: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*args: object, **kwargs: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(tempfile, "TemporaryDirectory", refuse)
    with pytest.raises(UserError, match=r"cannot be written \(Permission denied\)"):
        registry.pull("ravne")


@pytest.mark.parametrize(
    ("stderr", "message"),
    [
        ("/usr/bin/python: No module named pip\n", r"has no pip: install it"),
        (
            "WARNING: Retrying (Retry(total=0)) after connection broken by 'NewConnectionError'\n"
            "ERROR: Could not find a version that satisfies the requirement\n"
            "ERROR: No matching distribution found for fugle==1.0\n",
            r"index does not answer \(No matching distribution found",
        ),
        ("ERROR: " + "x" * 500, r"cannot be fetched \(x{159}…\)"),
        ("something else\n", r"cannot be fetched \(something else\)"),
        ("", r"cannot be fetched \(pip gave no reason\)"),
    ],
)
def test_what_pip_says_becomes_one_sentence_with_a_next_step(
    index: Index, monkeypatch: pytest.MonkeyPatch, stderr: str, message: str
) -> None:
    done = subprocess.CompletedProcess([], 1, stdout=b"", stderr=stderr.encode())
    monkeypatch.setattr(subprocess, "run", lambda *args, **kwargs: done)
    with pytest.raises(UserError, match=message) as caught:
        registry.locate("ravne")
    assert "\n" not in str(caught.value)


def test_pulls_that_run_at_once_all_get_sound_files(index: Index) -> None:
    with ThreadPoolExecutor(3) as pool:
        folders = list(pool.map(registry.pull, ["ravne", "spurve", "ravne"]))
    assert [f.name for f in folders] == ["ravne", "spurve", "ravne"]
    assert {s.state for s in registry.list_official_sets()} == {"cached"}
    assert sorted(p.name for p in (find_home() / "data").iterdir()) == ["ravne", "spurve"]


def test_status_tells_absent_cached_and_damaged_apart(index: Index) -> None:
    assert [s.state for s in registry.list_official_sets()] == ["absent", "absent"]
    (registry.pull("ravne") / "ravne.txt").write_bytes(b"")
    found = {s.name: s for s in registry.list_official_sets()}
    assert (found["spurve"].state, found["ravne"].state) == ("cached", "damaged")
    assert found["spurve"].source == "fugle==1.0"
    assert registry.checksum("spurve").startswith(found["spurve"].checksum)


def test_an_own_folder_is_used_as_it_is_and_named_as_such(tmp_path: Path, index: Index) -> None:
    own = tmp_path / "own"
    own.mkdir()
    with pytest.raises(UserError, match=r"does not hold ravne\.txt"):
        registry.locate("ravne", override=own)
    (own / "ravne.txt").write_bytes(b"min ravn\n")
    assert registry.locate("ravne", override=own, offline=True) == own
    source = registry.find_source("ravne", override=own)
    assert (source.whose, source.official, source.builtin) == ("own", False, False)
    assert source.to_dict() == {
        "from": "the user's own folder",
        "sha256": registry.checksum("ravne", override=own),
        "whose": "own",
    }
    assert registry.checksum("ravne", override=own) != registry.checksum("ravne")


def test_an_own_copy_of_the_published_files_has_the_published_checksum(
    tmp_path: Path, index: Index
) -> None:
    (tmp_path / "ravne.txt").write_bytes(FILES["fugle/data/ravne.txt"])
    assert registry.checksum("ravne", override=tmp_path) == registry.checksum("ravne")
    source = registry.find_source("ravne", override=tmp_path)
    assert (source.whose, source.origin) == ("official", "fugle==1.0")


def test_every_state_is_marked_for_translation() -> None:
    assert get_args(registry.State) == registry.STATES


def test_an_unknown_set_is_answered_with_the_known_ones() -> None:
    with pytest.raises(UserError, match="no data set 'dawino': choose one of dawinobias, abc"):
        registry.locate("dawino")


@pytest.mark.parametrize("name", ["dane", "abc"])
def test_own_files_that_may_not_be_reached_are_named(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def forbid(_: Path) -> bool:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "is_file", forbid)
    with pytest.raises(UserError, match=rf"/x cannot be read \(Permission denied\).*'{name}'"):
        registry.find_source(name, override=Path("/forbidden/x"))


def test_a_home_of_nobody_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GENDALENS_HOME", "~nosuchuser/x")
    with pytest.raises(
        UserError, match=r"GENDALENS_HOME=~nosuchuser/x is not a folder \(.*: set it"
    ):
        find_home()


def test_home_is_the_named_folder_or_the_users_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GENDALENS_HOME", "~/fugle")
    assert find_home() == Path.home() / "fugle"
    monkeypatch.setenv("GENDALENS_HOME", "")
    assert find_home().name.lower() in ("gendalens", "cache")
    assert find_home().is_absolute()


def test_every_set_has_terms_a_citation_and_an_importable_reader() -> None:
    for data in registry.SETS.values():
        assert data.terms
        assert data.citation
        assert data.origin.title
        assert all(len(f.sha256) == 64 for f in data.files)
        assert len({f.name for f in data.files}) == len(data.files)
        if data.reader:
            assert hasattr(importlib.import_module(data.reader), "read")


def test_the_data_package_imports_nothing_heavy() -> None:
    code = (
        "import sys; from gendalens.data import abc, dawinobias, registry; "
        "print(sorted({'numpy', 'pandas', 'torch', 'scipy'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
