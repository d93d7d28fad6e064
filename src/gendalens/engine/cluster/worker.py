"""A worker: one model in a process of its own, which answers what the driver sends."""

from __future__ import annotations

import os
import pickle
import platform
import sys
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from importlib import metadata
from typing import Any

from gendalens.engine.model_run import explain_plugin_failure, is_plugin
from gendalens.errors import UserError
from gendalens.models.base import Backend, LoadOptions
from gendalens.models.detect import load_model
from gendalens.models.library_errors import describe_error, is_library_error, is_out_of_memory
from gendalens.version import __version__
from gendalens.words import Message

#: What must be the same here and there, so that answers and signature are those of one computer.
_PACKAGES = ("torch", "transformers")


@dataclass(frozen=True, slots=True)
class Opening:
    """What a worker needs to open its model; ``threads`` are those of a process that has it at home."""

    name: str
    options: LoadOptions
    threads: int
    folder: str


@dataclass(frozen=True, slots=True)
class Opened:
    """An open model: what identifies it, and by what its batches are planned."""

    identity: str
    batch_tokens: int
    max_positions: int
    workers: int


@dataclass(frozen=True, slots=True)
class Call:
    """A method or property of the model to be asked, with ``threads`` for torch."""

    what: str
    arguments: tuple[Any, ...] = ()
    threads: int = 1
    exact: bool = False


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a call: a value, a sentence for the user, too little memory, or a defect."""

    value: Any = None
    message: Message | None = None
    no_memory: str = ""
    defect: str = ""

    def unwrap(self) -> Any:
        """The value; raises what the worker met as if it had happened here."""
        if self.message is not None:
            raise UserError(self.message)
        if self.no_memory:
            raise MemoryError(self.no_memory)
        if self.defect:
            raise WorkerDefectError(self.defect)
        return self.value


class WorkerDefectError(RuntimeError):
    """An internal error in a worker, with its traceback."""


class Worker:
    """A model that is loaded once and answers until its process ends.

    Arguments and outcomes are packed here and not by Ray, which takes several times as long.
    """

    def __init__(self, environment: Mapping[str, str]) -> None:
        os.environ.update(environment)
        self._backend: Backend | None = None
        self._threads = 0

    def list_versions(self) -> dict[str, str]:
        """The versions that must be those of the driver."""
        return list_versions()

    def open(self, packed: bytes) -> bytes:
        """Load the model."""
        opening: Opening = unpack(packed)
        return pack(self._perform(lambda: self._open(opening)))

    def call(self, packed: bytes) -> bytes:
        """Ask the model."""
        return pack(self._perform(lambda: self._call(unpack(packed))))

    def _open(self, opening: Opening) -> Opened:
        # Before torch is imported, which reads it: batches are planned as with the driver's threads.
        os.environ["OMP_NUM_THREADS"] = str(opening.threads)
        if os.path.isdir(opening.folder):  # noqa: PTH112 - names of models may be relative to it
            os.chdir(opening.folder)
        backend = self._backend = load_model(opening.name, opening.options)
        self._set_threads(opening.threads)
        opened = Opened(
            identify(backend), backend.batch_tokens, backend.max_positions, backend.workers
        )
        # Loads the weights, so that a model that does not fit is noticed before the first batch.
        _ = backend.batching
        return opened

    def _call(self, call: Call) -> Any:
        assert self._backend is not None
        backend = self._backend.exact if call.exact else self._backend
        self._set_threads(call.threads)
        found = getattr(backend, call.what)
        return found(*call.arguments) if callable(found) else found

    def _set_threads(self, threads: int) -> None:
        torch = sys.modules.get("torch")
        if torch is not None and threads != self._threads:
            torch.set_num_threads(threads)
            self._threads = threads

    def _perform(self, work: Callable[[], Any]) -> Outcome:
        try:
            return Outcome(work())
        except UserError as error:
            return Outcome(message=error.message)
        except BaseException as error:
            if not is_library_error(error):
                raise
            if is_out_of_memory(error):
                return Outcome(no_memory=describe_error(error))
            is_foreign = self._backend is not None and is_plugin(self._backend)
            if is_foreign and isinstance(error, Exception):
                return Outcome(message=explain_plugin_failure(error).message)
            return Outcome(defect="".join(traceback.format_exception(error)))


def list_versions() -> dict[str, str]:
    """The versions in this process that must be the same in all."""
    found = {"Python": platform.python_version(), "gendalens": __version__}
    for package in _PACKAGES:
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            found[package] = ""
    return found


def identify(backend: Backend) -> str:
    """What two processes must agree on to have the same model."""
    return "|".join((backend.fingerprint(), *backend.info.software))


def without_endpoint(options: LoadOptions) -> LoadOptions:
    """The options as a worker gets them: it asks no server, whose address may hold a key."""
    return replace(options, endpoint=None)


def pack(value: Any) -> bytes:
    """A value for the way between driver and worker, which are one program."""
    return pickle.dumps(value, protocol=5)


def unpack(packed: bytes) -> Any:
    """The value that :func:`pack` packed."""
    return pickle.loads(packed)  # noqa: S301 - from our own process, by Ray, which does the same
