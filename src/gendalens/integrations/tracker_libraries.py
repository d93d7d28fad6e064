"""The libraries of experiment trackers, imported only when something is logged to them."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from gendalens.errors import UserError
from gendalens.system.extras import write_install_command


def import_tracker(name: str) -> Any:
    """A tracker's package, or a user error that says how to install it."""
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        raise UserError(
            "Logging to {tracker} needs {package}: run `{command}`.",
            command=write_install_command(name),
            tracker=name,
            package=error.name or name,
        ) from error
