"""Whether a chat model's answers can be believed, and how sure they are."""

from __future__ import annotations

from typing import Any

import pytest
from chatting import run_chat, throw

from gendalens.models.requests import CUT_OFF, REFUSED, UNPARSABLE
from gendalens.results.result import Result


def lean(preference: float = 0.0, *, order: float = 0.0, paraphrase: float = 0.0) -> Any:
    """Log-odds with a preference, an effect of the order and of the paraphrase, and noise."""

    def reply(request: Any, asked: int, place: int) -> float:
        shift = (-1.5, -0.5, 0.5, 1.5)[asked] * paraphrase
        # In order 0 the first option is named first.
        return preference + shift + (order if place else -order) + throw(request, asked)

    return reply


def find_evidence(result: Result, name: str) -> Any:
    return next(one for one in result.finding.evidence if one.id == name)


def test_a_model_that_takes_the_first_option_is_not_measurable() -> None:
    result = run_chat("chat-abc", lean(order=8.0), gives_probabilities=False, sample=60)
    assert result.coverage["choices_that_change_with_the_order"] == 1
    assert result.finding.headline == "not_measurable"
    assert result.finding.reason is not None
    assert result.finding.reason.code == "chat.order_decides"


def test_probabilities_cannot_save_a_model_that_takes_the_first_option() -> None:
    result = run_chat("chat-abc", lean(order=8.0), sample=60)
    assert result.coverage["bits_gained_by_being_named_first"] == pytest.approx(11.5, abs=0.5)
    assert result.finding.headline == "not_measurable"


def test_a_weak_effect_of_the_order_averages_out_where_probabilities_are_known() -> None:
    def reply(request: Any, asked: int, place: int) -> float:
        return (0.5 if place else -0.5) + 0.3 + 0.1 * throw(request, asked)

    result = run_chat("chat-abc", reply, sample=60)
    assert result.coverage["choices_that_change_with_the_order"] == 1
    assert result.gap.value == pytest.approx(0.3 / 0.6931, abs=0.05)
    assert result.finding.main.verdict == "bias"


def test_options_that_the_model_would_not_say_are_not_measurable() -> None:
    result = run_chat("chat-abc", lean(1.0), mass=0.004, sample=60)
    assert result.coverage["mass_on_the_options"]["median"] == pytest.approx(0.004)
    assert result.finding.reason is not None
    assert result.finding.reason.code == "chat.little_mass"
    assert run_chat("chat-abc", lean(1.0), mass=0.4, sample=60).finding.is_measured


def test_shares_among_the_options_say_nothing_about_their_mass() -> None:
    result = run_chat("chat-abc", lean(1.0), mass=1.0, sample=60)
    assert "mass_on_the_options" not in result.coverage
    assert "bits_gained_by_being_named_first" in result.coverage


def test_a_model_that_answers_less_than_half_of_the_questions_is_not_measurable() -> None:
    def reply(request: Any, asked: int, place: int) -> float | str:
        draw = throw(request, "answered")
        if draw < 0.2:
            return (REFUSED, UNPARSABLE, CUT_OFF)[int(10 * (draw + 1)) % 3]
        return throw(request, asked)

    result = run_chat("chat-abc", reply, sample=100)
    coverage = result.coverage
    lost = sum(coverage[f"trials_{name}"] for name in ("refused", "unparsable", "cut_off"))
    assert lost == 8 * coverage["questions_without_answer"]
    assert coverage["triples_answered"] == 100 - coverage["questions_without_answer"] < 50
    assert result.finding.reason is not None
    assert result.finding.reason.code == "chat.unanswered"


def test_the_spread_over_paraphrases_widens_intervals() -> None:
    narrow = run_chat("chat-abc", lean(1.0), sample=100)
    wide = run_chat("chat-abc", lean(1.0, paraphrase=0.6), sample=100)
    assert wide.gap.value == pytest.approx(narrow.gap.value)
    reach = [(one.gap.high or 0) - (one.gap.value or 0) for one in (narrow, wide)]
    assert reach[1] > 1.5 * reach[0]
    assert wide.gap.p is not None
    assert wide.gap.p > (narrow.gap.p or 0)
    assert find_evidence(wide, "gap").low == wide.gap.low
    spread = wide.find_extra("paraphrases_gap")
    # Three steps of 0.6 nats, and what the noise of the items adds.
    assert spread.value == pytest.approx(3 * 0.6 / 0.6931, abs=0.3)
    assert spread.note is not None
    assert len(spread.note.values["values"]) == 4  # type: ignore[arg-type]


def test_paraphrases_alone_make_an_interval_where_items_agree() -> None:
    def reply(request: Any, asked: int, place: int) -> float:
        return 1.0 + (-0.9, -0.3, 0.3, 0.9)[asked]

    result = run_chat("chat-abc", reply, sample=60)
    # s² is 0.6 square nats; t with three degrees of freedom is 3.182.
    reach = 3.182 * (0.6 / 4) ** 0.5 / 0.6931
    extra: Any = result.find_extra("preference_female_occupations")
    for figure in (find_evidence(result, "gap"), extra):
        assert figure.value == pytest.approx(1 / 0.6931, abs=1e-3)
        assert figure.high - figure.value == pytest.approx(reach, abs=1e-3)
        assert figure.value - figure.low == pytest.approx(reach, abs=1e-3)
    assert result.gap.high == extra.high


def is_about_women(request: Any) -> bool:
    """Whether the pronoun of a request is a female one."""
    start, end = request.pronoun
    return request.text[start:end].lower() in ("hun", "hende", "hendes")


@pytest.mark.parametrize("test", ["coref-abc", "coref-dawinobias"])
def test_refusing_more_about_women_is_a_bias_in_groups(test: str) -> None:
    def reply(request: Any, asked: int, place: int) -> float | str:
        limit = -0.3 if is_about_women(request) else -0.9
        return REFUSED if throw(request, "refused") < limit else throw(request, asked)

    result = run_chat(test, reply, sample=150)
    refusals = find_evidence(result, "refusals")
    assert refusals.low < 0.30 < refusals.high
    assert refusals.verdict == "bias"
    assert refusals.direction == "refused about women"
    assert result.finding.groups.verdict == "bias"


def test_refusals_with_one_paraphrase_only_may_be_those_of_the_paraphrase() -> None:
    def reply(request: Any, asked: int, place: int) -> float | str:
        return REFUSED if asked == 1 and is_about_women(request) else throw(request, asked)

    result = run_chat("coref-abc", reply, sample=100)
    refusals = find_evidence(result, "refusals")
    # By paraphrase the shares are 0, 1, 0 and 0: s²/K is 1/16, and t with three degrees of freedom 3.182.
    assert refusals.value == pytest.approx(0.25)
    assert refusals.low == pytest.approx(0.25 - 3.182 / 4, abs=1e-2)
    spread = result.find_extra("paraphrases_refusals")
    assert spread.value == pytest.approx(1.0)
    assert spread.n == 4


def test_refusals_about_everybody_alike_are_no_bias() -> None:
    def reply(request: Any, asked: int, place: int) -> float | str:
        return REFUSED if throw(request, "refused") < -0.6 else throw(request, asked)

    refusals = find_evidence(run_chat("coref-abc", reply, sample=150), "refusals")
    assert refusals.low < 0 < refusals.high


def test_answers_that_cannot_be_read_are_no_refusals() -> None:
    def reply(request: Any, asked: int, place: int) -> float | str:
        if is_about_women(request) and throw(request, "lost") < -0.3:
            return UNPARSABLE if throw(request) < 0 else CUT_OFF
        return REFUSED if throw(request, "declined") < -0.8 else throw(request, asked)

    refusals = find_evidence(run_chat("coref-abc", reply, sample=80), "refusals")
    assert refusals.low < 0 < refusals.high


def test_a_refused_line_is_no_pronoun() -> None:
    def reply(request: Any, asked: int, place: int) -> float | str:
        return REFUSED if throw(request, "refused") < -0.8 else 5.0 * throw(request)

    result = run_chat("lm-dawinobias", reply, sample=60)
    assert result.coverage["ties"] == result.coverage["questions_without_answer"] > 0
    assert result.finding.is_measured


def test_a_model_that_refuses_everything_about_women_is_biased_although_it_cannot_be_measured() -> (
    None
):
    def reply(request: Any, asked: int, place: int) -> float | str:
        refused = is_about_women(request) or throw(request) < -0.5
        return REFUSED if refused else throw(request, asked)

    result = run_chat("coref-dawinobias", reply, sample=100)
    assert result.finding.main.verdict == "not_measurable"
    assert result.finding.groups.verdict == "bias"
    assert [one.id for one in result.finding.groups.evidence] == ["refusals"]


def test_refused_texts_have_no_entities_and_count_by_the_gender_of_the_names() -> None:
    def reply(request: Any, asked: int, place: int) -> float | str:
        return REFUSED if throw(request) < -0.7 else 0.0

    result = run_chat("ner-dane", reply, sample=20)
    assert result.coverage["trials_refused"] > 0
    assert find_evidence(result, "refusals").value is not None
