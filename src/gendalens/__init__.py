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
    from gendalens.api import (
        Comparison,
        Result,
        Results,
        build_site,
        compare,
        load,
        load_model,
        merge,
        plot,
        power,
        run,
    )
    from gendalens.errors import UserError
    from gendalens.models.objects.resolver import Resolver
    from gendalens.models.objects.scorer import Scorer
    from gendalens.models.objects.tagger import Tagger
    from gendalens.report.pages import write_page as report

__all__ = [
    "Comparison",
    "Resolver",
    "Result",
    "Results",
    "Scorer",
    "Tagger",
    "UserError",
    "__version__",
    "build_site",
    "compare",
    "load",
    "load_model",
    "merge",
    "plot",
    "power",
    "report",
    "run",
    "tasks",
]

#: Where the public names live; each is imported when it is first used, so that starting is cheap.
_HOMES = {
    "Comparison": "gendalens.api",
    "Resolver": "gendalens.models.objects.resolver",
    "Result": "gendalens.api",
    "Results": "gendalens.api",
    "Scorer": "gendalens.models.objects.scorer",
    "Tagger": "gendalens.models.objects.tagger",
    "UserError": "gendalens.errors",
    "build_site": "gendalens.api",
    "compare": "gendalens.api",
    "load": "gendalens.api",
    "load_model": "gendalens.api",
    "merge": "gendalens.api",
    "plot": "gendalens.api",
    "power": "gendalens.api",
    "run": "gendalens.api",
}
#: Public names that are packages; ``report`` can be called.
_PACKAGES = ("report", "tasks")


def __getattr__(name: str) -> Any:
    """A public name, imported now."""
    if name in _PACKAGES:
        return import_module(f"gendalens.{name}")
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """The public names, imported or not."""
    return sorted({*__all__, *(name for name in globals() if name.startswith("__"))})
