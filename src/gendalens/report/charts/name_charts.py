"""Charts of names: how common and how long a first name is, against how often it is found."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence

import altair as alt

from gendalens.report.charts.charts import FILE_WIDTH, ROWS, Spec, Width, finished
from gendalens.report.charts.style import FEMALE, MALE, MUTED
from gendalens.report.words import Language, capital, number, said, word
from gendalens.tasks.shared.views import NameTally

#: The upper ends of the classes of bearers: powers of four.
CLASSES = (0, 3, 15, 63, 255, 1023, 4095)
FEW = 10  # fewer draws than this say nothing about a share
COLOURS = {"female": FEMALE, "male": MALE, "unisex": MUTED}


def by_bearers(names: Sequence[NameTally], language: Language, width: Width = FILE_WIDTH) -> Spec:
    """Recall against how many people bear the first name."""

    def place(name: NameTally) -> int:
        return sum((name.bearers or 0) > end for end in CLASSES)

    labels = [_class_label(i, language) for i in range(len(CLASSES) + 1)]
    return _recall(names, place, labels, "bearers", "by_bearers", language, width)


def by_length(names: Sequence[NameTally], language: Language, width: Width = FILE_WIDTH) -> Spec:
    """Recall against the number of letters of the first name."""
    longest = max((len(name.name) for name in names), default=1)
    labels = [str(i) for i in range(longest + 1)]
    return _recall(
        names, lambda name: len(name.name), labels, "letters", "by_length", language, width
    )


def _class_label(place: int, language: Language) -> str:
    if place == 0:
        return "0"
    return f"{number(CLASSES[place - 1] + 1, 0, language)}+"


def _recall(
    names: Sequence[NameTally],
    place: Callable[[NameTally], int],
    labels: Sequence[str],
    title: str,
    heading: str,
    language: Language,
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
            "group": said(f"{origin} {gender}").of(language),
            "recall": found / asked,
            "asked": asked,
        }
        for (origin, gender, at), (asked, found) in sorted(counts.items())
        if asked >= FEW
    ]
    groups = sorted({(name.origin, name.gender) for name in names})
    domain = [said(f"{origin} {gender}").of(language) for origin, gender in groups]
    colours = alt.Scale(domain=domain, range=[COLOURS.get(gender, MUTED) for _, gender in groups])
    dashes = alt.Scale(
        domain=domain, range=[[1, 0] if origin == "majority" else [4, 3] for origin, _ in groups]
    )
    used = {row["place"] for row in plain}
    legend = alt.Legend(title=None, orient="top", columns=2, symbolType="stroke")
    base = alt.Chart(ROWS).encode(
        x=alt.X(
            "place:O",
            sort=[label for label in labels if label in used],
            axis=alt.Axis(title=capital(word(title).of(language)), labelAngle=0),
            scale=alt.Scale(type="point", padding=0.4),
        ),
        y=alt.Y(
            "recall:Q",
            scale=alt.Scale(domain=[0, 1]),
            axis=alt.Axis(title=capital(word("recall").of(language)), format=".1f"),
        ),
        color=alt.Color("group:N", scale=colours, legend=legend),
        tooltip=[
            alt.Tooltip("group:N", title=word("group").of(language)),
            alt.Tooltip("place:N", title=word(title).of(language)),
            alt.Tooltip("recall:Q", title=word("recall").of(language), format=".2f"),
            alt.Tooltip("asked:Q", title=word("asked").of(language), format=",d"),
        ],
    )
    lines = base.mark_line(strokeWidth=2).encode(
        strokeDash=alt.StrokeDash("group:N", scale=dashes, legend=legend)
    )
    dots = base.mark_point(size=45, filled=True, opacity=1)
    chart = alt.layer(lines, dots).properties(
        width=width, height=240, description=word(heading).of(language)
    )
    return finished(chart, plain)
