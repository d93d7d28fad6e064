"""``lm-abc`` on a made-up set, every figure of both protocols worked out a second time."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from gendalens.stats.paired import differences
from gendalens.tasks.lm_abc.protocol2 import TASK
from worked import abc_set
from worked import lm_abc as lm
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

HARMS = {"main": "underrepresentation", "nuance": "stereotyping"}
SOURCES = {"main": "selection bias", "nuance": "semantic bias"}
TRIPLES = abc_set.list_triples()
LEANINGS = {"male": 0.9, "stereotype": 0.7, "grammar": 4.0}
#: Models that were chosen among many: the figures of the first are all different, the verdict on the
#: second changes without contested occupations, and the third loses its contrast to correction.
SALT, CONTESTED_SALT, LOST_SALT = 7, 11, 19
#: Places that hold the same number by definition: counts of triples, of all or of one class, and the
#: larger p before and after Holm's correction.
EQUAL: list[set[str]] = [
    {"contrast/p", "contrast/p_adjusted"},
    {
        "conditions/female/n",
        "conditions/male/n",
        "coverage/triples_answered",
        "coverage/triples_asked",
        "extra/hans_likelier/n",
        "extra/reflexive_likeliest/n",
    },
    *(
        {
            f"nuance/female {kind} occupations/n",
            f"nuance/male {kind} occupations/n",
            f"extra/hans_likelier_{kind}_occupations/n",
        }
        for kind in ("female", "male")
    ),
    {
        "extra/class_contrast_without_contested/n",
        "extra/ges_without_contested/n",
        "extra/preference_without_contested/n",
    },
]


def frame(protocol: int, folder: Path) -> dict[str, Any]:
    """What a result says beside its measures."""
    sums = {"abc": checksum(*abc_set.files(folder).values())}
    return {
        "schema": 3,
        "task": "lm-abc",
        "protocol": protocol,
        "model": MODEL,
        "data": own_set(sums, "the user's own folder"),
        "signature": signature(f"lm-abc@{protocol}", sums),
        "harms": HARMS,
        "sources": SOURCES,
    }


@dataclass(frozen=True)
class Worked:
    """A run, the answers behind it, and what its result must be."""

    run: WorkedRun
    scored: list[lm.Scored]
    expected: dict[str, Any]


def score_all(salt: int, **leanings: float) -> list[lm.Scored]:
    return [lm.score(triple, salt, **{**LEANINGS, **leanings}) for triple in TRIPLES]


def measure(scored: list[lm.Scored], folder: Path) -> Worked:
    """The run of a model with these answers."""
    data = abc_set.write(folder / "set")
    sheet = lm.make_sheet(scored)
    (run,) = run_sheet("lm-abc", 2, sheet, {"abc": data}, folder / "run")
    assert set(run.asked) == set(sheet)
    return Worked(run, scored, {**frame(2, data), **lm.work_out(scored, SEED)})


@pytest.fixture(scope="module")
def worked(tmp_path_factory: pytest.TempPathFactory) -> Worked:
    return measure(score_all(SALT), tmp_path_factory.mktemp("scored"))


def test_every_field_of_the_result_is_as_worked_out(worked: Worked) -> None:
    assert find_differences(worked.run.plain, worked.expected) == []


def test_every_record_says_what_was_asked_answered_and_counted(worked: Worked) -> None:
    assert find_differences(worked.run.records, lm.make_records(worked.scored)) == []


def test_no_two_figures_are_the_same_number_but_by_definition(worked: Worked) -> None:
    equal = find_equal_numbers(worked.run.plain)
    assert [paths for paths in equal if paths not in EQUAL] == []
    assert len(equal) == len(EQUAL)


def test_each_variance_and_each_number_of_clusters_decides_some_figure(worked: Worked) -> None:
    found = lm.estimate(worked.scored, SEED)
    assert {figure.decided for figure in found.values()} == {"sum", "a", "b"}
    # Six events; four female and five male occupations.
    assert {name: figure.df for name, figure in found.items()} == {
        **dict.fromkeys(("female", "male", "bits", "ges"), 5),
        **dict.fromkeys(("female female", "male female", "bits female", "contrast"), 3),
        **dict.fromkeys(("female male", "male male", "bits male"), 4),
    }


def test_the_worked_finding_is_a_bias_in_both(worked: Worked) -> None:
    finding = worked.run.plain["finding"]
    assert (finding["main"]["is"], finding["main"]["direction"]) == ("bias", "male")
    assert (finding["groups"]["is"], finding["groups"]["direction"]) == (
        "bias",
        "with the stereotype",
    )


def test_a_verdict_that_hangs_on_contested_occupations_is_told(tmp_path: Path) -> None:
    found = measure(score_all(CONTESTED_SALT), tmp_path)
    assert found.expected["warnings"][-1]["code"] == "contested_classes_decide"
    assert find_differences(found.run.plain, found.expected) == []


def test_groups_are_judged_by_the_adjusted_p(tmp_path: Path) -> None:
    found = measure(score_all(LOST_SALT), tmp_path)
    groups = found.run.plain["finding"]["groups"]
    (contrast,) = groups["evidence"]
    assert contrast["p"] < 0.05 < contrast["p_adjusted"]
    assert (groups["is"], groups["reason"]) == ("undecided", message("lost_by_correction", tests=2))
    assert find_differences(found.run.plain, found.expected) == []


@pytest.mark.parametrize(("grammar", "is_unstable"), [(0.7, True), (-0.6, False)])
def test_a_pronoun_that_is_hardly_surprising_makes_no_stable_ratio(
    grammar: float, is_unstable: bool, tmp_path: Path
) -> None:
    found = measure(score_all(SALT, grammar=grammar), tmp_path)
    effect = found.expected["gender_effect_size"]
    assert effect["unstable"] == is_unstable
    assert (effect["value"] is None) != is_unstable
    assert find_differences(found.run.plain, found.expected) == []


def test_the_picture_counts_triples_in_which_hans_is_likelier(worked: Worked) -> None:
    every, female, male = (
        per_hundred(value_of(worked.expected, f"hans_likelier{part}"))
        for part in ("", "_female_occupations", "_male_occupations")
    )
    assert len({every, female, male}) == 3
    assert drop_texts([one.to_dict() for one in TASK.picture(worked.run.result)]) == [
        message("lm_abc.picture", hans=every),
        message("lm_abc.picture_of_groups", female=female, male=male),
    ]


def test_leanings_are_the_mean_preference_of_an_occupation(worked: Worked) -> None:
    bits: dict[str, list[float]] = {}
    for one in worked.scored:
        bits.setdefault(one.triple.occupation, []).append(one.bits)
    found = TASK.leanings(worked.run.records)
    assert (found.data, found.unit) == ("abc", "bits")
    expected = {name: sum(own) / len(own) for name, own in sorted(bits.items())}
    assert find_differences(dict(found.by_occupation), expected) == []


def test_the_classic_tables_have_every_figure_in_its_row(worked: Worked) -> None:
    def show(cell: dict[str, Any]) -> str:
        value, low, high = (round(cell[part], 2) for part in ("value", "low", "high"))
        return f"{value} ({low}, {high})"

    expected = worked.expected
    female, male = map(show, expected["conditions"])
    short, long = TASK.tables(worked.run.result)
    metric = "Perplexity Median (95% interval) Relative scores"
    assert short[metric] == ["", female, "", male]
    assert short["Pronoun"] == ["Female", "", "", "Male"]
    assert long["Pronoun"] == ["Female", "", "Male", ""]
    assert long[metric] == [female, "", male, ""]
    assert long["Stereotypical Occupation"] == ["Female", "Male", "Female", "Male"]
    assert long[f"{metric} "] == list(map(show, expected["nuance"]))
    effect = expected["gender_effect_size"]["value"]
    for table in (short, long):
        assert find_differences(table["Gender Effect Size"], ["", effect, "", ""]) == []


def test_differences_between_models_are_drawn_within_classes(worked: Worked) -> None:
    other = score_all(CONTESTED_SALT)
    models = [TASK.clusters(lm.make_records(one)) for one in (worked.scored, other)]
    found = differences(models, seed=SEED, resamples=RESAMPLES)[0, 1]
    expected = lm.work_out_difference(worked.scored, other, seed=SEED)
    figures = [parts(one) for one in (*found.main, *found.groups, found.effect)]
    assert find_differences(figures, [parts(one) for one in expected.values()]) == []
    assert (len(found.main), len(found.groups)) == (1, 1)


def parts(figure: Any) -> list[Any]:
    return [figure.value, figure.low, figure.high, figure.p, figure.df]


def measure_classic(rebuilt: list[lm.Rebuilt], folder: Path) -> tuple[WorkedRun, dict[str, Any]]:
    data = abc_set.write(folder / "set")
    sheet = lm.make_classic_sheet(rebuilt)
    (run,) = run_sheet("lm-abc", 1, sheet, {"abc": data}, folder / "run")
    assert set(run.asked) == set(sheet)
    return run, {**frame(1, data), **lm.work_out_classic(rebuilt)}


def test_every_field_and_record_of_protocol_1_is_as_worked_out(tmp_path: Path) -> None:
    rebuilt = lm.rebuild()
    run, expected = measure_classic(rebuilt, tmp_path)
    assert find_differences(run.plain, expected) == []
    assert find_differences(run.records, lm.make_classic_records(rebuilt)) == []
    # The repeated sentences count twice, and every sentence stands under both pronouns.
    assert find_equal_numbers(run.plain) == [
        {"conditions/female/n", "conditions/male/n", "coverage/sentences"},
        {"nuance/female female occupations/n", "nuance/male female occupations/n"},
        {"nuance/female male occupations/n", "nuance/male male occupations/n"},
    ]
    assert run.plain["coverage"]["sentences"] == len(TRIPLES) + 2


def test_protocol_1_reports_the_ratio_of_two_negative_medians_with_a_warning(
    tmp_path: Path,
) -> None:
    run, expected = measure_classic(lm.rebuild(shift=-1.5), tmp_path)
    assert expected["warnings"] == [message("lm_abc.negative_medians")]
    assert find_differences(run.plain, expected) == []


def test_protocol_1_does_not_warn_of_one_negative_median(tmp_path: Path) -> None:
    sheet = lm.make_classic_sheet(lm.rebuild(hans=-1.5))
    data = {"abc": abc_set.write(tmp_path / "set")}
    (run,) = run_sheet("lm-abc", 1, sheet, data, tmp_path / "run")
    medians = {one["condition"]: one["value"] for one in run.plain["conditions"]}
    assert medians["male"] < 0 < medians["female"]
    assert run.plain["warnings"] == []
