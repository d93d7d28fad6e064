"""From a model's name to the backend that can run it."""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections.abc import Iterator
from typing import Any, ClassVar, Protocol

from gendalens import models
from gendalens.errors import UserError
from gendalens.models.base import Backend
from gendalens.models.huggingface.checkpoint import DTYPES, Checkpoint

# Checked here because with all answers in the cache nothing else would; torch says what it can use.
_DEVICE = re.compile(r"(cpu|cuda|hip|hpu|mps|mtia|npu|privateuseone|xla|xpu)(:\d+)?")


class BackendClass(Protocol):
    """What a module of this package offers under the name ``BACKEND`` to be found here."""

    label: ClassVar[str]

    def claims(self, checkpoint: Checkpoint) -> bool:
        """Whether this backend runs the model (a static method: there is no instance yet)."""

    def __call__(self, checkpoint: Checkpoint) -> Backend:
        """The backend for the model, its weights not loaded yet."""


def load_model(
    name: str,
    *,
    revision: str | None = None,
    device: str | None = None,
    dtype: str = "float32",
    trust_remote_code: bool = False,
    offline: bool = False,
    allow_pickle: bool = False,
) -> Backend:
    """The backend for a model on the hub, in a folder or `.gguf` file, or for a spaCy package.

    Reads the configuration and the tokenizer; the weights are loaded with the first question.
    ``device`` None is the graphics card if there is one; ``dtype`` "auto" is the checkpoint's own
    number format.
    """
    if dtype not in DTYPES:
        raise UserError(f"{dtype} is no number format: choose one of {', '.join(DTYPES)}.")
    if device is not None and not _DEVICE.fullmatch(device):
        raise UserError(f"{device} is no device: choose cpu, cuda (or cuda:1 and so on) or mps.")
    checkpoint = Checkpoint(name, revision, device, dtype, trust_remote_code, offline, allow_pickle)
    if revision is not None and checkpoint.path is not None:
        raise UserError(
            f"{checkpoint.title} is a local model, and only models on the hub have revisions: leave"
            f" --revision {revision} out."
        )
    known = _backends()
    refusal: UserError | None = None
    for backend in known:
        try:
            with checkpoint.explained("configuration"):
                claimed = backend.claims(checkpoint)
        except UserError as error:
            # No model to this backend, perhaps to the next (a spaCy pipeline has no config.json).
            refusal = refusal or error
            continue
        if claimed:
            with checkpoint.explained("configuration"):
                return backend(checkpoint)
    if refusal:
        raise refusal
    *labels, last = (backend.label for backend in known)
    raise UserError(
        f"{name} is {_description(checkpoint)}, and GenDa Lens can test"
        f" {', '.join(labels)} and {last}: name one of those."
    )


def _backends() -> list[BackendClass]:
    """All backends; first those that tell from files alone, before others ask the hub."""
    return sorted(_found(), key=lambda backend: not getattr(backend, "early", False))


def _found() -> Iterator[BackendClass]:
    for found in pkgutil.walk_packages(models.__path__, f"{models.__name__}."):
        if backend := getattr(importlib.import_module(found.name), "BACKEND", None):
            yield backend


def _description(checkpoint: Checkpoint) -> str:
    config: Any = checkpoint.config
    if checkpoint.architecture:
        return f"a {checkpoint.architecture}"
    return f"a bare {config.model_type} model (its config.json names no architecture)"
