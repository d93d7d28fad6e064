"""Builds the release twice from clean clones, and checks what is in it.

Exits with 1 if the two builds differ by a byte, if a file does not belong in a release, if twine
rejects the metadata, or if the package, CITATION.cff and the changelog name different versions.
``--list`` prints the contents.
"""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import sys
import tarfile
import tempfile
import venv
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

ROOT = Path(__file__).parents[2]
#: All that an sdist holds at its top, and what no release holds.
TOP = {"CHANGELOG.md", "CITATION.cff", "LICENSE", "PKG-INFO", "README.md", "constraints.txt"}
TOP |= {".gitignore", "pyproject.toml", "src"}
STRAY = re.compile(r"(^|/)(tests?|__pycache__|\.git|\.venv|runs)/|\.(pyc|pt|bin|pkl|pickle)$")
#: Where a version stands, and the date of its release.
RELEASES = {
    "CHANGELOG.md": (r"^## (\d\S*) ", r"^## \d\S* \((.+)\)"),
    "CITATION.cff": (r"^version: (\S+)", r"^date-released: (\S+)"),
    "src/gendalens/version.py": (r'^__version__ = "(.+)"',),
}
LARGEST = 1024**2  # bytes of a file: the weights of a demo model are just below


def build(folder: Path) -> dict[str, Path]:
    """Both files of the release, built from a clean clone of the commit that is checked out."""
    clone = folder / "clone"
    subprocess.run(["git", "clone", "--quiet", "--no-local", str(ROOT), str(clone)], check=True)
    said = subprocess.run(
        ["git", "log", "-1", "--format=%ct"], cwd=clone, check=True, capture_output=True, text=True
    )
    environment = {**os.environ, "SOURCE_DATE_EPOCH": said.stdout.strip()}
    command = [
        sys.executable,
        "-P",
        "-m",
        "hatchling",
        "build",
        "--directory",
        str(folder / "dist"),
    ]
    subprocess.run(command, cwd=clone, env=environment, check=True, stdout=sys.stderr)
    return {path.name: path for path in sorted((folder / "dist").iterdir())}


def list_contents(path: Path) -> dict[str, int]:
    """The size of every file in a wheel or sdist, by its path below the top."""
    if path.suffix == ".whl":
        with zipfile.ZipFile(path) as wheel:
            return {one.filename: one.file_size for one in wheel.infolist()}
    with tarfile.open(path) as sdist:
        return {one.name.partition("/")[2]: one.size for one in sdist.getmembers() if one.isfile()}


def find_faults(name: str, contents: dict[str, int]) -> Iterator[str]:
    """What does not belong in the release, and what is missing in it."""
    prefix = "" if name.endswith(".whl") else "src/"
    for path, size in contents.items():
        top = path.partition("/")[0]
        known = top == "gendalens" or top.endswith(".dist-info") if not prefix else top in TOP
        if not known or STRAY.search(path):
            yield f"{name}: {path} does not belong in it"
        if size > LARGEST:
            yield f"{name}: {path} has {size:,} bytes"
    for needed in ("py.typed", "results/result.schema.json", "version.py"):
        if f"{prefix}gendalens/{needed}" not in contents:
            yield f"{name}: {needed} is missing"


def check_metadata(folder: Path, paths: Iterable[Path]) -> str | None:
    """What twine, in an environment of its own, says against the metadata."""
    venv.create(folder / "twine", with_pip=True)
    python = folder / "twine" / "bin" / "python"
    subprocess.run([python, "-m", "pip", "install", "--quiet", "twine"], check=True)
    done = subprocess.run(
        [python, "-m", "twine", "check", "--strict", *paths], capture_output=True, text=True
    )
    print(done.stdout.strip())
    return None if done.returncode == 0 else f"twine: {done.stdout}{done.stderr}"


def read_releases() -> dict[str, str]:
    """The version that each file names, with its date where there is one."""
    return {name: " ".join(_search(name, *patterns)) for name, patterns in RELEASES.items()}


def _search(name: str, *patterns: str) -> Iterator[str]:
    text = (ROOT / name).read_text(encoding="utf-8")
    for pattern in patterns:
        found = re.search(pattern, text, re.MULTILINE)
        yield found[1] if found else "none"


def find_disagreements(releases: Mapping[str, str]) -> Iterator[str]:
    """The files whose version is not that of the changelog's newest release."""
    newest = releases["CHANGELOG.md"]
    for name, release in releases.items():
        if release not in (newest, newest.split()[0]):
            yield f"{name} names {release}, the newest release in the changelog is {newest}"


def main() -> int:
    """Print what was built and every fault."""
    faults = list(find_disagreements(read_releases()))
    with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as other:
        first, second = build(Path(one)), build(Path(other))
        for name, path in first.items():
            content, contents = path.read_bytes(), list_contents(path)
            digest = hashlib.sha256(content).hexdigest()
            print(f"{name}  {len(content):,} bytes, {len(contents)} files, sha256 {digest}")
            if name not in second or second[name].read_bytes() != content:
                faults.append(f"{name}: two builds differ")
            faults += find_faults(name, contents)
            if "--list" in sys.argv[1:]:
                print("".join(f"{size:>11,}  {path}\n" for path, size in contents.items()), end="")
        fault = check_metadata(Path(one), first.values())
        faults += [fault] if fault else []
    print("\n".join(faults) or "the same bytes twice, and nothing in it that does not belong there")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
