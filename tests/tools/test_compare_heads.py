"""The tool that compares two revisions: what it maps, what it masks, and what it finds."""

from __future__ import annotations

import json
from typing import Any

from tools.compare_heads import Check, check_values, map_down, pair_values, read_masked

OLD: dict[str, Any] = {
    "task": "lm-abc",
    "signature": "lm-abc@2|seed:0|gendalens:1.0|numpy:2.4",
    "verdict": "bias found, not after correction for 5 tests",
    "verdict_reason": None,
    "gender_effect_size": {"value": 0.5, "low": 0.25, "high": None, "reason": "one cluster"},
    "interaction": {"name": "male - female", "value": -0.125, "p": 0.5},
    "conditions": [{"condition": "male", "value": 11.25, "n": 60}],
    "warnings": ["39 tokens are unknown."],
    "records": [{"schema": 6, "outcome": "right", "right": True}, {"schema": 7, "outcome": "none"}],
}

NEW: dict[str, Any] = {
    "task": "lm-abc",
    "signature": "lm-abc@2|seed:0|gendalens:1.0|numpy:2.4",
    "finding": {
        "headline": "bias",
        "reason": None,
        "correction": {"code": "corrected", "values": {"tests": 5}, "text": "not after correction"},
        "text": "bias found, not after correction for 5 tests",
    },
    "gender_effect_size": {
        "value": 0.5,
        "low": 0.25,
        "high": None,
        "unstable": None,
        "reason": {"code": "one-cluster", "values": {}, "text": "one cluster"},
    },
    "contrast": {"name": "male - female", "value": -0.125, "p": 0.5},
    "conditions": [{"condition": "male", "value": 11.25, "n": 60, "sd": 0.5}],
    "warnings": [{"code": "unknown", "values": {"n": 39}, "text": "39 tokens are unknown."}],
    "brackets": [],
    "records": OLD["records"],
}


def check_changed(*path: str | int, to: Any, most: float = 0) -> Check:
    """OLD against a copy of it with another value in one place."""
    changed = json.loads(json.dumps(OLD))
    *way, last = path
    place = changed
    for step in way:
        place = place[step]
    place[last] = to
    return check_values("one", OLD, changed, most)


def test_schema_2_maps_down_to_schema_1() -> None:
    check = check_values("one", OLD, map_down(NEW))
    assert (check.wrong, check.texts) == ([], [])
    assert check.values == len(list(pair_values(OLD, OLD))) == 20


def test_the_reason_of_a_finding_is_that_of_the_verdict() -> None:
    reason = {"code": "blind", "values": {"share": 0.1}, "text": "it answers blindly"}
    finding = {"headline": "unmeasurable", "reason": reason, "text": "not measurable"}
    lower = {"verdict": "not measurable", "verdict_reason": "it answers blindly"}
    assert map_down({"finding": finding}) == lower
    assert map_down({"finding": "no difference found"}) == {"finding": "no difference found"}


def test_a_changed_figure_is_found() -> None:
    check = check_changed("gender_effect_size", "value", to=0.5 + 1e-9)
    assert [str(pair) for pair in check.wrong] == ["gender_effect_size.value: 0.5 -> 0.500000001"]
    assert 0 < check.wrong[0].distance < 2e-9
    assert not check_changed("gender_effect_size", "value", to=0.5 + 1e-9, most=1e-8).wrong
    assert check_changed("gender_effect_size", "high", to=1.0).wrong
    assert check_changed("gender_effect_size", "value", to=None).wrong
    assert check_changed("gender_effect_size", "value", to=float("nan")).wrong
    assert check_changed("conditions", 0, "n", to=True).wrong


def test_a_changed_row_is_found() -> None:
    check = check_changed("records", 1, "outcome", to="wrong")
    assert [pair.path for pair in check.wrong] == ["records[1].outcome"]
    assert [pair.path for pair in check_changed("records", to=OLD["records"][:1]).wrong] == [
        "records[1]"
    ]
    assert check_changed("records", 0, "right", to=False).wrong
    assert check_changed("records", 0, "right", to=1).wrong
    assert check_changed("records", 0, "schema", to=5).wrong


def test_a_changed_text_is_counted_apart() -> None:
    check = check_changed("interaction", "name", to="male less female")
    assert not check.wrong
    assert [pair.path for pair in check.texts] == ["interaction.name"]
    assert check_changed("gender_effect_size", "reason", to=None).texts
    assert check_changed("warnings", 0, to="39 unknown tokens.").texts


def test_another_verdict_signature_or_number_of_warnings_is_no_wording() -> None:
    assert not check_changed("verdict", to="bias found, but not after correction").wrong
    assert check_changed("verdict", to="no difference found").wrong
    assert check_changed("signature", to="lm-abc@2|seed:1|gendalens:1.0|numpy:2.4").wrong
    assert check_changed("warnings", to=[]).wrong


def test_a_key_that_only_one_has_is_found_unless_schema_2_adds_it() -> None:
    old: dict[str, Any] = {"gap": {"value": 1, "p": 0.5}}
    assert check_values("one", old, {"gap": {"value": 1}}).wrong
    assert check_values("one", old, {"gap": {"value": 1, "p": 0.5, "q": 0}}).wrong
    assert not check_values("one", old, {"gap": {"value": 1, "p": 0.5, "unstable": True}}).wrong
    assert not check_values("one", old, {"gap": {"value": 1}}, shared=True).wrong
    assert check_values("one", old, {"gap": {"value": 2}}, shared=True).wrong
    assert check_values("one", {"models": [1, 2]}, {"models": [1]}, shared=True).wrong


def test_versions_are_left_out() -> None:
    held = {
        "gendalens": "VERSION",
        "from": "built in (gendalens VERSION, CC BY 4.0)",
        "signature": "a|gendalens:VERSION|b:1",
    }
    texts = [json.dumps(held).replace("VERSION", version) for version in ("1.0.0.dev0", "1.1")]
    old, new = (read_masked(text) for text in texts)
    assert old == new
    assert old["signature"] == "a|gendalens:*|b:1"
    assert read_masked("") is None
