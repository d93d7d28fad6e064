"""Backends of other packages, found by their entry points; one that cannot be used is left out."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from gendalens.errors import UserError
from gendalens.models import detect
from gendalens.models.base import LoadOptions
from gendalens.models.detect import load_model
from gendalens.words import write

GOOD = """
from gendalens.models.control import Control
from gendalens.words import Template
KIND = Template("plugin_test.kind", "cup of tea leaves")
class Mine(Control):
    label, prefix = "tea leaves", "tea:"
    words = {"da": {"cup of tea leaves": "kop teblade"}}
    @classmethod
    def load(cls, name, options):
        if name == "tea:spilt":
            raise KeyError("no leaves")
        return cls("fair", 0.0)
"""
PREFIX = GOOD.replace('"tea:"', '"lm-coref:"')
FAILING = GOOD.replace(
    "    @classmethod",
    "    @classmethod\n    def claims(cls, name, options): 1 / 0\n    @classmethod",
    1,
)


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], None]]:
    """Makes a package of a module that holds the backend ``Mine``."""

    def make(module: str) -> None:
        (tmp_path / "tea_leaves.py").write_text(module, encoding="utf-8")
        info = tmp_path / "tea_leaves-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: tea-leaves\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text("[gendalens.models]\nmine = tea_leaves:Mine\n")
        monkeypatch.syspath_prepend(tmp_path)

    monkeypatch.setenv("GENDALENS_PLUGINS", "on")
    detect._load_plugins.cache_clear()
    yield make
    sys.modules.pop("tea_leaves", None)
    detect._load_plugins.cache_clear()


def test_a_backend_of_another_package_is_found_with_its_words(
    install: Callable[[str], None],
) -> None:
    install(GOOD)
    model = load_model("tea:cup")
    assert type(model).__name__ == "Mine"
    assert not detect.plugin_problems()
    assert write("cup of tea leaves", "da") == "kop teblade"


@pytest.mark.parametrize(
    ("module", "reason"),
    [
        ("import no_such_library", "ModuleNotFoundError: No module named 'no_such_library'"),
        ("Mine = 3", "3 is not a model backend"),
        (PREFIX, "a backend for lm-coref: already exists"),
    ],
)
def test_one_that_cannot_be_used_is_one_sentence_and_the_rest_works(
    install: Callable[[str], None], module: str, reason: str
) -> None:
    known = detect.all_backends()
    detect._load_plugins.cache_clear()
    install(module)
    assert detect.all_backends() == known
    (problem,) = detect.plugin_problems()
    assert problem.code == "plugin_failed"
    assert problem.values["package"] == "tea-leaves"
    assert str(problem) == (
        f"The plug-in mine of the package tea-leaves was left out ({reason}): "
        "update or uninstall the package."
    )
    assert load_model("control:fair").info.name == "control:fair"


def test_what_fails_in_its_code_is_told_and_does_not_stand_in_the_way_of_others(
    install: Callable[[str], None],
) -> None:
    install(FAILING)
    with pytest.raises(UserError, match=r"tea_leaves\.Mine fails \(ZeroDivisionError: division"):
        load_model("tea:cup", LoadOptions(offline=True))
    assert load_model("demo-lm").info.name == "demo-lm"
    assert load_model("control:fair").planted


def test_a_model_that_its_backend_fails_to_load_is_told(install: Callable[[str], None]) -> None:
    install(GOOD)
    with pytest.raises(UserError, match=r"^tea:spilt cannot be loaded: .*KeyError: 'no leaves'"):
        load_model("tea:spilt")
