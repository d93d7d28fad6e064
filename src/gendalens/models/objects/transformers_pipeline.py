"""Pipelines of transformers: the model and the tokenizer in them."""

from __future__ import annotations

from typing import Any, ClassVar

from gendalens.errors import UserError
from gendalens.models.base import Backend
from gendalens.models.huggingface.live_checkpoint import name_model
from gendalens.models.objects.given import Given
from gendalens.models.objects.instances import is_instance
from gendalens.models.objects.kind import ObjectKind
from gendalens.models.objects.transformers_model import open_live
from gendalens.models.objects.transformers_types import is_pipeline
from gendalens.words import N_

_CLASSES = ("FillMaskPipeline", "TextGenerationPipeline", "TokenClassificationPipeline")


class TransformersPipeline(ObjectKind):
    """A pipeline for a task whose models can be tested; only its model and tokenizer are used."""

    label: ClassVar[str] = N_(
        "a transformers pipeline (fill-mask, text-generation, token-classification)"
    )

    def recognises(self, model: Any) -> bool:
        """Whether this is a pipeline of transformers."""
        return is_pipeline(model)

    def open(self, given: Given) -> Backend:
        """The backend for the model in the pipeline."""
        pipeline = given.model
        # Not by its task, which is empty if the pipeline was built by its class.
        if not is_instance(pipeline, "transformers.pipelines", *_CLASSES):
            raise UserError(
                "The pipeline of {name} is a {kind}, which GenDa Lens cannot test: give one for"
                " fill-mask, text-generation or token-classification.",
                name=self.name(given),
                kind=type(pipeline).__name__,
            )
        return open_live(pipeline.model, pipeline.tokenizer, self.name(given))

    def name(self, given: Given) -> str:
        """The user's name, or the one that the model was loaded by."""
        return given.name or name_model(given.model.model)


KIND = TransformersPipeline()
