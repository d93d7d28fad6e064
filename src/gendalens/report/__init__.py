"""Reports: terminal, pages, charts, exports. Called as a function, the package writes a report.

>>> import gendalens
>>> results = gendalens.run("control:fair", tasks="lm-abc", data="builtin", sample=40)
>>> gendalens.report(results, "report.html").name
'report.html'
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gendalens.report.gathering import Run


class _CallablePackage(ModuleType):
    """The package as a function: ``gendalens.report`` is this package once a module of it is imported."""

    def __call__(self, results: Run | Iterable[Run], path: str | Path | None = None) -> Path:
        """Write the report: one HTML page that works offline; give its path.

        Parameters
        ----------
        results
            A run folder (or the folder of one model or result in it), a result, or several of these.
            Examples, and charts of occupations and names, need the records: results of a run without
            ``out`` are shown without them.
        path
            The file to write. Default: ``report.html`` in the run folder.

        """
        from gendalens.report.pages import write_page

        return write_page(results, path)


sys.modules[__name__].__class__ = _CallablePackage
