"""What a release may hold, and the versions that must agree."""

from __future__ import annotations

import pytest

from tools.release.check import LARGEST, find_faults, read_versions

SOUND = {
    f"gendalens/{name}": 9 for name in ("py.typed", "results/result.schema.json", "version.py")
}


def test_the_package_and_its_citation_have_one_version() -> None:
    own, cited = read_versions()
    assert own == cited != "none"


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
def test_what_does_not_belong_into_a_release_is_a_fault(path: str, size: int) -> None:
    (fault,) = find_faults("a.whl", {**SOUND, path: size})
    assert path in fault


def test_what_is_missing_is_a_fault() -> None:
    assert list(find_faults("a.whl", {"gendalens/py.typed": 1})) != []
