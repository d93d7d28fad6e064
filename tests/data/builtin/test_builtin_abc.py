"""The built-in ABC set: what it reads as, and how it differs from the official one."""

from __future__ import annotations

from pathlib import Path

import pytest

from gendalens.data import abc as official
from gendalens.data.abc import Triple
from gendalens.data.builtin import abc
from gendalens.data.builtin.catalogue import FOLDER
from gendalens.errors import UserError


def test_the_reflexive_agrees_with_the_thing_and_the_sentence_reads_as_danish() -> None:
    told = {(t.occupation, t.frame, t.tense): (t.reflexive, t.male, t.female) for t in abc.read()}
    assert told["piloten", 1, "present"] == (
        "Piloten låser sin cykel ved stationen.",
        "Piloten låser hans cykel ved stationen.",
        "Piloten låser hendes cykel ved stationen.",
    )
    assert told["smeden", 2, "past"][0] == "Smeden ryddede op i sit skab før flytningen."
    assert told["tandplejeren", 33, "past"][0] == "Tandplejeren sendte sine spørgsmål til kommunen."
    assert told["komponisten", 14, "past"][2] == "Komponisten viste køberne hendes sommerhus."


def test_a_secretary_has_no_calendar_that_is_the_boss_s() -> None:
    events = {(t.occupation, t.frame) for t in abc.read()}
    assert ("piloten", 25) in events
    assert ("sekretæren", 25) not in events


def test_the_occupations_without_a_reliable_share_are_unproven() -> None:
    unproven = {t.occupation for t in abc.read() if t.unproven}
    assert len(unproven) == 9
    assert {"smeden", "hjemmehjælperen"} <= unproven
    assert "piloten" not in unproven


def test_spans_point_at_subject_and_possessive() -> None:
    for t in abc.read():
        assert t.male[t.male_span.start : t.male_span.end] == "hans"
        assert t.female[t.female_span.start : t.female_span.end] == "hendes"
        assert t.reflexive[t.reflexive_span.start : t.reflexive_span.end] == t.form
        assert t.female[t.subject.start : t.subject.end].lower() == t.occupation


def test_a_template_is_a_frame_in_one_tense() -> None:
    found = {(t.template, t.frame, t.tense) for t in abc.read()}
    assert len(found) == len({template for template, _, _ in found})
    assert sorted(template for template, _, _ in found) == list(range(1, len(found) + 1))


@pytest.mark.network
def test_no_frame_is_one_of_the_official_set(official_cache: Path) -> None:
    def event(triple: Triple) -> str:
        return triple.reflexive.split(maxsplit=1)[1].lower()

    theirs = {event(t) for t in official.read(official_cache / "data" / "abc", errata=True)}
    assert not theirs & {event(t) for t in abc.read()}


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("frame,present", "number,present", "line 1: its columns must be frame, present"),
        ("common,singular,ved", "masculine,singular,ved", "line 2: it needs a number, common or"),
    ],
)
def test_a_broken_table_is_reported_by_its_line(
    old: str, new: str, reason: str, tmp_path: Path
) -> None:
    text = (FOLDER / "frames.csv").read_text(encoding="utf-8")
    path = tmp_path / "frames.csv"
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(UserError, match=reason):
        abc.read(path)
