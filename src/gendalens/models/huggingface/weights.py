"""The weights of a model, loaded once and checked: none missing, none left random."""

from __future__ import annotations

import pickle
from collections.abc import Collection
from typing import TYPE_CHECKING, Any

from gendalens.errors import UserError
from gendalens.models.huggingface.libraries import import_transformers, silence_transformers
from gendalens.models.huggingface.mapped_weights import copy_mapped_weights
from gendalens.models.huggingface.refusals import CONFIGURATION, WEIGHTS
from gendalens.models.huggingface.shards import check_shards
from gendalens.models.library_errors import describe_error
from gendalens.system.file_lease import hold_leases
from gendalens.system.forbidden_instructions import avoid_forbidden_instructions
from gendalens.words import phrase

if TYPE_CHECKING:
    from gendalens.models.huggingface.stored_checkpoint import StoredCheckpoint


def load_weights(
    checkpoint: StoredCheckpoint, auto_class: str, supplied: Collection[str] = ()
) -> Any:
    """The model of ``checkpoint``, ready to run; ``auto_class`` is "AutoModelForMaskedLM" or the like.

    ``supplied`` are the weights that the checkpoint may lack, because an adapter will bring them.
    """
    path = checkpoint.path
    local = [] if path is None else [path] if checkpoint.gguf else path.glob("*.safetensors")
    with hold_leases(local):
        return _load_checked(checkpoint, auto_class, supplied)


def _load_checked(checkpoint: StoredCheckpoint, auto_class: str, supplied: Collection[str]) -> Any:
    """The model, complete, and no longer mapped from the file it was read from."""
    import_transformers()
    import torch

    name = checkpoint.name
    with checkpoint.explain_errors(CONFIGURATION):
        dtype = getattr(torch, checkpoint.resolved_dtype)
    # Reformer hashes with new random numbers in every pass unless it has a seed.
    if getattr(checkpoint.config, "hash_seed", 0) is None:
        checkpoint.config.hash_seed = 0
    arguments = checkpoint.arguments | {"dtype": dtype, "output_loading_info": True}
    if not checkpoint.gguf:
        # If pickled weights are allowed, only tensors are read from them: other objects are refused.
        arguments |= {"config": checkpoint.config, "use_safetensors": True, "weights_only": True}
    # Progress bars are for downloads; a local load is too quick to need one.
    bars = checkpoint.path is None
    quiet = silence_transformers(progress=bars)
    with quiet, checkpoint.reach_hub(), checkpoint.explain_errors(WEIGHTS):
        check_shards(checkpoint)
        try:
            model, found = _load_tensors(
                checkpoint, _find_class(checkpoint.config, auto_class), arguments
            )
        except (MemoryError, torch.OutOfMemoryError) as error:
            raise checkpoint.explain_memory() from error
        except RuntimeError as error:
            if "mismatch" in str(error):
                raise _explain_mismatch(name) from error
            raise
    # transformers silently replaces missing weights with random numbers.
    if absent := sorted(set(found["missing_keys"]) - set(supplied)):
        first, count = absent[0], len(absent) - 1
        raise UserError(
            "{name} has no trained weights for {weights}, so it is not the model it says it is"
            " ({architecture}): name a checkpoint whose head has been trained.",
            name=name,
            weights=phrase("{first} and {count} more", first=first, count=count)
            if count
            else first,
            architecture=checkpoint.architecture or checkpoint.config.model_type,
        )
    if found["mismatched_keys"] or found["error_msgs"]:
        raise _explain_mismatch(name)
    try:
        copy_mapped_weights(model)
        checkpoint.check_unchanged()
        device = _find_device(checkpoint.options.device)
        if device.type == "cpu" and dtype != torch.float32:
            avoid_forbidden_instructions()
        return model.to(device).eval()
    except (MemoryError, torch.OutOfMemoryError) as error:
        raise checkpoint.explain_memory() from error


def _find_class(config: Any, auto_class: str) -> Any:
    """The class that opens a model; one that also reads pictures or sound may need another."""
    transformers = import_transformers()
    kind = type(config)
    if (
        auto_class == "AutoModelForCausalLM"
        and kind not in transformers.MODEL_FOR_CAUSAL_LM_MAPPING
        and kind in transformers.MODEL_FOR_MULTIMODAL_LM_MAPPING
    ):
        return transformers.AutoModelForMultimodalLM
    return getattr(transformers, auto_class)


def _load_tensors(checkpoint: StoredCheckpoint, auto_class: Any, arguments: dict[str, Any]) -> Any:
    """The model from safetensors; from a pickle only if there are none and pickles are allowed."""
    try:
        return auto_class.from_pretrained(checkpoint.where, **arguments)
    except OSError as error:
        if not _lacks_safetensors(checkpoint, error):
            raise
        if not checkpoint.options.allow_pickle:
            raise checkpoint.explain_pickles() from error
    try:
        arguments = arguments | {"use_safetensors": False}
        return auto_class.from_pretrained(checkpoint.where, **arguments)
    except (pickle.UnpicklingError, ValueError) as error:
        if isinstance(error, pickle.UnpicklingError) or "weights_only" in str(error):
            raise checkpoint.explain_pickles() from error
        raise


def _lacks_safetensors(checkpoint: StoredCheckpoint, error: OSError) -> bool:
    """Whether an error means that all weights are pickled."""
    if checkpoint.path is not None:
        return not any(checkpoint.path.glob("*.safetensors"))
    return "safetensors" in str(error)


def _find_device(name: str | None) -> Any:
    """The device called ``name``; None is the graphics card if there is one."""
    import torch

    if name is None:
        name = "cuda" if torch.cuda.is_available() else "cpu"
    try:
        device = torch.device(name)
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        raise UserError(
            "The device {device} cannot be used ({reason}): choose cpu, or leave it out.",
            device=name,
            reason=describe_error(error),
        ) from error
    return device


def _explain_mismatch(name: str) -> UserError:
    return UserError(
        "The weights of {name} do not fit its config.json (sizes differ): the folder mixes two models;"
        " download it again.",
        name=name,
    )
