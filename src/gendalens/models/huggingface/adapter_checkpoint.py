"""An adapter together with the model it was trained on: one model, in two places."""

from __future__ import annotations

import copy
import hashlib
import json
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from gendalens.errors import UserError
from gendalens.models.base import LoadOptions
from gendalens.models.huggingface import refusals
from gendalens.models.huggingface.adapter import PICKLED_WEIGHTS, SAFE_WEIGHTS, Adapter
from gendalens.models.huggingface.checkpoint import Checkpoint
from gendalens.models.huggingface.devices import is_offloaded
from gendalens.models.huggingface.libraries import silence_transformers
from gendalens.models.huggingface.model_files import ADAPTER_CONFIG, holds_both
from gendalens.models.huggingface.stored_checkpoint import StoredCheckpoint
from gendalens.models.huggingface.weights import load_weights
from gendalens.system import hub_access
from gendalens.system.file_lease import hold_leases

_TOKENIZERS = frozenset({"tokenizer.json", "tokenizer_config.json"})
# transformers' mapping from a kind of base to the class for an adapter's task.
_HEADS = {
    "QUESTION_ANS": "MODEL_FOR_QUESTION_ANSWERING_MAPPING_NAMES",
    "SEQ_CLS": "MODEL_FOR_SEQUENCE_CLASSIFICATION_MAPPING_NAMES",
    "TOKEN_CLS": "MODEL_FOR_TOKEN_CLASSIFICATION_MAPPING_NAMES",
}


def is_adapter(stored: StoredCheckpoint) -> bool:
    """Whether the files are an adapter; refuses a full model with an adapter beside it."""
    names = stored.file_names
    if holds_both(names):
        raise refusals.explain_both(stored.name)
    return ADAPTER_CONFIG in names


@dataclass(frozen=True)
class AdapterCheckpoint(Checkpoint):
    """An adapter, in a folder or on the hub, and its base."""

    name: str
    options: LoadOptions
    stored: StoredCheckpoint

    @property
    def title(self) -> str:
        """The name in results: the adapter's."""
        return self.stored.title

    @property
    def path(self) -> Path | None:
        """The local folder of the adapter, if there is one."""
        return self.stored.path

    @property
    def gguf(self) -> Path | None:
        """The `.gguf` file of the base, if it is one."""
        return self.base.gguf

    @property
    def packages(self) -> tuple[str, ...]:
        """What else runs the model."""
        return "peft", *self.base.packages

    @cached_property
    def adapter(self) -> Adapter:
        """The adapter's own files, fetched if they are on the hub."""
        stored = self.stored
        with stored.explain_errors(refusals.CONFIGURATION):
            settings = stored.find_file(ADAPTER_CONFIG)
            assert settings is not None
            for name in {SAFE_WEIGHTS, PICKLED_WEIGHTS, "config.json"} & stored.file_names:
                stored.find_file(name)
        found = Adapter(self.name, settings.parent, self.options.allow_pickle)
        found.check_package()
        stored.check_settings()
        if stored.files:
            stored.check_unchanged()  # records the state of the files
        return found

    @cached_property
    def base(self) -> StoredCheckpoint:
        """The model that the adapter was trained on."""
        named = self.adapter.base
        place = self._find_base(named)
        # A revision is one of the hub, and the user's own is that of the adapter.
        revision = None if place else self.adapter.get_text("revision")
        options = replace(self.options, revision=revision)
        base = StoredCheckpoint(str(place or named), options, self.stored.dequantised)
        with self._explain_base():
            nested = is_adapter(base)
        if nested:
            raise UserError(
                "The base of the adapter {name} ({base}) is an adapter itself: merge the two"
                " (`merge_and_unload`), save them, and name that folder as the base.",
                name=self.name,
                base=base.title,
            )
        return base

    def _find_base(self, named: str) -> Path | None:
        """The local folder or file of the base; None if it is on the hub."""
        local = named.startswith((".", "/", "~")) or "\\" in named or re.match("[A-Za-z]:", named)
        if self.path is not None:
            with suppress(
                OSError, RuntimeError
            ):  # a name that no path can have, or an unknown ~user
                path = Path(named).expanduser()
                for place in (self.path / path, path):
                    if place.exists():
                        return place
        if local:
            raise UserError(
                "The base of the adapter {name} is not here ({base}): write the path or hub name of"
                " the model it was trained on as base_model_name_or_path into its adapter_config.json.",
                name=self.name,
                base=named[:200],
            )
        return None

    @contextmanager
    def _explain_base(self) -> Iterator[None]:
        """Say of every problem with the base that it is the adapter's base."""
        try:
            yield
        except UserError as error:
            raise UserError(
                "{name} is an adapter, and the model it was trained on cannot be used: {fact}",
                name=self.name,
                fact=error.message,
            ) from error

    @cached_property
    def config(self) -> Any:
        """The configuration of the base, with the adapter's labels and tokens."""
        base = self.base
        with self._explain_base():
            config = base.config
        if self.adapter.labels:
            config.id2label = self.adapter.labels
            config.label2id = {label: index for index, label in self.adapter.labels.items()}
        elif self._task == "TOKEN_CLS" and _names_no_labels(config):
            raise UserError(
                "The adapter {name} does not say what its labels are: save its model's configuration"
                " with id2label as config.json beside it (`model.config.save_pretrained`).",
                name=self.name,
            )
        config = copy.deepcopy(config)
        text = config.get_text_config()
        text.vocab_size = self.adapter.count_tokens(text)
        return config

    @property
    def _task(self) -> str | None:
        return self.adapter.get_text("task_type")

    @cached_property
    def architecture(self) -> str:
        """The class that the adapter was trained on, which may have another head than the base."""
        from transformers.models.auto import modeling_auto

        if (mapping := _HEADS.get(self._task or "")) is not None:
            names = getattr(modeling_auto, mapping)
            return str(names.get(self.config.model_type, self._task))
        mapped = self.adapter.settings.get("auto_mapping")
        trained = mapped.get("base_model_class") if isinstance(mapped, dict) else None
        return trained if isinstance(trained, str) else self.base.architecture

    @cached_property
    def tokenizer(self) -> Any:
        """The tokenizer beside the adapter, or else that of the base."""
        if _TOKENIZERS & self.stored.file_names:
            return self.stored.load_tokenizer(self.config)
        base = self.base
        with self._explain_base():
            return base.tokenizer

    @cached_property
    def version(self) -> str:
        """The versions of the adapter and of its base."""
        return f"{self.stored.version}+{self.base.title.replace('|', '_')}@{self.base.version}"

    @property
    def resolved_dtype(self) -> str:
        """The number format of the weights."""
        return self.base.resolved_dtype

    def digest(self, *parts: object) -> str:
        """A digest of both contents, the number format and ``parts``."""
        both = [*self.stored.content, self.base.digest(*parts)]
        return hashlib.sha256(json.dumps(both).encode()).hexdigest()

    def in_float32(self) -> AdapterCheckpoint | None:
        """The same model in float32."""
        exact = self.base.in_float32()
        stored = StoredCheckpoint(
            self.name, replace(self.options, dtype="float32"), exact.dequantised
        )
        return AdapterCheckpoint(self.name, stored.options, stored)

    def load_model(self, auto_class: str) -> Any:
        """The base with the adapter on it."""
        adapter, base, path = self.adapter, self.base, self.path
        supplied = frozenset(adapter.shapes)
        with self._explain_base():
            model = load_weights(base, auto_class, supplied)
        if is_offloaded(model):
            raise UserError(
                "The adapter {name} cannot be put onto a base that does not fit into memory: merge the"
                " two (`merge_and_unload`), save them and name that folder.",
                name=self.name,
            )
        local = [] if path is None else path.glob("*.safetensors")
        with hold_leases(local), silence_transformers(), hub_access.block_hub():
            adapter.apply(model, base.title)
        self.stored.check_unchanged()
        return model.eval()


def _names_no_labels(config: Any) -> bool:
    """Whether the labels are those that transformers invents."""
    return all(re.fullmatch(r"LABEL_\d+", str(label)) for label in config.id2label.values())
