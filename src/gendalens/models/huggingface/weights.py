"""The weights of a model, loaded once and checked: nothing missing, nothing made up."""

from __future__ import annotations

import pickle
from typing import Any

from gendalens.errors import UserError
from gendalens.models.huggingface.checkpoint import Checkpoint
from gendalens.models.huggingface.libraries import import_transformers, quiet, reason
from gendalens.models.huggingface.owned_weights import own
from gendalens.models.huggingface.shards import check_shards
from gendalens.system.file_lease import held
from gendalens.system.forbidden_instructions import avoid_forbidden_instructions


def load_weights(checkpoint: Checkpoint, auto_class: str) -> Any:
    """The model of ``checkpoint`` by ``auto_class`` ("AutoModelForMaskedLM", …), ready to run."""
    path = checkpoint.path
    local = [] if path is None else [path] if checkpoint.gguf else path.glob("*.safetensors")
    with held(local):
        return _checked(checkpoint, auto_class)


def _checked(checkpoint: Checkpoint, auto_class: str) -> Any:
    """The model, with nothing missing, and no longer the file that it was read from."""
    transformers = import_transformers()
    import torch

    name = checkpoint.name
    with checkpoint.explained("configuration"):
        dtype = getattr(torch, checkpoint.resolved_dtype)
    options = checkpoint.options | {"dtype": dtype, "output_loading_info": True}
    if not checkpoint.gguf:
        # Pickled weights, where they are allowed, are read as tensors: other objects are refused.
        options |= {"config": checkpoint.config, "use_safetensors": True, "weights_only": True}
    # Progress bars are for downloads; a local load is over before one has been read.
    bars = checkpoint.path is None
    with quiet(progress=bars), checkpoint.fetching(), checkpoint.explained("weights"):
        check_shards(checkpoint)
        try:
            model, found = _load(checkpoint, getattr(transformers, auto_class), options)
        except (MemoryError, torch.OutOfMemoryError) as error:
            raise checkpoint.too_big() from error
        except RuntimeError as error:
            if "mismatch" in str(error):
                raise _mixed(name) from error
            raise
    # transformers fills what it does not find with random numbers and goes on.
    if absent := sorted(found["missing_keys"]):
        more = f" and {len(absent) - 1} more" if len(absent) > 1 else ""
        raise UserError(
            f"{name} has no trained weights for {absent[0]}{more}, so it is not the model it says"
            f" it is ({checkpoint.architecture or checkpoint.config.model_type}): name a checkpoint"
            " whose head has been trained."
        )
    if found["mismatched_keys"] or found["error_msgs"]:
        raise _mixed(name)
    try:
        own(model)
        checkpoint.check_unchanged()
        device = _device(checkpoint.device)
        if device.type == "cpu" and dtype != torch.float32:
            avoid_forbidden_instructions()
        return model.to(device).eval()
    except (MemoryError, torch.OutOfMemoryError) as error:
        raise checkpoint.too_big() from error


def _load(checkpoint: Checkpoint, auto_class: Any, options: dict[str, Any]) -> Any:
    """The model from safetensors; from a pickle only where there are none, and if that is allowed."""
    try:
        return auto_class.from_pretrained(checkpoint.where, **options)
    except OSError as error:
        if not _without_safetensors(checkpoint, error):
            raise
        if not checkpoint.allow_pickle:
            raise checkpoint.pickled() from error
    try:
        return auto_class.from_pretrained(checkpoint.where, **options | {"use_safetensors": False})
    except (pickle.UnpicklingError, ValueError) as error:
        if isinstance(error, pickle.UnpicklingError) or "weights_only" in str(error):
            raise checkpoint.pickled() from error
        raise


def _without_safetensors(checkpoint: Checkpoint, error: OSError) -> bool:
    """Whether an error says that there are no weights but pickled ones."""
    if checkpoint.path is not None:
        return not any(checkpoint.path.glob("*.safetensors"))
    return "safetensors" in str(error)


def _device(name: str | None) -> Any:
    """The device called ``name``; None is the graphics card if there is one."""
    import torch

    if name is None:
        name = "cuda" if torch.cuda.is_available() else "cpu"
    try:
        device = torch.device(name)
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        raise UserError(
            f"The device {name} cannot be used ({reason(error)}): choose cpu, or leave it out."
        ) from error
    return device


def _mixed(name: str) -> UserError:
    return UserError(
        f"The weights of {name} do not fit its config.json (sizes differ): the folder mixes two"
        " models; download it again."
    )
