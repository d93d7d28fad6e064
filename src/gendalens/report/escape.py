"""Escaping of untrusted text, from a model or a file, for each output format."""

from __future__ import annotations

import json
import re
import unicodedata

LONGEST = 120  # characters of a model's name in a table

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
    "±": r"$\pm$",
    "×": r"$\times$",
    "·": r"$\cdot$",
    "≈": r"$\approx$",
    "≤": r"$\leq$",
    "≥": r"$\geq$",
    "→": r"$\to$",
    "–": "--",
    "…": r"\ldots{}",
    "\N{REPLACEMENT CHARACTER}": "?",
}
#: Letters that every TeX has in its font encoding T1, and quotation marks.
_IN_T1 = re.compile("[ -~¡¿À-ÖØ-öø-ĥĨ-ķĹ-ľŁ-ňŊ-ťŨ-ž‘’‚“”„«»—]")
#: A leading [ or *, which the \\ at the end of the previous row would take for its argument.
_LATEX_OPTION = re.compile(r"^(\s*)([\[*])")
_MARKDOWN = re.compile(r"([\\`*_\[\]#|~])")


def one_line(text: str, longest: int | None = LONGEST) -> str:
    """The text on one line, without control characters or direction marks."""
    clean = "".join(" " if sign.isspace() else "�" if _is_harmful(sign) else sign for sign in text)
    if longest is not None and len(clean) > longest:
        clean = clean[: longest - 1] + "…"
    return clean


def show_harmful(text: str) -> str:
    """The text with control characters and direction marks made visible; lines and tabs stay."""
    harmful = [sign for sign in set(text) - {"\n", "\t"} if _is_harmful(sign)]
    return text.translate(dict.fromkeys(map(ord, harmful), "\N{REPLACEMENT CHARACTER}"))


def _is_harmful(sign: str) -> bool:
    """Whether a character is a control, a format mark, a surrogate, or forbidden in XML."""
    return unicodedata.category(sign) in ("Cc", "Cf", "Cs") or sign in "\ufffe\uffff"


def markdown(text: str, longest: int | None = LONGEST) -> str:
    """Text escaped for Markdown, including tables; HTML in it stays text."""
    safe = one_line(text, longest).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return _MARKDOWN.sub(r"\\\1", safe)


def latex(text: str, longest: int | None = LONGEST) -> str:
    r"""Text escaped for LaTeX; what pdfTeX has no letter for is written as its code point.

    >>> latex("[1em] 100 % [0, 1] 北")
    '{[}1em] 100 \\% [0, 1] \\textless{}U+5317\\textgreater{}'
    """
    safe = "".join(map(_escape_latex, one_line(text, longest)))
    return _LATEX_OPTION.sub(r"\1{\2}", safe)


def _escape_latex(sign: str) -> str:
    if sign in _LATEX or _IN_T1.fullmatch(sign):
        return _LATEX.get(sign, sign)
    return rf"\textless{{}}U+{ord(sign):04X}\textgreater{{}}"


def csv(text: str) -> str:
    """Text for a CSV cell that no spreadsheet takes for a formula."""
    clean = one_line(text, None)
    return f"'{clean}" if clean[:1] in ("=", "+", "-", "@") else clean


def as_json(plain: object, indent: int | None = 1) -> str:
    r"""Plain data as JSON for a terminal, with non-printable characters as \u….

    >>> as_json("\x9b31m \u202e æ")
    '"\\u009b31m \\u202e æ"\n'
    """
    text = json.dumps(plain, ensure_ascii=False, indent=indent, allow_nan=False)
    if text.isprintable():
        return text + "\n"
    safe = (sign if sign.isprintable() or sign == "\n" else json.dumps(sign)[1:-1] for sign in text)
    return "".join(safe) + "\n"
