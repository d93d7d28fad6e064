"""``lm-dawinobias`` on 56 lines, every figure of both protocols worked out a second time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gendalens.results.result import to_plain
from gendalens.stats.paired import differences
from gendalens.tasks.lm_dawinobias.protocol2 import TASK
from worked import lm_dawinobias as lm
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

HARMS = {"main": "stereotyping", "nuance": "underrepresentation"}
SOURCES = {"main": "semantic bias", "nuance": "selection bias"}
CELLS = [(condition, kind) for condition in ("anti", "pro") for kind in ("female", "male")]
#: Places that hold the same number by definition: one gap with two intervals, the largest p of a run
#: before and after Holm's correction, lines that are counted once per condition or per reading,
#: schemas, each of which has a line for either gender.
EQUAL: list[set[str]] = [
    {"contrast/p", "contrast/p_adjusted"},
    {"gap/value", "extra/gap_these_occupations/value"},
    {
        "conditions/anti/n",
        "conditions/pro/n",
        "coverage/distinct_sentences",
        "extra/accuracy_anti/n",
        "extra/accuracy_pro/n",
        "extra/gap_forced/n",
        "extra/ges_forced/n",
    },
    {
        *(f"nuance/{condition} {kind} pronouns/n" for condition, kind in CELLS),
        *("coverage/schemas", "extra/gap_these_occupations/n", "extra/within_schema_contrast/n"),
    },
    {"extra/gap_without_contested/n", "extra/ges_without_contested/n"},
    {"coverage/lines_answered", "coverage/lines_asked"},
]
LINES = wino_set.list_lines()
ANSWERS = lm.read_answers()


def frame(protocol: int, folder: Path) -> dict[str, Any]:
    """What a result says beside its measures."""
    sums = {"dawinobias": checksum(*wino_set.files(folder).values())}
    return {
        "schema": 3,
        "task": "lm-dawinobias",
        "protocol": protocol,
        "model": MODEL,
        "data": own_set(sums, "the user's own folder"),
        "signature": signature(f"lm-dawinobias@{protocol}", sums),
        "harms": HARMS,
        "sources": SOURCES,
    }


def measure(
    answers: lm.Answers, out: Path, lines: list[wino_set.Line] = LINES
) -> tuple[WorkedRun, dict[str, Any]]:
    """A run on the set of these lines, and what its result must be."""
    folder = wino_set.write(out / "set", len(lines) // 4)
    sheet = lm.make_sheet(lines, answers)
    (run,) = run_sheet("lm-dawinobias", 2, sheet, {"dawinobias": folder}, out / "run")
    assert set(run.asked) == set(sheet)
    return run, {**frame(2, folder), **lm.work_out(lines, answers, SEED)}


@pytest.fixture(scope="module")
def masked(tmp_path_factory: pytest.TempPathFactory) -> tuple[WorkedRun, dict[str, Any]]:
    return measure(ANSWERS, tmp_path_factory.mktemp("masked"))


def test_every_field_of_a_masked_models_result_is_as_worked_out(
    masked: tuple[WorkedRun, dict[str, Any]],
) -> None:
    run, expected = masked
    assert find_differences(run.plain, expected) == []


def test_every_record_says_what_was_asked_answered_and_counted(
    masked: tuple[WorkedRun, dict[str, Any]],
) -> None:
    assert find_differences(masked[0].records, lm.make_records(LINES, ANSWERS)) == []


def test_no_two_figures_are_the_same_number_but_by_definition(
    masked: tuple[WorkedRun, dict[str, Any]],
) -> None:
    equal = find_equal_numbers(masked[0].plain)
    assert [paths for paths in equal if paths not in EQUAL] == []
    assert len(equal) == len(EQUAL)


def test_each_variance_decides_some_figure_of_the_worked_result() -> None:
    found = lm.cross(lm.list_schemas(LINES, ANSWERS, "open"), SEED)
    assert {figure.decided for figure in found.values()} == {"sum", "a", "b", "finer"}


def test_the_worked_finding_is_a_bias_and_two_figures_that_correction_takes_away(
    masked: tuple[WorkedRun, dict[str, Any]],
) -> None:
    finding = masked[0].plain["finding"]
    main, groups = finding["main"], finding["groups"]
    assert (finding["headline"], main["is"], groups["is"]) == ("bias", "bias", "undecided")
    assert main["direction"] == "pro-stereotypical"
    assert groups["reason"] == message("lost_by_correction", tests=4)
    lost = [one["id"] for one in main["evidence"] + groups["evidence"] if one["p"] < 0.05]
    assert lost == ["gap", "log_odds_gap", "log_odds"]


def test_a_causal_models_result_is_that_of_the_forced_reading(tmp_path: Path) -> None:
    run, expected = measure(lm.without_words(ANSWERS), tmp_path)
    assert expected["coverage"]["headline_reading"] == "forced"
    assert find_differences(run.plain, expected) == []


def test_intervals_of_a_few_schemas_end_where_shares_end(tmp_path: Path) -> None:
    run, expected = measure(ANSWERS, tmp_path, wino_set.list_lines(9))
    bounds = {cell[side] for cell in expected["nuance"] for side in ("low", "high")}
    assert {0.0, 1.0} <= bounds
    assert find_differences(run.plain, expected) == []


@pytest.mark.parametrize(("sensitive", "is_doubted"), [(4, False), (3, True)])
def test_the_answer_must_depend_on_who_is_meant_in_a_fifth_of_the_schemas(
    sensitive: int, is_doubted: bool, tmp_path: Path
) -> None:
    lines = wino_set.list_lines(20)
    answers = lm.say_han(ANSWERS, lines, range(1, sensitive + 1))
    run, expected = measure(answers, tmp_path, lines)
    assert (expected["finding"]["main"]["doubt"] is not None) == is_doubted
    assert find_differences(run.plain, expected) == []


def test_a_verdict_that_hangs_on_contested_occupations_is_told(tmp_path: Path) -> None:
    followed = [line for line in LINES if not line.contested and line.schema % 2 == 0]
    run, expected = measure(lm.lean_on_stereotypes(ANSWERS, followed), tmp_path)
    assert expected["warnings"][-1]["code"] == "contested_labels_decide"
    assert find_differences(run.plain, expected) == []


def test_a_bias_that_correction_takes_away_does_not_hang_on_contested_occupations(
    tmp_path: Path,
) -> None:
    # Before correction the whole set shows a bias, and the rest of it none.
    contested = [line for line in LINES if line.contested]
    others = [line for line in LINES if not line.contested and line.schema % 3 == 2]
    answers = lm.lean_on_stereotypes(lm.exchange_forms(ANSWERS, others), contested)
    run, expected = measure(answers, tmp_path)
    assert expected["finding"]["main"]["reason"] == message("lost_by_correction", tests=4)
    assert [one["code"] for one in expected["warnings"]] == ["unknown_tokens"]
    assert find_differences(run.plain, expected) == []


def test_models_are_compared_by_the_forced_reading(
    masked: tuple[WorkedRun, dict[str, Any]],
) -> None:
    forced = lm.work_out(LINES, lm.without_words(ANSWERS), SEED)
    found = TASK.compared_figures(masked[0].result)
    assert find_differences(plain_of(found.effect), forced["gender_effect_size"]) == []
    nothing = {"p": None, "p_adjusted": None}
    for name in ("gap", "contrast"):
        assert find_differences(plain_of(getattr(found, name)), {**forced[name], **nothing}) == []
    # Without the F1 of the other reading; the log-odds are those of the result.
    for part in ("main", "groups"):
        own = getattr(found.finding, part).to_dict()["evidence"]
        of_result = masked[1]["finding"][part]["evidence"][1]
        f1 = forced["finding"][part]["evidence"][0]
        bare = dict.fromkeys(("p", "p_adjusted", "seen", "acquitted"))
        keys = [key for key in f1 if key != "is"]
        for one, expected in zip(own, ({**f1, **bare}, of_result), strict=True):
            kept = {key: one[key] for key in keys}
            assert find_differences(drop_texts(kept), {key: expected[key] for key in keys}) == []


def test_the_picture_counts_right_pronouns_and_male_ones(
    masked: tuple[WorkedRun, dict[str, Any]],
) -> None:
    run, expected = masked
    pro, anti, male = (
        per_hundred(value_of(expected, name))
        for name in ("accuracy_pro", "accuracy_anti", "male_default")
    )
    assert len({pro, anti, male}) == 3
    assert [plain_of(one) for one in TASK.picture(run.result)] == [
        message("lm_dawinobias.picture", pro=pro, anti=anti),
        message("lm_dawinobias.picture_of_groups", male=male),
    ]


def test_leanings_are_those_of_the_lines_that_mean_the_occupation(
    masked: tuple[WorkedRun, dict[str, Any]],
) -> None:
    bits: dict[str, list[float]] = {}
    for line in LINES:
        bits.setdefault(line.referent.occupation, []).append(ANSWERS[line.line].bits)
    found = TASK.leanings(masked[0].records)
    assert (found.data, found.unit) == ("dawinobias", "bits")
    expected = {name: sum(own) / len(own) for name, own in sorted(bits.items())}
    assert find_differences(dict(found.by_occupation), expected) == []


def test_the_classic_tables_have_every_figure_in_its_row(
    masked: tuple[WorkedRun, dict[str, Any]],
) -> None:
    run, expected = masked
    anti, pro = (cell["value"] for cell in expected["conditions"])
    short, long = TASK.tables(run.result)
    effect = expected["gender_effect_size"]["value"]
    layout = {
        "Simple Output for sheet": ["", "DaWinoBias"],
        "Gender Effect Size": ["", effect],
        "Condition": ["Anti-stereotypical", "Pro-stereotypical"],
        "F1": [anti, pro],
    }
    assert find_differences(short, layout) == []
    layout = {
        "Detailed Output for sheet": ["", "DaWinoBias", "", ""],
        "Gender Effect Size": ["", effect, "", ""],
        "Condition": ["Anti-stereotypical", "", "Pro-stereotypical", ""],
        "F1": [anti, "", pro, ""],
        "Pronouns": ["Female", "Male", "Female", "Male"],
        "F1 ": [cell["value"] for cell in expected["nuance"]],
    }
    assert find_differences(long, layout) == []


def test_differences_between_models_are_drawn_schema_by_schema() -> None:
    other = lm.lean_on_stereotypes(ANSWERS, LINES[:20:2])
    models = [TASK.clusters(lm.make_records(LINES, one)) for one in (ANSWERS, other)]
    found = differences(models, seed=SEED, resamples=RESAMPLES)[0, 1]
    expected = lm.work_out_difference(LINES, ANSWERS, other, SEED)
    names = ("gap", "log_odds_gap", "pronoun_gap", "log_odds", "ges")
    figures = [parts(one) for one in (*found.main, *found.groups, found.effect)]
    assert find_differences(figures, [parts(expected[name]) for name in names]) == []
    assert len(found.main) == len(found.groups) == 2


def parts(figure: Any) -> list[Any]:
    return [figure.value, figure.low, figure.high, figure.p, figure.df]


def plain_of(part: Any) -> Any:
    return drop_texts(to_plain(part))


#: The tokens of protocol 1: every fifth has the mark of a word, which 0.0.3 takes off.
TOKENS = {
    number: str(given.first) if number % 5 else f"▁{given.first}"
    for number, given in ANSWERS.items()
}


@pytest.fixture(scope="module")
def classic(tmp_path_factory: pytest.TempPathFactory) -> tuple[WorkedRun, dict[str, Any]]:
    folder = wino_set.write(tmp_path_factory.mktemp("classic") / "set")
    sheet = lm.make_classic_sheet(LINES, TOKENS)
    (run,) = run_sheet("lm-dawinobias", 1, sheet, {"dawinobias": folder}, folder.parent / "run")
    assert set(run.asked) == set(sheet)
    return run, {**frame(1, folder), **lm.work_out_classic(LINES, TOKENS)}


def test_every_field_of_protocol_1_is_as_worked_out(
    classic: tuple[WorkedRun, dict[str, Any]],
) -> None:
    run, expected = classic
    assert find_differences(run.plain, expected) == []
    # Counted by hand: 13 and 30 of 56 lines are right.
    assert [cell["value"] for cell in run.plain["conditions"]] == [0.23, 0.54]
    assert run.plain["gender_effect_size"]["value"] == 1.23


def test_every_record_of_protocol_1_is_as_worked_out(
    classic: tuple[WorkedRun, dict[str, Any]],
) -> None:
    run, _ = classic
    assert find_differences(run.records, lm.make_classic_records(LINES, TOKENS)) == []


def test_no_two_figures_of_protocol_1_are_the_same_number_but_by_definition(
    classic: tuple[WorkedRun, dict[str, Any]],
) -> None:
    assert find_equal_numbers(classic[0].plain) == [
        {"conditions/anti/n", "conditions/pro/n"},
        {f"nuance/{condition} {kind} pronouns/n" for condition, kind in CELLS},
    ]
