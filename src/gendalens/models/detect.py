"""From a model's name to the backend that can run it."""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from gendalens import models
from gendalens.errors import UserError
from gendalens.models import demo
from gendalens.models.base import Backend, LoadOptions
from gendalens.models.huggingface.checkpoint import DTYPES
from gendalens.models.huggingface.checkpoint_backend import open_checkpoint, share_checkpoints
from gendalens.models.library_errors import describe_error
from gendalens.system.plugins import Plugin, load_plugins
from gendalens.words import Message, add_words, phrase

#: The entry points by which another package brings backends.
GROUP = "gendalens.models"
# Checked here because with all answers in the cache nothing else would; torch says what it can use.
_DEVICE = re.compile(r"(cpu|cuda|hip|hpu|mps|mtia|npu|privateuseone|xla|xpu)(:\d+)?")
_DEFAULTS = LoadOptions()


def load_model(name: str, options: LoadOptions = _DEFAULTS) -> Backend:
    """The backend for the model behind a name; its weights are loaded with the first question.

    A name is that of a model on the hub, a folder, a `.gguf` file, a spaCy package or a demo model,
    or begins with the prefix of a backend (``lm-coref:``, ``control:``).
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
                # No model to this backend, perhaps to the next (a spaCy pipeline has no config.json).
                refusals.append(error)
            except MemoryError:
                raise
            except Exception as error:  # a plug-in's own mistake, which says little about the model
                failures.append(_explain_failure(backend, name, error))
            else:
                if claimed:
                    return _load(backend, name, options)
        errors = refusals + failures
        raise errors[0] if errors else _explain_unclaimed(name, options)


def _find_candidates(name: str) -> tuple[type[Backend], ...]:
    """The backends to ask about a name: the one whose prefix it has, else all of them."""
    known = all_backends()
    own = tuple(one for one in known if one.prefix and name.startswith(one.prefix))
    return own or known


def all_backends() -> tuple[type[Backend], ...]:
    """Every backend, in the order in which they are asked whether a name is theirs.

    Those that need only files come first, before others ask the hub.
    """
    return tuple(sorted(_find_backends().backends, key=lambda backend: not backend.early))


def plugin_problems() -> tuple[Message, ...]:
    """A sentence for each plug-in that was left out."""
    return tuple(_find_backends().problems)


@dataclass(frozen=True, slots=True)
class _Found:
    """The backends there are, and what is wrong with those that were left out."""

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
    """What the modules of this package offer under the name ``BACKEND``."""
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
    """Why a plug-in cannot be used; None where it can."""
    backend = plugin.value
    if not (isinstance(backend, type) and issubclass(backend, Backend)):
        return phrase("{value} is no model backend", value=repr(backend)[:80])
    for other in known:
        if backend.prefix and backend.prefix == other.prefix:
            return phrase("there is a backend for {prefix} already", prefix=backend.prefix)
        if backend.label and backend.label == other.label:
            return phrase("there is a backend for {label} already", label=backend.label)
    return None


def _check_options(options: LoadOptions) -> None:
    if options.dtype not in DTYPES:
        raise UserError(
            "{dtype} is no number format: choose one of {known}.", dtype=options.dtype, known=DTYPES
        )
    if options.device is not None and not _DEVICE.fullmatch(options.device):
        raise UserError(
            "{device} is no device: choose cpu, cuda (or cuda:1 and so on) or mps.",
            device=options.device,
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
    """The refusal of a model that can be read, and that no backend knows how to ask."""
    checkpoint = open_checkpoint(name, options)
    known = tuple(phrase(backend.label) for backend in all_backends() if backend.label)
    if checkpoint.architecture:
        return UserError(
            "{name} is a {architecture}, and GenDa Lens can test {known:and}: name one of those.",
            name=name,
            architecture=checkpoint.architecture,
            known=known,
        )
    return UserError(
        "{name} is a bare {kind} model (its config.json names no architecture), and GenDa Lens can"
        " test {known:and}: name one of those.",
        name=name,
        kind=checkpoint.config.model_type,
        known=known,
    )
