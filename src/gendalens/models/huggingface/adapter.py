"""The files of a PEFT adapter: what they say about its base, and its weights.

An adapter holds changes to the weights of another model, its base. Nothing that its settings name is
imported or fetched, apart from the base.
"""

from __future__ import annotations

import importlib.util
import json
import warnings
from dataclasses import dataclass, fields
from functools import cached_property
from pathlib import Path
from typing import Any

from gendalens.errors import UserError
from gendalens.models.huggingface import refusals
from gendalens.models.huggingface.model_files import ADAPTER_CONFIG
from gendalens.models.library_errors import (
    describe_error,
    is_library_error,
    is_out_of_memory,
)
from gendalens.system.extras import write_install_command
from gendalens.system.file_reading import read_ordinary
from gendalens.words import Message, phrase

SAFE_WEIGHTS, PICKLED_WEIGHTS = "adapter_model.safetensors", "adapter_model.bin"
# The names of weights in the file begin with it.
_PREFIX = "base_model.model."
# These adapters mix others, or need to be told for each text what to do.
_UNUSUAL = frozenset({"POLY", "XLORA"})


@dataclass(frozen=True)
class Adapter:
    """An adapter in a local folder; ``name`` is the user's name for it."""

    name: str
    folder: Path
    allow_pickle: bool

    @cached_property
    def settings(self) -> dict[str, Any]:
        """What adapter_config.json says."""
        try:
            found = json.loads(read_ordinary(self.folder / ADAPTER_CONFIG))
        except (OSError, ValueError, RecursionError) as error:
            raise self._explain_settings(describe_error(error)) from error
        if not isinstance(found, dict):
            raise self._explain_settings(phrase("it is no JSON object"))
        return found

    @cached_property
    def base(self) -> str:
        """The base as the adapter names it: a path or a name on the hub."""
        found = self.settings.get("base_model_name_or_path")
        if not isinstance(found, str) or not found.strip():
            raise UserError(
                "{name} is an adapter that does not name its base: write the base model's path or"
                " hub name as base_model_name_or_path into its adapter_config.json.",
                name=self.name,
            )
        return found

    def get_text(self, name: str) -> str | None:
        """A setting that is a text; None if it is none."""
        found = self.settings.get(name)
        return found if isinstance(found, str) and found else None

    @cached_property
    def labels(self) -> dict[int, str] | None:
        """The labels in a config.json beside the adapter, which has no place for them itself."""
        try:
            config = json.loads(read_ordinary(self.folder / "config.json"))
            return {int(index): str(label) for index, label in config["id2label"].items()}
        except (OSError, ValueError, TypeError, AttributeError, KeyError, RecursionError):
            return None

    @cached_property
    def weights(self) -> Path:
        """The file of its weights; refuses a pickle unless it is allowed."""
        if (safe := self.folder / SAFE_WEIGHTS).is_file():
            return safe
        if (pickled := self.folder / PICKLED_WEIGHTS).is_file():
            if self.allow_pickle:
                return pickled
            raise refusals.explain_pickles(self.name, allowed=False)
        raise UserError(
            "{name} is an adapter without weights (no {file}): copy its whole folder.",
            name=self.name,
            file=SAFE_WEIGHTS,
        )

    @cached_property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """The shape of each of its weights, by the name that they have in the base."""
        weights = self.weights
        try:
            if weights.name == SAFE_WEIGHTS:
                from safetensors import safe_open

                with safe_open(weights, "pt") as file:
                    found = {key: tuple(file.get_slice(key).get_shape()) for key in file.keys()}  # noqa: SIM118
            else:
                import torch

                content = torch.load(weights, weights_only=True, map_location="cpu")
                found = {key: tuple(value.shape) for key, value in content.items()}
        except Exception as error:
            raise UserError(
                "The weights of the adapter {name} cannot be read ({reason}): check that its files are"
                " complete.",
                name=self.name,
                reason=describe_error(error),
            ) from error
        return {key.removeprefix(_PREFIX): shape for key, shape in found.items()}

    def count_tokens(self, config: Any) -> int:
        """The size of the vocabulary with the tokens that the adapter adds to its base's."""
        size: int = config.vocab_size
        added = (
            shape[0]
            for key, shape in self.shapes.items()
            if "lora_" not in key and len(shape) == 2 and shape[1] == config.hidden_size
        )
        return max(size, *added, size)

    def apply(self, model: Any, base: str) -> None:
        """Put the adapter onto the loaded base, whose name is ``base``."""
        import peft
        import torch

        try:
            with warnings.catch_warnings(action="ignore"):
                rows = self.count_tokens(model.config.get_text_config())
                if rows != model.get_input_embeddings().weight.shape[0]:
                    model.resize_token_embeddings(rows, mean_resizing=False)
                whole = peft.PeftModel(model, self.make_config(), autocast_adapter_dtype=False)
                result = whole.load_adapter(
                    str(self.folder),
                    "default",
                    autocast_adapter_dtype=False,
                    key_mapping=getattr(model, "_checkpoint_conversion_mapping", None),
                    torch_device="cpu",
                )
        except (UserError, MemoryError, torch.OutOfMemoryError):
            raise
        except BaseException as error:
            if not is_library_error(error) or is_out_of_memory(error):
                raise
            raise self._explain_misfit(base, describe_error(error)) from error
        for key in (*result.missing_keys, *result.unexpected_keys):
            raise self._explain_misfit(base, key)
        whole.eval()

    def make_config(self) -> Any:
        """The settings as peft's own type; refuses what it does not know, or what would do nothing."""
        from peft import PEFT_TYPE_TO_CONFIG_MAPPING

        kind = str(self.settings.get("peft_type"))
        config_class = PEFT_TYPE_TO_CONFIG_MAPPING.get(kind)
        if config_class is None:
            raise self._explain_version(kind)
        known = {field.name for field in fields(config_class)}
        if unknown := [key for key, value in self.settings.items() if value and key not in known]:
            raise self._explain_version(unknown[0])
        # A class that PEFT would import for its own ways of loading.
        settings = {key: value for key, value in self.settings.items() if key in known}
        config = config_class(**settings | {"auto_mapping": None, "inference_mode": True})
        if (
            config.is_prompt_learning
            or config.is_adaption_prompt
            or kind in _UNUSUAL
            or self.settings.get("alora_invocation_tokens")
        ):
            raise UserError(
                "{name} is an adapter of a kind ({kind}) that does more than change the weights of its"
                " base, which GenDa Lens cannot test: test its base, or another adapter.",
                name=self.name,
                kind=kind,
            )
        return config

    def check_package(self) -> None:
        """Refuse an adapter where peft, which applies it, is not installed."""
        if importlib.util.find_spec("peft") is None:
            raise UserError(
                "{name} is an adapter, which needs peft: run `{command}`.",
                command=write_install_command("peft"),
                name=self.name,
            )

    def _explain_settings(self, reason: str | Message) -> UserError:
        return UserError(
            "The adapter_config.json of {name} cannot be read ({reason}): copy the adapter again.",
            name=self.name,
            reason=reason,
        )

    def _explain_version(self, what: str) -> UserError:
        from peft import __version__

        return UserError(
            "The adapter {name} has a setting that peft {version} does not know ({setting}): install a"
            " newer peft.",
            name=self.name,
            version=__version__,
            setting=what[:80],
        )

    def _explain_misfit(self, base: str, reason: str) -> UserError:
        return UserError(
            "The adapter {name} does not fit its base {base} ({reason}): name the model it was trained"
            " on as base_model_name_or_path in its adapter_config.json.",
            name=self.name,
            base=base,
            reason=reason[:160],
        )
