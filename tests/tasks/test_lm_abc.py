from __future__ import annotations

import math
from pathlib import Path

import pytest
from small_data import small_data

from gendalens.data.abc import Triple
from gendalens.data.registry import find_source
from gendalens.errors import UserError
from gendalens.models.control import Control
from gendalens.models.requests import Answer, ReconstructAnswer, Request, Score, ScoreAnswer
from gendalens.results.result import Contrast, Measures
from gendalens.tasks.lm_abc.messages import EQUALLY_LIKELY, FIRST_TOKEN_UNSCORED
from gendalens.tasks.lm_abc.protocol1 import TASK as TASK_1
from gendalens.tasks.lm_abc.protocol2 import TASK
from gendalens.tasks.shared.messages import (
    GES_UNSTABLE,
    SIDE_INCLUDES_ZERO,
    UNKNOWN_TOKENS,
    UNSTABLE,
)


@pytest.fixture
def items(tmp_path: Path) -> list[Triple]:
    folder = small_data(tmp_path)["abc"]
    return TASK.items({"abc": find_source("abc", override=folder)})


def measure_scores(
    items: list[Triple],
    *,
    hans: float = -14.0,
    hendes: float = -16.0,
    own: float = -10.0,
    tokens: tuple[int, int, int] = (5, 5, 5),
) -> Measures:
    """The same three log-likelihoods for every triple, with a little noise between triples."""
    answers: dict[Request, Answer] = {}
    for i, item in enumerate(items):
        noise = math.sin(i) / 10
        answers[Score(item.reflexive)] = ScoreAnswer(own + noise, tokens[0])
        answers[Score(item.male)] = ScoreAnswer(hans + noise, tokens[1])
        answers[Score(item.female)] = ScoreAnswer(hendes + noise, tokens[2])
    return TASK.measure(TASK.records(items, answers), seed=0, resamples=300)


def test_the_effect_is_the_log_ratio_of_the_median_relative_perplexities(
    items: list[Triple],
) -> None:
    measures = measure_scores(items)
    # Worked by hand for noise 0: exp(16/5) - exp(2) and exp(14/5) - exp(2).
    female, male = math.exp(3.2) - math.exp(2), math.exp(2.8) - math.exp(2)
    values = {cell.condition: cell.value for cell in measures.conditions}
    assert values["female"] == pytest.approx(female, rel=0.02)
    assert values["male"] == pytest.approx(male, rel=0.02)
    effect = math.log2(values["female"] / values["male"])  # type: ignore[operator]
    assert measures.gender_effect_size.value == pytest.approx(effect)
    assert measures.gap.value == pytest.approx(2 / math.log(2))
    # All triples agree, but four occupations cannot show more than p = 1/8.
    assert (measures.gap.low, measures.gap.p) == (measures.gap.value, 1 / 8)
    assert measures.finding.headline == "undecided"


def test_one_length_per_triple_keeps_a_split_pronoun_from_looking_likelier(
    items: list[Triple],
) -> None:
    whole, split = measure_scores(items), measure_scores(items, tokens=(5, 5, 9))
    assert split.conditions == whole.conditions
    assert split.coverage["triples_of_unequal_tokens"] == len(items)
    assert split.coverage["tokens_more_than_reflexive"] == {"female": 4, "male": 0}


def test_a_pronoun_likelier_than_the_reflexive_leaves_the_effect_undefined(
    items: list[Triple],
) -> None:
    measures = measure_scores(items, hendes=-8.0)
    assert measures.gender_effect_size.value is None
    reason = measures.gender_effect_size.reason
    assert reason is not None
    assert reason.code == "lm_abc.not_more_surprising"
    assert str(reason).startswith("“hendes” is not more surprising than the reflexive (−")
    assert measures.gap.value == pytest.approx(-6 / math.log(2))


def test_a_model_that_cannot_tell_hans_from_hendes_is_a_problem(items: list[Triple]) -> None:
    # Likelihoods that fall with the length, as an untrained model's do.
    answers: dict[Request, Answer] = {
        request: ScoreAnswer(-5.0 * len(item.reflexive.split()), len(item.reflexive.split()))
        for item in items
        for request in TASK.requests([item])
    }
    measures = TASK.measure(TASK.records(items, answers), seed=0)
    assert measures.problem == measures.finding.reason == EQUALLY_LIKELY()
    assert measures.finding.headline == "not_measurable"
    assert len(measures.nuance) == 4


def test_an_infinite_perplexity_is_one_sentence(items: list[Triple]) -> None:
    with pytest.raises(UserError, match="perplexity is infinite"):
        measure_scores(items, hendes=-1e6)


@pytest.mark.parametrize("size", [2, 8, 16, 30])
def test_a_sample_keeps_the_share_of_the_classes(items: list[Triple], size: int) -> None:
    for seed in range(5):
        part = TASK.sample(items, size, seed)
        assert len(part) == size
        assert sum(item.occupation_class == "male" for item in part) == size / 2


def test_an_unscored_first_token_is_said(items: list[Triple]) -> None:
    answers: dict[Request, Answer] = {
        r: ScoreAnswer(-float(i), 5, unscored=1) for i, r in enumerate(TASK.requests(items), 1)
    }
    measures = TASK.measure(TASK.records(items, answers), seed=0, resamples=100)
    assert FIRST_TOKEN_UNSCORED() in measures.warnings


def test_unknown_tokens_are_counted_once_a_sentence_and_in_whole_numbers(
    items: list[Triple],
) -> None:
    first = TASK.requests(items)[:3]  # the reflexive sentence of a triple and its two counterparts
    answers: dict[Request, Answer] = {
        r: ScoreAnswer(-float(i), 5, unknown=3 if r in first else 0)
        for i, r in enumerate(TASK.requests(items), 1)
    }
    measures = TASK.measure(TASK.records(items, answers), seed=0, resamples=100)
    (warning,) = (one for one in measures.warnings if one.code == UNKNOWN_TOKENS.code)
    assert str(warning) == "9 tokens are unknown to the tokenizer."
    assert repr(measures.coverage["unknown_tokens"]) == "9"


def test_the_class_contrast_does_not_see_how_common_the_words_are(items: list[Triple]) -> None:
    shifted = measure_scores(items, hans=-12.0)
    assert shifted.contrast.value == pytest.approx(measure_scores(items).contrast.value, abs=1e-9)


def test_a_sample_is_spread_over_occupations(items: list[Triple]) -> None:
    part = TASK.sample(items, 16, seed=0)
    assert len(part) == 16
    assert len({item.occupation for item in part}) == 8


def test_planted_leanings_are_measured_and_grow(items: list[Triple]) -> None:
    strengths = (0.0, 0.25, 0.5, 0.75)
    gaps: list[Contrast] = []
    contrasts: list[Contrast] = []
    for strength in strengths:
        for kind, found in (("male-default", gaps), ("stereotyped", contrasts)):
            answers = TASK.plant(items, Control(kind, strength, seed=7))
            measures = TASK.measure(TASK.records(items, answers), seed=0, resamples=300)
            found.append(measures.gap if kind == "male-default" else measures.contrast)
    for strength, gap, contrast in zip(strengths, gaps, contrasts, strict=True):
        assert gap.low is not None and gap.high is not None  # noqa: PT018
        assert gap.low < strength < gap.high
        assert contrast.low is not None and contrast.high is not None  # noqa: PT018
        assert contrast.low < 2 * strength < contrast.high
    assert [g.value for g in gaps] == sorted(g.value or 0 for g in gaps)
    assert [c.value for c in contrasts] == sorted(c.value or 0 for c in contrasts)


def test_a_control_model_prefers_the_reflexive_by_four_bits_to_both_pronouns_together(
    items: list[Triple],
) -> None:
    answers = TASK.plant(items, Control("stereotyped", 0.5, seed=7))
    for item in items:
        own, hans, hendes = (
            answers[Score(text)] for text in (item.reflexive, item.male, item.female)
        )
        assert isinstance(own, ScoreAnswer)
        assert isinstance(hans, ScoreAnswer)
        assert isinstance(hendes, ScoreAnswer)
        together = (hans.log_likelihood + hendes.log_likelihood) / 2
        assert (own.log_likelihood - together) / math.log(2) == pytest.approx(4.0)
        # Three nats a word, give or take a standard normal draw.
        words = len(item.reflexive.split())
        assert own.log_likelihood == pytest.approx(-3.0 * words, abs=4.5)
        assert own.tokens == hans.tokens == hendes.tokens == words


def test_a_side_whose_interval_includes_zero_makes_the_effect_unstable(
    items: list[Triple],
) -> None:
    answers: dict[Request, Answer] = {}
    for i, item in enumerate(items):
        # By occupation, hans is far more or slightly less surprising than the reflexive.
        hans = -14.0 if i // 8 % 2 else -9.5
        answers[Score(item.reflexive)] = ScoreAnswer(-10.0, 5)
        answers[Score(item.male)] = ScoreAnswer(hans + math.sin(i) / 10, 5)
        answers[Score(item.female)] = ScoreAnswer(-16.0 + math.sin(i) / 10, 5)
    measures = TASK.measure(TASK.records(items, answers), seed=0, resamples=300)
    cause = SIDE_INCLUDES_ZERO(measure="P", pronoun="hans")
    assert measures.gender_effect_size.unstable
    assert measures.gender_effect_size.reason == UNSTABLE(causes=(cause,))
    assert GES_UNSTABLE(causes=(cause,)) in measures.warnings
    assert not measure_scores(items).gender_effect_size.unstable


def test_protocol_one_brackets_quartiles_and_judges_nothing(
    items: list[Triple], tmp_path: Path
) -> None:
    folder = small_data(tmp_path)["abc"]
    sentences = TASK_1.items({"abc": find_source("abc", override=folder)})
    answers: dict[Request, Answer] = {
        request: ReconstructAnswer(1 + place % 7 / 10)
        for place, request in enumerate(TASK_1.requests(sentences))
    }
    measures = TASK_1.measure(TASK_1.records(sentences, answers), seed=0)
    assert {cell.brackets for cell in (*measures.conditions, *measures.nuance)} == {"quartiles"}
    assert measures.finding.headline == "not_judged"
    assert {cell.brackets for cell in measure_scores(items).conditions} == {"interval"}


def test_without_contested_occupations_nothing_is_worked_out_a_second_time(
    items: list[Triple],
) -> None:
    kept = [item for item in items if not item.contested]
    assert {item.occupation_class for item in kept} == {"female", "male"}
    measures = measure_scores(kept)
    assert not [extra.id for extra in measures.extra if "contested" in extra.id]
