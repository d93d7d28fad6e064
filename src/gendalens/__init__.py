"""GenDa Lens measures gender bias in Danish language technology.

>>> import gendalens
>>> results = gendalens.run("control:fair", tasks=["lm-abc"])  # doctest: +SKIP
>>> results[0].verdict  # doctest: +SKIP
'no difference found'
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from gendalens.errors import UserError
from gendalens.version import __version__

if TYPE_CHECKING:
    from gendalens import tasks
    from gendalens.api import load_model, run
    from gendalens.comparison.comparison import compare
    from gendalens.results.result import Result

__all__ = ["Result", "UserError", "__version__", "compare", "load_model", "run", "tasks"]


def __getattr__(name: str) -> Any:
    """The public names, imported when they are used: the command line starts without NumPy."""
    if name == "Result":
        from gendalens.results.result import Result

        return Result
    if name == "tasks":
        return import_module("gendalens.tasks")
    if name == "compare":
        from gendalens.comparison.comparison import compare

        return compare
    if name in __all__:
        return getattr(import_module("gendalens.api"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
