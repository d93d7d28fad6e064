"""Language models as resolvers: the choice, its correction, and the words that are asked for."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from importlib import resources
from itertools import permutations
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import slow
import tiny
import torch
import transformers
from asking import answer_all
from small_data import small_data

import gendalens
from gendalens.engine.cache import Cache, pack, unpack
from gendalens.engine.executor import ask
from gendalens.errors import UserError
from gendalens.models.base import Backend
from gendalens.models.detect import load_model
from gendalens.models.lm_coref.prompts import get_prompt
from gendalens.models.lm_coref.resolver import LmResolver, fit_into_prompt, parse_name
from gendalens.models.requests import Answer, Resolve, ResolveAnswer, Score, ScoreAnswer, link_best
from gendalens.results.model_info import ModelInfo
from gendalens.words import phrase

TEXT = "Læreren sagde til bageren, at hun var træt."
TEACHER, BAKER, HUN = (0, 7), (18, 25), (30, 33)
CHOICE = Resolve(TEXT, (), HUN, (TEACHER, BAKER))
LONE = Resolve("Læreren solgte hans båd.", (), (15, 19), ((0, 7),))
REQUESTS = [
    CHOICE,
    Resolve("Bageren gav læreren en bog, fordi han læste.", (), (34, 37), ((0, 7), (12, 19))),
    LONE,
    Resolve("Gartneren vandede sine roser.", (), (18, 22), ((0, 9),)),
]

_home = tempfile.TemporaryDirectory(prefix="gendalens-lm-coref-")
KEYS = ("refers", "question", "either", "either-1")


class Opened(NamedTuple):
    """A tiny language model whose window takes a prompt: its folder, and plain transformers."""

    folder: str
    tokenizer: Any
    model: Any
    slowly: Any


@cache
def opened(kind: str) -> Opened:
    folder = Path(_home.name) / kind
    if kind == "causal":
        tokenizer: Any = tiny.gpt2(specials=True)
        tiny.save(folder, tiny.gpt2_model(tokenizer, window=256), tokenizer)
        model: Any = transformers.AutoModelForCausalLM.from_pretrained(folder)
    else:
        tokenizer = tiny.byte_level() if kind == "masked" else tiny.wordpiece(lowercase=True)
        make = tiny.roberta_model if kind == "masked" else tiny.bert_model
        tiny.save(folder, make(tokenizer, window=256), tokenizer)
        model = transformers.AutoModelForMaskedLM.from_pretrained(folder)
    slowly = slow.causal_score if kind == "causal" else slow.masked_score
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    return Opened(str(folder), tokenizer, model.eval(), slowly)


@pytest.fixture(params=["masked", "causal"])
def tested(request: pytest.FixtureRequest) -> Opened:
    return opened(request.param)


class Item(NamedTuple):
    """A question as the scripted model gets it."""

    score: Score
    rows: int = 1
    length: int = 1
    positions: int = 1


class Scripted(Backend):
    """A language model whose likelihoods stand in a table by a part of what is given."""

    answers = frozenset({Score.kind})
    max_positions = 100
    info = ModelInfo("scripted", phrase("causal language model"), "1", "float32")

    def __init__(self, table: dict[tuple[str, str], float]) -> None:
        self.table = table
        self.asked: list[Score] = []

    def fingerprint(self) -> str:
        return "scripted"

    def encode(self, requests: Sequence[Any]) -> list[Item]:
        return [Item(request) for request in requests]

    def answer(self, batch: Sequence[Item]) -> list[Answer]:
        self.asked += [item.score for item in batch]
        return [ScoreAnswer(self._value(item.score), 1) for item in batch]

    def _value(self, score: Score) -> float:
        return next(
            value
            for (given, text), value in self.table.items()
            if given in score.given and score.text == text
        )


def resolved(resolver: LmResolver, *requests: Resolve) -> list[ResolveAnswer]:
    answers = []
    for answer in resolver.answer(resolver.encode(requests)):
        assert isinstance(answer, ResolveAnswer)
        answers.append(answer)
    return answers


def test_the_choice_equals_a_slow_loop_over_the_candidates(tested: Opened) -> None:
    resolver: Any = load_model(f"lm-coref:{tested.folder}?prompt=refers")
    # Worked by hand: the words as they stand in the middle of a prompt, the pronoun in lower case.
    expected = [
        ("hun", "læreren", "bageren"),
        ("han", "bageren", "læreren"),
        ("hans", "læreren", "en anden"),
        ("sine", "gartneren", "en anden"),
    ]
    for request, answer, (pronoun, *words) in zip(
        REQUESTS, resolved(resolver, *REQUESTS), expected, strict=True
    ):
        asked = f"{request.text} I sætningen henviser »{pronoun}« til"
        neutral = "I sætningen henviser ordet til"

        def slowly(word: str, given: str) -> float:
            return float(tested.slowly(tested.tokenizer, tested.model, f" {word}.", given)[0])

        plain = [slowly(word, asked) for word in words]
        corrected = [p - slowly(word, neutral) for p, word in zip(plain, words, strict=True)]
        assert answer.uncorrected == pytest.approx(plain, rel=1e-4)
        assert answer.scores == pytest.approx(corrected, rel=1e-4, abs=1e-3)
        places = [*request.candidates, None]
        best = places[corrected.index(max(corrected))]
        assert answer.clusters == (((best, request.pronoun),) if best else ())


def test_the_correction_sees_neither_sentence_nor_pronoun() -> None:
    model = Scripted({("", " læreren."): -1.0, ("", " bageren."): -2.0})
    resolved(LmResolver(model, get_prompt("refers")), CHOICE, replace(CHOICE, pronoun=(18, 25)))
    corrections = {score.given for score in model.asked if TEXT not in score.given}
    assert corrections == {"I sætningen henviser ordet til"}


@pytest.mark.parametrize("name", ["refers", "question", "either", "either-1"])
def test_every_prompt_has_its_neutral_twin(name: str) -> None:
    used = get_prompt(name)
    assert "{pronoun}" in used.asked
    assert "{text}" in used.asked
    assert "{pronoun}" not in used.neutral
    assert "{text}" not in used.neutral
    twin = used.asked.removeprefix("{text} ").replace("Ordet »{pronoun}«", "Ordet")
    assert used.neutral == twin.replace("»{pronoun}«", "ordet")


def test_the_correction_turns_a_choice_that_only_follows_the_commoner_word() -> None:
    table = {
        (TEXT, " læreren."): -3.0,
        (TEXT, " bageren."): -4.0,
        ("ordet til", " læreren."): -2.0,
        ("ordet til", " bageren."): -6.0,
    }
    (answer,) = resolved(LmResolver(Scripted(table), get_prompt("refers")), CHOICE)
    assert answer.uncorrected == (-3.0, -4.0)
    assert answer.scores == (-1.0, 2.0)
    assert answer.clusters == ((BAKER, HUN),)
    assert link_best(CHOICE, answer.uncorrected) == ((TEACHER, HUN),)


def test_a_lone_candidate_must_beat_someone_else() -> None:
    table = {
        ("hans", " læreren."): -3.0,
        ("hans", " en anden."): -3.0,
        ("ordet til", " læreren."): -2.0,
        ("ordet til", " en anden."): -2.0,
    }
    (answer,) = resolved(LmResolver(Scripted(table), get_prompt("refers")), LONE)
    assert answer.clusters == ()
    table["hans", " læreren."] = -2.9
    (answer,) = resolved(LmResolver(Scripted(table), get_prompt("refers")), LONE)
    assert answer.clusters == (((0, 7), (15, 19)),)


def test_a_prompt_that_names_the_candidates_is_asked_in_both_orders() -> None:
    table = {
        (f"{TEXT} I sætningen henviser »hun« enten til læreren", " læreren."): -1.0,
        (f"{TEXT} I sætningen henviser »hun« enten til læreren", " bageren."): -4.0,
        (f"{TEXT} I sætningen henviser »hun« enten til bageren", " læreren."): -3.0,
        (f"{TEXT} I sætningen henviser »hun« enten til bageren", " bageren."): -2.0,
        ("ordet enten til læreren", " læreren."): -1.5,
        ("ordet enten til læreren", " bageren."): -3.5,
        ("ordet enten til bageren", " læreren."): -2.5,
        ("ordet enten til bageren", " bageren."): -2.0,
    }
    model = Scripted(table)
    (answer,) = resolved(LmResolver(model, get_prompt("either-1")), CHOICE)
    assert answer.uncorrected == (-2.0, -3.0)
    assert answer.scores == pytest.approx((0.0, -0.25))
    assert len(model.asked) == 8
    other = replace(CHOICE, candidates=(BAKER, TEACHER))
    assert resolved(LmResolver(model, get_prompt("either-1")), other)[0].scores == pytest.approx(
        (-0.25, 0.0)
    )


def test_a_correction_is_asked_for_once_in_an_encoding() -> None:
    model = Scripted({("", " læreren."): -1.0, ("", " bageren."): -2.0})
    resolver = LmResolver(model, get_prompt("refers"))
    resolved(resolver, CHOICE, replace(CHOICE, candidates=(BAKER, TEACHER)))
    assert sum(TEXT not in score.given for score in model.asked) == 2


@pytest.mark.parametrize(
    ("text", "place", "word"),
    [
        ("Lægen sov.", (0, 5), "lægen"),
        ("Lægens hund sov.", (0, 6), "lægen"),
        ("Hun så revisorens besøg.", (7, 17), "revisoren"),
        ("Han mødte vidnets far.", (10, 17), "vidnet"),
        ("De fandt kokkenes knive.", (9, 17), "kokkene"),
        ("Han sov. Kokken sang.", (9, 15), "kokken"),
        ("Han så Petersen i går.", (7, 15), "Petersen"),
        ("IT-chefen sov.", (0, 9), "IT-chefen"),
        ("Hun kender en boss.", (14, 18), "boss"),
    ],
)
def test_a_candidate_loses_the_capital_of_its_sentence_and_the_genitive(
    text: str, place: tuple[int, int], word: str
) -> None:
    assert fit_into_prompt(text, place) == word


def test_the_candidate_is_cut_as_after_a_space(tested: Opened) -> None:
    resolver: Any = load_model(f"lm-coref:{tested.folder}?prompt=refers")
    (choice,) = resolver.encode([CHOICE])
    given = f"{TEXT} I sætningen henviser »hun« til"
    plain = slow.plain(tested.tokenizer, given)
    after = slow.plain(tested.tokenizer, f"{given} læreren.")
    assert after[: len(plain)] == plain
    assert [token for _, _, token in choice.items[0].asked] == after[len(plain) :]


def test_sizes_are_those_of_all_questions() -> None:
    resolver: Any = load_model(f"lm-coref:{opened('masked').folder}")
    (choice,) = resolver.encode([CHOICE])
    assert len(choice.items) == 4
    assert choice.rows == sum(item.rows for item in choice.items)
    assert choice.length == max(item.length for item in choice.items)
    assert choice.positions == sum(item.positions for item in choice.items)


def test_the_prompt_is_in_name_signature_and_fingerprint(tmp_path: Path) -> None:
    folder = opened("causal").folder
    plain, either = (load_model(f"lm-coref:{folder}{o}") for o in ("?prompt=refers", ""))
    assert plain.info.name == "lm-coref:causal?prompt=refers"
    assert either.info.name == "lm-coref:causal"
    assert isinstance(plain, LmResolver)
    assert isinstance(either, LmResolver)
    reworded = LmResolver(plain.model, replace(plain.wording, someone_else="en fremmed"))
    prints = {one.fingerprint() for one in (plain, either, reworded, plain.model)}
    assert len(prints) == 4
    (result,) = gendalens.run(
        f"lm-coref:{folder}", tasks="coref-abc", sample=4, data=small_data(tmp_path)
    )
    assert f"prompt:either-1-{get_prompt().digest[:8]}" in result.signature
    assert result.model == either.info
    assert result.model.kind.code == "lm_resolver"
    assert str(result.model.kind) == "causal language model as coreference resolver (prompted)"
    assert result.model.hub_task == "coreference-resolution"


def test_the_version_is_raised_when_a_wording_changes() -> None:
    # A new digest here means other numbers: raise the version in the data file as well.
    text = resources.files("gendalens.models.lm_coref").joinpath("prompts.json").read_text("utf-8")
    known = {key: (get_prompt(key).version, get_prompt(key).digest[:8]) for key in KEYS}
    assert list(json.loads(text)["prompts"]) == list(KEYS)
    assert known == {
        "refers": (1, "d3f63a79"),
        "question": (1, "e0f4609c"),
        "either": (2, "8304473d"),
        "either-1": (1, "72a68557"),
    }


def test_the_second_version_of_either_is_natural_danish_and_names_both() -> None:
    used = get_prompt("either")
    assert (used.name, used.key, get_prompt("either-1").key) == ("either", "either", "either-1")
    asked = {one.given for one in used.questions(TEXT, "hun", ("læreren", "bageren"), "læreren")}
    wording = "Ordet »hun« kan henvise til {} eller {}. Her henviser det til"
    orders = (("læreren", "bageren"), ("bageren", "læreren"))
    assert asked == {f"{TEXT} {wording.format(*order)}" for order in orders}


def test_a_language_model_takes_both_coreference_tests_and_says_what_it_is(
    tested: Opened, tmp_path: Path
) -> None:
    results = gendalens.run(
        f"lm-coref:{tested.folder}", data=small_data(tmp_path), out=tmp_path / "runs", sample=8
    )
    assert [result.task for result in results] == ["coref-abc", "coref-dawinobias"]
    for result in results:
        assert result.warnings[0].code == "lm_resolver.had_to_choose"
        assert "and had to choose: one of the two occupations" in str(result.warnings[0])
        beside = {str(extra.name) for extra in result.extra}
        assert {"GES, uncorrected", "gap, uncorrected"} <= beside
        assert "unknown_tokens" in result.coverage
    outcomes = results[1].coverage
    for condition in ("pro", "anti"):
        assert outcomes[f"outcomes_{condition}"]["none"] == 0
        assert outcomes[f"outcomes_{condition}"]["both"] == 0
    for path in (tmp_path / "runs").rglob("records.jsonl"):
        for line in path.read_text("utf-8").splitlines():
            row = json.loads(line)
            won = row["outcome"] in ("linked", "right")
            assert (row["margin"] > 0) == won
            plainly = row["outcome_uncorrected"] in ("linked", "right")
            assert (row["margin_uncorrected"] > 0) == plainly


def test_answers_are_stored_with_their_scores(tmp_path: Path) -> None:
    model = Scripted({("", " læreren."): -1.0, ("", " bageren."): -2.0})
    with Cache(tmp_path / "cache.sqlite") as store:
        first = ask(LmResolver(model, get_prompt("refers")), [CHOICE], cache=store)
        calls = len(model.asked)
        again = ask(LmResolver(model, get_prompt("refers")), [CHOICE], cache=store)
    assert again == first
    assert len(model.asked) == calls
    answer = ResolveAnswer(((TEACHER, HUN),), (0.5, -1.0), (-3.0, -4.0), 2)
    assert unpack(CHOICE, pack(answer)) == answer


def test_protocol_one_is_refused_in_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"cannot search for mentions.*use protocol 2\.$") as error:
        gendalens.run(
            f"lm-coref:{opened('causal').folder}", protocol=1, data=small_data(tmp_path), sample=2
        )
    assert str(error.value).count("cannot search") == 1


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("lm-coref:", "names no model"),
        ("lm-coref:x?prompt=nonsense", "no prompt 'nonsense'.*refers, question, either"),
        ("lm-coref:x?strength=1", "the only option is prompt"),
        ("lm-coref:x?either", "the only option is prompt"),
        ("lm-coref:control:fair", "control:fair is a control model"),
    ],
)
def test_a_name_that_cannot_be_read_is_told(name: str, reason: str) -> None:
    with pytest.raises(UserError, match=reason):
        load_model(name)


def test_a_model_that_scores_nothing_is_no_resolver() -> None:
    with pytest.raises(UserError, match="name a language model"):
        load_model(f"lm-coref:lm-coref:{opened('causal').folder}")


def test_a_prompt_of_two_refuses_three() -> None:
    three = replace(CHOICE, candidates=(TEACHER, (8, 13), BAKER))
    model = Scripted({("", ""): 0.0})
    with pytest.raises(UserError, match="names two candidates and cannot ask about 3"):
        LmResolver(model, get_prompt("either")).encode([three])
    assert parse_name("lm-coref:org/model?prompt=either") == ("org/model", get_prompt("either"))


def test_a_candidate_that_the_tokenizer_cannot_write_is_refused() -> None:
    resolver: Any = load_model(f"lm-coref:{opened('masked, few letters').folder}")
    text = "Læreren mødte ЖЩ, fordi hun sov."
    request = Resolve(text, (), (24, 27), ((0, 7), (14, 16)))
    with pytest.raises(UserError, match=r"cannot represent .*ЖЩ"):
        resolver.answer(resolver.encode([request]))


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["masked", "causal"])
def test_batches_in_work_at_once_answer_alike_to_the_last_digit(kind: str) -> None:
    words = ("smeden", "bageren", "gartneren", "lægen")
    requests = []
    for one, other in permutations(words, 2):
        text = f"{one} gav {other} en bog, og hun gik hjem."
        start, second = text.index("hun gik"), len(one) + 5
        places = ((0, len(one)), (second, second + len(other)))
        requests.append(Resolve(text, pronoun=(start, start + 3), candidates=places))
    threads = torch.get_num_threads()
    torch.set_num_threads(2)
    found = []
    for _ in range(3):
        backend: Any = load_model(f"lm-coref:{opened(kind).folder}")
        assert backend.workers == 2
        found.append(answer_all(backend, requests, batch_tokens=300))
    torch.set_num_threads(threads)
    assert len(found[0]) == len(requests)
    assert found[0] == found[1] == found[2]
