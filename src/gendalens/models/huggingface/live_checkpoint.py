"""A model of transformers that is already in memory, with its tokenizer.

The model belongs to the user, perhaps in the middle of its training: it runs where and as it is, and
:meth:`LiveCheckpoint.close` leaves it as it was found.
"""

from __future__ import annotations

import copy
import hashlib
import json
from functools import cached_property
from pathlib import Path
from typing import Any

from gendalens.errors import UserError
from gendalens.models.base import LoadOptions
from gendalens.models.huggingface import refusals
from gendalens.models.huggingface.checkpoint import Checkpoint
from gendalens.models.huggingface.refusals import CONFIGURATION, TOKENIZER, WEIGHTS
from gendalens.models.library_errors import describe_error, is_out_of_memory
from gendalens.models.module_state import ModuleState
from gendalens.system.forbidden_instructions import avoid_forbidden_instructions
from gendalens.words import Message

# Parts of a configuration that say where a model comes from, or repeat what its weights say.
_ORIGIN = frozenset({"_name_or_path", "architectures", "dtype", "transformers_version"})
# Attributes of peft's layers that decide which adapters take part, and how much.
_ADAPTER_SWITCHES = (
    "_active_adapter",
    "_adapters_disabled",
    "_disable_adapters",
    "active_adapter",
    "merged_adapters",
    "scaling",
)


class LiveCheckpoint(Checkpoint):
    """A model object and a tokenizer object, under a name given by the user or the model's own."""

    def __init__(self, model: Any, tokenizer: Any, name: str | None = None) -> None:
        self.model = unwrap(model)
        self._base = find_base(self.model)
        self.name = name or name_model(model)
        with self.explain_errors(CONFIGURATION):
            is_own_code = type(self._base).__module__.partition(".")[0] != "transformers"
            self.options = LoadOptions(
                device=str(self._base.device),
                dtype=str(self._base.dtype).removeprefix("torch."),
                trust_remote_code=is_own_code,
            )
        with self.explain_errors(TOKENIZER):
            refusals.check_tokenizer(self.name, tokenizer)
            # A copy, because every call of a tokenizer may change its settings for padding and length.
            self._tokenizer = copy.deepcopy(tokenizer)
        self._check_weights()
        self._check_vocabulary()
        self._state: ModuleState | None = None

    @property
    def title(self) -> str:
        """The name in results."""
        return self.name

    @property
    def config(self) -> Any:
        """The model's own configuration."""
        return self._base.config

    @property
    def tokenizer(self) -> Any:
        """A copy of the tokenizer."""
        return self._tokenizer

    @cached_property
    def architecture(self) -> str:
        """The class of the model; for a model with adapters, that of the model below them."""
        return type(self._base).__name__

    @property
    def version(self) -> str:
        """A digest of the model's content."""
        return f"sha256:{self.content[:12]}"

    @property
    def resolved_dtype(self) -> str:
        """The number format of the weights as they are in memory."""
        return self.options.dtype

    @cached_property
    def content(self) -> str:
        """A digest of weights, configuration, adapters and tokenizer, computed once."""
        total = hashlib.sha256()
        with self.explain_errors(WEIGHTS):
            for name, value in sorted(self.model.state_dict().items()):
                _update_with_tensor(total, name, value)
        with self.explain_errors(CONFIGURATION):
            total.update(_write_json([self.architecture, self._describe_config()]))
            total.update(_write_json(_describe_adapters(self.model)))
        with self.explain_errors(TOKENIZER):
            total.update(_write_json(self._describe_tokenizer()))
        return total.hexdigest()

    def digest(self, *parts: object) -> str:
        """A digest of the model's content, its number format and ``parts``."""
        return hashlib.sha256(_write_json([self.content, self.resolved_dtype, *parts])).hexdigest()

    def load_model(self, auto_class: str) -> Any:
        """The model itself, in evaluation mode until :meth:`close`."""
        if self._state is None:
            self._state = ModuleState(self.model)
        self.model.eval()
        # accelerate wraps this around the model for automatic mixed precision.
        if "_original_forward" in vars(self.model):
            self.model.forward = self.model._original_forward
        for part in self.model.modules():
            # Compiled code would be compiled anew for every length of text.
            part._compiled_call_impl = None
            # Reformer hashes with new random numbers in every pass unless it has a seed.
            if getattr(part, "hash_seed", 0) is None:
                part.hash_seed = 0
        if self.options.device == "cpu" and self.resolved_dtype != "float32":
            avoid_forbidden_instructions()
        return self.model

    def close(self) -> None:
        """Leave the model as it was before it ran."""
        if self._state is not None:
            self._state.restore()
            self._state = None

    def in_float32(self) -> LiveCheckpoint | None:
        """The model as a copy in float32; None for quantised weights, which have no other format."""
        return None if getattr(self._base, "is_quantized", False) else _Float32Copy(self)

    def copy_model(self) -> Any:
        """A copy of the model as the user gave it."""
        running = ModuleState(self.model)
        if self._state is not None:
            self._state.restore()
        try:
            return copy.deepcopy(self.model)
        finally:
            running.restore()

    def _check_weights(self) -> None:
        """Refuse a model whose weights are not in memory."""
        absent = next((name for name, one in self.model.named_parameters() if one.is_meta), None)
        if absent is not None:
            raise UserError(
                "The weights of {name} are not in memory ({weights} is on the meta device): load the"
                " model onto a real device, or name its folder instead.",
                name=self.name,
                weights=absent,
            )

    def _check_vocabulary(self) -> None:
        """Refuse a tokenizer with more tokens than the model, tokens added by the user apart."""
        with self.explain_errors(TOKENIZER):
            size = getattr(self.text_config, "vocab_size", None)
            added = self._tokenizer.added_tokens_decoder
            last = max(set(self._tokenizer.get_vocab().values()) - set(added), default=0)
        if size and last >= size:
            raise UserError(
                "The tokenizer given with {name} belongs to another model (it has {tokens:,} tokens,"
                " and {name} knows {size:,}): give the model's own tokenizer.",
                name=self.name,
                tokens=last + 1,
                size=size,
            )

    def _describe_config(self) -> dict[str, Any]:
        settings = self.config.to_dict()
        attention = getattr(self.config, "_attn_implementation", None)
        return {name: settings[name] for name in settings if name not in _ORIGIN} | {
            "attention": attention
        }

    def _describe_tokenizer(self) -> list[Any]:
        core = json.loads(self._tokenizer.backend_tokenizer.to_str())
        # They are set anew by every call.
        del core["truncation"], core["padding"]
        return [core, self._tokenizer.special_tokens_map, self._tokenizer.model_max_length]

    def _explain(self, error: BaseException, what: Message) -> UserError:
        if is_out_of_memory(error):
            return self.explain_memory()
        return UserError(
            "The {what} of {name} cannot be read from memory ({reason}): check that the model and the"
            " tokenizer work on their own.",
            what=what,
            name=self.name,
            reason=describe_error(error),
        )

    def explain_unreadable_text(self, error: BaseException) -> UserError:
        """The error for a model that fails on the first text it is tried on."""
        return self._explain_failure(error)

    def _explain_failure(self, error: BaseException) -> UserError:
        return UserError(
            "{name} cannot answer ({kind}: {reason}): check that the model and the tokenizer belong"
            " together and that the model runs on its own.",
            name=self.name,
            kind=type(error).__name__,
            reason=describe_error(error),
        )


class _Float32Copy(LiveCheckpoint):
    """A model in memory as it would answer in float32; the copy is made when it is needed."""

    def __init__(self, source: LiveCheckpoint) -> None:
        self._source = source
        super().__init__(source.model, source.tokenizer, source.name)

    @property
    def resolved_dtype(self) -> str:
        """The number format of the copy."""
        return "float32"

    @cached_property
    def content(self) -> str:
        """The digest of the model that was copied."""
        return self._source.content

    def load_model(self, auto_class: str) -> Any:
        """The copy."""
        with self.explain_errors(WEIGHTS):
            self.model = self._source.copy_model().float()
        return super().load_model(auto_class)


def unwrap(model: Any) -> Any:
    """The model inside what torch wraps around it to compile it or to train it on several devices."""
    import torch

    parallel = (torch.nn.DataParallel, torch.nn.parallel.DistributedDataParallel)
    while True:
        if isinstance(model, parallel):
            model = model.module
        elif isinstance(model, torch.nn.Module) and "_orig_mod" in model._modules:
            model = model._orig_mod
        else:
            return model


def find_base(model: Any) -> Any:
    """The model of transformers below the adapters of peft."""
    find = getattr(model, "get_base_model", None)
    return model if find is None else find()


def name_model(model: Any) -> str:
    """The name that the model was loaded by, without the path to it; else that of its class."""
    base = find_base(unwrap(model))
    name = str(getattr(base.config, "_name_or_path", "") or "")
    if name and (name.startswith((".", "/", "~")) or "\\" in name or _is_local(name)):
        name = Path(name.replace("\\", "/")).expanduser().resolve().name
    return name or type(base).__name__


def _is_local(name: str) -> bool:
    try:
        return Path(name).exists()
    except OSError:  # too long for a path
        return False


def _update_with_tensor(total: Any, name: str, value: Any) -> None:
    import torch

    if not isinstance(value, torch.Tensor):  # some layers keep other values beside their weights
        total.update(_write_json([name, repr(value)]))
        return
    total.update(_write_json([name, str(value.dtype), list(value.shape)]))
    content = value.detach().cpu().contiguous().reshape(-1).view(torch.uint8)
    total.update(content.numpy().data)


def _describe_adapters(model: Any) -> list[Any]:
    """What the adapters of peft hold beside their weights: how they are set, on, and scaled."""
    settings = getattr(model, "peft_config", None)
    if not settings:
        return []
    return [
        {name: setting.to_dict() for name, setting in settings.items()},
        [
            {name: vars(part)[name] for name in _ADAPTER_SWITCHES if name in vars(part)}
            for part in model.modules()
        ],
    ]


def _write_json(value: Any) -> bytes:
    return json.dumps(value, sort_keys=True, default=_write_other).encode()


def _write_other(value: Any) -> Any:
    # The order of a set differs between processes.
    return sorted(map(str, value)) if isinstance(value, set | frozenset) else str(value)
