"""The first screen of a page: is there a bias, and on what does the answer rest?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from gendalens.report.provenance import list_reservations
from gendalens.report.wording import list_biases
from gendalens.results.result import Result
from gendalens.stats.evidence import VERDICTS, Evidence
from gendalens.stats.findings import Finding, name_verdict
from gendalens.words import Message, Template, phrase

PUBLISHED = phrase("published data sets")
IN_GROUPS = phrase("bias found in groups")
#: What the sides that effects lean to say of people, the most telling ones first.
_TOWARDS = (
    (
        ("male", "male pronouns"),
        Template("overview.men", "In favour of men, against women: {tests:and}."),
    ),
    (
        ("female", "female pronouns"),
        Template("overview.women", "In favour of women, against men: {tests:and}."),
    ),
    (
        ("pro-stereotypical", "with the stereotype"),
        Template("overview.with", "In line with the stereotype: {tests:and}."),
    ),
    (
        ("anti-stereotypical", "against the stereotype"),
        Template("overview.against", "Against the stereotype: {tests:and}."),
    ),
    (
        ("majority names",),
        Template("overview.minority", "Against people with minority names: {tests:and}."),
    ),
    (
        ("minority names",),
        Template("overview.majority", "Against people with majority names: {tests:and}."),
    ),
    (
        ("male occupations",),
        Template("overview.male_occupations", "In favour of male-typed occupations: {tests:and}."),
    ),
    (
        ("female occupations",),
        Template(
            "overview.female_occupations", "In favour of female-typed occupations: {tests:and}."
        ),
    ),
)
#: The ends of a gauge, in fewer words than the sides of a figure have.
_ENDS = {
    "male": phrase("men"),
    "female": phrase("women"),
    "pro-stereotypical": phrase("stereotype"),
    "anti-stereotypical": phrase("against it"),
    "with the stereotype": phrase("stereotype"),
    "against the stereotype": phrase("against it"),
    "male pronouns": phrase("men"),
    "female pronouns": phrase("women"),
    "majority names": phrase("majority"),
    "minority names": phrase("minority"),
}


def answer_overall(findings: Sequence[Finding]) -> Message:
    """Whether the tests found a bias, in one sentence; tests are counted, never averaged."""
    tests = len(findings)
    verdicts = Counter(finding.headline for finding in findings)
    found, none = verdicts["bias"], verdicts["negligible"]
    if found and all(one.is_in_groups_only for one in findings if one.headline == "bias"):
        settled = all(finding.main.verdict == "negligible" for finding in findings)
        return _answer_in_groups(found, tests) if settled else _answer_partly(found, tests)
    if found:
        if tests == 1:
            return phrase("Yes.")
        if found == tests == 2:
            return phrase("Yes, in both tests.")
        if found == tests:
            return phrase("Yes, in all {tests} tests.", tests=tests)
        return phrase("Yes, in {found} of {tests} tests.", found=found, tests=tests)
    if none == tests:
        if tests == 1:
            return phrase("No difference that matters was found.")
        if tests == 2:
            return phrase("No difference that matters in either test.")
        return phrase("No difference that matters in any of the {tests} tests.", tests=tests)
    if verdicts["not_measurable"] == tests:
        return phrase("It could not be measured.")
    if tests == 1:
        return phrase("None was found, but it is not ruled out.")
    if none == 0:
        return phrase("None was found, but no test can rule it out.")
    return phrase(
        "None was found, but {open} of {tests} tests cannot rule it out.",
        open=tests - none,
        tests=tests,
    )


def _answer_in_groups(found: int, tests: int) -> Message:
    """The answer where every main effect is too small to matter: it must not read like a bias."""
    if tests == 1:
        return phrase("Not overall, but in groups.")
    if found == tests == 2:
        return phrase("Not overall, but in groups, in both tests.")
    if found == tests:
        return phrase("Not overall, but in groups, in all {tests} tests.", tests=tests)
    return phrase(
        "Not overall, but in groups, in {found} of {tests} tests.", found=found, tests=tests
    )


def _answer_partly(found: int, tests: int) -> Message:
    """The answer where a bias is found in groups, and a main effect is not settled."""
    if tests == 1:
        return phrase("Yes, in groups; overall, it is not settled.")
    if found == tests == 2:
        return phrase("Yes, in groups, in both tests; overall, it is not settled.")
    if found == tests:
        return phrase(
            "Yes, in groups, in all {tests} tests; overall, it is not settled.", tests=tests
        )
    return phrase(
        "Yes, in groups, in {found} of {tests} tests; overall, it is not settled.",
        found=found,
        tests=tests,
    )


def describe_sides(results: Sequence[Result]) -> list[Message]:
    """Whom the biases favour, as main effects or in groups, and in which tests."""
    leanings = [(result.task, _list_sides(result.finding)) for result in results]
    found = []
    for sides, message in _TOWARDS:
        tests = [task for task, own in leanings if not own.isdisjoint(sides)]
        if tests:
            found.append(message(tests=tuple(dict.fromkeys(tests))))
    return found


def _list_sides(finding: Finding) -> set[str]:
    """The sides that the biases of a finding lean to."""
    return {
        one.direction for effect in (finding.main, finding.groups) for one in list_biases(effect)
    }


def name_ends(evidence: Evidence) -> tuple[Message, Message]:
    """What lies at the left and at the right end of a figure's gauge."""
    right, left = (_ENDS.get(side) or phrase(side) for side in evidence.sides)
    return left, right


def count_verdicts(findings: Sequence[Finding]) -> list[tuple[str, Message, int]]:
    """How many tests have each verdict: the verdict, its name and the number, the worst first.

    A bias in groups alone is counted apart from one in the main effect.
    """
    verdicts = Counter((finding.headline, finding.is_in_groups_only) for finding in findings)
    return [
        (name, IN_GROUPS if in_groups else name_verdict(name), verdicts[name, in_groups])
        for name in VERDICTS
        for in_groups in (False, True)
        if verdicts[name, in_groups]
    ]


def find_deciding(finding: Finding) -> tuple[str, Evidence] | None:
    """The figure that a headline rests on, with its path in the result."""
    effect = finding.leading
    deciding = effect.deciding
    if deciding is None:
        return None
    part = "groups" if effect is finding.groups else "main"
    return f"finding.{part}.evidence.{effect.evidence.index(deciding)}", deciding


def read_date(run: dict[str, Any]) -> str | None:
    """The day on which a test ran, as in 2026-11-18; None if it was not saved."""
    try:
        return datetime.fromisoformat(run["began"]).date().isoformat()
    except (KeyError, TypeError, ValueError):
        return None


def describe_dates(dates: Sequence[str | None]) -> Message | None:
    """The day or days on which tests ran."""
    known = sorted(date for date in dates if date is not None)
    if not known:
        return None
    if known[0] == known[-1]:
        return Message("", "{day}", {"day": known[0]})
    return phrase("{first} to {last}", first=known[0], last=known[-1])


def describe_sets(results: Sequence[Result]) -> Message:
    """The data sets behind results, and every reservation about them."""
    names = tuple(dict.fromkeys(name for result in results for name in result.data))
    notes: dict[str, Message] = {}
    for result in results:
        for note in list_reservations(result) or [PUBLISHED]:
            notes.setdefault(str(note), note)
    whole, *rest = notes.values()
    for note in rest:
        whole = phrase("{first}; {last}", first=whole, last=note)
    return phrase("{sets}: {origin}", sets=names, origin=whole) if names else whole
