"""Charts of recall by how common and how long a first name is."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence

import altair as alt

from gendalens.report.charts.charts import FILE_WIDTH, ROWS, Spec, Width, stack_layers
from gendalens.report.charts.style import FEMALE, MALE, MUTED
from gendalens.report.wording import capitalize, name_identifier
from gendalens.tasks.views import NameTally
from gendalens.words import format_number, translate

#: Upper bounds of the classes of bearers: powers of four, minus one.
CLASSES = (0, 3, 15, 63, 255, 1023, 4095)
FEW = 10  # with fewer draws, a share is meaningless
COLOURS = {"female": FEMALE, "male": MALE, "unisex": MUTED}


def draw_by_bearers(names: Sequence[NameTally], language: str, width: Width = FILE_WIDTH) -> Spec:
    """Recall by the number of people who bear the first name."""

    def place(name: NameTally) -> int:
        return sum((name.bearers or 0) > end for end in CLASSES)

    labels = ["0", *(f"{format_number(end + 1, ',', language)}+" for end in CLASSES)]
    axis = translate("bearers in Denmark, at least", language)
    heading = translate("Recall by how common the first name is", language)
    return _draw_recall(names, place, labels, axis, heading, language, width)


def draw_by_length(names: Sequence[NameTally], language: str, width: Width = FILE_WIDTH) -> Spec:
    """Recall by the number of letters in the first name."""

    def place(name: NameTally) -> int:
        return len(name.name)

    longest = max(map(place, names), default=1)
    labels = [str(i) for i in range(longest + 1)]
    axis = translate("letters", language)
    heading = translate("Recall by length of the first name", language)
    return _draw_recall(names, place, labels, axis, heading, language, width)


def _draw_recall(
    names: Sequence[NameTally],
    place: Callable[[NameTally], int],
    labels: Sequence[str],
    axis: str,
    heading: str,
    language: str,
    width: Width,
) -> Spec:
    counts: dict[tuple[str, str, int], list[int]] = defaultdict(lambda: [0, 0])
    for name in names:
        count = counts[name.origin, name.gender, place(name)]
        count[0] += name.asked
        count[1] += name.found
    plain = [
        {
            "place": labels[at],
            "group": name_identifier(f"{origin} {gender}", language),
            "recall": found / asked,
            "asked": asked,
        }
        for (origin, gender, at), (asked, found) in sorted(counts.items())
        if asked >= FEW
    ]
    groups = sorted({(name.origin, name.gender) for name in names})
    domain = [name_identifier(f"{origin} {gender}", language) for origin, gender in groups]
    colours = alt.Scale(domain=domain, range=[COLOURS.get(gender, MUTED) for _, gender in groups])
    dashes = alt.Scale(
        domain=domain, range=[[1, 0] if origin == "majority" else [4, 3] for origin, _ in groups]
    )
    used = {row["place"] for row in plain}
    share = translate("share found", language)
    legend = alt.Legend(title=None, orient="top", columns=2, symbolType="stroke")
    base = alt.Chart(ROWS).encode(
        x=alt.X(
            "place:O",
            sort=[label for label in labels if label in used],
            # Labels that would touch on a phone are left out.
            axis=alt.Axis(
                title=capitalize(axis), labelAngle=0, labelOverlap="greedy", labelSeparation=6
            ),
            scale=alt.Scale(type="point", padding=0.4),
        ),
        y=alt.Y(
            "recall:Q",
            scale=alt.Scale(domain=[0, 1]),
            axis=alt.Axis(title=capitalize(share), format=".1f"),
        ),
        color=alt.Color("group:N", scale=colours, legend=legend),
        tooltip=[
            alt.Tooltip("group:N", title=translate("Group", language)),
            alt.Tooltip("place:N", title=axis),
            alt.Tooltip("recall:Q", title=share, format=".2f"),
            alt.Tooltip("asked:Q", title=translate("Drawn", language), format=",d"),
        ],
    )
    lines = base.mark_line(strokeWidth=2).encode(
        strokeDash=alt.StrokeDash("group:N", scale=dashes, legend=legend)
    )
    dots = base.mark_point(size=45, filled=True, opacity=1)
    return stack_layers((lines, dots), plain, width, 240, heading)
