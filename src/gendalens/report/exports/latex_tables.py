"""Tables in LaTeX that fit on the page, whatever stands in their cells."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from gendalens.report.escape import latex, one_line
from gendalens.report.exports.tables import MOST_IN_CELL, Table, Value, to_text

PACKAGES = ("array", "booktabs", "longtable")
#: Digits on a line of an ordinary article, and in the space between two columns; the same for a wide
#: table, which is set in a smaller size and closer.
LINE, BETWEEN = 68, 2.5
SMALL_LINE, CLOSE = 80, 1.5
SMALL = r"\footnotesize\setlength{\tabcolsep}{3pt}"
CROWDED = r"\scriptsize\setlength{\tabcolsep}{3pt}"
MOST_ROWS = 25  # of a table on one page
MOST_WAITING = 12  # tables, of which LaTeX does not keep many more until it has filled a page
SHORT, LONGEST_PIECE = 12, 14  # characters of a word that need not be broken, and that may not be
#: About how wide letters are, in digits.
_NARROW, _WIDE = set("ijlftr.,;:!|()[]'/ "), set("mwæœ@%−<>+=~")
#: Where a name may be broken.
_BREAKS = re.compile(r"(?<=[:/@=?|_+-])(?=\w)|(?<=[.,])(?=[^\W\d])")
#: An interval, which stays on one line.
_BRACKETS = re.compile(r"(\[[^\[\]]{1,20}\])")


def to_latex(tables: Iterable[Table]) -> str:
    """LaTeX tables with their notes below them; the first line names the packages they need."""
    head = (
        f"% needs \\usepackage{{{','.join(PACKAGES)}}} and, for Danish, \\usepackage[T1]{{fontenc}}"
    )
    parts = [head]
    for number, table in enumerate(tables):
        if number and number % MOST_WAITING == 0:
            parts.append(r"\clearpage")
        parts.append(_write_table(table))
    return "\n\n".join(parts) + "\n"


def _write_table(table: Table) -> str:
    rows = [[_split_cell(value) for value in row] for row in (table.headings, *table.rows)]
    columns, size = _set_columns(rows)
    head, *body = [_join_with_ampersands(row) for row in rows]
    if size:  # rows of several lines need something between them
        body = [line for row in body for line in (row, r"\addlinespace")][:-1]
    caption = rf"\caption{{{_write_words(table.title)}}}"
    notes = [rf"{{\footnotesize {_write_words(*table.notes)}\par}}"] if table.notes else []
    if len(table.rows) > MOST_ROWS:
        heading = [r"\toprule", head, r"\midrule"]
        lines = [
            r"\begingroup",
            *size,
            rf"\begin{{longtable}}{{{columns}}}",
            rf"{caption} \tabularnewline",
            *heading,
            r"\endfirsthead",
            *heading,
            r"\endhead",
            r"\bottomrule",
            r"\endfoot",
            *body,
            r"\end{longtable}",
            r"\endgroup",
            *notes,
        ]
        return "\n".join(lines)
    lines = [r"\begin{table}[!htbp]", r"\centering", caption, *size]
    if table.headings:
        lines += [rf"\begin{{tabular}}{{{columns}}}", r"\toprule", head, r"\midrule"]
        lines += [*body, r"\bottomrule", r"\end{tabular}"]
    below = [r"\par\smallskip", *notes] if notes else []
    return "\n".join([*lines, *below, r"\end{table}"])


def _set_columns(rows: Sequence[Sequence[Sequence[str]]]) -> tuple[str, list[str]]:
    """The columns of a table, and its size if it is too wide for columns as wide as their cells.

    The columns of a wide one share the line: each gets room for its longest piece, and then more the
    longer its cells are.
    """
    cells = list(zip(*rows, strict=True))
    whole = [max(_measure("".join(cell)) for cell in column) for column in cells]
    if sum(whole) + BETWEEN * len(whole) <= LINE:
        return "l" * len(whole), []
    # A little more than measured, because a letter's width is only guessed.
    least = [1.08 * max(_measure(piece) for cell in column for piece in cell) for column in cells]
    rest = SMALL_LINE - sum(least) - CLOSE * len(least)
    room = max(rest, 0)
    wanted = [max(most - few, 0) for most, few in zip(whole, least, strict=True)]
    widths = [
        few + CLOSE + room * want / max(sum(wanted), 1)
        for few, want in zip(least, wanted, strict=True)
    ]
    # Rounded down, so that the line is not overfull by a rounding error.
    shares = [int(1000 * width / sum(widths)) / 1000 for width in widths]
    wrapped = (
        r">{{\raggedright\arraybackslash}}p{{\dimexpr {share:.3f}\linewidth-2\tabcolsep\relax}}"
    )
    return "".join(wrapped.format(share=share) for share in shares), [
        CROWDED if rest < 0 else SMALL
    ]


def _split_cell(value: Value) -> list[str]:
    """The pieces of a cell between which a line may be broken; a space is the end of a piece."""
    pieces: list[str] = []
    for part in _BRACKETS.split(one_line(to_text(value), MOST_IN_CELL)):
        words = [part] if _BRACKETS.fullmatch(part) else re.findall(r"\S*\s|\S+", part)
        pieces += [piece for word in words for piece in _split_word(word)]
    return pieces or [""]


def _split_word(word: str) -> Iterator[str]:
    if len(word) <= SHORT or _BRACKETS.fullmatch(word):
        yield word
        return
    for piece in _BREAKS.split(word):
        for start in range(0, len(piece), LONGEST_PIECE):
            yield piece[start : start + LONGEST_PIECE]


def _measure(text: str) -> float:
    """About how wide a text is, in digits."""
    return sum(
        0.7 if sign in _NARROW else 1.7 if sign in _WIDE else 1.4 if sign.isupper() else 1.1
        for sign in text
    )


def _join_with_ampersands(row: Sequence[Sequence[str]]) -> str:
    return " & ".join(map(_write_cell, row)) + r" \\"


def _write_cell(pieces: Sequence[str]) -> str:
    text = ""
    for piece in pieces:
        is_within = text and not text.endswith(" ") and piece[:1] not in " ,.:;)"
        broken = r"\allowbreak{}" if is_within else ""
        kept = (
            rf"\mbox{{{latex(piece, None)}}}" if _BRACKETS.fullmatch(piece) else latex(piece, None)
        )
        text += broken + kept
    return text


def _write_words(*texts: str) -> str:
    """Sentences in LaTeX; a name or signature, which may be longer than a line, may be broken."""
    words = _join_sentences(*texts).split(" ")
    return " ".join(_write_cell(list(_split_word(word))) for word in words)


def _join_sentences(*texts: str) -> str:
    """Texts as sentences, each with one full stop, even where a value brought its own."""
    return " ".join(f"{text.rstrip('.')}." for text in texts)
