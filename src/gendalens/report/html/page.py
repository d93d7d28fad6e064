"""The report: one HTML file that holds everything it needs, in two languages."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from importlib.metadata import version
from typing import Any

import jinja2
from markupsafe import Markup, escape

from gendalens.data.home import home
from gendalens.report.charts import library as chart_library
from gendalens.report.provenance import reservations
from gendalens.report.words import DANISH_NUMBERS, LANGUAGES, Both, number, said, shortened, word
from gendalens.results.run_folder import replace_file
from gendalens.version import __version__

TEMPLATES = "templates"
#: What the script says; all other words stand in the page.
SCRIPT_WORDS = ("any", "matches", "match", "said", "lean", "nothing", "bits")
SNIPPET = "window.vegaEmbed = vegaEmbed;"


@dataclass(frozen=True, slots=True)
class Page:
    """What a template needs beside its own figures: charts and examples by the place they go to."""

    title: Both
    charts: Mapping[str, Mapping[str, Any]]
    examples: Mapping[str, Any] = field(default_factory=dict)


def render(template: str, page: Page, **values: Any) -> str:
    """A page from a template that extends ``page.html.j2``; reports and comparisons share it."""
    scripts = {"bundle": _bundle(), "script": _asset("page.js")}
    data = json_for_script(
        {
            "charts": page.charts,
            "examples": page.examples,
            "numbers": DANISH_NUMBERS,
            "words": {
                language: {name: word(name).of(language) for name in SCRIPT_WORDS}
                for language in LANGUAGES
            },
        }
    )
    return (
        _environment()
        .get_template(template)
        .render(
            page=page,
            version=__version__,
            style=Markup(_asset("page.css")),  # noqa: S704 (our own file)
            data_json=data,
            policy=policy(scripts.values(), _asset("page.css")),
            **{name: Markup(text) for name, text in scripts.items()},  # noqa: S704
            **values,
        )
    )


def json_for_script(plain: Any) -> Markup:
    """JSON that can stand inside a script element: nothing in it can end the element."""
    text = json.dumps(plain, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for sign in "<>&\u2028\u2029":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    # A lone surrogate is no text that a file can hold.
    return Markup(re.sub("[\ud800-\udfff]", "\ufffd", text))  # noqa: S704 (escaped above)


def policy(scripts: Iterable[str], style: str) -> str:
    """What the page may do: run its own scripts, known by their digests, and reach nothing else."""
    allowed = " ".join(map(_digest, scripts))
    return (
        f"default-src 'none'; script-src {allowed}; style-src {_digest(style)}; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def _digest(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


@cache
def _bundle() -> str:
    """The chart library, one for all charts of a page; made once, as that takes seconds, and kept."""
    made_by = f"{version('vl-convert-python')}-{version('altair')}"
    kept = home() / "pages" / f"charts-{made_by}.js"
    try:
        return kept.read_text(encoding="utf-8")
    except (OSError, ValueError):
        pass
    # An end tag inside a JavaScript string may be written with a backslash; it means the same.
    text = chart_library.bundle(SNIPPET).replace("</script", r"<\/script")
    with suppress(OSError):  # a cache that cannot be written costs time, nothing else
        kept.parent.mkdir(parents=True, exist_ok=True)
        replace_file(kept, text)
    return text


@cache
def _asset(name: str) -> str:
    folder = resources.files(__package__).joinpath(TEMPLATES)
    return folder.joinpath(name).read_text(encoding="utf-8")


@cache
def _environment() -> jinja2.Environment:
    made = jinja2.Environment(
        loader=jinja2.PackageLoader("gendalens.report.html", TEMPLATES),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters["shortened"] = shortened
    made.globals |= {
        "w": in_words,
        "word": word,
        "say": say,
        "text": text,
        "num": num,
        "figure": figure,
    }
    made.globals |= {
        "digits_for": digits_for,
        "p_value": p_value,
        "count": count,
        "attribute": attribute,
        "reservations": reservations,
    }
    return made


def text(both: Both) -> Markup:
    """A text in both languages; the style sheet shows the one that the page is in."""
    if both.da == both.en:
        return escape(both.en)
    if both.da is None:
        return Markup('<span lang="en">{}</span>').format(both.en)
    pair = '<span class="t" lang="en">{}</span><span class="t" lang="da">{}</span>'
    return Markup(pair).format(both.en, both.da)  # noqa: S704 (format escapes)


def in_words(name: str, **parts: object) -> Markup:
    """A fixed text of the page."""
    return text(word(name, **parts))


def say(english: str, capital: bool = False) -> Markup:
    """A text of a result or a card, with a capital letter first if it stands alone."""
    both = said(english)
    return text(both.capital if capital else both)


def count(value: int) -> Both:
    """A count as both languages write it."""
    return Both(number(value, 0), number(value, 0, "da"))


def attribute(name: str, key: str) -> Markup:
    """An attribute in both languages; the script exchanges it with the language."""
    both = word(key)
    pair = '{0}="{1}" data-en-{0}="{1}" data-da-{0}="{2}"'
    return Markup(pair).format(Markup(name), both.en, both.of("da"))  # noqa: S704


def num(value: float | None, path: str, digits: int = 2) -> Markup:
    """A number of a result: rounded for the eye, with its exact value and its place in result.json."""
    if value is None:
        return Markup('<span class="undefined">–</span>')
    return Markup('<span class="n" data-value="{}" data-path="{}">{}</span>').format(
        repr(value), path, number(value, digits)
    )


def figure(one: Any, path: str, digits: int = 2) -> Markup:
    """A figure with its interval in brackets, as far as both are defined."""
    shown = num(one.value, f"{path}.value", digits)
    if one.value is None or one.low is None or one.high is None:
        return shown
    low, high = (num(getattr(one, end), f"{path}.{end}", digits) for end in ("low", "high"))
    return Markup('{} <span class="i">[{}; {}]</span>').format(shown, low, high)


def p_value(p: float | None, path: str) -> Markup:
    """A p with three digits, or the bound below which it lies."""
    if p is None:
        return Markup('<span class="undefined">–</span>')
    shown = "< 0.001" if p < 0.001 else f"{p:.3f}"
    return Markup('<span class="n" data-value="{}" data-path="{}">{}</span>').format(
        repr(p), path, shown
    )


def digits_for(figures: Sequence[Any], least: int = 2) -> int:
    """How many digits show a row of figures: fewer for large ones, more where all would be 0."""
    values = [abs(one.value) for one in figures if one.value]
    if not values:
        return least
    if max(values) >= 10:
        return 1
    return least + 1 if max(values) < 10**-least else least
