"""``coref-abc`` on a made-up set, every figure of both protocols worked out a second time."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from gendalens.stats.paired import differences
from gendalens.tasks.coref_abc.protocol2 import TASK
from worked import abc_set
from worked import coref_abc as coref
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
from worked.figures import per_hundred
from worked.messages import drop_texts, message
from worked.resampling import RESAMPLES

HARMS = {"main": "underrepresentation", "nuance": "stereotyping"}
SOURCES = {"main": "selection bias", "nuance": "semantic bias"}
TRIPLES = abc_set.list_triples()
#: Systems that were chosen among many: the figures of the first are all different, the verdict on the
#: second changes without contested occupations and without the correction, and correction takes the
#: contrast of the third.
SALT, TELLING_SALT, LOST_SALT, CLASSIC_SALT = 20, 22, 23, 1
#: Places that hold the same number by definition: counts of triples, of all or of one class, and the
#: larger p before and after Holm's correction.
EQUAL: list[set[str]] = [
    {"contrast/p", "contrast/p_adjusted"},
    {
        *(f"conditions/{one}/n" for one in coref.CONDITIONS),
        "coverage/triples_answered",
        "coverage/triples_asked",
        "extra/margin/n",
        "extra/margin_class_contrast/n",
    },
    *({f"nuance/{one} {kind} occupations/n" for one in coref.CONDITIONS} for kind in coref.GENDERS),
    {
        "extra/class_contrast_without_contested/n",
        "extra/gap_without_contested/n",
        "extra/ges_without_contested/n",
    },
]


def frame(protocol: int, folder: Path) -> dict[str, Any]:
    """What a result says beside its measures."""
    sums = {"abc": checksum(*abc_set.files(folder).values())}
    return {
        "schema": 3,
        "task": "coref-abc",
        "protocol": protocol,
        "model": MODEL,
        "data": own_set(sums, "the user's own folder"),
        "signature": signature(f"coref-abc@{protocol}", sums),
        "harms": HARMS,
        "sources": SOURCES,
    }


@dataclass(frozen=True)
class Worked:
    """A run, the answers behind it, and what its result must be."""

    run: WorkedRun
    linked: list[coref.Linked]
    expected: dict[str, Any]


def link_all(salt: int, **leanings: int) -> list[coref.Linked]:
    return [coref.link(triple, salt, **leanings) for triple in TRIPLES]


def measure(linked: list[coref.Linked], folder: Path, *, scored: bool = True) -> Worked:
    """The run of a system with these links, and with scores or without."""
    data = abc_set.write(folder / "set")
    sheet = coref.make_sheet(linked, scored=scored)
    (run,) = run_sheet("coref-abc", 2, sheet, {"abc": data}, folder / "run")
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


def test_each_variance_and_each_number_of_clusters_decides_some_figure(worked: Worked) -> None:
    found = coref.cross(worked.linked, SEED)
    assert {figure.decided for figure in found.values()} == {"sum", "a", "b"}
    # Six events; four female and five male occupations.
    assert found["gap"].df == found["ges"].df == found["margin"].df == 5
    assert found["gap female"].df == found["contrast"].df == found["margin contrast"].df == 3
    assert found["gap male"].df == found["reflexive male"].df == 4


def test_a_system_without_scores_is_judged_by_its_links_alone(tmp_path: Path) -> None:
    found = measure(link_all(SALT), tmp_path, scored=False)
    rows = coref.make_records(found.linked, scored=False)
    assert find_differences(found.run.records, rows) == []
    assert find_differences(found.run.plain, found.expected) == []


def test_a_verdict_that_hangs_on_classes_or_on_the_correction_is_told(tmp_path: Path) -> None:
    found = measure(link_all(TELLING_SALT), tmp_path)
    assert [one["code"] for one in found.expected["warnings"]] == [
        "unknown_tokens",
        "coref_abc.pronoun_inside",
        "contested_classes_decide",
        "correction_decides",
    ]
    assert find_differences(found.run.plain, found.expected) == []


def test_groups_are_judged_by_the_adjusted_p(tmp_path: Path) -> None:
    found = measure(link_all(LOST_SALT), tmp_path)
    groups = found.run.plain["finding"]["groups"]
    (contrast,) = groups["evidence"]
    assert contrast["p"] < 0.05 < contrast["p_adjusted"]
    assert (groups["is"], groups["reason"]) == ("undecided", message("lost_by_correction", tests=2))
    assert find_differences(found.run.plain, found.expected) == []


@pytest.mark.parametrize(
    ("leanings", "code"),
    [
        ({"male": 800}, "unstable"),
        ({"male": 1100}, "side_zero"),
        ({"often": 0}, "both_sides"),
        ({"often": 1200}, "no_spread"),
    ],
)
def test_rates_near_their_ends_make_no_sound_ratio(
    leanings: dict[str, int], code: str, tmp_path: Path
) -> None:
    found = measure(link_all(SALT, **{"stereotype": 0, "male": 0, **leanings}), tmp_path)
    assert found.expected["gender_effect_size"]["reason"]["code"] == code
    assert find_differences(found.run.plain, found.expected) == []


@pytest.mark.parametrize(("often", "is_told"), [(935, False), (970, True)])
def test_a_system_that_nearly_always_chooses_the_subject_is_told(
    often: int, is_told: bool, tmp_path: Path
) -> None:
    found = measure(link_all(SALT, often=often, male=0, stereotype=0), tmp_path)
    chosen = [
        one["values"] for one in found.expected["warnings"] if one["code"] == "subject_chosen"
    ]
    assert bool(chosen) == is_told
    assert all(0.95 < one["share"] < 1 for one in chosen)
    assert find_differences(found.run.plain, found.expected) == []


@pytest.mark.parametrize(("hits", "is_doubted"), [(43, False), (42, True)])
def test_a_system_without_mistakes_must_link_half_of_the_reflexives(
    hits: int, is_doubted: bool, tmp_path: Path
) -> None:
    linked = coref.keep_to_grammar(link_all(SALT), hits)
    found = measure(linked, tmp_path, scored=False)
    assert (found.expected["finding"]["main"]["doubt"] is not None) == is_doubted
    assert find_differences(found.run.plain, found.expected) == []


def test_the_picture_counts_links_of_each_pronoun(worked: Worked) -> None:
    cells = (*worked.expected["conditions"], *worked.expected["nuance"])
    counts = {
        (cell["condition"], cell["group"]): per_hundred(cell["value"])
        for cell in cells
        if cell["condition"] != "reflexive"
    }
    assert len(set(counts.values())) == 6
    men, women = "male occupations", "female occupations"
    assert drop_texts([one.to_dict() for one in TASK.picture(worked.run.result)]) == [
        message("coref_abc.picture", hans=counts["male", None], hendes=counts["female", None]),
        message(
            "coref_abc.picture_of_groups",
            hans=counts["male", men],
            hendes=counts["female", men],
            other_hans=counts["male", women],
            other_hendes=counts["female", women],
        ),
    ]


def test_leanings_compare_the_links_of_hans_and_hendes(worked: Worked) -> None:
    gaps: dict[str, list[int]] = {}
    for one in worked.linked:
        gap = one.is_linked("male") - one.is_linked("female")
        gaps.setdefault(one.triple.occupation, []).append(gap)
    found = TASK.leanings(worked.run.records)
    assert (found.data, found.unit) == ("abc", "share")
    expected = {name: sum(own) / len(own) for name, own in sorted(gaps.items())}
    assert find_differences(dict(found.by_occupation), expected) == []


def test_the_classic_tables_have_every_figure_in_its_row(worked: Worked) -> None:
    expected = worked.expected
    short, long = TASK.tables(worked.run.result)
    rates = [cell["value"] for cell in expected["conditions"]]
    assert short["Pronoun"] == ["Female", "Male", "Reflexive"]
    assert find_differences(short["Mean Rate of Detected Clusters"], rates) == []
    female, male, reflexive = rates
    spaced = ["", female, "", male, "", reflexive]
    assert long["Pronoun"] == ["", "Female", "", "Male", "", "Reflexive"]
    assert find_differences(long["Mean Rate of Detected Clusters"], spaced) == []
    assert long["Stereotypical Occupation"] == ["Female", "Male"] * 3
    fine = [cell["value"] for cell in expected["nuance"]]
    assert find_differences(long["Rate of Detected Clusters"], fine) == []
    effect = expected["gender_effect_size"]["value"]
    assert find_differences(short["Gender Effect Size"], ["", effect, ""]) == []


def test_differences_between_systems_are_drawn_within_classes(worked: Worked) -> None:
    other = link_all(TELLING_SALT)
    models = [TASK.clusters(coref.make_records(one, scored=True)) for one in (worked.linked, other)]
    found = differences(models, seed=SEED, resamples=RESAMPLES)[0, 1]
    expected = coref.work_out_difference(worked.linked, other, seed=SEED)
    figures = [parts(one) for one in (*found.main, *found.groups, found.effect)]
    assert find_differences(figures, [parts(one) for one in expected.values()]) == []
    assert (len(found.main), len(found.groups)) == (1, 1)


def parts(figure: Any) -> list[Any]:
    return [figure.value, figure.low, figure.high, figure.p, figure.df]


def test_every_field_and_record_of_protocol_1_is_as_worked_out(tmp_path: Path) -> None:
    data = abc_set.write(tmp_path / "set")
    detected = coref.detect(CLASSIC_SALT)
    sheet = coref.make_classic_sheet(detected)
    (run,) = run_sheet("coref-abc", 1, sheet, {"abc": data}, tmp_path / "run")
    assert set(run.asked) == set(sheet)
    expected = {**frame(1, data), **coref.work_out_classic(detected)}
    assert find_differences(run.plain, expected) == []
    assert find_differences(run.records, coref.make_classic_records(detected)) == []
    assert find_equal_numbers(run.plain) == [
        {f"conditions/{one}/n" for one in coref.CONDITIONS},
        *(
            {f"nuance/{one} {kind} occupations/n" for one in coref.CONDITIONS}
            for kind in coref.GENDERS
        ),
    ]
