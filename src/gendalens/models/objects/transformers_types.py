"""The types of transformers, recognised without importing it."""

from __future__ import annotations

import sys
from typing import Any

from gendalens.models.huggingface.live_checkpoint import unwrap
from gendalens.models.objects.instances import is_instance


def is_model(value: Any) -> bool:
    """Whether this is a model of transformers, perhaps compiled, parallel or with adapters of peft."""
    if "torch" in sys.modules:
        value = unwrap(value)
    return is_instance(value, "transformers.modeling_utils", "PreTrainedModel") or is_instance(
        value, "peft.peft_model", "PeftModel"
    )


def is_tokenizer(value: Any) -> bool:
    """Whether this is a tokenizer of transformers."""
    return is_instance(value, "transformers.tokenization_utils_base", "PreTrainedTokenizerBase")


def is_pipeline(value: Any) -> bool:
    """Whether this is a pipeline of transformers."""
    return is_instance(value, "transformers.pipelines.base", "Pipeline")
