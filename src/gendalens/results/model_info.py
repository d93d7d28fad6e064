"""The description of a model in a result."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from gendalens.words import Message

#: Names of model tasks on the Hugging Face hub.
FILL_MASK, TEXT_GENERATION = "fill-mask", "text-generation"
TOKEN_CLASSIFICATION, COREFERENCE = "token-classification", "coreference-resolution"


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """Name, kind and version of a model.

    ``kind`` describes the model (*masked language model*); ``hub_task`` is the hub's name for its task.
    ``dtype`` is its number format; of quantised weights, how they are stored and then how they are
    computed with (``gptq-4bit/float32``).
    ``for_danish`` is False if the model declares that it is for other languages.
    """

    name: str
    kind: Message
    revision: str
    dtype: str
    tokenizer: str = ""
    software: tuple[str, ...] = ()
    hub_task: str = ""
    for_danish: bool = True

    @property
    def quantised(self) -> bool:
        """Whether the weights are stored in fewer bits than they are computed with."""
        return "/" in self.dtype

    def to_dict(self) -> dict[str, Any]:
        """The model as plain data for ``result.json``."""
        plain = {one.name: getattr(self, one.name) for one in fields(self)}
        return {**plain, "kind": self.kind.to_dict(), "software": list(self.software)}

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> ModelInfo:
        """The model that :meth:`to_dict` described."""
        kind = Message.from_dict(plain["kind"])
        return cls(**{**plain, "kind": kind, "software": tuple(plain["software"])})
