"""A model on transformers as the user gave it: what every kind of checkpoint offers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any

from gendalens.errors import UserError
from gendalens.models.base import LoadOptions
from gendalens.models.huggingface import refusals
from gendalens.models.library_errors import describe_error, is_library_error, is_out_of_memory
from gendalens.words import Message


class Checkpoint(ABC):
    """A model's configuration, tokenizer and version, and a way to its weights.

    Everything but :meth:`load_model` is cheap. ``name`` is the model as the user named it, for messages;
    ``title`` is its name in results.
    """

    name: str
    options: LoadOptions

    @property
    @abstractmethod
    def title(self) -> str:
        """The name in results, the same on every machine."""

    @property
    @abstractmethod
    def config(self) -> Any:
        """The model's transformers configuration."""

    @property
    @abstractmethod
    def tokenizer(self) -> Any:
        """The model's tokenizer, which must support character offsets."""

    @property
    @abstractmethod
    def version(self) -> str:
        """What identifies the model's version: a commit of the hub, or a digest of its content."""

    @property
    @abstractmethod
    def resolved_dtype(self) -> str:
        """The number format of the weights."""

    @abstractmethod
    def digest(self, *parts: object) -> str:
        """A digest of the model's content, its number format and ``parts``."""

    @abstractmethod
    def load_model(self, auto_class: str) -> Any:
        """The model, ready to run; ``auto_class`` is "AutoModelForMaskedLM" or the like."""

    @abstractmethod
    def in_float32(self) -> Checkpoint | None:
        """The same model in float32; None if it cannot be had."""

    @property
    def path(self) -> Path | None:
        """The local folder or file that holds the model, if one does."""
        return None

    @property
    def gguf(self) -> Path | None:
        """The `.gguf` file, if the model is one."""
        return None

    @property
    def packages(self) -> tuple[str, ...]:
        """The packages that run the model beside torch and transformers; results name their versions."""
        return ()

    @cached_property
    def text_config(self) -> Any:
        """The language model's part of the configuration (a multimodal model has others)."""
        return self.config.get_text_config()

    @cached_property
    def architecture(self) -> str:
        """The class that the weights were saved from; empty if the configuration names none."""
        return str((getattr(self.config, "architectures", None) or [""])[0])

    @property
    def is_encoder_decoder(self) -> bool:
        """Whether the model predicts a text from another one that it has read."""
        return bool(getattr(self.config, "is_encoder_decoder", False))

    def explain_memory(self) -> UserError:
        """The error for memory that runs out while the model is loaded."""
        return refusals.explain_memory(self.title)

    @contextmanager
    def explain_errors(self, what: Message) -> Iterator[None]:
        """Turn any library error raised while reading ``what`` into a user error."""
        try:
            yield
        except (UserError, MemoryError):
            raise
        except BaseException as error:
            if not is_library_error(error):
                raise
            raise self._explain(error, what) from error

    @contextmanager
    def explain_failures(self) -> Iterator[None]:
        """The same while the model runs: files that load may still not match each other."""
        try:
            yield
        except (UserError, MemoryError):
            raise
        except BaseException as error:
            # The engine retries with smaller batches when memory runs out.
            if not is_library_error(error) or is_out_of_memory(error):
                raise
            raise self._explain_failure(error) from error

    def close(self) -> None:  # noqa: B027 - stored models belong to nobody else
        """Give back what :meth:`load_model` took; by default nothing."""

    def explain_unreadable_text(self, error: BaseException) -> UserError:
        """The error for a model that fails on the first text it is tried on."""
        return UserError(
            refusals.CANNOT_READ_TEXT(
                name=self.name,
                architecture=self.architecture or self.config.model_type,
                kind=type(error).__name__,
                reason=describe_error(error),
            )
        )

    def _explain_failure(self, error: BaseException) -> UserError:
        return UserError(
            "{name} cannot answer ({kind}: {reason}): its configuration, tokenizer and weights do"
            " not fit together; download it again.",
            name=self.name,
            kind=type(error).__name__,
            reason=describe_error(error),
        )

    def _explain(self, error: BaseException, what: Message) -> UserError:
        return refusals.explain_error(
            error, what, self.name, revision=self.options.revision, gguf=self.gguf is not None
        )
