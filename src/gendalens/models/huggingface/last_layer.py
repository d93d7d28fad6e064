"""The last layer of an encoder, computed only at the positions asked about.

What follows a layer's attention treats each position separately, so in the last layer all positions but
those asked about are wasted work: a sixteenth of the total in a model of twelve layers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gendalens.models.huggingface.forward import Network
from gendalens.models.library_errors import is_out_of_memory

if TYPE_CHECKING:
    import torch

# The module after the attention in BERT and its relatives (RoBERTa, Electra, DeBERTa, …).
_AFTER_ATTENTION = ".attention.output"
_TOLERANCE = 1e-4
# Rows of tokens and places in them. The number of places differs from both dimensions of the batch, so
# that no shape can be mistaken for another. It is below the length of the longest row once and above it
# once, because LUKE cuts the output of its layers to that length.
_PROBE = ((1, 2, 3, 4, 0), (4, 1, 2))
_PLACES = (
    ((0, 1), (0, 4), (1, 0)),
    tuple((index, at) for index, row in enumerate(_PROBE) for at in range(len(row))),
)


class LastLayerNetwork(Network):
    """A masked network that selects the positions asked about within its last layer, if it can."""

    def __init__(self, model: Any, name: str, pad: int, max_positions: int) -> None:
        super().__init__(model, name, pad, max_positions)
        import torch

        # Other number formats are too coarse to check that the early selection changes nothing.
        self.early = model.dtype == torch.float32 and self._pick_early()

    def _pick_early(self) -> bool:
        """Select positions in the last layer, and undo it if the logits change."""
        import torch

        layers = [
            part for name, part in self._model.named_modules() if name.endswith(_AFTER_ATTENTION)
        ]
        if not layers or getattr(self._model.config, "chunk_size_feed_forward", None):
            return False
        same = False
        with torch.inference_mode():
            plain = [self._logits(_PROBE, places) for places in _PLACES]
            hook = layers[-1].register_forward_pre_hook(self._pick)
            try:
                early = [self._logits(_PROBE, places) for places in _PLACES]
                same = all(map(_is_same, early, plain))
            except Exception as error:
                # Each architecture that does not support this fails in its own way.
                if is_out_of_memory(error):
                    raise
            finally:
                if not same:
                    hook.remove()
        return same


def _is_same(early: torch.Tensor, plain: torch.Tensor) -> bool:
    return bool((early - plain).abs().max() <= _TOLERANCE * plain.abs().max())
