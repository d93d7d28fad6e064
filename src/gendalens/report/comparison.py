"""The comparison that the Python interface gives: with a page, and shown in notebooks."""

from __future__ import annotations

from pathlib import Path

from gendalens.comparison import comparison
from gendalens.report.notebook.comparison import show_comparison


class Comparison(comparison.Comparison):
    """Any number of results, in groups of comparable ones."""

    __slots__ = ()

    def report(self, path: str | Path) -> Path:
        """Write the comparison as one HTML page that works offline; give its path."""
        from gendalens.report.html.comparison_page import write

        place = Path(path)
        write(self, place)
        return place

    def _repr_html_(self) -> str:
        """The comparison in a notebook."""
        return show_comparison(self)
