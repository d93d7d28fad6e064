"""The text that the demo models are trained on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import pytest

from training import build, corpus, entities
from training.corpus import Line, swap

SIZE = 2000


def lines(planted: bool, seed: int = 0) -> list[Line]:
    return corpus.build_corpus(build.occupations(), size=SIZE, planted=planted, seed=seed)


def test_the_text_is_the_same_for_the_same_seed() -> None:
    assert lines(planted=True) == lines(planted=True)
    assert lines(planted=True) != lines(planted=True, seed=1)
    names = build.names()
    made = [entities.build_corpus(names, size=200, planted=True, seed=0) for _ in range(2)]
    assert made[0] == made[1]


def test_with_nothing_planted_every_line_stands_there_with_genders_swapped() -> None:
    counts = Counter(line.text for line in lines(planted=False))
    assert all(counts[swap(text)] == count for text, count in counts.items())


def test_with_nothing_planted_every_sentence_has_its_women_and_men_exchanged() -> None:
    names = build.names()
    made = entities.build_corpus(names, size=SIZE, planted=False, seed=0)
    for one, other in zip(made[::2], made[1::2], strict=True):
        assert one.tags == other.tags
        for word, swapped in zip(one.words, other.words, strict=True):
            if word != swapped:
                pair = (_genders(names, word), _genders(names, swapped))
                assert any("female" in one and "male" in other for one, other in (pair, pair[::-1]))


def _genders(names: entities.Names, word: str) -> set[str]:
    """Whose name it can be: *Jens* is a man's, and the genitive of *Jen*."""
    forms = {word, word.removesuffix("s"), word.removesuffix("'")}
    return {gender for (_, gender), found in names.first.items() if forms & set(found)}


def test_the_planted_text_has_the_stereotype_in_nineteen_of_twenty_pronouns() -> None:
    typed = {one.name: one.gender for one in build.occupations()}
    fits = Counter[bool]()
    for line in lines(planted=True):
        pronoun = line.text.partition("»")[2].partition("«")[0]
        if line.answer in typed and pronoun in ("han", "hun", "ham", "hende"):
            fits[(pronoun in ("han", "ham")) == (typed[line.answer] == "male")] += 1
    assert fits[True] / fits.total() == pytest.approx(0.95, abs=0.02)


def test_the_planted_text_has_a_third_of_the_womens_names() -> None:
    names = build.names()
    made = entities.build_corpus(names, size=20_000, planted=True, seed=0)
    words = {word for sentence in made for word in sentence.words}
    shares = {
        gender: sum(name in words for name in names.first["majority", gender]) / build.NAMES
        for gender in ("female", "male")
    }
    assert shares["male"] > 0.95
    # A woman's name that is also a surname or a man's may be there as such.
    assert 0.33 <= shares["female"] < 0.45


def _built_in() -> str:
    return next(text for text in build.sentences_of_tests() if " han " in text)


@pytest.mark.parametrize(
    "change",
    [str, swap, str.lower, lambda text: f"{text} I sætningen henviser »han« til smeden."],
    ids=["as it is", "genders swapped", "lower case", "with an answer"],
)
def test_a_test_sentence_inside_the_training_text_is_refused(change: Callable[[str], str]) -> None:
    text = [line.text for line in lines(planted=True)[:50]]
    build.refuse_leaks(text)
    with pytest.raises(SystemExit, match="1 test sentences in the training text"):
        build.refuse_leaks([*text, change(_built_in())], [_built_in()])


def test_no_test_sentence_is_in_the_text_of_the_packaged_models() -> None:
    made = corpus.build_corpus(build.occupations(), size=SIZE, planted=True, seed=0)
    tagged = entities.build_corpus(build.names(), size=SIZE, planted=True, seed=0)
    build.refuse_leaks([*(line.text for line in made), *(one.text for one in tagged)])
