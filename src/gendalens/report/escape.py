"""Text that came from a model or a file, made harmless for the format it goes into."""

from __future__ import annotations

import json
import re
import unicodedata

LONGEST = 120  # characters of a model's name that a table shows

_LATEX = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "−": "$-$",
    "–": "--",
    "…": r"\ldots{}",
}
#: What the end of the row before would take for an option of its own.
_LATEX_OPTION = re.compile(r"^(\s*)([\[*])")
_MARKDOWN = re.compile(r"([\\`*_\[\]#|~])")


def one_line(text: str, longest: int | None = LONGEST) -> str:
    """The text on one line, without control characters or marks that turn its direction around."""
    clean = "".join(" " if sign.isspace() else "�" if _is_harmful(sign) else sign for sign in text)
    if longest is not None and len(clean) > longest:
        clean = clean[: longest - 1] + "…"
    return clean


def _is_harmful(sign: str) -> bool:
    """Control and format characters, half characters, and the two that no XML may hold."""
    return unicodedata.category(sign) in ("Cc", "Cf", "Cs") or sign in "\ufffe\uffff"


def markdown(text: str, longest: int | None = LONGEST) -> str:
    """As plain words in Markdown, in a table as well; HTML in it stays text."""
    safe = one_line(text, longest).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return _MARKDOWN.sub(r"\\\1", safe)


def latex(text: str, longest: int | None = LONGEST) -> str:
    r"""As plain words in LaTeX.

    >>> latex("[1em] 100 % [0, 1]")
    '{[}1em] 100 \\% [0, 1]'
    """
    safe = "".join(_LATEX.get(sign, sign) for sign in one_line(text, longest))
    return _LATEX_OPTION.sub(r"\1{\2}", safe)


def csv(text: str) -> str:
    """For a cell of CSV: a spreadsheet must not take it for a formula."""
    clean = one_line(text, None)
    return f"'{clean}" if clean[:1] in ("=", "+", "-", "@") else clean


def yaml(text: str) -> str:
    """A quoted YAML scalar, which is a JSON string but for what YAML does not print."""
    return json.dumps(one_line(text, None), ensure_ascii=False)


def as_json(plain: object) -> str:
    r"""Plain data as JSON for a terminal: what it could take for a command is written as \u….

    >>> as_json("\x9b31m \u202e æ")
    '"\\u009b31m \\u202e æ"\n'
    """
    text = json.dumps(plain, ensure_ascii=False, indent=1, allow_nan=False)
    safe = (sign if sign.isprintable() or sign == "\n" else json.dumps(sign)[1:-1] for sign in text)
    return "".join(safe) + "\n"
