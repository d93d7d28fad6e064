"""The converted weights of `.gguf` files, kept so that a file is converted once.

A kept copy is a model folder without a tokenizer, named by a digest of the file and of everything that
decides the conversion. Beside it lies its seal: the digest of the folder, which must be right before any
of it is read, signed with a key of the user's. The copies have a limit in size; the one that was not used
for the longest time goes first.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

from gendalens.data.home import find_home
from gendalens.errors import UserError
from gendalens.models.huggingface.model_files import ModelFiles
from gendalens.models.library_errors import describe_error
from gendalens.system.file_reading import read_ordinary
from gendalens.system.file_writing import make_whole_folder, remove_path, replace_file
from gendalens.system.seals import is_genuine, make_seal
from gendalens.system.steps import tell_note, tell_step
from gendalens.words import Message, Template, phrase

FOLDER = "weights"
LIMIT = "GENDALENS_KEEP_GB"
DEFAULT_LIMIT = 20.0
GIGABYTE = 10**9
#: Raise it if the same file and libraries lead to other bytes.
VERSION = 1
#: What is left free on the disk, in bytes.
RESERVE = GIGABYTE
_DAY = 24 * 60 * 60.0  # seconds after which nobody is still writing
_SEAL = ".seal"
_LONGEST_SEAL = 10_000  # bytes
_LIBRARIES = ("transformers", "gguf", "torch")
#: The number formats by their names in safetensors files.
_FORMATS = {
    "torch.float64": "F64",
    "torch.float32": "F32",
    "torch.float16": "F16",
    "torch.bfloat16": "BF16",
    "torch.int64": "I64",
    "torch.int32": "I32",
    "torch.uint8": "U8",
    "torch.bool": "BOOL",
}

KEEPING = Template("keeping_weights", "keeping the converted weights of {model}")
TOO_LARGE = Template(
    "weights_too_large",
    "The converted weights of {model} ({size:.1f} GB) are not kept, because the limit is {limit:g} GB: "
    "set {variable} to a larger one, and the next start will be quicker.",
)
NO_ROOM = Template(
    "no_room_for_weights",
    "The converted weights of {model} ({size:.1f} GB) are not kept, because the disk has too little "
    "room: they will be converted again.",
)
NOT_KEPT = Template(
    "weights_not_kept",
    "The converted weights of {model} are not kept ({reason}): they will be converted again.",
)


@dataclass(frozen=True, slots=True)
class KeptCopy:
    """A kept copy as its seal describes it: where it is, what it is of, and what must be in it.

    ``tokenizer`` is the class that reads the tokenizer of the file.
    """

    folder: Path
    model: str
    digest: str
    tokenizer: str


def name_conversion(digest: str, dtype: str) -> str:
    """The name of the copy of a file with this digest, loaded in a number format."""
    libraries = [f"{name} {metadata.version(name)}" for name in _LIBRARIES]
    return hashlib.sha256(json.dumps([VERSION, digest, dtype, libraries]).encode()).hexdigest()[:32]


def find_copy(name: str) -> KeptCopy | None:
    """The copy of a name, if this user has sealed one; its digest is still to be compared."""
    if read_limit() == 0:
        return None
    folder = find_home() / FOLDER / name
    copy = _read_seal(folder)
    if copy is not None:
        with suppress(OSError):
            os.utime(_find_seal(folder))  # used just now
    return copy


def keep_copy(name: str, model: Any, config: Any, *, title: str, tokenizer: str) -> None:
    """Keep the weights of a loaded model; where that is not possible, say why and go on."""
    limit, folder = read_limit(), find_home() / FOLDER / name
    if limit == 0 or _is_packed(model) or _read_seal(folder):
        return
    try:
        problem = _try_to_keep(folder, limit, model, config, title, tokenizer)
    except Exception as error:  # of the disk, of the memory or of a library: the model is loaded
        reason = getattr(error, "strerror", None) or describe_error(error)
        problem = NOT_KEPT(model=title, reason=reason)
    if problem:
        tell_note(problem)


def _try_to_keep(
    folder: Path, limit: float, model: Any, config: Any, title: str, tokenizer: str
) -> Message | None:
    """Write a copy and its seal; the message says why there is none."""
    tensors, text = _list_tensors(model), config.to_json_string()
    if not _can_be_read_again(tensors, config, text):
        return NOT_KEPT(model=title, reason=phrase("they would not be the same when read back"))
    size = sum(tensor.nbytes for tensor in tensors.values())
    if size > limit:
        sizes = {"size": size / GIGABYTE, "limit": limit / GIGABYTE}
        return TOO_LARGE(model=title, variable=LIMIT, **sizes)
    tell_step(KEEPING(model=title))
    discard_copy(folder)  # one that nobody, or somebody else, has sealed
    make_room(limit - size)
    if shutil.disk_usage(_find_existing(folder)).free < size + RESERVE:
        return NO_ROOM(model=title, size=size / GIGABYTE)
    with make_whole_folder(folder) as new:
        replace_file(new / "config.json", text)
        replace_file(new / "model.safetensors", _write_safetensors(tensors))
        digest = ModelFiles(title, new, allow_pickle=False).digest
    about = _describe(KeptCopy(folder, title, digest, tokenizer))
    seal = make_seal(json.dumps(about))
    replace_file(_find_seal(folder), json.dumps({**about, "seal": seal}))
    return None


def discard_copy(folder: Path) -> int:
    """Remove a copy; gives the bytes that it took."""
    size = measure_folder(folder)
    for path in (_find_seal(folder), folder):
        with suppress(OSError):
            remove_path(path)
    return size - measure_folder(folder)


def list_copies() -> list[KeptCopy]:
    """The copies that this user has sealed, the longest unused first."""
    home = find_home() / FOLDER
    seals = sorted(home.glob(f"*{_SEAL}"), key=_find_time) if home.is_dir() else []
    found = (_read_seal(seal.with_suffix("")) for seal in seals)
    return [copy for copy in found if copy is not None]


def measure_folder(folder: Path) -> int:
    """The bytes that the files in a folder take."""
    if folder.is_symlink():
        return 0
    return sum(
        status.st_size
        for file in folder.rglob("*")
        if (status := file.lstat()) and not file.is_dir()
    )


def make_room(limit: float) -> None:
    """Remove what nobody finished, and then the longest unused copies, until the rest fits a limit."""
    home = find_home() / FOLDER
    folders = [path for path in home.iterdir() if path.is_dir()] if home.is_dir() else []
    sealed = {copy.folder: _find_time(_find_seal(copy.folder)) for copy in list_copies()}
    for folder in folders:
        if folder not in sealed and time.time() - _find_time(folder) > _DAY:
            discard_copy(folder)
    for folder in sorted(sealed, key=lambda folder: sealed[folder]):
        if measure_folder(home) <= limit:
            return
        discard_copy(folder)


def read_limit() -> float:
    """The most bytes that all copies may take; 0 if none are to be kept."""
    given = os.environ.get(LIMIT, "")
    try:
        limit = float(given) if given else DEFAULT_LIMIT
    except ValueError:
        limit = -1.0
    if not 0 <= limit < float("inf"):
        raise UserError(
            "{variable}={value} is not a size: set it to a number of gigabytes, or to 0 to keep no"
            " converted weights.",
            variable=LIMIT,
            value=given,
        )
    return limit * GIGABYTE


def _is_packed(model: Any) -> bool:
    """Whether weights are still in the blocks of the file, which a kernel multiplies as they are."""
    return bool(getattr(getattr(model, "hf_quantizer", None), "packed_modules", None))


def _can_be_read_again(tensors: dict[str, Any], config: Any, text: str) -> bool:
    """Whether a copy would be the same model, judged by the number formats and the configuration."""
    read, own = (
        {**one.to_dict(), "_name_or_path": ""}
        for one in (type(config).from_dict(json.loads(text)), config)
    )
    return read == own and all(str(tensor.dtype) in _FORMATS for tensor in tensors.values())


def _list_tensors(model: Any) -> dict[str, Any]:
    """The tensors as `save_pretrained` would write them, tied ones once."""
    from transformers.core_model_loading import revert_weight_conversion

    tensors: dict[str, Any] = {}
    seen: set[tuple[int, int]] = set()
    for name, tensor in model.state_dict().items():
        place = tensor.data_ptr(), tensor.nbytes
        if tensor.nbytes == 0 or place not in seen:
            tensors[name] = tensor
        seen.add(place)
    reverted: dict[str, Any] = revert_weight_conversion(model, tensors)
    return reverted


def _write_safetensors(tensors: dict[str, Any]) -> Iterator[bytes | memoryview]:
    """A safetensors file in parts, so that the weights are in memory once."""
    import torch

    header: dict[str, Any] = {"__metadata__": {"format": "pt"}}
    end = 0
    for name, tensor in tensors.items():
        start, end = end, end + tensor.nbytes
        shape = list(tensor.shape)
        kind = _FORMATS[str(tensor.dtype)]
        header[name] = {"dtype": kind, "shape": shape, "data_offsets": [start, end]}
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)  # so that the tensors are aligned
    yield len(text).to_bytes(8, "little") + text
    for tensor in tensors.values():
        flat = tensor.detach().cpu().contiguous().reshape(-1)
        yield memoryview(flat.view(torch.uint8).numpy())


def _describe(copy: KeptCopy) -> dict[str, str]:
    """What is sealed; the name is part of it, so that no copy can stand in for another."""
    return {
        "copy": copy.folder.name,
        "model": copy.model,
        "digest": copy.digest,
        "tokenizer": copy.tokenizer,
    }


def _read_seal(folder: Path) -> KeptCopy | None:
    try:
        read = json.loads(read_ordinary(_find_seal(folder), _LONGEST_SEAL))
        copy = KeptCopy(folder, read["model"], read["digest"], read["tokenizer"])
        genuine = is_genuine(json.dumps(_describe(copy)), read["seal"])
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None
    return copy if genuine and folder.is_dir() and not folder.is_symlink() else None


def _find_seal(folder: Path) -> Path:
    return folder.with_name(folder.name + _SEAL)


def _find_time(path: Path) -> float:
    try:
        return path.lstat().st_mtime
    except OSError:
        return 0.0


def _find_existing(folder: Path) -> Path:
    """The first folder above that exists."""
    return next(part for part in folder.parents if part.exists())
