"""Which files a model's weights are in, where its own files say so.

transformers follows these names wherever they lead: to pickles under the name of safetensors, and out
of the folder, where the model's digest would not notice that the weights have changed.
"""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Any

from gendalens.errors import UserError
from gendalens.models.huggingface import refusals
from gendalens.models.huggingface.checkpoint import Checkpoint

INDEX = "model.safetensors.index.json"
PICKLED_INDEX = "pytorch_model.bin.index.json"
_SUFFIXES = (".safetensors", ".safetensors.index.json")


def check_shards(checkpoint: Checkpoint) -> None:
    """Refuse weights that are named outside the model's folder, or pickled where that is not allowed."""
    if checkpoint.gguf:
        return
    # Of a local folder this was asked first of all.
    hub = checkpoint.path is None
    if hub and importlib.util.find_spec("peft") and _read_json(checkpoint, "adapter_config.json"):
        raise refusals.explain_adapter(checkpoint.name)
    for name in _find_named_files(checkpoint):
        path = PurePosixPath(name)
        if path.name != name or "\\" in name:
            raise UserError(
                "{name} has weights in another folder ({file}), where nothing can say which they are:"
                " put them beside config.json.",
                name=checkpoint.name,
                file=name[:80],
            )
        allowed = checkpoint.options.allow_pickle and path.suffix == ".bin"
        if not name.endswith(_SUFFIXES) and not allowed:
            raise checkpoint.explain_pickles()


def _find_named_files(checkpoint: Checkpoint) -> Iterator[str]:
    """The files of weights that the configuration and the lists of shards name."""
    own = getattr(checkpoint.config, "transformers_weights", None)
    if own is not None:
        yield str(own)
    lists = [INDEX, *([PICKLED_INDEX] if checkpoint.options.allow_pickle else [])]
    if str(own).endswith(".index.json"):
        lists.append(str(own))
    for name in lists:
        yield from _list_shards(_read_json(checkpoint, name))


def _list_shards(index: Any) -> Iterator[str]:
    """The shards that a list names, each once; what is no list is reported when it is loaded."""
    found = index.get("weight_map") if isinstance(index, dict) else None
    yield from dict.fromkeys(map(str, found.values())) if isinstance(found, dict) else ()


def _read_json(checkpoint: Checkpoint, name: str) -> Any:
    """A file of JSON beside the configuration, or None where there is none."""
    from transformers.utils import cached_file

    silent = ("missing_entries", "gated_repo", "connection_errors")
    found = cached_file(
        checkpoint.where,
        name,
        revision=checkpoint.arguments.get("revision"),
        local_files_only=checkpoint.arguments["local_files_only"],
        **{f"_raise_exceptions_for_{kind}": False for kind in silent},
    )
    if found is None:
        return None
    with open(found, encoding="utf-8") as file:  # noqa: PTH123 - transformers gives a text
        return json.load(file)
