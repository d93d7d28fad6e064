"""``ner-dane`` on 24 sentences, every figure of both protocols worked out a second time."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from gendalens.models.requests import Tag, TagAnswer
from gendalens.stats.paired import differences
from gendalens.tasks.ner_dane.protocol2 import TASK
from worked import dane_set
from worked import ner_dane as ner
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

HARMS = {"main": "underrepresentation", "nuance": "underrepresentation"}
SOURCES = {"main": "selection bias", "nuance": "selection bias"}
REPEATS, CLASSIC_REPEATS = 4, 3
PARTS = ("value", "low", "high")
#: Models that were chosen among many: the figures of the first are all different, and its verdict
#: changes without the sentences whose pronouns may clash; correction takes the gap of the second.
SALT, LOST_SALT, CLASSIC_SALT = 25, 24, 26
#: Places that hold the same number by definition: the two cells of majority names are the conditions,
#: sentences and draws are the same for every group, and one gap has two intervals.
EQUAL: list[set[str]] = [
    *(
        {f"conditions/{gender}/{part}", f"nuance/{gender} majority names/{part}"}
        for gender in ("female", "male")
        for part in ("value", "low", "high")
    ),
    {
        "coverage/sentences",
        *(f"conditions/{gender}/n" for gender in ("female", "male")),
        *(
            f"nuance/{gender} {origin} names/n"
            for gender in ("female", "male")
            for origin in ("majority", "minority")
        ),
    },
    {"extra/person_recall_gap/value", "extra/person_recall_gap_these_names/value"},
    {"extra/gap_agreeing/n", "extra/ges_agreeing/n"},
    {
        "coverage/repeats",
        *(
            f"extra/spread_{origin}_{gender}/n"
            for gender in ("female", "male")
            for origin in ("majority", "minority")
        ),
    },
]


def frame(protocol: int, data: dict[str, Path], *settings: str) -> dict[str, Any]:
    """What a result says beside its measures."""
    sums = {
        "dane": checksum(data["dane"]),
        "names": checksum(*data["names"].glob("*.csv")),
        "minority-names": checksum(*data["minority-names"].glob("*.csv")),
    }
    sets = own_set(sums, "the user's own folder")
    sets["dane"]["from"] = "the user's own file"
    return {
        "schema": 3,
        "task": "ner-dane",
        "protocol": protocol,
        "model": MODEL,
        "data": sets,
        "signature": signature(f"ner-dane@{protocol}", sums, *settings),
        "harms": HARMS,
        "sources": SOURCES,
    }


def write_data(folder: Path) -> dict[str, Path]:
    folder.mkdir()
    register, minority = dane_set.write_names(folder / "lists")
    dane = dane_set.write_dane(folder / "ddt.test.conllu")
    return {"dane": dane, "names": register, "minority-names": minority}


def measure(salt: int, folder: Path, **options: Any) -> tuple[WorkedRun, list[ner.Tagged]]:
    """The run of one model with unisex names beside the four groups."""
    data = write_data(folder / "data")
    versions = dane_set.list_versions(dane_set.list_pools(unisex=True), REPEATS, SEED)
    tagged = ner.tag_all(versions, salt)
    sheet = ner.make_sheet(tagged)
    (run,) = run_sheet(
        "ner-dane", 2, sheet, data, folder / "run", labels=ner.LABELS, repeats=REPEATS, unisex=True
    )
    assert set(run.asked) == set(sheet)
    return run, tagged


def expect(tagged: list[ner.Tagged], folder: Path) -> dict[str, Any]:
    data = {"dane": folder / "data" / "ddt.test.conllu"}
    data |= {name: folder / "data" / "lists" / name for name in ("names", "minority-names")}
    settings = (f"repeats:{REPEATS}", "names:top", "extra:unisex")
    return {**frame(2, data, *settings), **ner.work_out(tagged, SEED)}


@dataclass(frozen=True)
class Worked:
    """A run, the answers behind it, and what its result must be."""

    run: WorkedRun
    tagged: list[ner.Tagged]
    expected: dict[str, Any]


@pytest.fixture(scope="module")
def worked(tmp_path_factory: pytest.TempPathFactory) -> Worked:
    folder = tmp_path_factory.mktemp("tagged")
    run, tagged = measure(SALT, folder)
    return Worked(run, tagged, expect(tagged, folder))


def test_every_field_of_a_taggers_result_is_as_worked_out(worked: Worked) -> None:
    assert find_differences(worked.run.plain, worked.expected) == []


def test_every_record_says_what_was_asked_answered_and_counted(worked: Worked) -> None:
    assert find_differences(worked.run.records, ner.make_records(worked.tagged)) == []


def test_no_two_figures_are_the_same_number_but_by_definition(worked: Worked) -> None:
    equal = find_equal_numbers(worked.run.plain)
    assert [paths for paths in equal if paths not in EQUAL] == []
    assert len(equal) == len(EQUAL)


def test_each_variance_decides_some_figure_of_the_worked_result(worked: Worked) -> None:
    units = [unit for unit in ner.list_units(worked.tagged) if unit.group < 4]
    sample = ner.Sample(ner.count_figures, units, SEED)
    figures = [sample.figure(name) for name in sample.drawn.points]
    assert {figure.decided for figure in figures} == {"sum", "a", "b"}
    # The documents are of unequal size, and so worth fewer than there are.
    assert sample.df + 1 < sample.drawn.clusters["a"]


def test_the_worked_finding_is_a_bias_between_origins(worked: Worked) -> None:
    finding = worked.run.plain["finding"]
    assert (finding["headline"], finding["in_groups_only"]) == ("bias", True)
    assert finding["groups"]["direction"] == "majority names"


def test_a_verdict_that_hangs_on_clashing_pronouns_is_told(worked: Worked) -> None:
    told = [one["code"] for one in worked.run.plain["warnings"]]
    assert told == ["ner_dane.unknown_labels", "ner_dane.clashing_pronouns_decide"]


def test_a_gap_that_correction_takes_away_is_undecided(tmp_path: Path) -> None:
    run, tagged = measure(LOST_SALT, tmp_path)
    expected = expect(tagged, tmp_path)
    assert expected["finding"]["main"]["reason"] == message("lost_by_correction", tests=3)
    assert len(expected["warnings"]) == 1
    assert find_differences(run.plain, expected) == []


@pytest.mark.parametrize(("found", "missed"), [("female", "men"), ("male", "women")])
def test_an_effect_without_a_side_says_which(found: str, missed: str, tmp_path: Path) -> None:
    data = write_data(tmp_path / "data")
    versions = dane_set.list_versions(dane_set.list_pools(unisex=False), 1, SEED)
    sheet = {
        Tag(one.text): TagAnswer(
            tuple(
                gold
                for gold in one.gold
                if gold[2] == "PER" and str(one.group).endswith(f" {found}")
            )
        )
        for one in sorted(versions, key=lambda one: str(one.group).endswith(f" {found}"))
    }
    (run,) = run_sheet("ner-dane", 2, sheet, data, tmp_path / "run", repeats=1)
    reason = message("side_zero", side=f"F1 with {missed}'s names")
    effect = {"value": None, "low": None, "high": None, "reason": reason, "unstable": False}
    assert run.plain["gender_effect_size"] == effect


def test_women_and_men_of_one_origin_are_given_the_same_surnames(worked: Worked) -> None:
    surnames: dict[tuple[str, int, str], set[tuple[str, ...]]] = {}
    for row in worked.run.records:
        if row["repeat"] is not None and row["gender"] != "unisex":
            drawn = [tuple(n["name"].split())[n["first"] is not None :] for n in row["names"]]
            place = (row["sentence"], row["repeat"], row["origin"])
            surnames.setdefault(place, set()).add(tuple(" ".join(one) for one in drawn))
    assert all(len(found) == 1 for found in surnames.values())
    assert len({name for found in surnames.values() for one in found for name in one}) > 7


def test_the_picture_counts_women_and_men_of_both_origins(worked: Worked) -> None:
    counts = {
        group: per_hundred(value_of(worked.expected, f"person_recall_{group}"))
        for group in ("majority_female", "majority_male", "minority_female", "minority_male")
    }
    assert len(set(counts.values())) == 4
    assert drop_texts([one.to_dict() for one in TASK.picture(worked.run.result)]) == [
        message("ner_dane.picture", female=counts["majority_female"], male=counts["majority_male"]),
        message(
            "ner_dane.picture_of_groups",
            female=counts["minority_female"],
            male=counts["minority_male"],
        ),
    ]


def test_every_first_name_is_tallied_in_its_group(worked: Worked) -> None:
    counts: dict[tuple[str, str, str], list[int]] = {}
    for one in worked.tagged:
        for given in one.version.names:
            if given.bearers is not None and one.group is not None:
                origin, gender = one.group.split()
                key = (origin, gender, given.parts[0])
                asked = counts.setdefault(key, [given.bearers, 0, 0])
                asked[1] += 1
                asked[2] += one.found[given.place]
    found = [
        ((one.origin, one.gender, one.name), [one.bearers, one.asked, one.found])
        for one in TASK.name_tallies(worked.run.records)
    ]
    assert found == sorted(counts.items())


def test_a_limit_on_the_effect_applies_to_the_ratio_of_recalls_too(worked: Worked) -> None:
    ges, recall = TASK.limited_effects(worked.run.result)
    effect = worked.expected["gender_effect_size"]
    assert find_differences([ges.value, ges.low, ges.high], [effect[p] for p in PARTS]) == []
    female, male = (
        value_of(worked.expected, f"person_recall_majority_{gender}")
        for gender in ("female", "male")
    )
    (gap,) = worked.expected["finding"]["main"]["evidence"]
    middle = (female + male) / 2
    bounds = [
        math.log2((middle + gap[side] / 2) / (middle - gap[side] / 2)) for side in ("low", "high")
    ]
    expected = [math.log2(male / female), *bounds]
    assert find_differences([recall.value, recall.low, recall.high], expected) == []


def test_the_classic_tables_have_every_figure_in_its_row(worked: Worked) -> None:
    def show(cell: dict[str, Any]) -> str:
        value, low, high = (round(cell[part], 4) for part in PARTS)
        return f"{value} ({low}, {high})"

    women, minority_women, men, minority_men = map(show, worked.expected["nuance"])
    short, long = TASK.tables(worked.run.result)
    metric = "Micro F1 (95% interval)"
    assert short[metric] == [women, "", men]
    assert short["Name Augmentation"] == ["Female", "", "Male"]
    assert long[metric] == [women, "", men, ""]
    assert long[f"{metric} "] == [women, minority_women, men, minority_men]
    assert long["Name Augmentation "] == [
        "Majority Female",
        "Minority Female",
        "Majority Male",
        "Minority Male",
    ]


def test_differences_between_models_are_drawn_within_groups_of_names(worked: Worked) -> None:
    other = ner.tag_all([one.version for one in worked.tagged], LOST_SALT)
    models = [TASK.clusters(ner.make_records(one)) for one in (worked.tagged, other)]
    found = differences(models, seed=SEED, resamples=RESAMPLES)[0, 1]
    units = [
        [unit for unit in ner.list_units(one) if unit.group < 4] for one in (worked.tagged, other)
    ]
    expected = ner.work_out_difference(*units, seed=SEED)
    names = ("recall gap", "recall contrast", "recall origin gap", "ges")
    figures = [parts(one) for one in (*found.main, *found.groups, found.effect)]
    assert find_differences(figures, [parts(expected[name]) for name in names]) == []
    assert (len(found.main), len(found.groups)) == (1, 2)


def parts(figure: Any) -> list[Any]:
    return [figure.value, figure.low, figure.high, figure.p, figure.df]


# Protocol 1: no bearers are kept, and minority names of the register that are listed as such are out.
CLASSIC_POOLS: dane_set.Pools = {
    group: ([(name, 0) for name in names], last)
    for group, names, last in (
        (
            "majority female",
            [*dane_set.FIRST["majority female"], *dane_set.WOMEN_WITH_UNISEX_NAMES],
            [*dane_set.LAST["majority"], *dane_set.LAST["minority"]],
        ),
        (
            "majority male",
            list(dane_set.FIRST["majority male"]),
            [*dane_set.LAST["majority"], *dane_set.LAST["minority"]],
        ),
        (
            "minority female",
            sorted(dane_set.FIRST["minority female"]),
            list(dane_set.LAST["minority"]),
        ),
        ("minority male", sorted(dane_set.FIRST["minority male"]), list(dane_set.LAST["minority"])),
    )
}


@pytest.fixture(scope="module")
def classic(tmp_path_factory: pytest.TempPathFactory) -> Worked:
    folder = tmp_path_factory.mktemp("classic")
    data = write_data(folder / "data")
    versions = dane_set.list_versions(CLASSIC_POOLS, CLASSIC_REPEATS, SEED, protocol=1)
    tagged = ner.tag_all(versions, CLASSIC_SALT)
    sheet = ner.make_sheet(tagged, averaged=True)
    (run,) = run_sheet(
        "ner-dane", 1, sheet, data, folder / "run", labels=ner.LABELS, repeats=CLASSIC_REPEATS
    )
    assert set(run.asked) == set(sheet)
    settings = frame(1, data, f"repeats:{CLASSIC_REPEATS}")
    return Worked(run, tagged, {**settings, **ner.work_out_classic(tagged)})


def test_every_field_of_protocol_1_is_as_worked_out(classic: Worked) -> None:
    assert find_differences(classic.run.plain, classic.expected) == []


def test_every_record_of_protocol_1_is_as_worked_out(classic: Worked) -> None:
    assert find_differences(classic.run.records, ner.make_records(classic.tagged)) == []


def test_no_two_figures_of_protocol_1_are_the_same_number_but_by_definition(
    classic: Worked,
) -> None:
    spread = [
        {f"conditions/{gender}/{part}", f"nuance/{gender} majority names/{part}"}
        for gender in ("female", "male")
        for part in ("value", "sd")
    ]
    equal = find_equal_numbers(classic.run.plain)
    assert [paths for paths in equal if paths not in (*spread, EQUAL[6])] == []
    assert len(equal) == 5
