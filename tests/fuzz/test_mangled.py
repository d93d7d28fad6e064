"""Every reader refuses a mangled file in one sentence, or reads it rightly: a few inputs of each.

``make fuzz`` does the same with a million; what it found lies in the corpus.
"""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fuzz.target import Input, Target
from fuzz.targets.all import TARGETS
from fuzz.targets.results import Results
from fuzz.watch import Outcome, run_input
from gendalens.errors import UserError

CORPUS = Path(__file__).parent / "corpus"
# The slower ones get fewer inputs, so that all together take some seconds.
INPUTS = {"results": 25, "cache": 40, "folders": 8, "gguf-heads": 15, "gguf": 8}

_home = TemporaryDirectory(prefix="gendalens-fuzz-")


@cache
def target(name: str) -> Target:
    folder = Path(_home.name) / name
    folder.mkdir()
    return TARGETS[name](folder)


def found() -> list[Path]:
    """The folders of the corpus: target/what it is/base, with the mangled file inside."""
    return sorted(path for path in CORPUS.glob("*/*/*") if path.is_dir())


@pytest.mark.parametrize("place", found(), ids=lambda place: "/".join(place.parts[-3:]))
def test_what_was_found_once_is_told_or_read_rightly(place: Path) -> None:
    (file,) = (path for path in place.rglob("*") if path.is_file())
    kind, base = place.parts[-3], place.parts[-1]
    mangled = Input(base, file.relative_to(place).as_posix(), file.read_bytes())
    one = target(kind)
    if isinstance(one, Results):
        one.thorough = True
    try:
        outcome, why = run_input(one, mangled)
    finally:
        if isinstance(one, Results):
            one.thorough = False
    assert outcome is not Outcome.FAILED, why


@pytest.mark.parametrize("name", TARGETS)
def test_the_sound_files_are_accepted(name: str) -> None:
    one = target(name)
    # One file of each base, as it is: the others are as they are too.
    for base, file in dict(one.bases.keys()).items():
        outcome, why = run_input(one, Input(base, file, one.bases[base, file]))
        assert outcome is Outcome.ACCEPTED, why


@pytest.mark.parametrize("name", TARGETS)
def test_mangled_files_are_told_or_read_rightly(name: str) -> None:
    one = target(name)

    @settings(
        max_examples=INPUTS.get(name, 120),
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(dice=st.randoms(use_true_random=False))
    def check(dice: Random) -> None:
        outcome, why = run_input(one, one.draw_input(dice))
        assert outcome is not Outcome.FAILED, why

    check()


class _Scripted(Target):
    name = "scripted"
    share = 1
    limit = 0.2

    def check_input(self, given: Input) -> None:
        if given.content == b"refuse":
            raise UserError("It is refused.")
        if given.content == b"wrong":
            raise AssertionError("a wrong count")
        if given.content == b"panic":
            raise SystemExit
        while given.content == b"hang":
            os.getpid()


@pytest.mark.parametrize(
    ("content", "outcome", "words"),
    [
        (b"fine", Outcome.ACCEPTED, ""),
        (b"refuse", Outcome.REFUSED, "It is refused."),
        (b"wrong", Outcome.FAILED, "a wrong count"),
        (b"panic", Outcome.FAILED, "SystemExit"),
        (b"hang", Outcome.FAILED, "TooSlow"),
    ],
)
def test_the_watch_tells_failures_from_refusals(
    content: bytes, outcome: Outcome, words: str, tmp_path: Path
) -> None:
    found, why = run_input(_Scripted(tmp_path), Input("", "", content))
    assert found is outcome
    assert words in why
