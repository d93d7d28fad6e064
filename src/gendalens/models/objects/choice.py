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
from gendalens.models.objects.kind import ObjectKind, name_object
from gendalens.words import phrase


def as_backend(model: Any) -> Backend:
    """A backend unchanged, and any other object wrapped in the one for its kind."""
    if isinstance(model, Backend):
        return model
    given = model if isinstance(model, Given) else Given(model)
    kind = _find_kind(given)
    if kind is None:
        from gendalens.models.objects.coreference import Resolver

        return Resolver(given.model)
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
    return UserError(
        "{name} ({kind}) is not a model that GenDa Lens can test: give a model's name, a folder, a"
        " backend, or one of these objects: {known:clauses}.",
        name=given.name or name_object(given.model),
        kind=type(given.model).__name__,
        known=tuple(phrase(kind.label) for kind in all_kinds()),
    )
