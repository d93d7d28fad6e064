"""Quantised weights: how they are stored, what is needed to run them, and the same weights in float32."""

from __future__ import annotations

import copy
import importlib
import inspect
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib import metadata
from typing import Any

from gendalens.errors import UserError
from gendalens.models.huggingface.libraries import silence_transformers
from gendalens.models.library_errors import describe_error
from gendalens.system import hub_access
from gendalens.words import Template

STAYS_QUANTISED = Template(
    "stays_quantised", "the weights of {name} cannot be turned from {method} into float32"
)

# The packages that each method needs, under their names on the package index. For methods that are not
# listed, transformers says what is missing.
_PACKAGES = {
    "aqlm": ("aqlm",),
    "auto-round": ("auto-round",),
    "awq": ("gptqmodel",),
    "bitsandbytes": ("bitsandbytes",),
    "compressed-tensors": ("compressed-tensors",),
    "gptq": ("optimum", "gptqmodel"),
    "hqq": ("hqq",),
    "quanto": ("optimum-quanto",),
    "torchao": ("torchao",),
    "vptq": ("vptq",),
}


def find_quantisation(config: Any) -> Quantisation | None:
    """How the weights of a model with this configuration are quantised; None if they are not."""
    for part in (config, config.get_text_config()):
        settings = getattr(part, "quantization_config", None)
        if isinstance(settings, Mapping):
            return Quantisation(dict(settings))
    return None


@dataclass(frozen=True)
class Quantisation:
    """The quantisation that a model's configuration describes."""

    settings: dict[str, Any]

    @cached_property
    def method(self) -> str:
        """The name of the method, as transformers knows it."""
        if self.settings.get("load_in_4bit") or self.settings.get("load_in_8bit"):
            return "bitsandbytes"
        return str(self.settings.get("quant_method"))[:40]

    @cached_property
    def title(self) -> str:
        """The method and its number of bits, if it is known, for results: ``gptq-4bit``."""
        bits = self._bits
        return f"{self.method}-{bits}bit" if isinstance(bits, int) else self.method

    @property
    def _bits(self) -> Any:
        settings = self.settings
        if settings.get("load_in_4bit") or settings.get("load_in_8bit"):
            return 4 if settings.get("load_in_4bit") else 8
        groups = settings.get("config_groups")
        if isinstance(groups, Mapping):
            found = {
                (group.get("weights") or {}).get("num_bits")
                for group in groups.values()
                if isinstance(group, Mapping)
            }
            return found.pop() if len(found) == 1 else None
        return settings.get("bits")

    @property
    def packages(self) -> tuple[str, ...]:
        """The packages that run it."""
        return _PACKAGES.get(self.method, ())

    def check_packages(self, name: str) -> None:
        """Refuse weights that nothing installed here can run; ``name`` is the model's."""
        missing = [package for package in self.packages if not _is_installed(package)]
        if missing:
            raise UserError(
                "The weights of {name} are quantised ({method}), which needs {packages:and}: run `pip"
                " install {arguments}`.",
                name=name,
                method=self.title,
                packages=tuple(missing),
                arguments=" ".join(missing),
            )
        from transformers import __version__
        from transformers.quantizers.auto import AUTO_QUANTIZATION_CONFIG_MAPPING

        # transformers would load the packed numbers as if they were weights.
        if not any(key.startswith(self.method) for key in AUTO_QUANTIZATION_CONFIG_MAPPING):
            raise UserError(
                "The weights of {name} are quantised in a way that transformers {version} does not know"
                " ({method}): test the model they were made from, or install a newer transformers.",
                name=name,
                version=__version__,
                method=self.method,
            )

    def import_packages(self) -> None:
        """Import what runs it, without its log messages; bitsandbytes would fetch code from the hub."""
        with hub_access.block_hub():
            for package in self.packages:
                module = package.replace("-", "_")
                logging.getLogger(module).setLevel(logging.ERROR)
                try:
                    importlib.import_module(module)
                except ImportError:  # transformers tells what is wrong with it
                    return

    def configure(self, config: Any, dtype: str, *, dequantised: bool) -> Any:
        """A copy of the configuration for weights that compute in ``dtype``, or are to be dequantised."""
        config = copy.deepcopy(config)
        settings = dict(self.settings)
        if self.method == "bitsandbytes":
            settings["bnb_4bit_compute_dtype"] = dtype
        if dequantised and self._dequantises_by_setting:
            settings["dequantize"] = True
        config.quantization_config = settings
        return config

    @property
    def _dequantises_by_setting(self) -> bool:
        """Whether the weights can be turned into ordinary ones while they are loaded."""
        from transformers.quantizers.auto import AUTO_QUANTIZATION_CONFIG_MAPPING

        known = AUTO_QUANTIZATION_CONFIG_MAPPING.get(self.method)
        return known is not None and "dequantize" in inspect.signature(known.__init__).parameters

    def dequantise(self, model: Any, name: str) -> Any:
        """The loaded model with ordinary weights in float32."""
        if not self._dequantises_by_setting:
            try:
                with silence_transformers():
                    model = model.dequantize()
            except (AttributeError, NotImplementedError) as error:
                raise UserError(
                    "{fact}: run it as it is.", fact=STAYS_QUANTISED(name=name, method=self.title)
                ) from error
        if self.method == "compressed-tensors":
            from compressed_tensors.quantization import disable_quantization

            model.apply(disable_quantization)  # that of the layers' inputs
        return model.float()

    def explain(self, error: BaseException, name: str) -> UserError:
        """The error for weights that their packages cannot load here."""
        return UserError(
            "The weights of {name} are quantised ({method}) and cannot be run here ({reason}): test the"
            " model they were made from, or use a machine and packages that can run them.",
            name=name,
            method=self.title,
            reason=describe_error(error),
        )


def _is_installed(package: str) -> bool:
    try:
        metadata.version(package)
    except metadata.PackageNotFoundError:
        return False
    return True
