"""The weight files that a model's own files name.

transformers follows these names anywhere: to pickles named like safetensors, and out of the folder,
where the model's digest would miss changes to the weights.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from gendalens.errors import UserError
from gendalens.system.file_reading import read_ordinary

if TYPE_CHECKING:
    from gendalens.models.huggingface.stored_checkpoint import StoredCheckpoint

INDEX = "model.safetensors.index.json"
PICKLED_INDEX = "pytorch_model.bin.index.json"
#: The weights that transformers looks for, in this order.
SAFE = ("model.safetensors", INDEX)
PICKLED = ("pytorch_model.bin", PICKLED_INDEX)
_SUFFIXES = (".safetensors", ".safetensors.index.json")


def check_shards(checkpoint: StoredCheckpoint) -> None:
    """Refuse weights outside the model's folder, and pickled ones unless they are allowed."""
    if checkpoint.gguf:
        return
    for name in _find_named_files(checkpoint):
        path = PurePosixPath(name)
        if path.name != name or "\\" in name:
            raise UserError(
                "{name} has weights in another folder ({file}), so their version cannot be"
                " recorded: put them beside config.json.",
                name=checkpoint.name,
                file=name[:80],
            )
        allowed = checkpoint.options.allow_pickle and path.suffix == ".bin"
        if not name.endswith(_SUFFIXES) and not allowed:
            raise checkpoint.explain_pickles()


def fetch_weights(checkpoint: StoredCheckpoint) -> None:
    """Fetch the weight files that transformers will read, if the model is on the hub."""
    own = getattr(checkpoint.config, "transformers_weights", None)
    first = (own,) if own is not None else SAFE
    if lacks_safetensors(checkpoint) and checkpoint.options.allow_pickle:
        first = PICKLED
    wanted = next((str(name) for name in first if name in checkpoint.file_names), None)
    if checkpoint.path is not None or wanted is None:
        return
    checkpoint.fetch(wanted)
    if wanted.endswith(".index.json"):
        for name in _list_shards(_read_json(checkpoint, wanted)):
            if name in checkpoint.file_names:  # a missing one is reported when it is loaded
                checkpoint.fetch(name)


def lacks_safetensors(checkpoint: StoredCheckpoint) -> bool:
    """Whether the list of files, and no failed download, says that there are no safetensors."""
    if checkpoint.path is not None:
        return not any(checkpoint.path.glob("*.safetensors"))
    if getattr(checkpoint.config, "transformers_weights", None) is not None:
        return False
    return checkpoint.file_names.isdisjoint(SAFE)


def _find_named_files(checkpoint: StoredCheckpoint) -> Iterator[str]:
    """The weight files that the configuration and the shard indexes name."""
    own = getattr(checkpoint.config, "transformers_weights", None)
    if own is not None:
        yield str(own)
    lists = [INDEX, *([PICKLED_INDEX] if checkpoint.options.allow_pickle else [])]
    if str(own).endswith(".index.json"):
        lists.append(str(own))
    for name in lists:
        yield from _list_shards(_read_json(checkpoint, name))


def _list_shards(index: Any) -> Iterator[str]:
    """The distinct shards that an index names; an invalid index is reported when it is loaded."""
    found = index.get("weight_map") if isinstance(index, dict) else None
    yield from dict.fromkeys(map(str, found.values())) if isinstance(found, dict) else ()


def _read_json(checkpoint: StoredCheckpoint, name: str) -> Any:
    """A JSON file beside the configuration; None if it does not exist."""
    found = checkpoint.find_file(name)
    return json.loads(read_ordinary(found)) if found else None
