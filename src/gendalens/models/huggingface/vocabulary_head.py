"""The output layer of a language model, computed in blocks of the vocabulary.

A vocabulary of 262,000 tokens costs about 1 MB of logits per position. In blocks that fit into the
processor's caches they never reach memory: only their sum and the tokens asked about are kept.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch

    Change = Callable[[torch.Tensor], torch.Tensor]

# The number of logits per block: 4 MB in float32 for a processor's caches. A graphics card has no use for
# small pieces, but must not run out of memory.
_ON_PROCESSOR, _ON_CARD = 1024 * 1024, 64 * 1024 * 1024


class VocabularyHead:
    """A linear output layer, and what the model does to its logits afterwards."""

    def __init__(self, layer: Any, change: Change) -> None:
        self._weight: torch.Tensor = layer.weight
        self._bias: torch.Tensor | None = layer.bias
        self._change = change

    def compute_logits(self, hidden: torch.Tensor, begin: int, end: int) -> torch.Tensor:
        """The logits of some tokens in float32, one line per vector of ``hidden``."""
        import torch

        bias = None if self._bias is None else self._bias[begin:end]
        logits = torch.nn.functional.linear(hidden, self._weight[begin:end], bias)
        return self._change(logits).float()

    def read(
        self, hidden: torch.Tensor, asked: Sequence[tuple[int, int]]
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """The logits asked for, as (line of ``hidden``, token), and the log-sum-exp of every line."""
        import torch

        order = sorted(range(len(asked)), key=lambda i: asked[i][1])
        tokens = [asked[i][1] for i in order]
        size = self._weight.shape[0]
        block = _ON_PROCESSOR if hidden.device.type == "cpu" else _ON_CARD
        step = max(1, block // max(1, len(hidden)))
        starts = range(0, size, step)
        # All are made before the blocks, so that a graphics card need not wait for each of them, and so
        # that nothing stays in memory between two blocks: glibc would not reuse the room of the first.
        places, lines, columns = (
            torch.tensor(numbers, dtype=torch.long).to(hidden.device)
            for numbers in (order, [asked[i][0] for i in order], tokens)
        )
        found = hidden.new_empty(len(asked), dtype=torch.float32)
        sums = hidden.new_empty((len(starts), len(hidden)), dtype=torch.float32)
        for number, begin in enumerate(starts):
            logits = self.compute_logits(hidden, begin, min(begin + step, size))
            sums[number] = torch.logsumexp(logits, dim=-1)
            first, last = bisect_left(tokens, begin), bisect_left(tokens, begin + step)
            if first < last:
                here = slice(first, last)
                found[places[here]] = logits[lines[here], columns[here] - begin]
        return found, torch.logsumexp(sums, dim=0)


def list_changes(config: Any) -> list[Change]:
    """What a model may do to its logits, judged by its configuration; a trial tells which it is."""
    cap = getattr(config, "final_logit_softcapping", None)
    scale, divisor = (getattr(config, name, None) for name in ("logit_scale", "logits_scaling"))
    changes: list[Change] = [lambda logits: logits]
    if cap:
        changes.append(lambda logits: (logits / cap).tanh() * cap)
    if scale:
        changes.append(lambda logits: logits * scale)
    if divisor:
        changes.append(lambda logits: logits / divisor)
    return changes
