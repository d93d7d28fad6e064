"""The LaTeX tables, set by a real TeX: they compile, and no line is wider than the page."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from small_runs import HOSTILE, renamed

from gendalens.comparison.comparison import compare
from gendalens.report.exports import comparison_tables, result_tables
from gendalens.report.exports.latex_tables import PACKAGES, to_latex
from gendalens.report.exports.tables import Table
from gendalens.results.result import Result
from gendalens.results.saved_results import SavedResult, find_results
from gendalens.words import use_language

#: Letters of European languages, marks of this package, and signs for which pdfTeX has no letter.
SIGNS = (
    *map(chr, range(0xA1, 0x180)),
    *"‘’‚“”„«»—–−±×·≈≤≥→…",
    *"北Ж😀\N{REPLACEMENT CHARACTER}",
    *"\\{}$%&#_^~<>|[]*\"'`@",
)

Compile = Callable[[Sequence[Table]], str]


@pytest.fixture
def compile_tables(tmp_path: Path) -> Compile:
    """Sets tables as a paper does, and returns what can be read on its pages."""
    if not (shutil.which("pdflatex") and shutil.which("pdftotext")):
        pytest.skip("needs pdflatex and pdftotext (make test-latex)")

    def compile_tables(tables: Sequence[Table]) -> str:
        preamble = rf"\usepackage[T1]{{fontenc}}\usepackage{{{','.join(PACKAGES)}}}"
        parts = (
            rf"\documentclass[a4paper]{{article}}{preamble}\begin{{document}}",
            to_latex(tables),
            r"\end{document}",
        )
        (tmp_path / "paper.tex").write_text("\n".join(parts), encoding="utf-8")
        command = ("pdflatex", "-halt-on-error", "-interaction=nonstopmode", "paper.tex")
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, check=False)
        said = (tmp_path / "paper.log").read_text(encoding="utf-8", errors="replace")
        assert done.returncode == 0, said[-2000:]
        # Height is another matter: a signature of 10,000 characters fills pages.
        assert not re.findall(r"^Overfull \\hbox.*", said, re.MULTILINE)
        paper = ("pdftotext", "-layout", "paper.pdf", "-")
        read = subprocess.run(paper, cwd=tmp_path, capture_output=True, check=True, text=True)
        return read.stdout

    return compile_tables


def list_results(run: Path) -> list[Result]:
    return [one.result for one in find_results([run])]


@pytest.mark.slow
@pytest.mark.parametrize("language", ["en", "da"])
def test_results_and_comparisons_compile(
    language: str, small_run: Path, compile_tables: Compile
) -> None:
    use_language(language)
    try:
        tables = result_tables.short_tables(list_results(small_run))
        compared = comparison_tables.short_tables(compare(find_results([small_run])))
    finally:
        use_language("en")
    read = compile_tables([*tables, *compared])
    words = ("too little data", "95%") if language == "en" else ("for få data", "mandeerhverv")
    assert all(word in read for word in words)


@pytest.mark.slow
@pytest.mark.parametrize("name", HOSTILE, ids=["html", "signs", "marks", "formula", "long"])
def test_so_do_hostile_names(
    name: str, small_run: Path, compile_tables: Compile, tmp_path: Path
) -> None:
    found: list[SavedResult] = [
        renamed(one, tmp_path / "run", name) for one in find_results([small_run])[:2]
    ]
    read = compile_tables(result_tables.short_tables([one.result for one in found]))
    assert name[:8] in "".join(read.split()) or name.startswith(("ø", '"'))


@pytest.mark.slow
def test_every_sign_compiles_and_letters_stay_letters(compile_tables: Compile) -> None:
    rows = tuple((f"U+{ord(sign):04X}", f"x{sign}") for sign in SIGNS)
    read = compile_tables([Table(("code", "sign"), rows, "Signs: 100 % æøå_&#")])
    assert "100 % æøå_&#" in read
    for sign in "æøåÆØÅéü":
        assert re.search(rf"U\+{ord(sign):04X}\s+x{sign}", read)
    assert re.search(r"U\+5317\s+x<U\+5317>", read)


@pytest.mark.slow
def test_a_run_of_many_models_compiles_and_no_row_is_lost(
    small_run: Path, compile_tables: Compile
) -> None:
    results = list_results(small_run) * 6
    read = compile_tables(result_tables.short_tables(results))
    overview = read.split("Table 2:")[0]
    assert overview.count("ner-dane@2") == 12
