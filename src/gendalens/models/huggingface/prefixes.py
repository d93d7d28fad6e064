"""Shared beginnings of rows: they run through the model once, and the continuations reuse them.

A causal model reads from left to right, so the cache of keys and values for a common beginning serves
every continuation.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from gendalens.models.base import Batching
from gendalens.models.huggingface.forward import Network
from gendalens.models.huggingface.prepared import Row
from gendalens.models.library_errors import is_out_of_memory

if TYPE_CHECKING:
    import torch

# The least share of tokens saved that makes two passes instead of one worthwhile.
_WORTH = 0.25
_TOLERANCE = 1e-3
# The configuration keys for a layer's attention span; GPT-Neo's is window_size.
_SPANS = ("sliding_window", "attention_chunk_size", "window_size")
# Two beginnings of different lengths, each with two continuations. The numbers are tokens; the last
# token of a beginning and all later ones are asked about.
_PROBE = ((1, 2, 3, 4, 5, 1, 0), (1, 2, 3, 4, 5, 3), (4, 3, 2, 1), (4, 3, 5, 1, 2))
_BEGINS = (5, 5, 2, 2)


class PrefixNetwork(Network):
    """A causal network that runs shared beginnings once, if its architecture can."""

    def _logits(self, rows: Sequence[Row], places: Sequence[tuple[int, int]]) -> torch.Tensor:
        """The logits at the places (row, position), one line each."""
        first = [len(row) - 1 for row in rows]
        for index, at in places:
            first[index] = min(first[index], at)
        begins = [row[: at + 1] for row, at in zip(rows, first, strict=True)]
        spared = sum(map(len, begins)) - sum(map(len, set(begins)))
        width = max(map(len, begins)) + max(map(len, rows))
        if (
            spared < _WORTH * sum(map(len, rows))
            or width >= self._attention_span
            or not self._can_share
        ):
            return super()._logits(rows, places)
        return self._share_beginnings(rows, places, begins)

    @cached_property
    def _can_share(self) -> bool:
        """Whether the architecture ignores padding and keeps a cache in the form assumed here.

        Probed with fixed tokens instead of the first batch, which may differ from run to run because
        batches are answered in parallel.
        """
        import torch

        if self.batching is not Batching.ANY_LENGTH:
            return False
        places = [
            (index, at)
            for index, (row, begin) in enumerate(zip(_PROBE, _BEGINS, strict=True))
            for at in range(begin - 1, len(row))
        ]
        begins = [row[:begin] for row, begin in zip(_PROBE, _BEGINS, strict=True)]
        alone = [self.read_alone(row) for row in _PROBE]
        plain = torch.stack([alone[index][at] for index, at in places])
        try:
            shared = self._share_beginnings(_PROBE, places, begins)
        except Exception as error:
            # Each architecture without such a cache fails in its own way.
            if is_out_of_memory(error):
                raise
            return False
        return bool((shared - plain).abs().max() < _TOLERANCE)

    @cached_property
    def _attention_span(self) -> float:
        """How far back every layer attends, and the most tokens that it reads like a short text.

        Beyond that the cache drops entries, and padding would displace words; or the beginning of a text
        is read differently if the text is long.
        """
        config = self._model.config.get_text_config()
        spans = (float(getattr(config, name, None) or 0) for name in _SPANS)
        return min([self.length_limit, *filter(None, spans)])

    def _share_beginnings(
        self,
        rows: Sequence[Row],
        places: Sequence[tuple[int, int]],
        begins: Sequence[Row],
    ) -> torch.Tensor:
        """The logits at the places; each distinct beginning runs once and is then continued."""
        import torch

        distinct = {begin: number for number, begin in enumerate(dict.fromkeys(begins))}
        ids, mask = self.pad_rows(list(distinct))
        ends = [(number, len(begin) - 1) for begin, number in distinct.items()]
        at_end, output = self.run(ids, mask, ends, use_cache=True)
        later = [(i, at) for i, at in places if at >= len(begins[i])]
        going_on = {i: number for number, i in enumerate(dict.fromkeys(i for i, _ in later))}
        if going_on:
            # On the CPU, because the layers of the cache may be on several devices.
            chosen = torch.tensor([distinct[begins[i]] for i in going_on])
            cache = output.past_key_values
            cache.batch_select_indices(chosen)
            more, its_mask = self.pad_rows([rows[i][len(begins[i]) :] for i in going_on])
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
