"""``coref-dawinobias`` on 56 lines, every figure of both protocols worked out a second time."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from gendalens.stats.paired import differences
from gendalens.tasks.coref_dawinobias.protocol2 import TASK
from worked import coref_dawinobias as coref
from worked import wino_set
from worked.answer_sheet import (
    MODEL,
    SEED,
    WorkedRun,
    checksum,
    find_differences,
    find_equal_numbers,
    own_set,
    run_sheet,
    signature,
)
from worked.figures import per_hundred, value_of
from worked.messages import drop_texts, message
from worked.resampling import RESAMPLES

HARMS = {"main": "stereotyping", "nuance": "stereotyping"}
SOURCES = {"main": "semantic bias", "nuance": "semantic bias"}
LINES = wino_set.list_lines()
#: Systems that were chosen among many: the figures of the first are all different, and the verdict on
#: the second changes without contested occupations and without the correction.
SALT, TELLING_SALT, CLASSIC_SALT = 402, 2, 1
#: Places that hold the same number by definition: one gap with two intervals, lines that are the same
#: in both conditions.
EQUAL: list[set[str]] = [
    {"gap/value", "extra/gap_these_occupations/value"},
    {
        "conditions/anti/n",
        "conditions/pro/n",
        "extra/gap_uncorrected/n",
        "extra/ges_uncorrected/n",
        "extra/margin/n",
        *(
            f"extra/{outcome}_{condition}/n"
            for outcome in coref.OUTCOMES
            for condition in coref.CONDITIONS
        ),
    },
    {
        *(
            f"nuance/{condition} {kind} occupations/n"
            for condition in coref.CONDITIONS
            for kind in coref.GENDERS
        ),
        "coverage/schemas",
    },
    {"extra/gap_without_contested/n", "extra/ges_without_contested/n"},
    {"coverage/lines_answered", "coverage/lines_asked"},
]


def frame(protocol: int, folder: Path) -> dict[str, Any]:
    """What a result says beside its measures."""
    sums = {"dawinobias": checksum(*wino_set.files(folder).values())}
    return {
        "schema": 3,
        "task": "coref-dawinobias",
        "protocol": protocol,
        "model": MODEL,
        "data": own_set(sums, "the user's own folder"),
        "signature": signature(f"coref-dawinobias@{protocol}", sums),
        "harms": HARMS,
        "sources": SOURCES,
    }


@dataclass(frozen=True)
class Worked:
    """A run, the answers behind it, and what its result must be."""

    run: WorkedRun
    linked: list[coref.Linked]
    expected: dict[str, Any]


def link_all(salt: int, schemas: int = len(wino_set.SCHEMAS), **leaning: int) -> list[coref.Linked]:
    return [coref.link(line, salt, **leaning) for line in wino_set.list_lines(schemas)]


def measure(linked: list[coref.Linked], folder: Path, *, scored: bool = True) -> Worked:
    """The run of a system with these links, and with scores or without."""
    data = wino_set.write(folder / "set", len(linked) // 4)
    sheet = coref.make_sheet(linked, scored=scored)
    (run,) = run_sheet("coref-dawinobias", 2, sheet, {"dawinobias": data}, folder / "run")
    assert set(run.asked) == set(sheet)
    return Worked(run, linked, {**frame(2, data), **coref.work_out(linked, SEED, scored=scored)})


@pytest.fixture(scope="module")
def worked(tmp_path_factory: pytest.TempPathFactory) -> Worked:
    return measure(link_all(SALT), tmp_path_factory.mktemp("linked"))


def test_every_field_of_a_scoring_resolvers_result_is_as_worked_out(worked: Worked) -> None:
    assert find_differences(worked.run.plain, worked.expected) == []


def test_every_record_says_what_was_asked_answered_and_counted(worked: Worked) -> None:
    rows = coref.make_records(worked.linked, scored=True)
    assert find_differences(worked.run.records, rows) == []


def test_no_two_figures_are_the_same_number_but_by_definition(worked: Worked) -> None:
    equal = find_equal_numbers(worked.run.plain)
    assert [paths for paths in equal if paths not in EQUAL] == []
    assert len(equal) == len(EQUAL)


def test_each_variance_decides_some_figure_of_the_worked_result(worked: Worked) -> None:
    found = coref.cross(coref.list_schemas(worked.linked), SEED)
    assert {figure.decided for figure in found.values()} == {"sum", "a", "b", "finer"}


@pytest.mark.parametrize("longer", [False, True])
def test_a_mention_that_goes_on_after_a_genitive_is_no_link(longer: bool, tmp_path: Path) -> None:
    linked = []
    for one in link_all(SALT):
        line = one.line
        for outcome, target in (("right", line.referent), ("wrong", line.other)):
            if target.stereotype == line.genitive:
                end = target.end + (len(" hund") if longer else 0)
                clusters = (((target.start, end), line.span),)
                said = "none" if longer else outcome
                one = replace(one, clusters=clusters, outcome=said, pronoun_inside=False)
        linked.append(one)
    found = measure(linked, tmp_path, scored=False)
    rows = coref.make_records(linked, scored=False)
    assert find_differences(found.run.records, rows) == []
    assert sum(" hund " in row["text"] for row in found.run.records) == 28


def test_a_system_without_scores_is_judged_by_its_links_alone(tmp_path: Path) -> None:
    found = measure(link_all(SALT), tmp_path, scored=False)
    rows = coref.make_records(found.linked, scored=False)
    assert find_differences(found.run.records, rows) == []
    assert find_differences(found.run.plain, found.expected) == []


def test_a_verdict_that_hangs_on_labels_or_on_the_correction_is_told(tmp_path: Path) -> None:
    found = measure(link_all(TELLING_SALT, stereotype=330), tmp_path)
    codes = [one["code"] for one in found.expected["warnings"]]
    assert codes[-2:] == ["contested_labels_decide", "correction_decides"]
    assert find_differences(found.run.plain, found.expected) == []


def test_a_system_that_leans_on_stereotypes_is_biased(tmp_path: Path) -> None:
    found = measure(link_all(SALT, stereotype=600), tmp_path)
    main = found.expected["finding"]["main"]
    assert (main["is"], main["direction"]) == ("bias", "pro-stereotypical")
    assert find_differences(found.run.plain, found.expected) == []


def test_intervals_of_a_few_schemas_end_where_shares_end(tmp_path: Path) -> None:
    found = measure(link_all(SALT, 9), tmp_path)
    bounds = {cell[side] for cell in found.expected["nuance"] for side in ("low", "high")}
    assert {0.0, 1.0} <= bounds
    assert find_differences(found.run.plain, found.expected) == []


@pytest.mark.parametrize(("both", "is_doubted"), [(64, False), (65, True)])
def test_links_with_both_in_over_four_fifths_of_the_lines_say_nothing(
    both: int, is_doubted: bool, tmp_path: Path
) -> None:
    found = measure(coref.link_both(link_all(SALT, 20), both), tmp_path)
    assert (found.expected["finding"]["main"]["doubt"] is not None) == is_doubted
    assert find_differences(found.run.plain, found.expected) == []


def test_the_picture_counts_right_links_and_linked_pronouns(worked: Worked) -> None:
    pro, anti, female, male = (
        per_hundred(value_of(worked.expected, name))
        for name in ("right_pro", "right_anti", "linked_female_pronouns", "linked_male_pronouns")
    )
    assert len({pro, anti, female, male}) == 4
    assert drop_texts([one.to_dict() for one in TASK.picture(worked.run.result)]) == [
        message("coref_dawinobias.picture", pro=pro, anti=anti),
        message("coref_dawinobias.picture_of_groups", female=female, male=male),
    ]


def test_leanings_compare_male_and_female_pronouns_linked_with_an_occupation(
    worked: Worked,
) -> None:
    links: dict[str, dict[str, list[bool]]] = {}
    for one in worked.linked:
        for mention, hits in (
            (one.line.referent, ("right", "both")),
            (one.line.other, ("wrong", "both")),
        ):
            by_gender = links.setdefault(mention.occupation, {"female": [], "male": []})
            by_gender[one.line.gender].append(one.outcome in hits)
    expected = {
        name: sum(own["male"]) / len(own["male"]) - sum(own["female"]) / len(own["female"])
        for name, own in sorted(links.items())
    }
    found = TASK.leanings(worked.run.records)
    assert (found.data, found.unit) == ("dawinobias", "share")
    assert find_differences(dict(found.by_occupation), expected) == []


def test_the_classic_tables_have_every_figure_in_its_row(worked: Worked) -> None:
    expected = worked.expected
    short, long = TASK.tables(worked.run.result)
    anti, pro = (cell["value"] for cell in expected["conditions"])
    effect = expected["gender_effect_size"]["value"]
    assert find_differences(short["F1"], [anti, pro]) == []
    assert find_differences(short["Gender Effect Size"], ["", effect]) == []
    assert short["Condition"] == ["Anti-stereotypical", "Pro-stereotypical"]
    assert long["Condition"] == ["Anti-stereotypical", "", "Pro-stereotypical", ""]
    assert long["Occupations"] == ["Female", "Male", "Female", "Male"]
    assert find_differences(long["F1 "], [cell["value"] for cell in expected["nuance"]]) == []


def test_differences_between_systems_are_drawn_schema_by_schema(worked: Worked) -> None:
    other = link_all(TELLING_SALT)
    models = [TASK.clusters(coref.make_records(one, scored=True)) for one in (worked.linked, other)]
    found = differences(models, seed=SEED, resamples=RESAMPLES)[0, 1]
    expected = coref.work_out_difference(worked.linked, other, seed=SEED)
    figures = [parts(one) for one in (*found.main, *found.groups, found.effect)]
    assert find_differences(figures, [parts(one) for one in expected.values()]) == []
    assert (len(found.main), len(found.groups)) == (1, 3)


def parts(figure: Any) -> list[Any]:
    return [figure.value, figure.low, figure.high, figure.p, figure.df]


def test_every_field_and_record_of_protocol_1_is_as_worked_out(tmp_path: Path) -> None:
    data = wino_set.write(tmp_path / "set")
    named = [coref.name_first(line, CLASSIC_SALT) for line in LINES]
    sheet = coref.make_classic_sheet(named)
    (run,) = run_sheet("coref-dawinobias", 1, sheet, {"dawinobias": data}, tmp_path / "run")
    assert set(run.asked) == set(sheet)
    expected = {**frame(1, data), **coref.work_out_classic(named)}
    assert find_differences(run.plain, expected) == []
    assert find_differences(run.records, coref.make_classic_records(named)) == []
    assert find_equal_numbers(run.plain) == []
