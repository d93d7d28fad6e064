"""GenDa Lens measures gender bias in Danish language technology.

>>> import gendalens
>>> [result] = gendalens.run("control:fair", tasks="lm-abc", data="builtin", sample=40)
>>> result.task, result.model.name
('lm-abc', 'control:fair')
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from gendalens.version import __version__

if TYPE_CHECKING:
    from gendalens import tasks
    from gendalens.api import load_model, power, run
    from gendalens.comparison.comparison import compare
    from gendalens.errors import UserError
    from gendalens.models.objects.resolver import Resolver
    from gendalens.models.objects.scorer import Scorer
    from gendalens.models.objects.tagger import Tagger
    from gendalens.results.result import Result

__all__ = [
    "Resolver",
    "Result",
    "Scorer",
    "Tagger",
    "UserError",
    "__version__",
    "compare",
    "load_model",
    "power",
    "run",
    "tasks",
]

#: Where the public names live; each is imported when it is first used, so that starting is cheap.
_HOMES = {
    "Resolver": "gendalens.models.objects.resolver",
    "Result": "gendalens.results.result",
    "Scorer": "gendalens.models.objects.scorer",
    "Tagger": "gendalens.models.objects.tagger",
    "UserError": "gendalens.errors",
    "compare": "gendalens.comparison.comparison",
    "load_model": "gendalens.api",
    "power": "gendalens.api",
    "run": "gendalens.api",
}


def __getattr__(name: str) -> Any:
    """A public name, imported now."""
    if name == "tasks":
        return import_module("gendalens.tasks")
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """The public names, imported or not."""
    return sorted({*globals(), *__all__})
