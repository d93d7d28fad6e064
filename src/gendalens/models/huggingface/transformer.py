"""What all models on transformers have in common: tokenizer, window, and what they say of themselves."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import cached_property, wraps
from importlib import metadata
from typing import Any, ClassVar, Self, TypeVar, cast

from gendalens.errors import UserError
from gendalens.models.base import ModelInfo
from gendalens.models.huggingface.checkpoint import Checkpoint
from gendalens.models.parallel_batches import MOST, keeps_state
from gendalens.system.memory_limits import memory_is_limited

# What a batch works on should stay in a processor's caches; a graphics card wants to be kept busy.
TOKENS_ON_PROCESSOR, TOKENS_ON_CARD = 384, 8192

_SOFTWARE = ("torch", "transformers", "tokenizers")

# These count positions from the padding token's id on: so many places of their window stay unused.
_POSITIONS_AFTER_PADDING = frozenset(
    """camembert data2vec-text esm ibert longformer luke mpnet roberta roberta-prelayernorm
    xlm-roberta xlm-roberta-xl xmod""".split()  # noqa: SIM905
)


Method = TypeVar("Method", bound=Callable[..., Any])


def explained(method: Method) -> Method:
    """A method of a backend in which whatever a library raises becomes one sentence for the user."""

    @wraps(method)
    def guarded(self: Transformer, *args: Any) -> Any:
        with self.checkpoint.asked():
            return method(self, *args)

    return cast(Method, guarded)


def _has_cuda() -> bool:
    import torch

    return torch.cuda.is_available()


class Transformer:
    """A model on transformers, by its configuration and its tokenizer; the weights come later."""

    kind: ClassVar[str]

    def __init__(self, checkpoint: Checkpoint) -> None:
        self.checkpoint = checkpoint
        self.tokenizer: Any = checkpoint.tokenizer
        with checkpoint.explained("configuration"):
            self.vocabulary_size = int(
                getattr(checkpoint.text_config, "vocab_size", None) or len(self.tokenizer)
            )

    @cached_property
    def info(self) -> ModelInfo:
        """Name, kind and revision."""
        return ModelInfo(
            name=self.checkpoint.title,
            kind=self.description,
            revision=self.checkpoint.version,
            dtype=self.checkpoint.resolved_dtype,
            tokenizer=f"{type(self.tokenizer).__name__}"
            f" ({type(self.tokenizer.backend_tokenizer.model).__name__})",
            software=tuple(f"{name} {metadata.version(name)}" for name in _SOFTWARE),
        )

    @property
    def description(self) -> str:
        """The kind of model in words."""
        return self.kind

    @cached_property
    def window(self) -> int | None:
        """The most tokens the model reads at once; None where nothing says so."""
        config = self.checkpoint.text_config
        places = getattr(config, "max_position_embeddings", None) or 0
        if places > 0 and config.model_type in _POSITIONS_AFTER_PADDING:
            places -= (getattr(config, "pad_token_id", None) or 0) + 1
        # A tokenizer that knows no limit says so with a number of 31 digits.
        limits = [limit for limit in (places, self.tokenizer.model_max_length) if 0 < limit < 10**9]
        return min(limits, default=None)

    @property
    def padding(self) -> int:
        """The token that fills short rows up; what it is makes no difference, but it must exist."""
        candidates = (
            self.tokenizer.pad_token_id,
            getattr(self.checkpoint.text_config, "pad_token_id", None),
            self.tokenizer.eos_token_id,
        )
        usable = (id_ for id_ in candidates if id_ is not None and 0 <= id_ < self.vocabulary_size)
        return next(usable, 0)

    @cached_property
    def exact(self) -> Self:
        """The same model in float32, by which a smaller number format is judged."""
        return type(self)(replace(self.checkpoint, dtype="float32"))

    @property
    def batch_tokens(self) -> int:
        """The tokens a batch that run fastest, where the user does not say."""
        return TOKENS_ON_PROCESSOR if self.on_processor else TOKENS_ON_CARD

    @property
    def on_processor(self) -> bool:
        """Whether the model runs on a processor, not on a graphics card."""
        device = self.checkpoint.device or ("cuda" if _has_cuda() else "cpu")
        return device.partition(":")[0] == "cpu"

    @property
    def workers(self) -> int:
        """How many batches are answered at once."""
        import torch

        if not self.on_processor or self.checkpoint.trust_remote_code or memory_is_limited():
            return 1
        return 1 if keeps_state(self.checkpoint.config) else min(torch.get_num_threads(), MOST)

    def must_know(self, rows: Iterable[Sequence[int]]) -> None:
        """Refuse tokens that the weights have no place for."""
        for row in rows:
            if max(row) >= self.vocabulary_size:
                raise UserError(
                    f"The tokenizer of {self.checkpoint.name} does not belong to its weights (token"
                    f" {max(row)} of {self.vocabulary_size}): put the model's own tokenizer into"
                    " the folder."
                )
