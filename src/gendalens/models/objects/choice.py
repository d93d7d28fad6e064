"""From an object of the user's to the backend that can ask it."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache
from typing import Any

from gendalens.errors import UserError
from gendalens.models import objects
from gendalens.models.base import Backend
from gendalens.models.objects.given import Given
from gendalens.models.objects.instances import is_instance
from gendalens.models.objects.kind import ObjectKind, name_object
from gendalens.words import phrase


def as_backend(model: Any) -> Backend:
    """A backend unchanged, and any other object wrapped in the one for its kind."""
    if isinstance(model, Backend):
        return model
    given = model if isinstance(model, Given) else Given(model)
    kind = _find_kind(given)
    if kind is None:
        raise _explain_unknown(given)
    if given.tokenizer is not None and not kind.takes_tokenizer:
        raise UserError(
            "{name} is {label:t}, which needs no tokenizer: leave it out.",
            name=kind.name(given),
            label=kind.label,
        )
    return kind.open(given)


def name_of(model: Any) -> str:
    """The name of a backend or an object, found without reading its weights."""
    if isinstance(model, Backend):
        return model.info.name
    given = model if isinstance(model, Given) else Given(model)
    kind = _find_kind(given)
    return kind.name(given) if kind else given.name or name_object(given.model)


@cache
def all_kinds() -> tuple[ObjectKind, ...]:
    """The ``KIND`` of each module in this package; those known by their type come first."""
    modules = pkgutil.iter_modules(objects.__path__, f"{objects.__name__}.")
    found = (getattr(importlib.import_module(one.name), "KIND", None) for one in modules)
    return tuple(sorted(filter(None, found), key=lambda kind: not kind.by_type))


def _find_kind(given: Given) -> ObjectKind | None:
    return next((kind for kind in all_kinds() if kind.recognises(given.model)), None)


def _explain_unknown(given: Given) -> UserError:
    if callable(given.model) and not is_instance(given.model, "torch.nn", "Module"):
        return UserError(
            "{name} is callable, but GenDa Lens cannot know what it returns: wrap it in"
            " gendalens.Tagger (it finds entities), gendalens.Scorer (it gives likelihoods) or"
            " gendalens.Resolver (it finds coreference).",
            name=given.name or name_object(given.model),
        )
    return UserError(
        "{name} is not a model that GenDa Lens can use: give a model's name, a folder, a backend, or"
        " one of these objects: {known:clauses}.",
        name=given.name or name_object(given.model),
        known=tuple(phrase(kind.label) for kind in all_kinds()),
    )
