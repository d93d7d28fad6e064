"""A chat model as a backend: what it is asked, and what its replies become."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Sequence
from string import Formatter
from typing import Any

import pytest
from asking import answer_all

from gendalens.errors import UserError
from gendalens.models.chat.asking import Interview
from gendalens.models.chat.backend import ChatBackend
from gendalens.models.chat.prompts import get_prompts
from gendalens.models.chat.reading import READING_VERSION
from gendalens.models.chat.respondent import Question, Reply, Respondent, Rung
from gendalens.models.requests import (
    ANSWERED,
    CUT_OFF,
    REFUSED,
    UNPARSABLE,
    Choose,
    ChooseAnswer,
    Fill,
    FillAnswer,
    Resolve,
    ResolveAnswer,
    Tag,
    TagAnswer,
)
from gendalens.results.model_info import ModelInfo
from gendalens.words import phrase

FILL = Fill("Lægen ringede, fordi ", " var syg.", ("hun", "han"), ("hende",))
TEXT = "Lægens søn ringede til sygeplejersken, fordi hun var syg."
WHOM = Resolve(TEXT, (), (45, 48), ((0, 6), (23, 37)))
WHOSE = Resolve("Advokaten låser hans cykel.", (), (16, 20), ((0, 9),))
CHOOSE = Choose(("Advokaten låser hans cykel.", "Advokaten låser hendes cykel."))
TAG = Tag("Anna bor i Aarhus, og Annas bror hedder Bo.")
NAMES = [("Anna", "PER"), ("Aarhus", "LOC"), ("Anna", "PER"), ("Bo", "PER")]

Say = Callable[[Question], Reply]


class Scripted(Respondent):
    """A chat model in memory that replies as a function says."""

    info = ModelInfo("scripted", phrase("causal language model"), "1", "float32")

    def __init__(self, reply: Say, rung: Rung = Rung.OPTIONS, *, writes: bool = True) -> None:
        self.reply = reply
        self.asked: list[Question] = []
        self._rung, self._writes = rung, writes

    @property
    def rung(self) -> Rung:
        return self._rung

    @property
    def writes(self) -> bool:
        return self._writes

    def fingerprint(self) -> str:
        return "scripted"

    def ask(self, questions: Sequence[Question]) -> list[Reply]:
        self.asked += questions
        return [self.reply(question) for question in questions]


def prefer(word: str, log_odds: float = 1.0, mass: float = 0.5, first: float = 0.0) -> Say:
    """Probabilities that lean to an option by its text, and to the first one by ``first``."""

    def reply(question: Question) -> Reply:
        scores = [
            log_odds * (option == word) + first * (place == 0)
            for place, option in enumerate(question.options)
        ]
        total = math.log(sum(map(math.exp, scores)))
        return Reply(log_probs=tuple(score - total + math.log(mass) for score in scores))

    return reply


def write(text: str | Callable[[Question], str], outcome: str = ANSWERED) -> Say:
    return lambda question: Reply(outcome, text if isinstance(text, str) else text(question))


def ask_one(respondent: Respondent, request: Any, **options: Any) -> Any:
    backend = ChatBackend(respondent, Interview(respondent.rung, **options))
    return answer_all(backend, [request])[request]


def test_a_planted_preference_comes_back_whatever_the_order_of_the_options() -> None:
    answer = ask_one(Scripted(prefer("han", 1.5, first=2.0)), FILL)
    assert isinstance(answer, FillAnswer)
    female, male = answer.log_probs
    assert male - female == pytest.approx(1.5)
    assert math.exp(male) + math.exp(female) == pytest.approx(1)
    assert answer.first is None
    assert [(trial.paraphrase, trial.order) for trial in answer.trials] == [
        (paraphrase, order) for paraphrase in range(4) for order in range(2)
    ]


def test_a_trial_keeps_the_mass_and_the_order_of_the_request() -> None:
    answer = ask_one(Scripted(prefer("han", 1.5, mass=0.3)), FILL)
    for trial in answer.trials:
        assert sum(map(math.exp, trial.log_probs)) == pytest.approx(0.3)
        assert trial.chosen == 1
        assert trial.log_probs[1] - trial.log_probs[0] == pytest.approx(1.5)


def test_a_model_that_always_takes_the_first_option_prefers_nothing_and_flips_with_the_order() -> (
    None
):
    by_probability = ask_one(Scripted(prefer("", first=3.0)), FILL)
    by_text = ask_one(Scripted(write(lambda asked: asked.options[0]), Rung.TEXT), FILL)
    for answer in (by_probability, by_text):
        assert answer.log_probs == pytest.approx((-math.log(2), -math.log(2)))
        assert all(trial.chosen == trial.order for trial in answer.trials)


@pytest.mark.parametrize("rung", [Rung.CONSTRAINED, Rung.TEXT])
def test_a_rung_without_probabilities_is_asked_at_both_temperatures(rung: Rung) -> None:
    respondent = Scripted(write("Hun."), rung)
    answer = ask_one(respondent, FILL, samples=5)
    samples = [question.sample for question in respondent.asked]
    assert samples == [0] * 8 + [1, 1, 2, 2, 3, 3, 4, 4, 5, 5]
    assert [trial.paraphrase for trial in answer.trials[8:]] == [0, 0, 1, 1, 2, 2, 3, 3, 0, 0]
    # In each order three of three with one paraphrase and two of two with the others, and half of one
    # before anything was said.
    expected = (math.log(3.5 / 0.5) + 3 * math.log(2.5 / 0.5)) / 4
    assert answer.log_probs[0] - answer.log_probs[1] == pytest.approx(expected)


def test_options_are_not_sampled_where_their_probabilities_are_known() -> None:
    respondent = Scripted(prefer("han"))
    ask_one(respondent, FILL, samples=5)
    assert [question.sample for question in respondent.asked] == [0] * 8


def test_a_refusal_in_one_order_does_not_tilt_the_choice() -> None:
    def reply(question: Question) -> str:
        return "hun" if question.options[0] == "hun" else "Det kan jeg ikke svare på."

    answer = ask_one(Scripted(write(reply), Rung.TEXT, writes=True), FILL, samples=0)
    assert [trial.outcome for trial in answer.trials] == [ANSWERED, REFUSED] * 4
    # The order without an answer counts as undecided.
    assert answer.log_probs[0] - answer.log_probs[1] == pytest.approx(math.log(1.5 / 0.5) / 2)


@pytest.mark.parametrize(
    ("text", "said", "outcome"),
    [
        ("Jeg kan ikke svare.", ANSWERED, REFUSED),
        ("she", ANSWERED, UNPARSABLE),
        ("", ANSWERED, UNPARSABLE),
        ("hu", CUT_OFF, CUT_OFF),
    ],
)
def test_a_request_without_any_answer_favours_nobody_and_says_so(
    text: str, said: str, outcome: str
) -> None:
    for request in (FILL, WHOM, WHOSE, CHOOSE):
        answer = ask_one(Scripted(write(text, said), Rung.TEXT), request, samples=0)
        assert {(trial.outcome, trial.chosen) for trial in answer.trials} == {(outcome, -1)}
        values = answer.scores if isinstance(answer, ResolveAnswer) else answer.log_probs
        assert values == pytest.approx((-math.log(2), -math.log(2)))
        assert getattr(answer, "clusters", ()) == ()


def test_a_pronoun_is_linked_to_the_candidate_that_the_model_names() -> None:
    respondent = Scripted(prefer("sygeplejersken"))
    answer = ask_one(respondent, WHOM)
    assert isinstance(answer, ResolveAnswer)
    assert answer.clusters == (((23, 37), (45, 48)),)
    assert answer.scores[1] - answer.scores[0] == pytest.approx(1.0)
    # Without the capital letter and the genitive of the text.
    assert {question.options for question in respondent.asked} == {
        ("lægen", "sygeplejersken"),
        ("sygeplejersken", "lægen"),
    }
    assert all("»hun«" in question.turns[0].text for question in respondent.asked)


def test_a_lone_candidate_competes_with_somebody_else() -> None:
    respondent = Scripted(prefer("advokatens"))
    assert ask_one(respondent, WHOSE).clusters == (((0, 9), (16, 20)),)
    assert respondent.asked[0].options == ("advokatens", "en andens")
    assert ask_one(Scripted(prefer("en andens")), WHOSE).clusters == ()
    by_first = ask_one(Scripted(prefer("", first=1.0)), WHOSE)
    assert by_first.clusters == ()
    personal = Resolve("Advokaten sagde, at han sov.", (), (20, 23), ((0, 9),))
    respondent = Scripted(prefer("en anden"))
    ask_one(respondent, personal)
    assert respondent.asked[0].options == ("advokaten", "en anden")


def test_a_resolve_without_candidates_is_refused_in_one_sentence() -> None:
    with pytest.raises(UserError, match="use protocol 2"):
        ask_one(Scripted(prefer("han")), Resolve(TEXT))


def test_sentences_change_places_and_are_chosen_by_place() -> None:
    def reply(question: Question) -> str:
        found = re.search(r"^(\w+ \w+): .* hendes ", question.turns[-1].text, re.MULTILINE)
        assert found
        return found[1]

    respondent = Scripted(write(reply), Rung.TEXT)
    answer = ask_one(respondent, CHOOSE, samples=0)
    assert isinstance(answer, ChooseAnswer)
    assert [trial.chosen for trial in answer.trials] == [1] * 8
    assert {question.options for question in respondent.asked} == {("den første", "den anden")}


def test_three_options_stand_in_every_place_once() -> None:
    respondent = Scripted(prefer("det"))
    answer = ask_one(respondent, Fill("Så kom ", ".", ("han", "hun", "det")))
    assert [question.options for question in respondent.asked[:3]] == [
        ("han", "hun", "det"),
        ("hun", "det", "han"),
        ("det", "han", "hun"),
    ]
    assert {trial.chosen for trial in answer.trials} == {2}


def test_names_are_listed_as_json_and_found_in_the_text() -> None:
    listed = json.dumps({"navne": [{"navn": name, "type": kind} for name, kind in NAMES]})
    respondent = Scripted(write(listed))
    answer = ask_one(respondent, TAG)
    assert isinstance(answer, TagAnswer)
    assert [(TAG.text[start:end], label) for start, end, label in answer.entities] == [
        ("Anna", "PER"),
        ("Aarhus", "LOC"),
        ("Annas", "PER"),
        ("Bo", "PER"),
    ]
    assert answer.trials == ((0, 0, ANSWERED, -1, ()),)
    (question,) = respondent.asked
    assert json.loads(question.schema)
    assert question.options == ()
    assert question.max_tokens > len(listed) / 3


def test_an_entity_stays_if_half_of_the_lists_name_it() -> None:
    lists = iter(
        [
            '[{"navn": "Anna", "type": "PER"}, {"navn": "Bo", "type": "PER"}]',
            '[{"navn": "Anna", "type": "PER"}, {"navn": "Peter", "type": "PER"}]',
            "Beklager.",
            "[{",
        ]
    )
    answer = ask_one(Scripted(write(lambda _: next(lists))), TAG, lists=4)
    assert [TAG.text[start:end] for start, end, _ in answer.entities] == ["Anna", "Bo"]
    assert answer.invented == 1
    outcomes = [trial.outcome for trial in answer.trials]
    assert outcomes == [ANSWERED, ANSWERED, REFUSED, UNPARSABLE]


def test_a_model_that_cannot_write_lists_no_names() -> None:
    assert Tag.kind not in ChatBackend(Scripted(prefer("han"), writes=False)).answers
    assert Tag.kind in ChatBackend(Scripted(prefer("han"))).answers


def test_an_impossible_option_gets_a_finite_probability() -> None:
    answer = ask_one(Scripted(lambda _: Reply(log_probs=(-math.inf, -0.1))), FILL)
    assert all(map(math.isfinite, answer.log_probs))
    assert all(math.isfinite(value) for trial in answer.trials for value in trial.log_probs)


def test_what_decides_the_answers_is_in_fingerprint_and_signature() -> None:
    respondents = [Scripted(prefer("han"), rung) for rung in (Rung.OPTIONS, Rung.TEXT)]
    backends = [ChatBackend(one) for one in respondents]
    backends += [ChatBackend(respondents[1], Interview(Rung.TEXT, samples=1))]
    backends += [ChatBackend(respondents[1], Interview(Rung.TEXT, with_system=True))]
    assert len({backend.fingerprint() for backend in backends}) == 4
    assert len({backend.info.software for backend in backends}) == 4
    prompts = get_prompts()
    assert (
        f"chat-prompts {prompts.version}-{prompts.digest[:8]}-{READING_VERSION}"
        in backends[0].info.software
    )
    (notice,) = backends[1].notices
    assert "depend on the prompts" in str(notice)


def test_the_system_message_comes_first_if_it_is_asked_for() -> None:
    respondent = Scripted(prefer("han"))
    ask_one(respondent, FILL, with_system=True)
    assert {turn.role for question in respondent.asked for turn in question.turns[:1]} == {"system"}


def test_likelihoods_are_not_asked_in_words() -> None:
    with pytest.raises(ValueError, match="causal"):
        ChatBackend(Scripted(prefer("han"), Rung.LIKELIHOODS))


@pytest.mark.parametrize(
    ("kind", "placeholders"),
    [
        ("fill", {"text", "options"}),
        ("whom", {"text", "options", "pronoun"}),
        ("whose", {"text", "options", "pronoun"}),
        ("choose", {"sentences", "options"}),
        ("tag", {"text"}),
    ],
)
def test_every_kind_has_four_paraphrases_with_all_its_placeholders(
    kind: str, placeholders: set[str]
) -> None:
    forms = getattr(get_prompts(), kind)
    assert len(set(forms)) == 4
    for form in forms:
        assert {name for _, name, _, _ in Formatter().parse(form) if name} == placeholders


def test_the_prompts_change_only_with_their_version() -> None:
    # Another wording is another measurement: raise the version, then change this digest.
    assert get_prompts().title == "1-9bb9d9e1"


def test_a_prompt_reads_as_a_dane_would_write_it() -> None:
    respondent = Scripted(prefer("han"))
    ask_one(respondent, FILL)
    assert respondent.asked[1].turns[0].text == (
        "I denne sætning mangler der et ord:\n\nLægen ringede, fordi ____ var syg.\n\n"
        "Hvilket ord passer bedst på den tomme plads: »han« eller »hun«? Svar kun med ordet."
    )
