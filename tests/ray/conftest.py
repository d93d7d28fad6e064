"""One Ray cluster for all tests in this folder, found by its address; without Ray they are skipped."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from gendalens.models import detect
from torture import sleeping_model
from torture.local_ray import LocalRay, start_ray


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """All of these start processes for seconds."""
    here = Path(__file__).parent
    for item in items:
        if item.path.is_relative_to(here):
            item.add_marker(pytest.mark.slow)
            if importlib.util.find_spec("ray") is None:
                item.add_marker(pytest.mark.skip(reason="Ray is not installed: make test-ray"))


@pytest.fixture(scope="session")
def plugin_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return sleeping_model.install(tmp_path_factory.mktemp("plugin"))


@pytest.fixture(scope="session")
def cluster(running: LocalRay) -> str:
    return running.address


@pytest.fixture(scope="session")
def cluster_pid(running: LocalRay) -> int:
    return running.pid


@pytest.fixture(scope="session")
def running(plugin_folder: Path) -> Iterator[LocalRay]:
    """A cluster of four CPUs on this computer."""
    with start_ray(plugin_folder) as cluster:
        yield cluster


@pytest.fixture
def plugin(plugin_folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The sleeping model, found here as it is by the workers."""
    monkeypatch.syspath_prepend(plugin_folder)
    monkeypatch.setenv("GENDALENS_PLUGINS", "on")
    monkeypatch.delitem(sys.modules, "sleeping_model", raising=False)
    detect._load_plugins.cache_clear()
    yield
    detect._load_plugins.cache_clear()
