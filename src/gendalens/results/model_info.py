"""What a result says about the model it measured."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from gendalens.words import Message

#: What the Hugging Face hub calls a model's task.
FILL_MASK, TEXT_GENERATION = "fill-mask", "text-generation"
TOKEN_CLASSIFICATION, COREFERENCE = "token-classification", "coreference-resolution"


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """Name, kind and version of a model.

    ``kind`` is what it is, in words (*masked language model*); ``hub_task`` the hub's name for what it
    does. ``for_danish`` is False where a model says that it is for another language.
    """

    name: str
    kind: Message
    revision: str
    dtype: str
    tokenizer: str = ""
    software: tuple[str, ...] = ()
    hub_task: str = ""
    for_danish: bool = True

    def to_dict(self) -> dict[str, Any]:
        """The model as ``result.json`` has it."""
        plain = {one.name: getattr(self, one.name) for one in fields(self)}
        return {**plain, "kind": self.kind.to_dict(), "software": list(self.software)}

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> ModelInfo:
        """The model that :meth:`to_dict` described."""
        kind = Message.from_dict(plain["kind"])
        return cls(**{**plain, "kind": kind, "software": tuple(plain["software"])})
