"""Backends that recognise their models by the files of a checkpoint."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cached_property
from typing import Self

from gendalens.errors import UserError
from gendalens.models.base import Backend, LoadOptions
from gendalens.models.huggingface.adapter_checkpoint import AdapterCheckpoint, is_adapter
from gendalens.models.huggingface.checkpoint import Checkpoint
from gendalens.models.huggingface.refusals import CONFIGURATION
from gendalens.models.huggingface.stored_checkpoint import StoredCheckpoint


class _Opened:
    """The files of a name, and the model that they are."""

    def __init__(self, stored: StoredCheckpoint) -> None:
        self.stored = stored

    @cached_property
    def model(self) -> Checkpoint:
        """The files alone, or, if they are an adapter, together with its base."""
        stored = self.stored
        if is_adapter(stored):
            return AdapterCheckpoint(stored.name, stored.options, stored)
        return stored


_shared: ContextVar[dict[tuple[str, LoadOptions], _Opened] | None] = ContextVar(
    "shared checkpoints", default=None
)


@contextmanager
def share_checkpoints() -> Iterator[None]:
    """Let all backends that are tried for one name share a checkpoint, so that it is read once.

    Sharing ends with this context, because the files may have changed when the name is used again.
    """
    token = _shared.set({})
    try:
        yield
    finally:
        _shared.reset(token)


def open_checkpoint(name: str, options: LoadOptions, *, local: bool = False) -> Checkpoint:
    """The checkpoint of a name; refuses a revision for a local model, which has none.

    Whether a name on the hub is an adapter, which needs its base, only the hub can tell. With ``local``
    it is not asked.
    """
    shared = _shared.get()
    opened = _Opened(StoredCheckpoint(name, options))
    if shared is not None:
        opened = shared.setdefault((name, options), opened)
    if options.revision is not None and opened.stored.path is not None:
        raise UserError(
            "{name} is a local model, and only models on the hub have revisions: leave --revision"
            " {revision} out.",
            name=opened.stored.title,
            revision=options.revision,
        )
    return opened.stored if local else opened.model


class CheckpointBackend(Backend):
    """A model in a folder or on the hub; its weights are loaded on the first request."""

    def __init__(self, checkpoint: Checkpoint) -> None:
        self.checkpoint = checkpoint

    @classmethod
    def claims(cls, name: str, options: LoadOptions) -> bool:
        """Whether the checkpoint of a name is of this kind."""
        checkpoint = open_checkpoint(name, options, local=cls.early)
        with checkpoint.explain_errors(CONFIGURATION):
            return cls.recognises(checkpoint)

    @classmethod
    def load(cls, name: str, options: LoadOptions) -> Self:
        """The model of a name; reads configuration and tokenizer."""
        checkpoint = open_checkpoint(name, options, local=cls.early)
        with checkpoint.explain_errors(CONFIGURATION):
            return cls(checkpoint)

    @classmethod
    @abstractmethod
    def recognises(cls, checkpoint: Checkpoint) -> bool:
        """Whether a checkpoint is of this kind."""
