"""The requests of a trial: texts of varied length, shorter and longer than the windows of the models."""

from __future__ import annotations

import tiny

from gendalens.models.requests import Fill, Request, Score, Tag

_PAIR = ("hun", "han")


def _join(*indices: int) -> str:
    return " ".join(tiny.SENTENCES[index] for index in indices)


_SHORT = ["Han sov.", "Hun sov ikke.", *tiny.SENTENCES[:6]]
_LONG = [_join(6, 7), _join(0, 1, 2), _join(3, 4, 5, 6), _join(*range(4, 10))]
# The same beginning and different endings, as the sentences of a triple have.
_ENDINGS = ("hans bog.", "hendes bog.", "sin søn, og de talte om vejret, mens hun sov.", "båden.")
_BEGINNINGS = (
    "Læreren mødte ",
    # Shorter than a window; the longest ending goes beyond it.
    _join(1) + " Gartneren mødte ",
    _join(2, 3, 4) + " Smeden mødte ",
)


def make_fills() -> list[Request]:
    """Gaps at the beginning, in the middle and at the end of short and long texts."""
    longer = ("gartneren", "Århus")
    return [
        Fill("Her bor ", ".", ("han", "gartneren")),
        Fill("Han så ", " ved åen.", longer),
        Fill(_join(0) + " Så gik ", " hjem.", _PAIR),
        Fill("Så gik ", " hjem. " + _join(3, 5), _PAIR),
        Fill(_join(1, 2) + " Så gik ", " hjem. " + _join(3, 5), _PAIR),
        Fill(_join(2, 4) + " Så kom ", " til huset. " + _join(7, 8), longer),
        Fill(_join(*range(5)) + " Så gik ", " hjem.", _PAIR),
    ]


def make_masked_requests() -> list[Request]:
    """Requests to a masked model; a long text has a row for each token, so only short ones are scored."""
    return [*(Score(text) for text in (*_SHORT, _LONG[0])), *make_fills()]


def make_causal_requests() -> list[Request]:
    """Requests to a causal model, some with shared beginnings."""
    shared = [Score(end, given=begin) for begin in _BEGINNINGS for end in _ENDINGS]
    return [*(Score(text) for text in (*_SHORT, *_LONG)), *shared, *make_fills()]


def make_tag_requests() -> list[Request]:
    """Texts for a tagger."""
    return [Tag(text) for text in (*_SHORT, *_LONG)]
