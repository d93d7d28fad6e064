"""Which rows a model can read together: tried on rows of its own tokens when it is loaded.

Most architectures ignore padding. Those with convolutions (ConvBERT), Fourier transforms (FNet), pooling
(Funnel, CANINE), inputs joined with their neighbours (MobileBERT) or an approximation of attention (YOSO,
Nyströmformer, Reformer) do not, whatever the attention mask says.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from gendalens.errors import UserError
from gendalens.models.base import Batching
from gendalens.models.huggingface.encoding import tokenise
from gendalens.models.library_errors import is_out_of_memory

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Logits: TypeAlias = NDArray[np.float32]

Row = tuple[int, ...]

# Short, ordinary and long sentences.
_LENGTHS = (5, 12, 33)
# Some architectures read longer texts in chunks (Reformer), or only some of their tokens (Doge), and then
# padding matters between one chunk and the next: the configuration keys for the length of a chunk.
_CHUNKS = ("local_attn_chunk_length", "lsh_attn_chunk_length", "keep_window_size")
_TEXT = (
    "Om morgenen gik bageren og hendes nabo ned til havnen, hvor en gammel fisker solgte sild, og han "
    "fortalte dem, at vinden ville vende, før de nåede hjem til øen igen. "
)

# In units of the logits' typical size, if that is above 1. In float32, rounding moves logits by about
# 1e-5, and padding those of most models that it changes by 0.4 or more; HRM, which reads a text again and
# again, differs by 7e-4 on some processors. Coarser formats round by about ten times their precision.
_TOLERANCE = 1e-4
_ROUNDING = 32
# The same for one row that is read twice: a model that differs by more has no answer at all.
_UNSTEADY = 1e-3


def make_rows(
    tokenizer: Any, config: Any, window: int | None, size: int, specials: bool
) -> list[Row]:
    """Rows of the tokenizer's tokens to try a model on, shortest first.

    ``window`` is the most tokens that the model reads, ``size`` the number of tokens it knows.
    """
    chunk = max(getattr(config, name, None) or 0 for name in _CHUNKS)
    if window and chunk >= window:  # no text has a second chunk
        chunk = 0
    wanted = {*_LENGTHS, *((chunk + 6, 2 * chunk + 12) if chunk else ())}
    longest = max(wanted)
    tokens = tokenise(tokenizer, [_TEXT * (longest // 10)], specials=specials)[0]
    known = tuple(id_ for id_ in tokens.ids if id_ < size)
    lengths = {min(length, window or length, len(known)) for length in wanted} - {0}
    # The last token is kept, because it may mark the end of a text.
    return [known[: length - 1] + known[-1:] for length in sorted(lengths)]


class PaddingTrial:
    """A trial of one model: rows read together must get the logits that they get alone."""

    def __init__(
        self,
        model: Any,
        read_alone: Callable[[Row], Logits],
        read_together: Callable[[Sequence[Row]], Sequence[Logits]],
    ) -> None:
        import torch

        self._model = model
        self._read_alone = read_alone
        self._read_together = read_together
        self._rounding = _ROUNDING * torch.finfo(model.dtype).eps
        self._alone: dict[Row, Logits | None] = {}
        self._failure: Exception | None = None

    def choose_batching(self, rows: Sequence[Row], name: str) -> Batching:
        """How rows can be read together.

        Refuses a model that never reads a row alike, and one that ignores the words around a word. If it
        can read no row at all, its own error is raised.
        """
        readable = [self._logits_alone(row) is not None for row in rows]
        if self._failure and not any(readable):
            raise self._failure
        self._check_context(rows, name)
        if self._reads_alike(rows):
            return Batching.ANY_LENGTH
        if all(self._reads_alike((row, row[::-1])) for row in rows):
            return Batching.EQUAL_LENGTH
        if all(self._reads_alike((row,), _UNSTEADY) for row in rows):
            return Batching.ONE_ROW
        raise UserError(
            "{name} ({architecture}) gives different numbers for one and the same text, so its answers"
            " mean nothing: name another model.",
            name=name,
            architecture=type(self._model).__name__,
        )

    def _check_context(self, rows: Sequence[Row], name: str) -> None:
        """Refuse a model whose numbers for a row's last token are the same whatever precedes it."""
        same = False
        for row in rows:
            changes = self._changes_with_context(row)
            if changes:  # one row is enough
                return
            same = same or changes is False
        if same:
            raise UserError(
                "{name} ({architecture}) gives the same numbers whatever the other words are, so its"
                " answers mean nothing: some architectures (MRA) need a graphics card; choose one with"
                " --device, or name another model.",
                name=name,
                architecture=type(self._model).__name__,
            )

    def _changes_with_context(self, row: Row) -> bool | None:
        """Whether the last token gets other numbers after one and the same word; None if unknown."""
        import numpy as np

        other = (row[0], *row[1:2] * (len(row) - 2), row[-1])
        if len(row) < 3 or other == row:
            return None
        here, there = self._logits_alone(row), self._logits_alone(other)
        if here is None or there is None or not np.isfinite(here[-1]).any():
            return None
        # Equal numbers for all tokens are a model that has learnt nothing, which the tests can tell.
        if np.ptp(here[-1][np.isfinite(here[-1])]) == 0:
            return None
        return not np.array_equal(here[-1], there[-1], equal_nan=True)

    def _reads_alike(self, batch: Sequence[Row], tolerance: float = _TOLERANCE) -> bool:
        alone = [self._logits_alone(row) for row in batch]
        # A row that cannot be read even alone says nothing about padding.
        readable = [row for row, logits in zip(batch, alone, strict=True) if logits is not None]
        if not readable:
            return True
        try:
            together = self._read_together(readable)
        except Exception as error:
            # Each architecture that cannot read such rows together fails in its own way.
            if is_out_of_memory(error) or len(batch) == 1:
                raise
            return False
        expected = [logits for logits in alone if logits is not None]
        pairs = zip(expected, together, strict=True)
        tolerance = max(tolerance, self._rounding)
        return all(is_same(here, there, tolerance) for here, there in pairs)

    def _logits_alone(self, row: Row) -> Logits | None:
        if row not in self._alone:
            try:
                self._alone[row] = self._read_alone(row)
            except UserError:
                raise
            except Exception as error:
                if is_out_of_memory(error):
                    raise
                self._alone[row] = None
                self._failure = error
        return self._alone[row]


def is_same(expected: Logits, found: Logits, tolerance: float) -> bool:
    """Whether logits are the same; the tolerance is in units of their typical size, if above 1."""
    import numpy as np

    # Some models give impossible tokens a logit of -inf; damaged weights are reported elsewhere.
    usable = np.isfinite(expected)
    if not usable.any():
        return True
    size = max(1.0, float(np.median(np.abs(expected[usable]))))
    distance = np.abs(expected[usable] - found[usable]).max()
    return bool(distance <= tolerance * size)
