"""The last layer of an encoder, computed only where something is asked.

What follows a layer's attention treats each position by itself, so in the last layer all positions but
the asked ones are wasted work: a sixteenth of what a model of twelve layers does.
"""

from __future__ import annotations

from typing import Any

from gendalens.models.huggingface.forward import Network
from gendalens.models.library_errors import is_out_of_memory

# What BERT and its kin (RoBERTa, Electra, DeBERTa, …) call the part that follows the attention.
_AFTER_ATTENTION = ".attention.output"
_TOLERANCE = 1e-4
# Rows of tokens, and places in them: as many as neither the rows nor the longest of them has.
_PROBE = ((1, 2, 3, 4, 0), (4, 1, 2))
_PLACES = ((0, 1), (0, 4), (1, 0))


class LastLayerNetwork(Network):
    """A masked network that picks the asked positions before the end of its last layer, if it can."""

    def __init__(self, model: Any, name: str, pad: int, max_positions: int) -> None:
        super().__init__(model, name, pad, max_positions)
        import torch

        # Other number formats are too coarse to tell whether the early pick changes anything.
        self.early = model.dtype == torch.float32 and self._pick_early()

    def _pick_early(self) -> bool:
        """Pick in the last layer already; given up where the logits do not stay what they were."""
        import torch

        layers = [
            part for name, part in self._model.named_modules() if name.endswith(_AFTER_ATTENTION)
        ]
        if not layers or getattr(self._model.config, "chunk_size_feed_forward", None):
            return False
        same = False
        with torch.inference_mode():
            plain = self._logits(_PROBE, _PLACES)
            hook = layers[-1].register_forward_pre_hook(self._pick)
            try:
                early = self._logits(_PROBE, _PLACES)
                same = bool((early - plain).abs().max() <= _TOLERANCE * plain.abs().max())
            except Exception as error:
                # Every architecture of which this is not true fails in its own way.
                if is_out_of_memory(error):
                    raise
            finally:
                if not same:
                    hook.remove()
        return same
