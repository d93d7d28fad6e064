"""Which mentions count as the pronoun and as the occupation."""

from __future__ import annotations

import pytest

from gendalens.data.text import Span
from gendalens.models.requests import Offsets, ResolveAnswer
from gendalens.tasks.shared.coref_links import are_linked, make_request, stands_in_longer_mention

TEXT = "Den unge læge kender kokken, fordi hun lånte hans stige."
DOCTOR, COOK = Span(9, 13), Span(21, 27)
HUN, HANS = Span(35, 38), Span(45, 49)


def clusters(*mentions: Offsets) -> ResolveAnswer:
    return ResolveAnswer((tuple(mentions),))


def is_linked(answer: ResolveAnswer, genitive: bool = False) -> bool:
    return are_linked(answer, HUN, DOCTOR, others=(COOK,), genitive=genitive)


def test_the_spans_of_this_file_are_the_words_they_are_called() -> None:
    spans = (DOCTOR, COOK, HUN, HANS)
    assert [TEXT[s.start : s.end] for s in spans] == ["læge", "kokken", "hun", "hans"]


@pytest.mark.parametrize(
    ("mention", "counts"),
    [
        ((9, 13), True),  # læge
        ((0, 13), True),  # Den unge læge
        ((0, 8), False),  # Den unge
        ((0, 27), False),  # … kender kokken: another target
        ((9, 38), False),  # … hun: the pronoun itself
        ((10, 13), False),  # half a word
    ],
)
def test_a_mention_of_an_occupation_holds_its_word_and_no_other_target(
    mention: Offsets, counts: bool
) -> None:
    assert is_linked(clusters(mention, (35, 38))) is counts


def test_the_mention_of_a_genitive_ends_with_it() -> None:
    assert is_linked(clusters((0, 13), (35, 38)), genitive=True)
    assert not is_linked(clusters((9, 20), (35, 38)), genitive=True)
    assert is_linked(clusters((9, 20), (35, 38)))


def test_a_mention_of_the_pronoun_is_exactly_the_pronoun() -> None:
    answer = clusters((21, 27), (45, 55))  # kokken, hans stige
    assert not are_linked(answer, HANS, COOK, others=(DOCTOR,))
    assert stands_in_longer_mention(answer, HANS)
    assert are_linked(clusters((21, 27), (45, 49)), HANS, COOK, others=(DOCTOR,))
    assert not stands_in_longer_mention(clusters((45, 49), (45, 55)), HANS)


def test_both_must_be_in_one_cluster() -> None:
    apart = ResolveAnswer((((9, 13),), ((35, 38),)))
    assert not is_linked(apart)
    assert not is_linked(ResolveAnswer(()))


def test_the_question_does_not_tell_the_answer() -> None:
    one = make_request(TEXT, HUN, (DOCTOR, COOK))
    other = make_request(TEXT, HUN, (COOK, DOCTOR))
    assert one == other
    assert one.candidates == ((9, 13), (21, 27))
    assert [TEXT[s:e] for s, e in one.tokens][-3:] == ["hans", "stige", "."]
