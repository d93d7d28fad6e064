"""What a release may hold, and the versions that must agree."""

from __future__ import annotations

import pytest

from tools.release.check import LARGEST, find_disagreements, find_faults, read_releases

SOUND = {
    f"gendalens/{name}": 9 for name in ("py.typed", "results/result.schema.json", "version.py")
}


def test_package_citation_and_changelog_name_one_version() -> None:
    releases = read_releases()
    assert not any("none" in release for release in releases.values())
    assert list(find_disagreements(releases)) == []


@pytest.mark.parametrize("wrong", ["1.1 2026-01-02", "1.2 2026-01-03"])
def test_another_version_or_date_is_a_disagreement(wrong: str) -> None:
    releases = {"CHANGELOG.md": "1.2 2026-01-02", "CITATION.cff": wrong, "version.py": "1.2"}
    (fault,) = find_disagreements(releases)
    assert "CITATION.cff" in fault


def test_a_sound_wheel_and_sdist_have_no_fault() -> None:
    assert list(find_faults("a.whl", {**SOUND, "gendalens-1.dist-info/RECORD": 1})) == []
    sdist = {f"src/{name}": size for name, size in SOUND.items()}
    assert list(find_faults("a.tar.gz", {**sdist, "README.md": 1})) == []


@pytest.mark.parametrize(
    ("path", "size"),
    [
        ("tests/conftest.py", 1),
        ("gendalens/tests/x.py", 1),
        ("gendalens/__pycache__/x.pyc", 1),
        ("gendalens/weights.bin", 1),
        ("gendalens/large.csv", LARGEST + 1),
        ("other/x.py", 1),
    ],
)
def test_what_does_not_belong_in_a_release_is_a_fault(path: str, size: int) -> None:
    (fault,) = find_faults("a.whl", {**SOUND, path: size})
    assert path in fault


def test_what_is_missing_is_a_fault() -> None:
    assert list(find_faults("a.whl", {"gendalens/py.typed": 1})) != []
