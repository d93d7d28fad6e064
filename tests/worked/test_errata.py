"""Errata belong to the published files, whoever holds them, and to protocol 2 alone."""

from __future__ import annotations

import hashlib
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gendalens.data import errata, registry
from gendalens.data.errata import Erratum
from gendalens.data.registry import DataFile, find_source
from gendalens.tasks import get_task
from worked import abc_set, dane_set, wino_set


def publish(patch: pytest.MonkeyPatch, name: str, *files: Path) -> None:
    """Have these files be the published ones of a set."""
    published = tuple(
        DataFile(file.name, hashlib.sha256(file.read_bytes()).hexdigest()) for file in files
    )
    patch.setitem(registry.SETS, name, replace(registry.SETS[name], files=published))


def correct(patch: pytest.MonkeyPatch, *entries: Erratum) -> None:
    """Have these be all known errata."""
    patch.setattr(
        errata, "find_errata", lambda name: tuple(one for one in entries if one.data == name)
    )


@pytest.mark.parametrize("test", ["lm-dawinobias", "coref-dawinobias"])
@pytest.mark.parametrize("is_published", [True, False])
def test_a_users_own_copy_of_the_published_schemas_is_corrected(
    test: str, is_published: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = wino_set.write(tmp_path / "published")
    if is_published:
        publish(monkeypatch, "dawinobias", *wino_set.files(folder).values())
    correct(
        monkeypatch, Erratum("dawinobias", "both", (1,), "weak", "stige", "trappestige", "made up")
    )
    copy = shutil.copytree(folder, tmp_path / "copy")
    source = find_source("dawinobias", override=copy)
    assert source.official == is_published
    first = "en trappestige." if is_published else "en stige."
    items = get_task(test, 2).items({"dawinobias": source})
    assert [item.text.endswith(first) for item in items if item.line == 1] == [True, True]
    raw = get_task(test, 1).items({"dawinobias": source})
    assert [item.raw.endswith("en stige.") for item in raw if item.line == 1] == [True, True]


@pytest.mark.parametrize("test", ["lm-abc", "coref-abc"])
@pytest.mark.parametrize("is_published", [True, False])
def test_a_users_own_copy_of_the_published_triples_is_corrected(
    test: str, is_published: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = abc_set.write(tmp_path / "published")
    if is_published:
        publish(monkeypatch, "abc", *abc_set.files(folder).values())
    correct(monkeypatch, Erratum("abc", "both", (), "weak", "frakke", "jakke", "made up"))
    copy = shutil.copytree(folder, tmp_path / "copy")
    source = find_source("abc", override=copy)
    items: Any = get_task(test, 2).items({"abc": source})
    assert any("jakke" in item.male for item in items) == is_published
    assert any("frakke" in item.male for item in items) != is_published
    raw: Any = get_task(test, 1).items({"abc": source})
    assert not any("jakke" in item.text for item in raw)


@pytest.mark.parametrize(("protocol", "place"), [(2, "Esbjerg"), (1, "Ribe")])
def test_errata_of_dane_are_applied_in_protocol_2_alone(
    protocol: int, place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dane = dane_set.write_dane(tmp_path / "ddt.test.conllu")
    lines = dane.read_text(encoding="utf-8").splitlines()
    places = tuple(number for number, line in enumerate(lines, 1) if "Ribe" in line)
    publish(monkeypatch, "dane", dane)
    correct(monkeypatch, Erratum("dane", "test", places, "weak", "Ribe", "Esbjerg", "made up"))
    register, minority = dane_set.write_names(tmp_path / "lists")
    own = {"dane": dane, "names": register, "minority-names": minority}
    data = {name: find_source(name, override=path) for name, path in own.items()}
    assert data["dane"].official
    items: Any = get_task("ner-dane", protocol).configure({"repeats": 1}).items(data)
    texts = [item.renamed.text for item in items]
    assert f"Det regner i {place}." in texts
