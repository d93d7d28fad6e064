"""From a model's name to the backend that can run it."""

from __future__ import annotations

import importlib
import os
import pkgutil
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from gendalens import models
from gendalens.errors import UserError
from gendalens.models import demo
from gendalens.models.base import Backend, LoadOptions
from gendalens.models.huggingface.checkpoint_backend import open_checkpoint, share_checkpoints
from gendalens.models.huggingface.devices import AUTO, parse_limits
from gendalens.models.huggingface.stored_checkpoint import DTYPES
from gendalens.models.library_errors import describe_error
from gendalens.system.plugins import Plugin, load_plugins
from gendalens.words import Message, add_words, phrase

#: The entry-point group through which other packages provide backends.
GROUP = "gendalens.models"
# Checked here because a run that finds all answers in the cache never gets to torch, which checks the
# rest.
_DEVICE = re.compile(r"(cpu|cuda|hip|hpu|mps|mtia|npu|privateuseone|xla|xpu)(:\d+)?")
_PREFIX = re.compile(r"[a-z][a-z0-9-]+:(?![/\\])")
_DEFAULTS = LoadOptions()


def load_model(name: str, options: LoadOptions = _DEFAULTS) -> Backend:
    """The backend for the model of a name; the weights are loaded on the first request.

    A name refers to a model on the hub, a folder, a `.gguf` file, a spaCy package or a demo model, or
    begins with the prefix of a backend (``lm-coref:``, ``control:``).
    """
    if not name.strip():
        raise UserError("The model's name is empty; give a hub name, a folder or a .gguf file.")
    _check_options(options)
    name = str(demo.find_folder(name) or name)
    refusals: list[UserError] = []
    failures: list[UserError] = []
    with share_checkpoints():
        for backend in _find_candidates(name):
            try:
                claimed = backend.claims(name, options)
            except UserError as error:
                # The next backend may accept what this one refuses (a spaCy pipeline has no config.json).
                refusals.append(error)
            except MemoryError:
                raise
            except Exception as error:  # a defect of the plug-in, not of the model
                failures.append(_explain_failure(backend, name, error))
            else:
                if claimed:
                    return _load(backend, name, options)
        errors = refusals + failures
        if errors:
            _check_prefix(name)
        raise errors[0] if errors else _explain_unclaimed(name, options)


def _find_candidates(name: str) -> tuple[type[Backend], ...]:
    """The backends that may claim a name: the one whose prefix it has, or else all of them."""
    known = all_backends()
    own = tuple(one for one in known if one.prefix and name.startswith(one.prefix))
    return own or known


def takes_endpoint(name: str) -> bool:
    """Whether the model of a name is behind an endpoint."""
    return any(
        backend.takes_endpoint for backend in _find_candidates(name) if backend.prefix in name
    )


def all_backends() -> tuple[type[Backend], ...]:
    """Every backend, in the order in which they may claim a name.

    Those that need only local files come before those that ask the hub.
    """
    return tuple(sorted(_find_backends().backends, key=lambda backend: not backend.early))


def plugin_problems() -> tuple[Message, ...]:
    """A sentence for each plug-in that was left out."""
    return tuple(_find_backends().problems)


@dataclass(frozen=True, slots=True)
class _Found:
    """The usable backends, and what is wrong with those that were left out."""

    backends: list[type[Backend]]
    problems: list[Message]


def _find_backends() -> _Found:
    backends = list(_find_builtin())
    plugins, problems = _load_plugins()
    found = _Found(backends, list(problems))
    for plugin in plugins:
        if reason := _find_fault(plugin, found.backends):
            found.problems.append(plugin.reject(reason))
        else:
            found.backends.append(plugin.value)
            _add_words_once(plugin.value)
    return found


def _find_builtin() -> Iterator[type[Backend]]:
    """The ``BACKEND`` of each module in this package."""
    for module in pkgutil.walk_packages(models.__path__, f"{models.__name__}."):
        if backend := getattr(importlib.import_module(module.name), "BACKEND", None):
            yield backend


@cache
def _load_plugins() -> tuple[tuple[Plugin, ...], tuple[Message, ...]]:
    """The plug-ins; installed packages do not change while the program runs."""
    plugins, problems = load_plugins(GROUP)
    return tuple(plugins), tuple(problems)


@cache
def _add_words_once(backend: type[Backend]) -> None:
    add_words(backend.words)


def _find_fault(plugin: Plugin, known: list[type[Backend]]) -> Message | None:
    """Why a plug-in cannot be used; None if it can."""
    backend = plugin.value
    if not (isinstance(backend, type) and issubclass(backend, Backend)):
        return phrase("{value} is not a model backend", value=repr(backend)[:80])
    for other in known:
        if backend.prefix and backend.prefix == other.prefix:
            return phrase("a backend for {prefix} already exists", prefix=backend.prefix)
    return None


def load_plugin_words() -> None:
    """Add the words of every backend that another package brings."""
    for plugin in _load_plugins()[0]:
        if isinstance(plugin.value, type) and issubclass(plugin.value, Backend):
            _add_words_once(plugin.value)


def _check_prefix(name: str) -> None:
    """Raise for a name such as ``cont:x`` that begins like a backend's and is not."""
    found = _PREFIX.match(name)
    known = tuple(backend.prefix for backend in all_backends() if backend.prefix)
    if found is None or found[0] in known:
        return
    if not os.path.exists(name):  # noqa: PTH110 - False for names that no path can have
        raise UserError(
            "There is no kind of model {prefix}; the prefixes are {known}.",
            prefix=found[0],
            known=known,
        )


def _check_options(options: LoadOptions) -> None:
    if options.dtype not in DTYPES:
        raise UserError(
            "{dtype} is not a number format: choose one of {known}.",
            dtype=options.dtype,
            known=DTYPES,
        )
    if options.device not in (None, AUTO) and not _DEVICE.fullmatch(str(options.device)):
        raise UserError(
            "{device} is not a device: choose cpu, cuda (or cuda:1 and so on), mps or auto.",
            device=str(options.device),
        )
    if options.max_memory is not None:
        parse_limits(options.max_memory)
        if options.device != AUTO:
            raise UserError(
                "A limit on the memory of each device (--max-memory) is for models that are spread over"
                " them: add --device auto, or leave the limit out."
            )


def _load(backend: type[Backend], name: str, options: LoadOptions) -> Backend:
    try:
        return backend.load(name, options)
    except (UserError, MemoryError):
        raise
    except Exception as error:
        raise _explain_failure(backend, name, error) from error


def _explain_failure(backend: type[Backend], name: str, error: Exception) -> UserError:
    return UserError(
        "{name} cannot be loaded: the backend {backend} fails ({kind}: {reason}); report it to its"
        " authors.",
        name=name,
        backend=f"{backend.__module__}.{backend.__qualname__}",
        kind=type(error).__name__,
        reason=describe_error(error),
    )


def _explain_unclaimed(name: str, options: LoadOptions) -> UserError:
    """The error for a readable model that no backend supports."""
    checkpoint = open_checkpoint(name, options)
    if checkpoint.is_encoder_decoder:
        return UserError(
            "{name} is an encoder–decoder ({architecture}), which gives a sentence a probability only as"
            " the answer to another text, so it has none of its own to test: name a masked or causal"
            " language model.",
            name=name,
            architecture=checkpoint.architecture or checkpoint.config.model_type,
        )
    known = tuple(phrase(backend.label) for backend in all_backends() if backend.label)
    if checkpoint.architecture:
        return UserError(
            "{name} is a {architecture}, which GenDa Lens cannot test: choose from {known:and}.",
            name=name,
            architecture=checkpoint.architecture,
            known=known,
        )
    return UserError(
        "{name} is a bare {kind} model (its config.json names no architecture), which GenDa Lens"
        " cannot test: choose from {known:and}.",
        name=name,
        kind=checkpoint.config.model_type,
        known=known,
    )
