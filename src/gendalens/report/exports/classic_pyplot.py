"""The interaction plot of GenDa Lens 0.0.3 by matplotlib, for code that goes on working with pyplot."""

from __future__ import annotations

from importlib.util import find_spec
from types import ModuleType
from typing import TYPE_CHECKING

from gendalens.errors import UserError
from gendalens.report.exports.classic_plot import COLOURS, find_layout, list_points, make_title
from gendalens.system.extras import write_install_command

if TYPE_CHECKING:
    import pandas as pd

STYLES = (":", ":", "-")
APART = 0.025  # so that points of the same value do not hide each other
#: What seaborn's "whitegrid" and "notebook" at 1.2, which 0.0.3 sets for all plots, make of this one.
LOOK = {
    "axes.axisbelow": True,
    "axes.edgecolor": "0.8",
    "axes.grid": True,
    "axes.labelsize": 14.4,
    "axes.titlesize": 14.4,
    "grid.color": "0.8",
    "legend.fontsize": 13.2,
    "legend.title_fontsize": 14.4,
    "xtick.bottom": False,
    "xtick.labelsize": 13.2,
    "ytick.labelsize": 13.2,
    "ytick.left": False,
}


def draw_with_pyplot(
    data: pd.DataFrame, framework: str, model_name: str, task: str | None
) -> ModuleType:
    """Draw the plot on pyplot's current figure, or on a new one if that is in use; return pyplot."""
    if find_spec("matplotlib") is None:
        raise UserError(
            "Plots as GenDa Lens 0.0.3 returns them need matplotlib: run `{command}`, or use "
            "chart_results, which gives an Altair chart.",
            command=write_install_command("matplotlib"),
        )
    import matplotlib.pyplot as pyplot

    layout = find_layout(framework, task)
    points = list_points(data, layout)
    with pyplot.rc_context(LOOK):
        if pyplot.gca().has_data():
            pyplot.figure()
        axes = pyplot.gca()
        for place, line in enumerate(layout.lines):
            shift = APART * (place - (len(layout.lines) - 1) / 2)
            axes.plot(
                [shift, 1 + shift],
                [one.value for one in points if one.line == line],
                label=line,
                color=COLOURS[place],
                linestyle=STYLES[place],
                linewidth=4,
                marker="o",
                markersize=10,
            )
        axes.set_xticks([0, 1], layout.conditions)
        axes.set_xlim(-0.5, 1.5)
        axes.set_xlabel(layout.axis)
        axes.set_ylabel(layout.value)
        axes.set_title(make_title(layout, model_name))
        axes.grid(visible=False, axis="x")
        axes.legend(title=layout.legend)
        axes.yaxis.minorticks_on()
    drawn: ModuleType = pyplot
    return drawn
