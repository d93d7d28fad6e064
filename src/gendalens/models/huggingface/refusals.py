"""What a user is told where a model cannot be read: one sentence, with the remedy."""

from __future__ import annotations

from gendalens.errors import UserError
from gendalens.models.huggingface.libraries import chain, out_of_memory, reason

# Weights that only unpickling could read. Transformers knows the first kind alone.
PICKLES = (".bin", ".pt", ".pth", ".ckpt", ".pkl")


def pickled(name: str, *, allowed: bool, readable: bool = True) -> UserError:
    """The refusal of weights that only unpickling could read; ``readable``: transformers could."""
    if allowed:
        return UserError(
            f"{name} has pickled weights that hold more than numbers or are no"
            " pytorch_model.bin, and nothing of them was run: convert them to safetensors"
            " (`save_pretrained` writes them) where you trust them."
        )
    other = ", or allow them with --allow-pickle, which reads numbers and runs nothing"
    return UserError(
        f"{name} has only pickled weights ({', '.join(PICKLES[:2])} and the like), which can"
        " run code when they are read: convert them to safetensors where you trust them"
        f" (`save_pretrained` writes them){other if readable else ''}."
    )


def adapter(name: str) -> UserError:
    """The refusal of weights that are put onto those of another model."""
    return UserError(
        f"{name} is an adapter (it has an adapter_config.json), and peft would load it onto"
        " another model: merge the two (`merge_and_unload`), save them and name that folder."
    )


def too_big(name: str) -> UserError:
    """What to say where memory runs out while a model is loaded."""
    return UserError(
        f"{name} does not fit into memory: use a smaller number format (bfloat16) or a bigger machine."
    )


def unreadable(
    error: BaseException, what: str, name: str, *, revision: str | None, gguf: bool
) -> UserError:
    """Why ``what`` (the weights, the tokenizer, …) of the model could not be read."""
    kinds = {type(link).__name__ for link in chain(error)}
    if "GatedRepoError" in kinds:
        return UserError(
            f"{name} is gated: accept its terms at https://huggingface.co/{name}, log in with"
            " `hf auth login`, and try again."
        )
    if "RevisionNotFoundError" in kinds:
        return UserError(f"{name} has no revision {revision}: check its name on the hub.")
    if "HFValidationError" in kinds or "RepositoryNotFoundError" in kinds:
        return UserError(
            f"{name} is neither a local folder nor a public model on the hub: check the"
            " spelling, or log in with `hf auth login` if it is private."
        )
    if "trust_remote_code" in str(error) or "custom code" in str(error):
        return UserError(
            f"{name} brings its own code: read it, and if you trust it, allow it with"
            " trust_remote_code (--trust-remote-code)."
        )
    if "LocalEntryNotFoundError" in kinds:
        return UserError(
            f"The {what} of {name} is not in the cache: connect to the network and try again."
        )
    if any(map(out_of_memory, chain(error))):
        return too_big(name)
    if gguf:
        return UserError(
            f"{name} cannot be read as a .gguf language model ({reason(error)}): check that the"
            " file is complete and that transformers supports its architecture."
        )
    return UserError(
        f"The {what} of {name} cannot be read ({reason(error)}): check that its files are"
        " complete and that transformers is recent enough."
    )
