"""A few of the attacks of ``make torture PARTS=hostile``, and that an attack can fail."""

from __future__ import annotations

from pathlib import Path

import pytest

from torture import hostile, hostile_attacks
from torture.hostile import Attack, Scene

SHORT = 20


def try_one(act: hostile.Act, tmp_path: Path) -> hostile.Tried:
    (tried,) = hostile.try_attacks([Attack("kind", "name", act)], tmp_path)
    return tried


@pytest.mark.slow
@pytest.mark.timeout(120)
def test_hostile_caches_are_held_off(tmp_path: Path) -> None:
    every = [*hostile_attacks.answers(tmp_path), *hostile_attacks.databases(tmp_path)]
    chosen = every[:: len(every) // SHORT]
    tried = list(hostile.try_attacks(chosen, tmp_path))
    assert len(tried) >= SHORT
    assert not [one for one in tried if one.outcome == "failed"]


def overwrite(scene: Scene) -> str | None:
    scene.letter.write_text("other", encoding="utf-8")
    return None


def run_code(scene: Scene) -> str | None:
    exec(scene.code)
    return None


def crash(scene: Scene) -> str | None:
    raise ValueError("nobody foresaw this")


@pytest.mark.parametrize(
    ("act", "note"),
    [
        (overwrite, "another file was overwritten"),
        (run_code, "planted code has run"),
        (crash, "nobody foresaw this"),
        (lambda scene: "a wrong figure", "a wrong figure"),
    ],
)
def test_an_attack_that_reaches_anything_has_failed(
    act: hostile.Act, note: str, tmp_path: Path
) -> None:
    tried = try_one(act, tmp_path)
    assert tried.outcome == "failed"
    assert note in tried.note


def test_an_attack_that_hangs_has_failed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def hang(scene: Scene) -> str | None:
        while True:
            pass

    monkeypatch.setattr(hostile, "LONGEST", 0.3)
    assert "still running" in try_one(hang, tmp_path).note
