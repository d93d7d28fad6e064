"""Continuations of one text read once: the part that rows share goes through the model once.

A causal model reads from left to right, so what it makes of a common beginning (its cache of keys and
values) serves every continuation.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from gendalens.models.forward import Network, Row

if TYPE_CHECKING:
    import torch

# Two passes instead of one must spare at least this share of the tokens.
_WORTH = 0.25
_TOLERANCE = 1e-3


class PrefixNetwork(Network):
    """A causal network that runs shared beginnings once, if its architecture can."""

    _shares: bool | None = None  # not known before it was tried

    def _logits(self, rows: Sequence[Row], places: Sequence[tuple[int, int]]) -> torch.Tensor:
        """The logits at the places (row, position), one line each."""
        first = [len(row) - 1 for row in rows]
        for index, at in places:
            first[index] = min(first[index], at)
        begins = [row[: at + 1] for row, at in zip(rows, first, strict=True)]
        distinct = {begin: number for number, begin in enumerate(dict.fromkeys(begins))}
        spared = sum(map(len, begins)) - sum(map(len, distinct))
        width = max(map(len, begins)) + max(map(len, rows))
        if (
            self._shares is False
            or spared < _WORTH * sum(map(len, rows))
            or width >= self._attention_span
        ):
            return super()._logits(rows, places)
        if self._shares:
            return self._shared(rows, places, begins, distinct)
        # An architecture that keeps no such cache, or keeps it otherwise, is read plainly.
        plain = super()._logits(rows, places)
        try:
            shared = self._shared(rows, places, begins, distinct)
            self._shares = bool((shared - plain).abs().max() < _TOLERANCE)
        except (AttributeError, IndexError, NotImplementedError, TypeError, ValueError):
            self._shares = False
        return plain

    @cached_property
    def _attention_span(self) -> float:
        """How far back every layer sees: beyond it a cache forgets, and padding would push out words."""
        config = self._model.config.get_text_config()
        spans = (getattr(config, name, None) for name in ("sliding_window", "attention_chunk_size"))
        return min((span for span in spans if span), default=math.inf)

    def _shared(
        self,
        rows: Sequence[Row],
        places: Sequence[tuple[int, int]],
        begins: Sequence[Row],
        distinct: dict[Row, int],
    ) -> torch.Tensor:
        import torch

        ids, mask = self.padded(list(distinct))
        ends = [(number, len(begin) - 1) for begin, number in distinct.items()]
        at_end, output = self.run(ids, mask, ends, use_cache=True)
        later = [(i, at) for i, at in places if at >= len(begins[i])]
        going_on = {i: number for number, i in enumerate(dict.fromkeys(i for i, _ in later))}
        if going_on:
            chosen = torch.tensor([distinct[begins[i]] for i in going_on], device=ids.device)
            cache = output.past_key_values
            cache.batch_select_indices(chosen)
            more, its_mask = self.padded([rows[i][len(begins[i]) :] for i in going_on])
            lengths = torch.tensor([len(begins[i]) for i in going_on], device=ids.device)
            found, _ = self.run(
                more,
                torch.cat([mask[chosen], its_mask], dim=1),
                [(going_on[i], at - len(begins[i])) for i, at in later],
                past_key_values=cache,
                position_ids=lengths[:, None] + torch.arange(more.shape[1], device=ids.device),
                use_cache=True,
            )
        after = iter(range(len(later)))
        return torch.stack(
            [
                found[next(after)] if at >= len(begins[i]) else at_end[distinct[begins[i]]]
                for i, at in places
            ]
        )
