"""The files of a local model: whether they can be a model, and the digest that identifies them."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import re
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from fnmatch import fnmatch
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import Any

from gendalens.errors import UserError
from gendalens.models.huggingface import gguf_header, refusals
from gendalens.system.extras import write_install_command
from gendalens.system.file_reading import (
    LARGEST_TEXT,
    check_ordinary,
    open_ordinary,
    read_ordinary,
)

# Files that determine a model's answers; READMEs, licences and the like do not.
SETTINGS = frozenset({".json", ".txt", ".model", ".tiktoken", ".py", ".jinja"})
# The vocabularies of a few tokenizers.
SETTINGS |= {".codes", ".spm", ".tokenizer"}
_LARGE = 1024**3  # bytes
_LONGEST_HEADER = 100_000_000  # bytes, as in the safetensors library
_SUFFIXES = SETTINGS | {".safetensors"}
# What a tokenizer's configuration names and transformers does not open, or only names in passing.
_UNREAD = frozenset({"name_or_path", "_name_or_path", "special_tokens_map_file"})
# transformers takes every name in each of them for a setting of the tokenizer.
_TOKENIZER_SETTINGS = ("tokenizer_config.json", "special_tokens_map.json", "added_tokens.json")
# The largest numbers that a setting may have whose name contains the text: transformers builds as many
# layers or experts, one by one, and as many labels or positions at once.
_MOST = {"layer": 10_000, "expert": 10_000, "label": 1_000_000, "position": 2**27}

#: The file that makes a folder an adapter, and the beginning of the names of its weights.
ADAPTER_CONFIG, ADAPTER_WEIGHTS = "adapter_config.json", "adapter_model."


def holds_both(names: Collection[str]) -> bool:
    """Whether files of these names are a full model and an adapter at once."""
    whole = any(
        fnmatch(name, "*.safetensors") or fnmatch(name, "pytorch_model*.bin")
        for name in names
        if not name.startswith(ADAPTER_WEIGHTS)
    )
    return whole and {"config.json", ADAPTER_CONFIG} <= set(names)


@dataclass(frozen=True)
class ModelFiles:
    """The folder or the `.gguf` file named by the user."""

    name: str
    path: Path
    allow_pickle: bool

    @property
    def gguf(self) -> bool:
        """Whether the model is a `.gguf` file."""
        return self.path.suffix == ".gguf" and not self.path.is_dir()

    @property
    def names(self) -> frozenset[str]:
        """The names of the files in the folder; none if the model is one file."""
        if not self.path.is_dir():
            return frozenset()
        with self._explain_errors():
            return frozenset(file.name for file in self.path.iterdir() if not file.is_dir())

    @cached_property
    def digest(self) -> str:
        """A digest of everything that determines the model's answers."""
        total = hashlib.sha256()
        with self._explain_errors():
            for file in self._list_files():
                with open_ordinary(file, _read_size(file)) as stream:
                    content = hashlib.file_digest(stream, "sha256").hexdigest()
                # A .gguf may be renamed; in a folder the names are part of the content.
                total.update(f"{'' if file == self.path else file.name} {content}\n".encode())
        return total.hexdigest()

    def have_changed(self) -> bool:
        """Whether a file was replaced since the first call, which records the state."""
        return self._first_look != self._stat_files()

    @cached_property
    def _first_look(self) -> list[tuple[str, int, int, int]]:
        return self._stat_files()

    def _stat_files(self) -> list[tuple[str, int, int, int]]:
        """The attributes by which a file differs from one that replaces it."""
        found = []
        with self._explain_errors():
            for file in self._list_files():
                status = file.stat()
                found.append((file.name, status.st_ino, status.st_size, status.st_ctime_ns))
        return found

    @contextmanager
    def _explain_errors(self) -> Iterator[None]:
        """Report an unreadable or missing file as a user error."""
        try:
            yield
        except OSError as error:
            raise UserError(
                "{name} cannot be read ({file}: {reason}): check that its files are there and that"
                " you may read them.",
                name=self.name,
                file=Path(str(error.filename or self.path)).name,
                reason=error.strerror or str(error),
            ) from error

    def _list_files(self) -> list[Path]:
        """The files that determine the model's answers."""
        if self.path.is_file():
            return [self.path]
        # A broken link is reported when the weights are loaded.
        here = sorted(file for file in self.path.iterdir() if file.is_file())
        pickles = {".bin"} if not any(file.suffix == ".safetensors" for file in here) else set()
        return [file for file in here if file.suffix in _SUFFIXES | pickles]

    def check(self) -> None:
        """Refuse what cannot be a model, before transformers tries to interpret it."""
        if self.gguf:
            self._check_gguf()
        elif self.path.is_dir():
            self._check_folder()
            self.check_settings()
        elif self.path.suffix in refusals.FOREIGN:
            raise refusals.explain_foreign(self.name, self.path)
        elif self.path.suffix in refusals.PICKLES:
            raise refusals.explain_pickles(self.name, allowed=self.allow_pickle, readable=False)
        else:
            raise UserError(
                "{name} is a file, not a model: name a folder or a .gguf file.", name=self.name
            )

    def check_settings(self) -> None:
        """Refuse settings with which other libraries would block, never end, or read other files."""
        self._check_ordinary()
        self._check_sizes()
        self._check_tokenizer()

    def _check_ordinary(self) -> None:
        """Refuse a folder with files on which other libraries would block, or which never end."""
        with self._explain_errors():
            for depth in ("*", "*/*"):
                for file in self.path.glob(depth):
                    # A broken link is reported when the weights are loaded.
                    if file.exists() and not file.is_dir():
                        check_ordinary(file, LARGEST_TEXT if file.suffix in SETTINGS else None)

    def _check_gguf(self) -> None:
        for package in ("gguf", "accelerate"):
            if importlib.util.find_spec(package) is None:
                raise UserError(
                    ".gguf files such as {name} need {package}: run `{command}`.",
                    command=write_install_command("hf"),
                    name=self.name,
                    package=package,
                )
        try:
            gguf_header.check_header(self.path)
        except gguf_header.UnsoundError as error:
            raise UserError(
                "{name} cannot be read as a .gguf language model ({reason}): download it again, whole"
                " and in one file.",
                name=self.name,
                reason=error.message,
            ) from error

    def _check_folder(self) -> None:
        names = self.names
        if holds_both(names):
            raise refusals.explain_both(self.name)
        if "config.json" not in names:
            raise self._explain_folder()
        found = {PurePosixPath(name).suffix for name in names}
        if ".safetensors" in found or (self.allow_pickle and ".bin" in found):
            return
        if found & set(refusals.PICKLES):
            readable = ".bin" in found
            raise refusals.explain_pickles(self.name, allowed=self.allow_pickle, readable=readable)
        raise self._explain_folder()

    def _check_sizes(self) -> None:
        """Refuse a configuration that would have transformers build parts until memory runs out."""
        for name, value in _find_items(self._read_json("config.json")):
            # Gemma 3n and 4 have a vocabulary for each layer, whose size is no number of layers.
            signs = () if "per_layer" in name else _MOST
            most = next((_MOST[sign] for sign in signs if sign in name), None)
            if most is not None and isinstance(value, int) and value > most:
                raise UserError(
                    "The config.json of {name} asks for {count:,} where no model has more than"
                    " {most:,} ({setting}): correct it, or download it again.",
                    name=self.name,
                    count=min(value, 10**15),
                    most=most,
                    setting=name[:80],
                )

    def _explain_folder(self) -> UserError:
        """The error for a folder without a configuration or without weights, by what else it holds."""
        with self._explain_errors():
            foreign = [file for depth in ("*", "*/*") for file in self.path.glob(depth)]
            models = sorted(filter(_is_model, self.path.iterdir()), key=_sort_by_number)
        for file in sorted(foreign):
            if file.suffix in refusals.FOREIGN:
                return refusals.explain_foreign(self.name, file)
        if models:
            return UserError(
                "{name} is no model itself, but {folder} in it is one: name {path}.",
                name=self.name,
                folder=models[-1].name,
                path=str(models[-1]),
            )
        if "config.json" in self.names:
            return UserError(
                "{name} has no weights (no .safetensors file): copy the whole model folder.",
                name=self.name,
            )
        return UserError(
            "{name} is no model: it has no config.json; name a folder that `save_pretrained`"
            " wrote, or a model on the hub.",
            name=self.name,
        )

    def _check_tokenizer(self) -> None:
        """Refuse a tokenizer in a file that the digest of the folder does not cover."""
        settings = [self._read_json(name) for name in _TOKENIZER_SETTINGS]
        if elsewhere := next(self._find_files_elsewhere(settings), None):
            raise UserError(
                "The tokenizer of {name} is read from a file outside its folder ({file}), so its"
                " version cannot be recorded: save it as tokenizer.json beside config.json.",
                name=self.name,
                file=elsewhere[:80],
            )
        for name in _list_tokenizers(settings[0]):
            if PurePosixPath(name).name != name or "\\" in name or not name.endswith(".json"):
                raise UserError(
                    "The tokenizer of {name} is not a .json file in its folder ({file}), so its"
                    " version cannot be recorded: save it as tokenizer.json beside config.json.",
                    name=self.name,
                    file=name[:80],
                )

    def _read_json(self, name: str) -> Any:
        """A file of settings; None if transformers will report that it cannot be read."""
        try:
            return json.loads(read_ordinary(self.path / name))
        except (OSError, ValueError, RecursionError):
            return None

    def _find_files_elsewhere(self, settings: list[Any]) -> Iterator[str]:
        """The files outside the folder that a tokenizer's settings name, whatever the setting is called.

        Many classes of tokenizers take the name of a file for their vocabulary, under many names.
        """
        unread = _UNREAD | ({"tokenizer_file"} if "tokenizer.json" in self.names else set())
        read = [
            {name: value for name, value in one.items() if name not in unread}
            for one in settings
            if isinstance(one, dict)
        ]
        here = self.path.resolve()
        for _, text in _find_items(read):
            with suppress(OSError, ValueError):  # too long for a path, or with a zero byte
                file = Path(text) if isinstance(text, str) else here
                if file.is_file() and here not in file.resolve().parents:
                    yield text


def _list_tokenizers(settings: Any) -> list[str]:
    """The files, one per version of transformers, that a tokenizer's settings name."""
    found = settings.get("fast_tokenizer_files") if isinstance(settings, dict) else None
    return [str(name) for name in found] if isinstance(found, list | dict) else []


def _find_items(plain: Any) -> Iterator[tuple[str, Any]]:
    """Every value in plain data, at any depth, with the nearest name above it."""
    waiting = [("", plain)]
    while waiting:
        name, value = waiting.pop()
        yield name, value
        if isinstance(value, dict):
            waiting.extend(value.items())
        elif isinstance(value, list):
            waiting.extend((name, inner) for inner in value)


def _is_model(path: Path) -> bool:
    """Whether a folder within a folder, or a file, is a model by its looks."""
    if path.is_dir():
        return any((path / name).is_file() for name in ("config.json", ADAPTER_CONFIG))
    return path.suffix == ".gguf"


def _sort_by_number(path: Path) -> tuple[int, str]:
    """A key by which checkpoint-1000 comes after checkpoint-500."""
    number = re.search(r"\d+$", path.name)
    return int(number[0]) if number else 0, path.name


def _read_size(file: Path) -> int | None:
    """The size of large weights by their own header, so that no endless padding is read."""
    if file.suffix != ".safetensors" or file.stat().st_size < _LARGE:
        return None
    with open_ordinary(file) as stream:
        length = int.from_bytes(stream.read(8), "little")
        if length > _LONGEST_HEADER:
            return 0
        try:
            header = json.loads(stream.read(length))
            ends = [one["data_offsets"][1] for name, one in header.items() if name[:2] != "__"]
            return 8 + length + int(max(ends))
        except (ValueError, TypeError, KeyError, IndexError, AttributeError, RecursionError):
            return 0
