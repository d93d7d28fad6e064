"""The weights of a model, loaded once and checked: none missing, none left random."""

from __future__ import annotations

import importlib.util
import pickle
from collections.abc import Collection
from contextlib import suppress
from inspect import signature
from typing import TYPE_CHECKING, Any

from gendalens.errors import UserError
from gendalens.models.huggingface.devices import AUTO, find_device, is_offloaded, parse_limits
from gendalens.models.huggingface.libraries import import_transformers, silence_transformers
from gendalens.models.huggingface.mapped_weights import copy_mapped_weights
from gendalens.models.huggingface.refusals import CONFIGURATION, WEIGHTS
from gendalens.models.huggingface.shards import check_shards, fetch_weights, lacks_safetensors
from gendalens.models.library_errors import is_out_of_memory
from gendalens.system.extras import write_install_command
from gendalens.system.file_lease import hold_leases
from gendalens.system.forbidden_instructions import avoid_forbidden_instructions
from gendalens.system.steps import tell_step
from gendalens.words import Template, phrase

LOADING = Template("loading_weights", "loading the weights of {model}")
TRYING = Template("trying_out", "trying {model} out")

if TYPE_CHECKING:
    from gendalens.models.huggingface.stored_checkpoint import StoredCheckpoint


def load_weights(
    checkpoint: StoredCheckpoint, auto_class: str, supplied: Collection[str] = ()
) -> Any:
    """The model of ``checkpoint``, ready to run; ``auto_class`` is "AutoModelForMaskedLM" or the like.

    ``supplied`` are the weights that the checkpoint may lack, because an adapter will bring them.
    """
    tell_step(LOADING(model=checkpoint.title))
    model = None
    if checkpoint.kept:
        # If the copy does not load after all, the file itself has the last word.
        with suppress(UserError):
            model = _load_held(checkpoint.kept.weights, auto_class, supplied)
    if model is None:
        model = _load_held(checkpoint, auto_class, supplied)
    tell_step(TRYING(model=checkpoint.title))
    return model


def _load_held(checkpoint: StoredCheckpoint, auto_class: str, supplied: Collection[str]) -> Any:
    """The model, from files that nobody can truncate in the meantime."""
    path = checkpoint.path
    local = [] if path is None else [path] if checkpoint.gguf else path.glob("*.safetensors")
    with hold_leases(local):
        checkpoint.check_unchanged()
        return _load_checked(checkpoint, auto_class, supplied)


def _load_checked(checkpoint: StoredCheckpoint, auto_class: str, supplied: Collection[str]) -> Any:
    """The model, complete, and no longer mapped from the file it was read from."""
    import_transformers()
    import torch
    from transformers import PreTrainedModel

    name, options = checkpoint.name, checkpoint.options
    quantisation, config = checkpoint.quantisation, checkpoint.config
    with checkpoint.explain_errors(CONFIGURATION):
        dtype = getattr(torch, checkpoint.computing_dtype)
    # Reformer hashes with new random numbers in every pass unless it has a seed.
    if getattr(config, "hash_seed", 0) is None:
        config.hash_seed = 0
    device = find_device(None if options.device == AUTO else options.device)
    arguments = checkpoint.arguments | {"dtype": dtype, "output_loading_info": True}
    if options.device == AUTO:
        arguments |= _spread(checkpoint)
    elif quantisation:
        arguments |= {"device_map": {"": str(device)}}  # not every package can move them later
    if quantisation:
        # Parts of quantised weights lie where copy_mapped_weights does not find them.
        if "disable_mmap" in signature(PreTrainedModel.from_pretrained).parameters:
            arguments["disable_mmap"] = True
        quantisation.import_packages()
        config = quantisation.configure(
            config, checkpoint.computing_dtype, dequantised=checkpoint.dequantised
        )
    arguments["config"] = config
    if not checkpoint.gguf:
        # If pickled weights are allowed, only tensors are read from them: other objects are refused.
        arguments |= {"use_safetensors": True, "weights_only": True}
    # Progress bars are for downloads; a local load is too quick to need one.
    bars = checkpoint.path is None
    with silence_transformers(progress=bars), checkpoint.explain_errors(WEIGHTS):
        check_shards(checkpoint)
        fetch_weights(checkpoint)
    with (
        silence_transformers(progress=bars),
        checkpoint.reach_hub(),
        checkpoint.explain_errors(WEIGHTS),
        checkpoint.share_parse(),
    ):
        try:
            model, found = _load_tensors(checkpoint, _find_class(config, auto_class), arguments)
        except (MemoryError, torch.OutOfMemoryError) as error:
            raise checkpoint.explain_memory() from error
        except (ImportError, RuntimeError, ValueError) as error:
            if quantisation and not is_out_of_memory(error):
                raise quantisation.explain(error, name) from error
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
        if checkpoint.gguf and not is_offloaded(model) and not found["missing_keys"]:
            checkpoint.keep_weights(model)
        if device.type == "cpu" and dtype != torch.float32:
            avoid_forbidden_instructions()
        if quantisation:
            _check_dtype(model, dtype, name)
            if checkpoint.dequantised:
                model = quantisation.dequantise(model, name)
        elif options.device != AUTO:
            model = model.to(device)
    except (MemoryError, torch.OutOfMemoryError) as error:
        raise checkpoint.explain_memory() from error
    if is_offloaded(model):
        # Weights are read from the files during the whole run.
        model.get_input_embeddings().register_forward_pre_hook(
            lambda *_: checkpoint.check_unchanged()
        )
    return model.eval()


def _spread(checkpoint: StoredCheckpoint) -> dict[str, Any]:
    """The arguments that spread a model over all devices, and over the disk if they are too small."""
    if importlib.util.find_spec("accelerate") is None:
        raise UserError(
            "The device auto needs accelerate: run `{command}`, or choose one device.",
            command=write_install_command("hf"),
        )
    limits = checkpoint.options.max_memory
    return {
        "device_map": AUTO,
        "max_memory": parse_limits(limits) if limits else None,
        "offload_folder": checkpoint.make_folder(),
    }


def _check_dtype(model: Any, dtype: Any, name: str) -> None:
    """Refuse a number format that a package for quantised weights has replaced by another."""
    if model.dtype != dtype:
        raise UserError(
            "{name} computes only in {dtype}: run it with --dtype {dtype}.",
            name=name,
            dtype=str(model.dtype).removeprefix("torch."),
        )


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
        if not lacks_safetensors(checkpoint):
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


def _explain_mismatch(name: str) -> UserError:
    return UserError(
        "The weights of {name} do not fit its config.json (sizes differ): the folder mixes two models;"
        " download it again.",
        name=name,
    )
