"""A model in a folder, in a `.gguf` file or on the hub: its location, its version, and how to open it.

transformers and torch are imported only when they are needed, so that creating a checkpoint costs
nothing.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import tempfile
import weakref
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from gendalens.errors import UserError
from gendalens.models.base import LoadOptions
from gendalens.models.huggingface import kept_weights, refusals
from gendalens.models.huggingface.checkpoint import Checkpoint
from gendalens.models.huggingface.gguf_parse import SharedParse
from gendalens.models.huggingface.hub_model import HubModel
from gendalens.models.huggingface.libraries import import_transformers, silence_transformers
from gendalens.models.huggingface.model_files import ADAPTER_CONFIG, ModelFiles
from gendalens.models.huggingface.quantisation import Quantisation, find_quantisation
from gendalens.models.huggingface.refusals import CONFIGURATION, TOKENIZER
from gendalens.models.huggingface.weights import load_weights
from gendalens.models.library_errors import describe_error
from gendalens.system import hub_access
from gendalens.system.steps import tell_note, tell_step
from gendalens.words import Template, say

READING = Template("reading_file", "reading {file}")
CHECKING = Template("checking_kept_weights", "checking the kept weights of {model}")
DAMAGED = Template(
    "kept_weights_damaged",
    "The kept weights of {model} are no longer what was written, so they were removed, and are"
    " converted again.",
)

DTYPES = ("float32", "bfloat16", "float16", "auto")


class Kept(NamedTuple):
    """The converted weights of a `.gguf` file, and the class that reads the file's tokenizer."""

    weights: StoredCheckpoint
    tokenizer: str


@dataclass(frozen=True)
class StoredCheckpoint(Checkpoint):
    """A model named by the user, with its load options; reads its files on demand.

    With ``dequantised``, quantised weights are turned into ordinary ones after they are loaded.
    """

    name: str
    options: LoadOptions
    dequantised: bool = False

    @cached_property
    def path(self) -> Path | None:
        """The local folder or file that the name refers to; None for a model on the hub."""
        try:
            path = Path(self.name).expanduser()
            if path.exists():
                return path
        except (OSError, RuntimeError) as error:  # forbidden, too long, or an unknown ~user
            raise UserError(
                "{name} cannot be opened ({reason}): check the path to the model.",
                name=self.name,
                reason=getattr(error, "strerror", None) or describe_error(error),
            ) from error
        if path.suffix == ".gguf" or self.name.startswith((".", "/", "~")) or "\\" in self.name:
            raise UserError("{name} does not exist: check the path to the model.", name=self.name)
        return None

    @property
    def title(self) -> str:
        """The name in results; for a local model the last part of its path, the same on every machine."""
        return self.path.resolve().name if self.path else self.name

    @cached_property
    def files(self) -> ModelFiles | None:
        """The files of a local model; None for a model on the hub."""
        return ModelFiles(self.name, self.path, self.options.allow_pickle) if self.path else None

    @cached_property
    def file_names(self) -> frozenset[str]:
        """The names of the model's files; of a `.gguf` file none."""
        if self.files:
            return self.files.names
        return self.hub.commit.files

    @cached_property
    def hub(self) -> HubModel:
        """The model on the hub that the name refers to, unless it is local."""
        return HubModel(self.name, self.options)

    @property
    def gguf(self) -> Path | None:
        """The `.gguf` file, if the model is one."""
        return self.path if self.files and self.files.gguf else None

    @cached_property
    def config(self) -> Any:
        """The model's transformers configuration."""
        transformers = import_transformers()
        if self.files:
            self.files.check()
            self.check_unchanged()  # records the state of the files
        if self.kept:
            return self.kept.weights.config
        if self.gguf:
            tell_step(READING(file=self.title))
        arguments = self.arguments
        if self.path is None:
            self.hub.fetch_settings()
            self.check_settings()
        with (
            silence_transformers(),
            self.reach_hub(),
            self.explain_errors(CONFIGURATION),
            self.share_parse(),
        ):
            config = transformers.AutoConfig.from_pretrained(self.where, **arguments)
            if self._parse:
                self._parse.drop_vocabulary()
            if not self.options.trust_remote_code:
                refusals.check_attention(self.name, config)
            if not isinstance(config.get_text_config(), transformers.PreTrainedConfig):
                raise ValueError(say("a part of it is not a configuration"))
        if quantisation := find_quantisation(config):
            quantisation.check_packages(self.name)
        return config

    @cached_property
    def quantisation(self) -> Quantisation | None:
        """How the weights are quantised, if they are."""
        return find_quantisation(self.config)

    @property
    def packages(self) -> tuple[str, ...]:
        """The packages that run quantised weights."""
        return self.quantisation.packages if self.quantisation else ()

    @cached_property
    def tokenizer(self) -> Any:
        """The model's tokenizer, which must support character offsets."""
        return self.load_tokenizer(self.config)

    def load_tokenizer(self, config: Any) -> Any:
        """The tokenizer that lies here, for a model of this configuration."""
        transformers = import_transformers()
        self.check_unchanged()  # the parse of a .gguf file maps it
        reader, arguments = transformers.AutoTokenizer, self.arguments
        if self.kept:
            reader = _find_tokenizer_class(self.kept.tokenizer)
        elif not self.gguf:
            arguments = arguments | {"config": config}
        with (
            silence_transformers(),
            self.reach_hub(),
            self.explain_errors(TOKENIZER),
            self.share_parse(),
        ):
            tokenizer = reader.from_pretrained(self.where, **arguments)
            empty = len(tokenizer.get_vocab()) <= len(set(tokenizer.all_special_ids))
        refusals.check_tokenizer(self.name, tokenizer)
        # If its files are missing, transformers silently builds a tokenizer of special tokens only.
        if empty:
            raise UserError(
                "{name} has no tokenizer: its vocabulary is empty; put the tokenizer's files"
                " (tokenizer.json) into the folder.",
                name=self.name,
            )
        _drop_copies(tokenizer)
        return tokenizer

    @property
    def where(self) -> str:
        """The first argument of every `from_pretrained`: a name on the hub or a folder."""
        if self.path is None:
            return self.name
        return self._empty_folder if self.gguf else str(self.path)

    @cached_property
    def _empty_folder(self) -> str:
        """An empty folder: files beside a `.gguf` file (such as a tokenizer) are no part of the model."""
        return self.make_folder()

    def make_folder(self) -> str:
        """A new temporary folder, which goes when this checkpoint does."""
        folder = tempfile.mkdtemp(prefix="gendalens-")
        weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        return folder

    @cached_property
    def arguments(self) -> dict[str, Any]:
        """The other arguments of every `from_pretrained`, so that all read the same version."""
        arguments: dict[str, Any] = {
            "trust_remote_code": self.options.trust_remote_code,
            "local_files_only": self._is_local,
        }
        if self.path is None:
            arguments["revision"] = self.hub.commit.sha
        elif self.gguf:
            # The full path, because a bare name would first be looked up in the working directory.
            arguments["gguf_file"] = str(self.gguf.absolute())
        return arguments

    @property
    def _is_local(self) -> bool:
        """Whether transformers may fetch nothing by itself, which only foreign code makes necessary.

        It would take a file that fails to arrive for one that does not exist, and go on without it.
        """
        if self.options.offline or self.path is not None:
            return True
        return self.hub.commit.repository is None or not self.options.trust_remote_code

    def check_settings(self) -> None:
        """Refuse settings, in a folder or in the hub's cache, that endanger whoever reads them."""
        import huggingface_hub

        if self.path is not None:
            folder = self.path
        else:
            sha = self.hub.commit.sha
            known = (
                huggingface_hub.try_to_load_from_cache(self.name, name, revision=sha)
                for name in ("config.json", ADAPTER_CONFIG)
            )
            folder = Path(next((file for file in known if isinstance(file, str)), "")).parent
        if folder.is_dir() and folder != Path():
            ModelFiles(self.name, folder, self.options.allow_pickle).check_settings()

    def fetch(self, name: str) -> None:
        """Fetch a file that the hub lists, unless the model is local."""
        if self.path is None:
            self.hub.fetch(name)

    def find_file(self, name: str) -> Path | None:
        """A file beside the configuration, fetched if it is on the hub; None if there is none."""
        import_transformers()
        if self.path is None and name in self.file_names:
            self.fetch(name)
        from transformers.utils import cached_file

        silent = ("missing_entries", "gated_repo", "connection_errors")
        with self.reach_hub():
            found = cached_file(
                self.where,
                name,
                revision=self.arguments.get("revision"),
                local_files_only=self.arguments["local_files_only"],
                **{f"_raise_exceptions_for_{kind}": False for kind in silent},
            )
        return Path(found) if found else None

    def reach_hub(self) -> AbstractContextManager[None]:
        """Allow requests to the hub for a model that may be fetched from it; block them for others."""
        return hub_access.block_hub() if self._is_local else nullcontext()

    @cached_property
    def version(self) -> str:
        """What identifies the model's version: the hub's commit, or a digest of the local files."""
        return f"sha256:{self.files.digest[:12]}" if self.files else self.hub.version

    @cached_property
    def resolved_dtype(self) -> str:
        """The number format; of quantised weights, how they are stored and then how they compute."""
        if self.quantisation is None:
            return self.computing_dtype
        weights = self.quantisation.title
        if self.dequantised:
            weights = f"{weights}-dequantised"
        return f"{weights}/{self.computing_dtype}"

    @cached_property
    def computing_dtype(self) -> str:
        """The number format that is computed in; "auto" is the checkpoint's own."""
        if self.options.dtype != "auto":
            return self.options.dtype
        own = getattr(self.text_config, "dtype", None) or getattr(self.config, "dtype", None)
        return str(own).removeprefix("torch.") if own else "float32"

    def digest(self, *parts: object) -> str:
        """A digest of the model's content, its number format and ``parts``."""
        return hashlib.sha256(
            json.dumps([*self.content, self.resolved_dtype, *parts]).encode()
        ).hexdigest()

    @property
    def content(self) -> tuple[str, ...]:
        """What identifies the files: a digest of local ones, or the name and commit on the hub."""
        return (self.files.digest,) if self.files else (self.name, self.hub.version)

    @cached_property
    def _parse(self) -> SharedParse | None:
        """The one parse of a `.gguf` file."""
        return SharedParse(Path(self.arguments["gguf_file"])) if self.gguf else None

    def share_parse(self) -> AbstractContextManager[None]:
        """Have a `.gguf` file parsed once by all that reads it in this context."""
        return self._parse.share() if self._parse else nullcontext()

    @cached_property
    def kept(self) -> Kept | None:
        """The converted weights of a `.gguf` file, if they are kept and what they were when written."""
        if not self.gguf or not self.files:
            return None
        copy = kept_weights.find_copy(self._conversion)
        if copy is None:
            return None
        tell_step(CHECKING(model=self.title))
        options = replace(self.options, allow_pickle=False, trust_remote_code=False)
        weights = StoredCheckpoint(str(copy.folder), options)
        try:
            weights.check_unchanged()  # records the state of the files that are compared
            assert weights.files is not None
            if weights.files.digest == copy.digest:
                return Kept(weights, copy.tokenizer)
        except UserError:  # it cannot be read
            pass
        kept_weights.discard_copy(copy.folder)
        tell_note(DAMAGED(model=self.title))
        return None

    @cached_property
    def _conversion(self) -> str:
        assert self.files is not None
        return kept_weights.name_conversion(self.files.digest, self.options.dtype)

    def keep_weights(self, model: Any) -> None:
        """Keep what was converted from a `.gguf` file for the next time, and forget the parse."""
        if self._parse is None:
            return
        self._parse.forget()
        kept_weights.keep_copy(
            self._conversion,
            model,
            self.config,
            title=self.title,
            tokenizer=type(self.tokenizer).__name__,
        )

    def check_unchanged(self) -> None:
        """Raise if a file was replaced after the first of them was read.

        The digest that identifies the model in results and in the cache is computed before the weights
        are loaded, and it must describe the weights that were loaded.
        """
        if self.files and self.files.have_changed():
            raise UserError(
                "The files of {name} changed while they were read, so the tested version is"
                " unknown: run again when they are complete.",
                name=self.name,
            )

    def explain_pickles(self) -> UserError:
        """The error for weights that are no safetensors: pickles, or those of another library."""
        for name in sorted(self.file_names):
            if not self.files and PurePosixPath(name).suffix in refusals.FOREIGN:
                return refusals.explain_foreign(self.name, PurePosixPath(name))
        return refusals.explain_pickles(self.name, allowed=self.options.allow_pickle)

    def in_float32(self) -> StoredCheckpoint:
        """The same model, to be loaded in float32; quantised weights become ordinary ones."""
        options = replace(self.options, dtype="float32")
        return StoredCheckpoint(self.name, options, dequantised=self.quantisation is not None)

    def load_model(self, auto_class: str) -> Any:
        """The model, read from its files and checked."""
        return load_weights(self, auto_class)


def _drop_copies(tokenizer: Any) -> None:
    """Forget the lists that transformers made a tokenizer from, which hold all of it once more.

    For a vocabulary of 262,000 tokens and its merges they take 146 MB.
    """
    for name in ("_vocab", "_merges"):
        vars(tokenizer).pop(name, None)


def _find_tokenizer_class(name: str) -> Any:
    """The class that transformers has chosen once before."""
    from transformers.models.auto.tokenization_auto import tokenizer_class_from_name

    return tokenizer_class_from_name(name)
