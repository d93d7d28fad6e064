"""What is said when the code of another package fails."""

from __future__ import annotations

import traceback
from pathlib import Path

from gendalens.errors import UserError


def is_plugin(part: object) -> bool:
    """Whether a test or a model comes from another package."""
    return type(part).__module__.partition(".")[0] != "gendalens"


def explain_plugin_failure(error: Exception) -> UserError:
    """The error for a plug-in that fails, with the place."""
    place = traceback.extract_tb(error.__traceback__)[-1]
    return UserError(
        "{kind}: {reason} ({file}, line {line}): report it to the authors of the plug-in.",
        kind=type(error).__name__,
        reason=str(error),
        file=Path(place.filename).name,
        line=place.lineno,
    )
