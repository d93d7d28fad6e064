"""A page: one self-contained HTML file in every available language."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from importlib.metadata import version
from typing import Any, TypeAlias

import jinja2
from markupsafe import Markup

from gendalens.data.home import find_home
from gendalens.report.charts import charts
from gendalens.report.charts import library as chart_library
from gendalens.report.charts.number_format import number_format
from gendalens.report.escape import show_harmful
from gendalens.report.html.figures import FUNCTIONS
from gendalens.report.html.glossary import TERMS, explain_name
from gendalens.report.html.texts import PageTexts, Text, as_json
from gendalens.report.provenance import describe_origin, list_reservations
from gendalens.report.wording import explain_band, explain_reason, shorten
from gendalens.results.figures import in_points, name_unit, show_number
from gendalens.stats.findings import name_verdict
from gendalens.system.file_reading import read_ordinary
from gendalens.system.file_writing import make_private_folder, replace_file
from gendalens.version import __version__
from gendalens.words import phrase

TEMPLATES = "templates"
#: The words that the script shows; all others are in the page.
SCRIPT_WORDS = {
    "any": phrase("any"),
    "matches": phrase("examples match"),
    "match": phrase("example matches"),
    "said": phrase("model"),
    "lean": phrase("leaning"),
    "nothing": phrase("no answer"),
    "shares": phrase("against each other"),
    "wide": phrase("Scroll the table sideways to see all of it."),
    "open": phrase("Open all"),
    "close": phrase("Close all"),
    # The script puts the two numbers into the sentence.
    "shown": phrase("{shown} of {total} models are shown", shown="{shown}", total="{total}"),
    "occupations": phrase(
        "{shown} of {total} occupations are shown", shown="{shown}", total="{total}"
    ),
}
#: The files that the pages of a site share.
STYLE, SCRIPT, CHARTS = "page.css", "page.js", "charts.js"
#: A function that draws a chart in a language and a width.
Chart: TypeAlias = Callable[[str, charts.Width], charts.Spec]
SNIPPET = "window.vegaEmbed = vegaEmbed;"
#: The SHA-256 of the chart library by the versions that make it; a test makes the installed one anew.
_BUNDLES = {
    "1.9.0.post1-6.3.0": "373b1f84072b31010f15ceb787be6b415c53936411aae267c8c2b2b6ccde46e7",
}
LARGEST_BUNDLE = 16 * 1024**2  # bytes; it has about a twentieth of that


@dataclass(frozen=True, slots=True)
class Page:
    """What every template needs beside its own figures.

    ``charts`` (specs by language) and ``examples`` are keyed by their place on the page.
    """

    title: Text
    texts: PageTexts
    charts: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    examples: Mapping[str, Any] = field(default_factory=dict)
    #: What the rows and columns of its tables are filtered by.
    board: Mapping[str, Any] | None = None

    @property
    def captions(self) -> dict[str, dict[str, str]]:
        """The title of each chart, by language."""
        return {
            place: {language: str(spec["description"]) for language, spec in specs.items()}
            for place, specs in self.charts.items()
        }


@dataclass(frozen=True, slots=True)
class Site:
    """The site that a page is part of, by the relative path of its root, such as ``../``."""

    root: str

    @property
    def home(self) -> str:
        """The address of the first page."""
        return f"{self.root}index.html"

    def locate_asset(self, name: str) -> str:
        """The address of a file that all pages share."""
        return f"{self.root}assets/{name}"

    @property
    def policy(self) -> str:
        """A content security policy: only files of the site are used, from a server or from disk."""
        return (
            "default-src 'none'; script-src 'self' file:; style-src 'self' file:; img-src data:; "
            "base-uri 'none'; form-action 'none'"
        )


def make_assets() -> dict[str, str]:
    """The style sheet and scripts of a site's pages, by file name."""
    texts = PageTexts.in_all_languages()
    return {
        STYLE: _write_style(texts),
        SCRIPT: _read_script(),
        CHARTS: _read_bundle(),
    }


def _write_style(texts: PageTexts) -> str:
    return "\n".join([texts.style(), _read_asset("page.css"), _read_asset("board.css")])


def _read_script() -> str:
    return "\n".join([_read_asset("page.js"), _read_asset("board.js")])


def draw_all(drawn: Mapping[str, Chart], texts: PageTexts) -> dict[str, dict[str, charts.Spec]]:
    """Every chart in every language, by its place on the page."""
    with charts.skip_checks():
        return {
            place: {language: chart(language, "container") for language in texts.languages}
            for place, chart in drawn.items()
        }


def render(template: str, page: Page, site: Site | None = None, **values: Any) -> str:
    """The HTML of a page, from a template that extends ``page.html.j2``.

    It holds its style and scripts itself, unless it is part of a site.
    """
    texts = page.texts
    scripts: dict[str, str] = {}
    if site is None:
        # A page without charts needs no library for them.
        scripts = {"bundle": _read_bundle()} if page.charts else {}
        scripts["script"] = _read_script()
    style = _write_style(texts) if site is None else ""
    words = {name: texts.write(word) for name, word in SCRIPT_WORDS.items()}
    data = json_for_script(
        {
            "charts": page.charts,
            "examples": page.examples,
            "board": page.board,
            "numbers": {language: number_format(language) for language in texts.languages},
            "words": {
                language: {name: word[language] for name, word in words.items()}
                for language in texts.languages
            },
        }
    )
    title = texts.write(page.title)
    return (
        _environment()
        .get_template(template)
        .render(
            title=title,
            titles=as_json(title),
            languages=texts.name_languages(),
            captions=page.captions,
            version=__version__,
            style=_Asset(style),
            scripts=[_Asset(text) for text in scripts.values()],
            site=site,
            has_charts=bool(page.charts),
            data_json=data,
            policy=allow_only(scripts.values(), style) if site is None else site.policy,
            **texts.functions(),
            **values,
        )
    )


def json_for_script(plain: Any) -> Markup:
    """JSON for a script element: nothing in it can end the element."""
    text = json.dumps(plain, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for sign in "<>&\u2028\u2029":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    # A lone surrogate cannot be encoded in a file.
    return Markup(re.sub("[\ud800-\udfff]", "\ufffd", text))  # noqa: S704 (escaped above)


def allow_only(scripts: Iterable[str], style: str) -> str:
    """A content security policy: the page may run only its own scripts and load nothing."""
    allowed = " ".join(map(_digest, scripts))
    return (
        f"default-src 'none'; script-src {allowed}; style-src {_digest(style)}; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def _digest(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


@cache
def _read_bundle() -> str:
    """The chart library as a script; building it takes seconds, so it is kept on disk.

    Whatever lies there is run by every page, so it is used only if it is, to the byte, what these
    versions of the library make. Where that is not known, the script is made anew each time.
    """
    made_by = f"{version('vl-convert-python')}-{version('altair')}"
    expected = _BUNDLES.get(made_by)
    kept = find_home() / "pages" / f"charts-{made_by}.js"
    with suppress(OSError, ValueError):
        text = read_ordinary(kept, LARGEST_BUNDLE).decode()
        if hashlib.sha256(text.encode()).hexdigest() == expected:
            return text
    # In a JavaScript string, <\/script means the same and does not end the element.
    text = chart_library.bundle_scripts(SNIPPET).replace("</script", r"<\/script")
    if expected is not None:
        with suppress(OSError):  # a cache that cannot be written only costs time
            make_private_folder(kept.parent)
            replace_file(kept, text)
    return text


@cache
def _read_asset(name: str) -> str:
    folder = resources.files(__package__).joinpath(TEMPLATES)
    return folder.joinpath(name).read_text(encoding="utf-8")


class _Asset(Markup):
    """A file of ours, which stays as it is: its digest is in the page's policy."""


def _show_harmful(value: Any) -> Any:
    """What a template writes, with control characters made visible, which escaping leaves as they are."""
    if not isinstance(value, str) or isinstance(value, _Asset):
        return value
    return type(value)(show_harmful(value))


@cache
def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("gendalens.report.html", TEMPLATES),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        finalize=_show_harmful,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["shorten"] = shorten
    environment.globals |= FUNCTIONS
    environment.globals |= {
        "explain_band": explain_band,
        "explain_reason": explain_reason,
        "in_points": in_points,
        "name_verdict": name_verdict,
        "name_unit": name_unit,
        "show_number": show_number,
        "describe_origin": describe_origin,
        "reservations": list_reservations,
        "explain_name": explain_name,
        "terms": TERMS,
    }
    return environment
