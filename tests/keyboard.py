"""Walks through a page with the Tab key, as somebody does who has no pointer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

#: More stops than a page of the tests has.
MOST = 2000
_REACHABLE = """() => [...document.querySelectorAll(
    'a[href], button, input, select, summary, [tabindex="0"]')]
  .filter((one) => one.checkVisibility({visibilityProperty: true}))
  .map((one, place) => { one.dataset.stop = place; return one.outerHTML.slice(0, 120); })"""
#: Where the focus was is where the key goes on from, so it is put before or after everything.
_GO_TO_END = """(first) => {
  const end = document.createElement("span");
  end.tabIndex = -1;
  document.body[first ? "prepend" : "append"](end);
  end.focus();
  end.remove();
}"""
_FOCUS = """() => {
  const one = document.activeElement;
  if (one === document.body || one === null) return null;
  const box = one.getBoundingClientRect(), style = getComputedStyle(one);
  const bar = document.querySelector('.bar').getBoundingClientRect();
  const top = one.closest('.bar, .skip') ? 0 : bar.bottom - 1;
  return {
    stop: one.dataset.stop === undefined ? null : Number(one.dataset.stop),
    html: one.outerHTML.slice(0, 120),
    outlined: style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 2,
    free: box.top >= top - 2 || box.bottom - top > 24,
    inside: box.top < innerHeight && box.bottom > 0 && box.left < innerWidth && box.right > 0,
  };
}"""


@dataclass(frozen=True)
class Walk:
    """What can be reached by the eye, and the stops of the Tab key in their order."""

    visible: list[str]
    stops: list[dict[str, Any]]

    def check(self) -> None:
        """Every control is reached once, in the order of the page, and is seen to have the focus."""
        places = [one["stop"] for one in self.stops if one["stop"] is not None]
        missed = [self.visible[place] for place in set(range(len(self.visible))) - set(places)]
        assert missed == []
        assert places == sorted(places)
        for fault in ("outlined", "free", "inside"):
            assert [one["html"] for one in self.stops if not one[fault]] == [], fault


def walk(page: Any, key: str = "Tab") -> Walk:
    """Press a key until the focus has been everywhere; backwards, the stops are given in reverse."""
    visible = page.evaluate(_REACHABLE)
    stops: list[dict[str, Any]] = []
    page.evaluate(_GO_TO_END, key == "Tab")
    for _ in range(MOST):
        page.keyboard.press(key)
        stop = page.evaluate(_FOCUS)
        if stop is None or (
            stops and stop["stop"] is not None and stop["stop"] == stops[0]["stop"]
        ):
            break
        stops.append(stop)
    return Walk(visible, stops if key == "Tab" else stops[::-1])
