"""Windows overlap by half, and a word is read where it sees most."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from gendalens.models.huggingface.encoding import SPECIAL, Tokens
from gendalens.models.huggingface.windows import SingleSpaced, cut_windows


def one_token_a_word(count: int) -> tuple[SingleSpaced, Tokens]:
    """*a a a …*, with the ids 1, 2, 3, … between two special tokens."""
    text = SingleSpaced(" ".join("a" * count))
    starts = (SPECIAL, *range(0, 2 * count, 2), SPECIAL)
    return text, Tokens((1001, *range(1, count + 1), 1002), starts, starts)


@settings(deadline=None)
@given(st.integers(1, 200), st.integers(3, 40))
def test_every_word_is_read_once_with_at_least_a_quarter_window_on_either_side(
    count: int, window: int
) -> None:
    text, tokens = one_token_a_word(count)
    found = cut_windows(text, tokens, window, averaged=False)
    room = window - 2
    assert len(found.pieces) == len(found.spans) == count
    for number, (row, begin, end) in enumerate(found.pieces, 1):
        assert end == begin + 1
        assert found.inputs[row][begin] == number
        left = begin - 1
        right = len(found.inputs[row]) - 2 - begin
        assert left >= min(room // 4 - 1, number - 1)
        assert right >= min(room // 4 - 1, count - number)
    for row_ids in found.inputs:
        assert len(row_ids) <= window
        assert (row_ids[0], row_ids[-1]) == (1001, 1002)
        assert list(row_ids[1:-1]) == list(range(row_ids[1], row_ids[1] + len(row_ids) - 2))


def test_a_text_that_fits_is_one_row() -> None:
    text, tokens = one_token_a_word(10)
    assert cut_windows(text, tokens, 12, averaged=False).inputs == (tokens.ids,)
    assert cut_windows(text, tokens, None, averaged=False).inputs == (tokens.ids,)
    assert cut_windows(text, tokens, 11, averaged=False).rows == 2


def test_a_word_without_a_token_of_its_own_is_left_out() -> None:
    """``."`` is one token here: it labels the full stop, and nothing labels the quotation mark."""
    found = cut_windows(SingleSpaced('Bo."'), Tokens((7, 8), (0, 2), (0, 1)), None, averaged=False)
    assert found.spans == ((0, 2), (2, 3))


@settings(deadline=None)
@given(st.text(alphabet="ab \n\t\u00a0"))
def test_characters_are_traced_to_where_they_came_from(original: str) -> None:
    text = SingleSpaced(original)
    assert text.text == " ".join(original.split())
    for at, character in enumerate(text.text):
        if character != " ":
            begin, end = text.locate(at, at + 1)
            assert original[begin:end] == character
