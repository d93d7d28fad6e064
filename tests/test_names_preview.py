"""``gendalens names preview`` on own sentences and own lists."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import small_dane
import small_names


@pytest.fixture
def data(tmp_path: Path) -> list[str]:
    register, minority = small_names.write(tmp_path / "lists")
    sentences = small_dane.write(tmp_path / "mine.conllu")
    pairs = {"names": register, "minority-names": minority, "dane": sentences}
    return [part for name, path in pairs.items() for part in ("--data", f"{name}={path}")]


def preview(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "gendalens", "names", "preview", *arguments]
    return subprocess.run(command, capture_output=True, text=True, encoding="utf-8", timeout=120)


def test_the_preview_shows_pools_and_sentences_of_every_group(data: list[str]) -> None:
    done = preview(*data, "--count", "9")
    assert done.returncode == 0, done.stderr
    for group in ("majority female", "majority male", "minority female", "minority male", "unisex"):
        assert done.stdout.count(group) == 4  # once in the table, once for each sentence
    assert "bog (has a gendered pronoun or title)" in done.stdout
    assert "regn" not in done.stdout
    assert "\x1b" not in done.stdout
    assert preview(*data, "--count", "9").stdout == done.stdout
    assert preview(*data, "--count", "9", "--seed", "1").stdout != done.stdout


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["--names", "best"], "--names best: choose one of top, matched, all, all-by-bearers."),
        (["--data", "abc=x"], "--data abc: the preview reads names, minority-names, dane."),
        (["--names", "matched"], "the same length and number of bearers"),
        (["--data", "dane=nowhere"], "nowhere does not exist: name a .conllu file"),
    ],
)
def test_a_mistake_is_one_sentence(arguments: list[str], reason: str, data: list[str]) -> None:
    done = preview(*data, *arguments)
    assert done.returncode == 2
    assert reason in done.stderr
    assert "Traceback" not in done.stderr


def test_without_dane_it_says_to_name_a_file(data: list[str]) -> None:
    done = preview(*data[:4], "--offline")
    assert done.returncode == 2
    assert "`--data dane=PATH`" in done.stderr
