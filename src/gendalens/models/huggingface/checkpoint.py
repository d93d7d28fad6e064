"""A model as the user named it: where it is, which version it is, and how to open it.

Everything here is cheap: configuration and tokenizer, never the weights. transformers and torch are
imported only when they are needed, so that naming a model costs nothing.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import tempfile
import weakref
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from gendalens.errors import UserError
from gendalens.models.huggingface import refusals
from gendalens.models.huggingface.libraries import (
    import_transformers,
    out_of_memory,
    panic,
    quiet,
    reason,
)
from gendalens.models.huggingface.model_files import ModelFiles
from gendalens.system import hub_access

DTYPES = ("float32", "bfloat16", "float16", "auto")
# Attention that PyTorch has itself; None is the best of these.
_ATTENTION = (None, "eager", "sdpa")


@dataclass(frozen=True)
class Checkpoint:
    """The model a user named, with how it is to be loaded; reads its files on demand."""

    name: str
    revision: str | None = None
    device: str | None = None
    dtype: str = "float32"
    trust_remote_code: bool = False
    offline: bool = False
    allow_pickle: bool = False

    @cached_property
    def path(self) -> Path | None:
        """The local folder or file the name stands for; None for a model on the hub."""
        try:
            path = Path(self.name).expanduser()
            if path.exists():
                return path
        except (OSError, RuntimeError) as error:  # a forbidden folder, a long name; ~ of nobody
            why = getattr(error, "strerror", None) or reason(error)
            raise UserError(
                f"{self.name} cannot be opened ({why}): check the path to the model."
            ) from error
        if path.suffix == ".gguf" or self.name.startswith((".", "/", "~")) or "\\" in self.name:
            raise UserError(f"{self.name} does not exist: check the path to the model.")
        return None

    @property
    def title(self) -> str:
        """The name that results carry: of a local model the last part, not where one machine has it."""
        return self.path.resolve().name if self.path else self.name

    @cached_property
    def files(self) -> ModelFiles | None:
        """The model's files, where it is a local one."""
        return ModelFiles(self.name, self.path, self.allow_pickle) if self.path else None

    @property
    def gguf(self) -> Path | None:
        """The `.gguf` file, where the model is one."""
        return self.path if self.files and self.files.gguf else None

    @cached_property
    def config(self) -> Any:
        """The model's transformers configuration."""
        transformers = import_transformers()
        if self.files:
            self.files.check()
            self.check_unchanged()  # the first look
        options = self.options
        with quiet(), self.fetching(), self.explained("configuration"):
            config = transformers.AutoConfig.from_pretrained(self.where, **options)
            self._check_attention(config)
        return config

    @cached_property
    def text_config(self) -> Any:
        """The language model's part of the configuration (a multimodal model has others)."""
        return self.config.get_text_config()

    @cached_property
    def tokenizer(self) -> Any:
        """The model's tokenizer, one that knows character offsets."""
        transformers = import_transformers()
        options = self.options if self.gguf else self.options | {"config": self.config}
        with quiet(), self.fetching(), self.explained("tokenizer"):
            tokenizer = transformers.AutoTokenizer.from_pretrained(self.where, **options)
            empty = len(tokenizer.get_vocab()) <= len(set(tokenizer.all_special_ids))
        if not tokenizer.is_fast:
            raise UserError(
                f"The tokenizer of {self.name} ({type(tokenizer).__name__}) gives no character"
                " offsets: save a fast one (tokenizer.json) beside the model and try again."
            )
        # With its files missing, transformers silently makes a tokenizer of special tokens only.
        if empty:
            raise UserError(
                f"{self.name} has no tokenizer: its vocabulary is empty;"
                " put the tokenizer's files (tokenizer.json) into the folder."
            )
        return tokenizer

    @cached_property
    def architecture(self) -> str:
        """The class the weights were saved from; empty where the configuration says none."""
        return str((getattr(self.config, "architectures", None) or [""])[0])

    @property
    def where(self) -> str:
        """The first argument of every `from_pretrained`: a name on the hub or a folder."""
        if self.path is None:
            return self.name
        return self._nowhere if self.gguf else str(self.path)

    @cached_property
    def _nowhere(self) -> str:
        """An empty folder: what lies beside a `.gguf` file (a tokenizer, say) is no part of it."""
        folder = tempfile.mkdtemp(prefix="gendalens-")
        weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        return folder

    @cached_property
    def options(self) -> dict[str, Any]:
        """The other arguments of every `from_pretrained`, so that all read the same version."""
        options: dict[str, Any] = {
            "trust_remote_code": self.trust_remote_code,
            "local_files_only": self.offline or self.path is not None,
        }
        if self.path is None:
            options["revision"], only_cached = self._commit
            options["local_files_only"] |= only_cached
        elif self.gguf:
            # By its full path: a bare name would first be looked for in the working directory.
            options["gguf_file"] = str(self.gguf.absolute())
        return options

    def fetching(self) -> AbstractContextManager[None]:
        """The hub within reach where the model comes from there and may be fetched."""
        return hub_access.closed() if self.offline or self.path is not None else nullcontext()

    @cached_property
    def version(self) -> str:
        """What pins the model: the hub's commit, or a digest of the local files."""
        return f"sha256:{self.files.digest[:12]}" if self.files else self._commit[0]

    @cached_property
    def resolved_dtype(self) -> str:
        """The number format the weights are loaded in; "auto" is the checkpoint's own."""
        if self.dtype != "auto":
            return self.dtype
        own = getattr(self.text_config, "dtype", None) or getattr(self.config, "dtype", None)
        return str(own).removeprefix("torch.") if own else "float32"

    def digest(self, *parts: object) -> str:
        """A digest of the model's content, its number format and ``parts``."""
        content = (self.files.digest,) if self.files else (self.name, self._commit[0])
        return hashlib.sha256(
            json.dumps([*content, self.resolved_dtype, *parts]).encode()
        ).hexdigest()

    def check_unchanged(self) -> None:
        """Refuse files that were replaced since the first of them was read.

        The digest that names the model in results and in the cache is taken before the weights are
        loaded: it must be the digest of what was loaded.
        """
        if self.files and self.files.changed():
            raise UserError(
                f"The files of {self.name} changed while they were read, so nothing can say which"
                " model was tested: run again when they are complete."
            )

    @cached_property
    def _commit(self) -> tuple[str, bool]:
        """The hub's commit of this model, and whether it was found in the cache only.

        Asked once and first: everything is then loaded from that commit, even if the hub moves on.
        """
        import_transformers()
        import huggingface_hub
        from huggingface_hub import errors

        final = (
            errors.HFValidationError,
            errors.RepositoryNotFoundError,
            errors.RevisionNotFoundError,
        )

        try:
            if not self.offline:
                info = huggingface_hub.HfApi().model_info(
                    self.name, revision=self.revision, timeout=15
                )
                return str(info.sha), False
        except final as error:
            raise self._explain(error, "configuration") from error
        except Exception:  # noqa: S110 - no network, or a hub in trouble: the cache may have it
            pass
        try:
            cached = huggingface_hub.try_to_load_from_cache(
                self.name, "config.json", revision=self.revision
            )
        except errors.HFValidationError as error:
            raise self._explain(error, "configuration") from error
        if isinstance(cached, str):
            return Path(cached).parent.name, True
        remedy = (
            "download it first, or leave offline mode"
            if self.offline
            else "the hub does not answer; check the connection, or name a local folder"
        )
        raise UserError(f"{self.name} is no local folder and not in the cache: {remedy}.")

    def _check_attention(self, config: Any) -> None:
        """Refuse a configuration that has code fetched from the hub ("owner/kernel") and run.

        A name without an owner (flash_attention_2) is not taken from the file either: it says on what
        card somebody trained, and transformers gets a kernel from the hub where the package is missing.
        """
        if self.trust_remote_code:
            return
        named = getattr(config, "_attn_implementation", None)
        if "/" in str(named):
            raise UserError(
                f"{self.name} asks for code from the hub ({str(named)[:80]}, _attn_implementation in its"
                " config.json): take that line out, or allow it with --trust-remote-code."
            )
        if named not in _ATTENTION:
            config._attn_implementation = {"": None}  # of this part alone, not of those below
        for name in config.sub_configs:
            if (part := getattr(config, name, None)) is not None:
                self._check_attention(part)

    def pickled(self) -> UserError:
        """The refusal of weights that only unpickling could read."""
        return refusals.pickled(self.name, allowed=self.allow_pickle)

    def too_big(self) -> UserError:
        """What to say where memory runs out while the model is loaded."""
        return refusals.too_big(self.name)

    @contextmanager
    def explained(self, what: str) -> Iterator[None]:
        """Turn whatever a library raises while reading ``what`` into one sentence for the user."""
        try:
            yield
        except (UserError, MemoryError):
            raise
        except BaseException as error:
            if not isinstance(error, Exception) and not panic(error):
                raise
            raise self._explain(error, what) from error

    @contextmanager
    def asked(self) -> Iterator[None]:
        """The same while the model is at work: files that load may still not fit each other."""
        try:
            yield
        except (UserError, MemoryError):
            raise
        except BaseException as error:
            # The engine asks for less at a time when memory runs out.
            if (not isinstance(error, Exception) and not panic(error)) or out_of_memory(error):
                raise
            raise UserError(
                f"{self.name} cannot answer ({type(error).__name__}: {reason(error)}): its"
                " configuration, tokenizer and weights do not fit together; download it again."
            ) from error

    def _explain(self, error: BaseException, what: str) -> UserError:
        return refusals.unreadable(
            error, what, self.name, revision=self.revision, gguf=self.gguf is not None
        )
