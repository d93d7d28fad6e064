"""Models of transformers with their tokenizer."""

from __future__ import annotations

from typing import Any, ClassVar

from gendalens.errors import UserError
from gendalens.models.base import Backend
from gendalens.models.huggingface.causal import CausalLM
from gendalens.models.huggingface.live_checkpoint import LiveCheckpoint, name_model
from gendalens.models.huggingface.masked import MaskedLM
from gendalens.models.huggingface.refusals import CONFIGURATION
from gendalens.models.huggingface.token_classifier import TokenClassifier
from gendalens.models.objects.given import Given
from gendalens.models.objects.kind import ObjectKind
from gendalens.models.objects.transformers_types import is_model, is_tokenizer
from gendalens.words import N_

_BACKENDS = (MaskedLM, CausalLM, TokenClassifier)


class TransformersModel(ObjectKind):
    """A masked or causal language model or a token classifier, and its tokenizer."""

    label: ClassVar[str] = N_("a transformers model with its tokenizer")
    takes_tokenizer: ClassVar[bool] = True

    def recognises(self, model: Any) -> bool:
        """Whether this is a model of transformers."""
        return is_model(model)

    def open(self, given: Given) -> Backend:
        """The backend that its class says."""
        name = self.name(given)
        if given.tokenizer is None:
            raise UserError(
                "{name} is a model without a tokenizer: pass both, as run((model, tokenizer)) or"
                " run(model, tokenizer=tokenizer).",
                name=name,
            )
        if not is_tokenizer(given.tokenizer):
            raise UserError(
                "The tokenizer given with {name} is a {kind}, not a transformers tokenizer: load it with"
                " AutoTokenizer.",
                name=name,
                kind=type(given.tokenizer).__name__,
            )
        return open_live(given.model, given.tokenizer, name)

    def name(self, given: Given) -> str:
        """The user's name, or the one that the model was loaded by."""
        return given.name or name_model(given.model)


def open_live(model: Any, tokenizer: Any, name: str) -> Backend:
    """The backend for a model in memory; refuses one without a head that can be tested."""
    checkpoint = LiveCheckpoint(model, tokenizer, name)
    with checkpoint.explain_errors(CONFIGURATION):
        # Loaded from a folder, such a model would get the head for masked words alone.
        if not checkpoint.architecture.endswith("ForPreTraining"):
            for backend in _BACKENDS:
                if backend.recognises(checkpoint):
                    return backend(checkpoint)
    raise UserError(
        "{name} is a {architecture}, which GenDa Lens cannot test: it tests what"
        " AutoModelForMaskedLM, AutoModelForCausalLM and AutoModelForTokenClassification load.",
        name=name,
        architecture=checkpoint.architecture,
    )


KIND = TransformersModel()
