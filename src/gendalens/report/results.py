"""The results of a run as a list that makes frames, pages and charts."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, SupportsIndex, overload

from gendalens.report.notebook.result import show_result, show_results
from gendalens.results.frames import frame_figures, frame_findings
from gendalens.results.result import Result

if TYPE_CHECKING:
    import pandas as pd
    from altair.typing import ChartType


class Results(list[Result]):
    """A list of results that makes data frames, pages and charts; a slice of it does as well.

    >>> import gendalens
    >>> results = gendalens.run("control:fair", tasks=["lm-abc", "lm-dawinobias"],
    ...                         data="builtin", sample=40)
    >>> [result.task for result in results]
    ['lm-abc', 'lm-dawinobias']
    >>> results.findings()[["task", "headline"]].values.tolist()
    [['lm-abc', 'undecided'], ['lm-dawinobias', 'undecided']]
    """

    def to_frame(self) -> pd.DataFrame:
        """Every figure of every result, a row each; :meth:`Result.to_frame` explains the columns.

        >>> import gendalens
        >>> results = gendalens.run("control:fair", tasks="lm-abc", data="builtin", sample=60)
        >>> frame = results.to_frame()
        >>> frame[frame.part == "effect"].value.round(2).tolist()
        [-0.01]
        """
        return frame_figures(self)

    def findings(self) -> pd.DataFrame:
        """What every result found, a row each, with texts in English.

        ``headline`` is the worse of ``main`` (the main effect) and ``groups``: ``bias``,
        ``negligible``, ``undecided``, ``not_measurable`` or ``not_judged``. A bias has a ``direction``
        and a ``size``. ``gender_effect_size`` has its 95% interval in ``low`` and ``high``, and is
        ``unstable`` if a side of it could be 0. ``warnings`` is their number, ``verdict`` the
        headline in words, and ``reason`` why it is not more definite.
        """
        return frame_findings(self)

    def report(self, path: str | Path) -> Path:
        """Write the report, one HTML page; see :mod:`gendalens.report`."""
        from gendalens.report.pages import write_page

        return write_page(self, path)

    def plot(self, chart: str | None = None) -> ChartType:
        """A chart of the results; see :func:`gendalens.plot`."""
        from gendalens.report.plots import plot_results

        return plot_results(self, chart)

    def _repr_html_(self) -> str:
        """The results in a notebook."""
        return show_result(self[0]) if len(self) == 1 else show_results(self)

    @overload
    def __getitem__(self, place: SupportsIndex) -> Result: ...

    @overload
    def __getitem__(self, place: slice) -> Results: ...

    def __getitem__(self, place: SupportsIndex | slice) -> Result | Results:
        found = super().__getitem__(place)
        return Results(found) if isinstance(found, list) else found

    def __add__(self, others: Iterable[Result]) -> Results:  # type: ignore[override]
        return Results([*self, *others])
