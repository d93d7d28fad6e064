"""What all models on transformers have in common: tokenizer, window and description."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property, wraps
from importlib import metadata
from typing import Any, ClassVar, Self, TypeVar, cast

from gendalens.errors import UserError
from gendalens.models.base import Batching
from gendalens.models.huggingface.checkpoint import Checkpoint
from gendalens.models.huggingface.checkpoint_backend import CheckpointBackend
from gendalens.models.huggingface.devices import AUTO
from gendalens.models.huggingface.padding_trial import Row, make_rows
from gendalens.models.huggingface.refusals import CONFIGURATION, TOKENIZER
from gendalens.models.huggingface.tokenizer_check import TokenizerCheck
from gendalens.models.library_errors import is_library_error, is_out_of_memory
from gendalens.models.parallel_batches import MOST_WORKERS
from gendalens.results.model_info import ModelInfo
from gendalens.system.memory_limits import memory_is_limited
from gendalens.words import Message, Template

# On a CPU a batch should fit into the caches; a graphics card needs large batches to be fully used.
TOKENS_ON_PROCESSOR, TOKENS_ON_CARD = 384, 8192

_SOFTWARE = ("torch", "transformers", "tokenizers")

# These models number positions from the padding token's id and leave lower ones unused.
_POSITIONS_AFTER_PADDING = frozenset(
    """camembert data2vec-text esm ibert longformer luke mpnet roberta roberta-prelayernorm
    xlm-roberta xlm-roberta-xl xmod""".split()  # noqa: SIM905
)
# These models change their own state while they process a text.
_WITH_STATE = frozenset(
    {"big_bird", "bigbird_pegasus", "clvp", "funnel", "recurrent_gemma", "reformer", "xlstm"}
)

# Padding changes the answers of these models, and MRA ignores the words around a word unless it runs on a
# graphics card. That used not to be tried, so their older answers, which the cache may hold, are wrong.
# (The list is for the cache alone: what a model can do is tried.)
_ONCE_WRONG = frozenset(
    """canine convbert fnet funnel hrm_text mobilebert mra nystromformer reformer t5gemma
    yoso""".split()  # noqa: SIM905
)

Method = TypeVar("Method", bound=Callable[..., Any])


def explain_failures(method: Method) -> Method:
    """Decorate a backend's method so that library errors become user errors."""

    @wraps(method)
    def guarded(self: Transformer, *args: Any) -> Any:
        with self.checkpoint.explain_failures():
            return method(self, *args)

    return cast(Method, guarded)


def keeps_state(config: Any) -> bool:
    """Whether a model of this configuration can process only one batch at a time.

    Apart from certain architectures, these are models whose position scaling depends on the longest
    text so far, and multimodal models, some of which store the positions of images.
    """
    text = config.get_text_config()
    positions = str(getattr(text, "rope_parameters", None))
    return (
        text is not config
        or text.model_type in _WITH_STATE
        or any(stretching in positions for stretching in ("dynamic", "longrope"))
    )


class Transformer(CheckpointBackend):
    """A model on transformers, opened by configuration and tokenizer; the weights are loaded later."""

    #: The kind of model in words, and the hub's name for its task.
    kind: ClassVar[Template]
    hub_task: ClassVar[str]
    #: The cached properties that hold the loaded model.
    loaded: ClassVar[tuple[str, ...]]
    #: Whether texts get the tokenizer's special tokens.
    specials: ClassVar[bool] = True

    def __init__(self, checkpoint: Checkpoint) -> None:
        super().__init__(checkpoint)
        self.tokenizer: Any = checkpoint.tokenizer
        with checkpoint.explain_errors(CONFIGURATION):
            self.vocabulary_size = int(
                getattr(checkpoint.text_config, "vocab_size", None) or len(self.tokenizer)
            )
        with checkpoint.explain_errors(TOKENIZER):
            check = TokenizerCheck(self.tokenizer, checkpoint.name, specials=self.specials)
            self._notices = tuple(self.check_tokenizer(check))

    def check_tokenizer(self, check: TokenizerCheck) -> list[Message]:
        """Warnings of what the tokenizer does to Danish text; refuses one that makes nonsense of it."""
        check.refuse_unreadable()
        return check.list_altered()

    @property
    def notices(self) -> tuple[Message, ...]:
        """The notices that every result made from its answers must show."""
        return self._notices

    @cached_property
    def info(self) -> ModelInfo:
        """Name, kind and revision."""
        return ModelInfo(
            name=self.checkpoint.title,
            kind=self.kind(),
            revision=self.checkpoint.version,
            dtype=self.checkpoint.resolved_dtype,
            tokenizer=f"{type(self.tokenizer).__name__}"
            f" ({type(self.tokenizer.backend_tokenizer.model).__name__})",
            software=tuple(
                f"{name} {metadata.version(name)}"
                for name in (*_SOFTWARE, *self.checkpoint.packages)
            ),
            hub_task=self.hub_task,
        )

    @cached_property
    def window(self) -> int | None:
        """The most tokens that the model reads at once; None if no limit is known."""
        config = self.checkpoint.text_config
        places = getattr(config, "max_position_embeddings", None) or 0
        if places > 0 and config.model_type in _POSITIONS_AFTER_PADDING:
            places -= (getattr(config, "pad_token_id", None) or 0) + 1
        # A tokenizer without a limit reports a number of 31 digits.
        limits = [limit for limit in (places, self.tokenizer.model_max_length) if 0 < limit < 10**9]
        return min(limits, default=None)

    @property
    def padding(self) -> int:
        """The token that pads short rows; any existing one will do."""
        candidates = (
            self.tokenizer.pad_token_id,
            getattr(self.checkpoint.text_config, "pad_token_id", None),
            self.tokenizer.eos_token_id,
        )
        usable = (id_ for id_ in candidates if id_ is not None and 0 <= id_ < self.vocabulary_size)
        return next(usable, 0)

    @cached_property
    def exact(self) -> Self | None:
        """The same model in float32, the reference for smaller number formats."""
        checkpoint = self.checkpoint.in_float32()
        return type(self)(checkpoint) if checkpoint else None

    def close(self) -> None:
        """Give the model back to whoever loaded it; it is taken anew with the next request."""
        self.checkpoint.close()
        for name in ("exact", *self.loaded):
            vars(self).pop(name, None)

    @property
    def batch_tokens(self) -> int:
        """The number of tokens per batch that runs fastest, unless the user sets one."""
        return TOKENS_ON_PROCESSOR if self.on_processor else TOKENS_ON_CARD

    @property
    @abstractmethod
    def tried_batching(self) -> Batching:
        """Which rows the loaded model can read together."""

    @property
    def batching(self) -> Batching:
        """Which rows can be read together; loads the weights, because only a trial can tell."""
        try:
            with self.checkpoint.explain_failures():
                return self.tried_batching
        except (MemoryError, RuntimeError) as error:
            if not is_out_of_memory(error):
                raise
            raise self.checkpoint.explain_memory() from error

    @property
    def on_processor(self) -> bool:
        """Whether the model runs on the CPU, not on a graphics card."""
        import torch

        device = self.checkpoint.options.device
        if device in (None, AUTO):
            return not torch.cuda.is_available()
        return str(device).partition(":")[0] == "cpu"

    @property
    def workers(self) -> int:
        """How many batches are answered at once."""
        import torch

        options = self.checkpoint.options
        if not self.on_processor or options.trust_remote_code or memory_is_limited():
            return 1
        # Hooks that fetch weights, and packages for quantised ones, keep state too.
        if options.device == AUTO or self.info.quantised or keeps_state(self.checkpoint.config):
            return 1
        return min(torch.get_num_threads(), MOST_WORKERS)

    def digest_answers(self, version: int, reading: str) -> str:
        """A digest of all that decides its answers, for the cache.

        ``version`` is that of the backend's answers, ``reading`` how the checkpoint is read.
        """
        config = self.checkpoint.text_config
        is_custom = type(config).__module__.partition(".")[0] != "transformers"
        kinds = {config.model_type, self.checkpoint.config.model_type}
        if is_custom or kinds & _ONCE_WRONG:
            return self.checkpoint.digest(version, reading, "padding tried")
        return self.checkpoint.digest(version, reading)

    @contextmanager
    def explain_first_reading(self) -> Iterator[None]:
        """Turn any library error raised while the model is tried into a user error."""
        try:
            yield
        except (UserError, MemoryError):
            raise
        except BaseException as error:
            if not is_library_error(error) or is_out_of_memory(error):
                raise
            raise self.checkpoint.explain_unreadable_text(error) from error

    def make_trial_rows(self, *, specials: bool) -> list[Row]:
        """Rows of its own tokens, on which the model is tried when it is loaded."""
        return make_rows(
            self.tokenizer,
            self.checkpoint.text_config,
            self.window,
            self.vocabulary_size,
            specials=specials,
        )

    def check_tokens(self, rows: Iterable[Sequence[int]]) -> None:
        """Refuse tokens that the model has no embedding for."""
        for row in rows:
            if max(row) >= self.vocabulary_size:
                raise UserError(
                    "The tokenizer of {name} does not belong to its weights (token {token} of"
                    " {size}): use the model's own tokenizer.",
                    name=self.checkpoint.name,
                    token=max(row),
                    size=self.vocabulary_size,
                )
