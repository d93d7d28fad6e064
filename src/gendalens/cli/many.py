"""Runs that are more than one model on one computer: lists of models, and clusters."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from gendalens.engine.ray_options import RayOptions, read_executor
from gendalens.errors import UserError
from gendalens.system.file_reading import open_given

#: The longest list of models, in bytes.
_LONGEST = 16 * 1024**2
# A folder's name may hold a #, so a comment begins a line or follows a space.
_COMMENT = re.compile(r"(?:^|\s)#.*")


def list_models(named: Sequence[str], file: Path | None) -> list[str]:
    """The models on the command line, then those in a file, each once."""
    found = [*named, *(read_models(file) if file is not None else ())]
    if not found:
        where = str(file) if file is not None else ""
        if where:
            raise UserError("{file} names no model: write one per line.", file=where)
        raise UserError(
            "No model is named: name at least one, or a file of them with --models-from."
        )
    return list(dict.fromkeys(found))


def read_models(file: Path) -> list[str]:
    """The models in a file, one per line; empty lines and comments are left out."""
    try:
        with open_given(file) as source:
            text = source.read(_LONGEST).decode("utf-8-sig")
    except OSError as error:
        raise UserError(
            "The list of models {file} cannot be read ({reason}); check its path.",
            file=str(file),
            reason=str(error.strerror),
        ) from None
    except UnicodeDecodeError:
        raise UserError(
            "The list of models {file} is not UTF-8 text: save it as UTF-8.", file=str(file)
        ) from None
    lines = (_COMMENT.sub("", line).strip() for line in text.splitlines())
    return [line for line in lines if line]


def choose_executor(
    executor: str | None,
    *,
    workers: int | None,
    cpus_per_worker: float | None,
    gpus_per_worker: float,
    environment: Sequence[str],
) -> RayOptions | None:
    """The cluster that the options describe; refuses options that have no effect without one."""
    if executor is None:
        given = {
            "--workers": workers is not None,
            "--cpus-per-worker": cpus_per_worker is not None,
            "--gpus-per-worker": gpus_per_worker > 0,
            "--worker-env": bool(environment),
        }
        for option in (name for name, is_given in given.items() if is_given):
            raise UserError(
                "{option} is about the workers of a Ray cluster: add --executor ray, or leave it out.",
                option=option,
            )
        return None
    return RayOptions(
        address=read_executor(executor),
        workers=workers,
        cpus_per_worker=cpus_per_worker,
        gpus_per_worker=gpus_per_worker,
        environment=tuple(dict.fromkeys(environment)),
    )
