"""The style of charts: few colours, each with one meaning.

In dark mode, the page's style sheet replaces exactly these colour values, so a chart never has to be
drawn twice.
"""

from __future__ import annotations

from typing import Any

# Purple and green are distinct in every kind of colour vision (ColorBrewer's PRGn), and so are
# vermilion and blue (Okabe & Ito); shapes and dashes repeat the distinction.
FEMALE, MALE, ALL = "#762a83", "#1b7837", "#5f6b78"
MAJORITY, MINORITY = "#2b5f8a", "#9a6200"
FOUND, NONE, UNCLEAR = "#c2410c", "#1d6fa5", "#5f6b79"
INK, MUTED, GRID = "#1f2a37", "#52606d", "#dfe4ea"
FONT = "system-ui, -apple-system, 'Segoe UI', 'Liberation Sans', Arial, sans-serif"

CONFIG: dict[str, Any] = {
    "aria": False,  # the page names each chart and has its figures in a table
    "mark": {"aria": False},
    "font": FONT,
    "background": "transparent",
    "padding": 4,
    "view": {"stroke": None},
    "axis": {
        "labelColor": MUTED,
        "titleColor": MUTED,
        "labelFontSize": 12,
        "titleFontSize": 12,
        "titleFontWeight": "normal",
        "titlePadding": 10,
        "gridColor": GRID,
        "domainColor": GRID,
        "tickColor": GRID,
    },
    "legend": {
        "labelColor": INK,
        "titleColor": MUTED,
        "labelFontSize": 12,
        "titleFontWeight": "normal",
        "offset": 6,
    },
}
