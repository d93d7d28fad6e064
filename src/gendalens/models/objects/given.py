"""The models of a run as the user passes them: names, objects, pairs, lists and mappings of these."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gendalens.errors import UserError
from gendalens.models.base import Backend
from gendalens.models.objects.transformers_types import is_model, is_tokenizer


@dataclass(frozen=True, slots=True, eq=False)
class Given:
    """An object that the user has loaded, its tokenizer, and the name that the user gives it."""

    model: Any
    tokenizer: Any = None
    name: str | None = None


def list_models(models: Any, tokenizer: Any = None) -> list[str | Path | Backend | Given]:
    """Each model of a run: names and backends as they are, every other object as a ``Given``."""
    if isinstance(models, Mapping):
        found = [_read(model, str(name)) for name, model in models.items()]
    elif isinstance(models, Sequence) and not isinstance(models, str) and not _is_pair(models):
        found = list(map(_read, models))
    else:
        found = [_read(models)]
    return found if tokenizer is None else [_add_tokenizer(found, tokenizer)]


def _read(model: Any, name: str | None = None) -> str | Path | Backend | Given:
    if isinstance(model, str | Path | Backend):
        if name is not None:
            raise UserError(
                "{model} already has a name, so it cannot be called {name}: only objects that you have"
                " loaded yourself can be named.",
                model=model.info.name if isinstance(model, Backend) else str(model),
                name=name,
            )
        return model
    if _is_pair(model):
        its_model, tokenizer = model
        return Given(its_model, tokenizer, name)
    return Given(model, name=name)


def _add_tokenizer(found: Sequence[str | Path | Backend | Given], tokenizer: Any) -> Given:
    match found:
        case [Given(tokenizer=None) as given]:
            return Given(given.model, tokenizer, given.name)
    raise UserError(
        "tokenizer= goes with one model that you have loaded: give several models as pairs,"
        " [(model, tokenizer), …], and models by name without a tokenizer."
    )


def _is_pair(models: Any) -> bool:
    """Whether this is a model of transformers and its tokenizer."""
    if not isinstance(models, tuple | list) or len(models) != 2:
        return False
    return is_model(models[0]) and is_tokenizer(models[1])
