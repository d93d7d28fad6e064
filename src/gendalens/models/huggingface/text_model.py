"""The language model within a model that also reads pictures or sound.

Some wrappers leave out what their language model does to its logits: without the scaling of Cohere or
Granite the best word stays the best, but every probability is wrong.
"""

from __future__ import annotations

from typing import Any


def find_text_model(model: Any) -> Any:
    """The causal language model within ``model``, sharing its weights; ``model`` if it has none apart.

    Nothing is copied: the parts are put into an empty model of the text configuration's own class.
    """
    import torch
    import transformers

    config = model.config.get_text_config()
    if config is model.config or type(config) not in transformers.MODEL_FOR_CAUSAL_LM_MAPPING:
        return model
    with torch.device("meta"):
        alone = transformers.AutoModelForCausalLM.from_config(config)
    body, head = model.get_decoder(), model.get_output_embeddings()
    if head is None or type(body) is not type(alone.base_model):
        return model
    setattr(alone, alone.base_model_prefix, body)
    alone.set_output_embeddings(head)
    parts = [part for part in alone.children() if part is not body and part is not head]
    return model if any(True for part in parts for _ in part.parameters()) else alone.eval()
