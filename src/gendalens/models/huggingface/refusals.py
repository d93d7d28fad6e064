"""The errors for models that cannot be read, each with its remedy."""

from __future__ import annotations

from pathlib import PurePath
from typing import Any

from gendalens.errors import UserError
from gendalens.models.library_errors import (
    DOES_NOT_FIT,
    describe_error,
    is_out_of_memory,
    walk_causes,
)
from gendalens.words import Message, Template, phrase

#: The parts of a model, as the messages name them.
CONFIGURATION, TOKENIZER = phrase("configuration"), phrase("tokenizer")
WEIGHTS = phrase("weights")

#: The error of a model that fails on the first text that it is given.
CANNOT_READ_TEXT = Template(
    "cannot_read_text",
    "{name} ({architecture}) cannot read even a short text ({kind}: {reason}): either it needs more than"
    " text (images, sound, another model), or its files do not fit together; name a model of text, or"
    " download it again.",
)

# Files of weights that only unpickling could read. transformers supports the first kind only.
PICKLES = (".bin", ".pt", ".pth", ".ckpt", ".pkl")
# Files of weights for other libraries.
FOREIGN = {".onnx": "ONNX", ".h5": "TensorFlow", ".msgpack": "Flax"}
# The attention implementations built into PyTorch; None picks the best of them.
_ATTENTION = (None, "eager", "sdpa")


def check_tokenizer(name: str, tokenizer: Any) -> None:
    """Refuse a tokenizer that does not say where in the text its tokens are."""
    if not tokenizer.is_fast:
        raise UserError(
            "The tokenizer of {name} ({kind}) gives no character offsets: save a fast one"
            " (tokenizer.json) beside the model and try again.",
            name=name,
            kind=type(tokenizer).__name__,
        )


def check_attention(name: str, config: Any) -> None:
    """Refuse a configuration that would fetch code from the hub ("owner/kernel") and run it.

    A name without an owner (flash_attention_2) is ignored too: it only records how the model was trained,
    and transformers would fetch a kernel if the package is not installed.
    """
    named = getattr(config, "_attn_implementation", None)
    if "/" in str(named):
        raise UserError(
            "{name} asks for code from the hub ({kernel}, _attn_implementation in its config.json): take"
            " that line out, or allow it with --trust-remote-code.",
            name=name,
            kernel=str(named)[:80],
        )
    if named not in _ATTENTION:
        config._attn_implementation = {"": None}  # not for sub-configurations
    for part in config.sub_configs:
        if (settings := getattr(config, part, None)) is not None:
            check_attention(name, settings)


def explain_pickles(name: str, *, allowed: bool, readable: bool = True) -> UserError:
    """The error for weights that only unpickling could read; ``readable``: by transformers."""
    if allowed:
        return UserError(
            "{name} has pickled weights that contain more than numbers or are not named"
            " pytorch_model.bin, so they were not loaded: if you trust them, convert them to"
            " safetensors (with `save_pretrained`).",
            name=name,
        )
    kinds = PICKLES[:2]
    if not readable:
        return UserError(
            "{name} has only pickled weights ({kinds} and the like), which can run code when they are"
            " read: convert them to safetensors where you trust them (`save_pretrained` writes them).",
            name=name,
            kinds=kinds,
        )
    return UserError(
        "{name} has only pickled weights ({kinds} and the like), which can run code when they are"
        " read: convert them to safetensors where you trust them (`save_pretrained` writes them), or"
        " allow them with --allow-pickle, which reads numbers and runs nothing.",
        name=name,
        kinds=kinds,
    )


def explain_both(name: str) -> UserError:
    """The error for a full model with an adapter beside it: nobody can tell whether it was merged."""
    return UserError(
        "{name} holds a full model and an adapter (adapter_config.json), and which of the two is meant"
        " cannot be known: put them into folders of their own and name one.",
        name=name,
    )


def explain_foreign(name: str, file: PurePath) -> UserError:
    """The error for weights in the format of another library."""
    return UserError(
        "{name} holds its weights in the format of {library} ({file}), which cannot be read: name the"
        " original PyTorch model (with .safetensors files).",
        name=name,
        library=FOREIGN[file.suffix],
        file=file.name,
    )


def explain_memory(name: str) -> UserError:
    """The error for memory that runs out while a model is loaded."""
    return UserError(
        "{fact}: use a smaller number format (bfloat16), spread it over all devices and the disk"
        " (--device auto), or use a bigger machine.",
        fact=DOES_NOT_FIT(name=name),
    )


def explain_error(
    error: BaseException, what: Message, name: str, *, revision: str | None, gguf: bool
) -> UserError:
    """The error for a part of the model (``what``: weights, tokenizer, …) that could not be read."""
    kinds = {type(link).__name__ for link in walk_causes(error)}
    if "GatedRepoError" in kinds:
        return UserError(
            "{name} is gated: accept its terms at https://huggingface.co/{name}, log in with"
            " `hf auth login`, and try again.",
            name=name,
        )
    if "RevisionNotFoundError" in kinds:
        return UserError(
            "{name} has no revision {revision}: check its name on the hub.",
            name=name,
            revision=revision,
        )
    if "HFValidationError" in kinds or "RepositoryNotFoundError" in kinds:
        return UserError(
            "{name} is neither a local folder nor a public model on the hub: check the spelling, or"
            " log in with `hf auth login` if it is private.",
            name=name,
        )
    if "trust_remote_code" in str(error) or "custom code" in str(error):
        return UserError(
            "{name} brings its own code: read it, and if you trust it, allow it with"
            " trust_remote_code (--trust-remote-code).",
            name=name,
        )
    if "LocalEntryNotFoundError" in kinds:
        return UserError(
            "{name} is in the cache without its {what}: connect to the network and try again.",
            what=what,
            name=name,
        )
    if any(map(is_out_of_memory, walk_causes(error))):
        return explain_memory(name)
    if gguf:
        return UserError(
            "{name} cannot be read as a .gguf language model ({reason}): check that the file is"
            " complete and that transformers supports its architecture.",
            name=name,
            reason=describe_error(error),
        )
    return UserError(
        "The {what} of {name} cannot be read ({reason}): check that its files are complete and that"
        " transformers is recent enough.",
        what=what,
        name=name,
        reason=describe_error(error),
    )
