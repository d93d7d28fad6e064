"""The limits of what a chat model's answers are believed, each met exactly and then passed."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import pytest

from gendalens.engine.chat_measures import REFUSAL_BAND
from gendalens.engine.trial_tally import TrialTally
from gendalens.models.requests import (
    ANSWERED,
    CUT_OFF,
    REFUSED,
    UNPARSABLE,
    Answer,
    Choose,
    ChooseAnswer,
    Request,
    Tag,
    TagAnswer,
    Trial,
)

BIT = math.log(2)


def tally(questions: Iterable[Sequence[Trial]], options: int = 2) -> TrialTally:
    """The tally of questions, each of these trials."""
    answers: dict[Request, Answer] = {}
    for number, trials in enumerate(questions):
        request = Choose(tuple(f"{number} {option}" for option in range(options)))
        answers[request] = ChooseAnswer((0.0,) * options, tuple(trials))
    found = TrialTally()
    found.add(answers)
    return found


def choose(first: int, second: int, paraphrase: int = 0) -> list[Trial]:
    """The choices in both orders."""
    return [Trial(paraphrase, order, ANSWERED, one) for order, one in enumerate((first, second))]


def lean(first: float, second: float, mass: float = 1.0) -> list[Trial]:
    """Log-odds of the first candidate in both orders, in bits."""
    trials = []
    for order, bits in enumerate((first, second)):
        odds = 2**bits
        shares = odds / (1 + odds), 1 / (1 + odds)
        logs = tuple(math.log(mass * share) for share in shares)
        trials.append(Trial(0, order, ANSWERED, int(bits < 0), logs))
    return trials


def problem_of(found: TrialTally) -> str | None:
    return found.problem.code if found.problem else None


def test_half_of_the_choices_may_change_with_the_order() -> None:
    steady, flipping = choose(0, 0), choose(0, 1)
    half = tally([steady] * 5 + [flipping] * 5)
    assert half.coverage["choices_that_change_with_the_order"] == 0.5
    assert half.problem is None
    more = tally([steady] * 5 + [flipping] * 6)
    assert problem_of(more) == "chat.order_decides"
    assert more.problem is not None
    assert more.problem.values["share"] == pytest.approx(6 / 11)


def test_nine_tenths_may_change_where_probabilities_are_known() -> None:
    steady, flipping = lean(4.0, 1.0), lean(3.0, -3.0)
    most = tally([steady] + [flipping] * 9)
    assert most.coverage["choices_that_change_with_the_order"] == 0.9
    assert most.problem is None
    assert problem_of(tally([steady] + [flipping] * 10)) == "chat.order_decides"


@pytest.mark.parametrize("side", [1, -1])
def test_all_may_change_if_a_place_is_worth_no_more_than_a_bit(side: int) -> None:
    # 0.2 bits of preference, and one bit for the option named first (or last).
    weak = tally([lean(0.2 + side * 0.999, 0.2 - side * 0.999)] * 4)
    assert weak.coverage["choices_that_change_with_the_order"] == 1
    assert weak.coverage["bits_gained_by_being_named_first"] == pytest.approx(side * 0.999)
    assert weak.problem is None
    strong = tally([lean(0.2 + side * 1.001, 0.2 - side * 1.001)] * 4)
    assert problem_of(strong) == "chat.order_decides"


def test_the_size_of_the_effect_is_a_median() -> None:
    weak, strong = lean(0.5, -0.5), lean(5.0, -5.0)
    assert tally([weak] * 3 + [strong] * 2).problem is None
    assert problem_of(tally([weak] * 2 + [strong] * 3)) == "chat.order_decides"


def test_of_three_options_the_flips_alone_decide() -> None:
    trials = [
        Trial(0, order, ANSWERED, order, tuple(math.log(p) for p in (0.3, 0.3, 0.3)))
        for order in range(3)
    ]
    shifted = [
        trial._replace(
            log_probs=tuple(math.log(0.4 if i == trial.order else 0.3) for i in range(3))
        )
        for trial in trials
    ]
    found = tally([shifted] * 3, options=3)
    assert "bits_gained_by_being_named_first" not in found.coverage
    assert problem_of(found) == "chat.order_decides"


def test_the_options_must_have_five_per_cent_in_the_median() -> None:
    enough, little = lean(1.0, 1.0, mass=0.0501), lean(1.0, 1.0, mass=0.0499)
    assert tally([enough] * 3 + [little] * 2).problem is None
    found = tally([enough] * 2 + [little] * 3)
    assert problem_of(found) == "chat.little_mass"
    assert found.problem is not None
    assert found.problem.values["mass"] == pytest.approx(0.0499)
    # None of the options was among the tokens that the server reported.
    out_of_sight = [Trial(1, order, UNPARSABLE) for order in range(2)]
    assert problem_of(tally([enough + out_of_sight] * 2 + [enough])) is None
    assert problem_of(tally([enough + out_of_sight + out_of_sight])) == "chat.little_mass"
    mass = tally([lean(0, 0, mass=one) for one in (0.1, 0.2, 0.3, 0.4, 0.5)]).coverage
    assert list(mass["mass_on_the_options"].values()) == pytest.approx([0.2, 0.3, 0.4])


def test_half_of_the_questions_may_be_without_an_answer() -> None:
    def fail(outcome: str) -> list[Trial]:
        return [Trial(0, order, outcome) for order in range(2)]

    lost = [fail(REFUSED), fail(UNPARSABLE), fail(CUT_OFF)]
    half = tally([choose(0, 0)] * 3 + lost)
    assert half.problem is None
    assert half.coverage["questions_without_answer"] == 3
    assert [half.coverage[f"trials_{one}"] for one in ("refused", "unparsable", "cut_off")] == [
        2
    ] * 3
    assert half.coverage["trials"] == 12
    more = tally([choose(0, 0)] * 3 + lost + [fail(REFUSED)])
    assert problem_of(more) == "chat.unanswered"
    assert more.problem is not None
    assert more.problem.values["share"] == pytest.approx(4 / 7)
    for outcome, cause in (REFUSED, "refused"), (UNPARSABLE, "unreadable"), (CUT_OFF, "cut_off"):
        assert problem_of(tally([*lost, *[fail(outcome)] * 4])) == f"chat.mostly_{cause}"


def test_one_answered_trial_answers_a_question() -> None:
    found = tally([[Trial(0, 0, REFUSED), Trial(0, 1, ANSWERED, 1)]] * 3)
    assert found.coverage["questions_without_answer"] == 0
    assert found.coverage["trials_refused"] == 3
    # One order says nothing about what the other would have changed.
    assert "choices_that_change_with_the_order" not in found.coverage


def test_disagreement_is_counted_over_paraphrases() -> None:
    agreed = choose(0, 0) + choose(0, 0, paraphrase=1)
    torn = choose(0, 0) + choose(1, 1, paraphrase=1)
    found = tally([agreed, torn, torn])
    assert found.coverage["choices_that_differ_between_paraphrases"] == pytest.approx(2 / 3)
    assert found.coverage["choices_that_change_with_the_order"] == 0


def test_samples_in_one_order_are_judged_together() -> None:
    """Two of three samples say the first: the order has one favourite, not two."""
    trials = [Trial(0, order, ANSWERED, one) for order in (0, 1) for one in (0, 0, 1)]
    assert tally([trials]).coverage["choices_that_change_with_the_order"] == 0


def test_invented_names_and_lists_are_counted() -> None:
    found = TrialTally()
    found.add({Tag("a"): TagAnswer((), 0, (Trial(0, 0),), 2), Tag("b"): TagAnswer((), 0, ())})
    assert found.coverage["invented_names"] == 2
    assert found.coverage["trials"] == 1
    assert not TrialTally()


def test_the_band_of_refusals_is_three_points() -> None:
    assert REFUSAL_BAND == 0.03
