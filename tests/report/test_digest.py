"""One screen a model: what a run and ``gendalens show`` print by default."""

from __future__ import annotations

import io
import re
from dataclasses import replace
from pathlib import Path
from shlex import quote

import pytest

from gendalens.report.terminal import digest
from gendalens.report.terminal import result as details
from gendalens.report.terminal.console import PlainConsole
from gendalens.results.saved_results import SavedResult, find_results
from gendalens.words import Template, say, use_language

NOTE = Template("test.note", "Warning number {number} has a second sentence. It is not shown.")


@pytest.fixture
def five(small_run: Path) -> list[SavedResult]:
    (model,) = (path for path in small_run.iterdir() if "stereotyped" in path.name)
    return [one for one in find_results([model]) if one.result.protocol == 2]


def render(width: int, saved: list[SavedResult], *, whole: bool = False) -> str:
    written = io.StringIO()
    console = PlainConsole(
        width=width,
        file=written,
        force_terminal=True,
        color_system=None,
        legacy_windows=False,
    )
    if whole:
        for one in saved:
            details.show(console, one.result, one.folder)
    else:
        digest.show_models(console, saved)
    return written.getvalue()


@pytest.mark.parametrize("language", ["en", "da"])
def test_a_screen_a_model_however_many_warnings_small_data_bring(
    five: list[SavedResult], language: str
) -> None:
    use_language(language)
    try:
        assert len(five) >= 5
        lines = {n: len(render(80, five[:n]).splitlines()) for n in (1, 2, 5)}
    finally:
        use_language("en")
    assert lines[1] <= 24
    assert lines[2] <= 36
    assert lines[5] <= 75


@pytest.mark.parametrize("width", [60, 80, 120])
@pytest.mark.parametrize("whole", [False, True])
def test_nothing_is_broken_inside_a_word(five: list[SavedResult], width: int, whole: bool) -> None:
    """Every word of a line also stands in a rendering that has room for all."""
    narrow, wide = render(width, five, whole=whole), render(4000, five, whole=whole)
    known = set(wide.split())
    if whole:  # a signature ends its lines at the separators of its fields
        known |= {part for word in known for part in _cut(word)}
    for line in narrow.splitlines():
        if "/" not in line:  # a path has no words
            assert len(line) <= width
        if set(line.strip()) - {"─", " "}:
            broken = [
                word for word in line.split() if not {"─", "…"} & {*word} and word not in known
            ]
            assert not [word for word in broken if not _is_piece(word, wide)], line


@pytest.mark.parametrize("width", [60, 80])
def test_a_band_stays_in_one_line_with_its_unit(five: list[SavedResult], width: int) -> None:
    use_language("da")
    try:
        shown = render(width, five)
    finally:
        use_language("en")
    bands = [line.strip() for line in shown.splitlines() if re.search("±[0-9]", line)]
    assert len([line for line in bands if "bagatelgrænse" in line]) == len(five)
    assert all(re.search(r"bagatelgrænse ±[\d,]+ \w+$", line) for line in bands)


def _cut(word: str) -> set[str]:
    return set(re.split(r"(?<=[|+@,])", word))


def _is_piece(word: str, wide: str) -> bool:
    """Whether a word is cut only where the signature's fields are."""
    at = wide.find(word)
    return at >= 0 and ("|" in word or word[-1] in "|+@," or wide[at - 1] in "|+@,")


def test_finding_numbers_and_effect_are_there_and_signatures_are_not(
    five: list[SavedResult],
) -> None:
    shown = " ".join(render(80, five).split())
    for one in five:
        result = one.result
        assert f"{result.task}@2 " in shown
        assert result.signature not in shown
    assert shown.count("GES ") >= len(five)
    assert f"gendalens show {quote(str(five[0].folder.parent))} --details" in shown


def test_many_warnings_are_counted_and_each_is_cut_after_a_sentence(
    five: list[SavedResult],
) -> None:
    one = five[0]
    few = [NOTE(number=1), NOTE(number=2)]
    many = [NOTE(number=number) for number in range(1, 6)]
    for warnings, expected in ((few, 2), (many, 2)):
        changed = SavedResult(replace(one.result, warnings=tuple(warnings)), one.folder)
        lines = [line for line in render(60, [changed]).splitlines() if line.startswith("  ! ")]
        assert len(lines) == expected
        assert lines[0].rstrip() == "  ! Warning number 1 has a second sentence. It is not shown."
    assert lines[1].rstrip() == "  ! and 4 more warnings: see --details"


def test_a_warning_that_all_tests_have_stands_once(five: list[SavedResult]) -> None:
    changed = [
        SavedResult(replace(one.result, warnings=(NOTE(number=7),)), one.folder) for one in five
    ]
    shown = render(80, changed)
    assert shown.count("Warning number 7") == 1
    assert "\n! Warning number 7" in shown
    assert say("All figures and the signature:") in shown
