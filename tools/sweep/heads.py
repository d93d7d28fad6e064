"""The kinds of model that are tried, and the architectures that transformers has for each."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module


@dataclass(frozen=True, slots=True)
class Head:
    """A kind of model: its name on the page, and the mapping of transformers that lists its classes."""

    name: str
    title: str
    mapping: str
    auto_class: str

    def list_classes(self) -> dict[str, str]:
        """The class of each architecture, as the installed transformers names them."""
        module = import_module("transformers.models.auto.modeling_auto")
        return dict(getattr(module, f"MODEL_FOR_{self.mapping}_MAPPING_NAMES"))


MASKED = Head("masked", "Masked language models", "MASKED_LM", "AutoModelForMaskedLM")
CAUSAL = Head("causal", "Causal language models", "CAUSAL_LM", "AutoModelForCausalLM")
TOKENS = Head(
    "tokens", "Token classifiers", "TOKEN_CLASSIFICATION", "AutoModelForTokenClassification"
)
# Models that also read images; they are tried on text alone.
WRAPPERS = Head(
    "images", "Models of images and text", "IMAGE_TEXT_TO_TEXT", "AutoModelForImageTextToText"
)
HEADS = {head.name: head for head in (MASKED, CAUSAL, TOKENS, WRAPPERS)}
