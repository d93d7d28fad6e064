"""The length beyond which a model reads the positions of a text differently (LongRoPE: Phi-3, Phi-4).

The longest row decides for all rows of a pass, so longer and shorter rows must not share one.
"""

from __future__ import annotations

import math
from typing import Any


def find_length_limit(config: Any) -> float:
    """The most tokens that are read like a short text; infinite for most models."""
    text = config.get_text_config()
    rope = getattr(text, "rope_parameters", None) or {}
    if "longrope" not in str(rope):
        return math.inf
    limits = [one.get("original_max_position_embeddings") for one in (rope, vars(text))]
    return float(next(filter(None, limits), math.inf))
