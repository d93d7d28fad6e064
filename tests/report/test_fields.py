"""Every figure stands in its own place: exports, pages and the terminal, field by field."""

from __future__ import annotations

import csv
import html
import io
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import distinct
import pytest
from page_numbers import at, check_text, read_numbers

from gendalens.comparison.comparability import get_comparability
from gendalens.comparison.comparison import Comparison
from gendalens.comparison.gate import Limits, judge
from gendalens.comparison.groups import Group, Pair, Row
from gendalens.comparison.pair_findings import PairFinding
from gendalens.comparison.pairing import DIFFERENCE
from gendalens.report.exports import comparison_tables
from gendalens.report.exports.annex_iv import annex_iv
from gendalens.report.exports.every_eval_ever import every_eval_ever
from gendalens.report.exports.hub_metadata import hub_metadata
from gendalens.report.exports.junit import junit
from gendalens.report.exports.latex_tables import to_latex
from gendalens.report.exports.model_card import model_card
from gendalens.report.exports.result_tables import COLUMNS, long_table, short_tables
from gendalens.report.exports.tables import Table, to_csv, to_markdown
from gendalens.report.html import comparison_page, run_page
from gendalens.report.terminal import comparison as comparison_terminal
from gendalens.report.terminal import result as terminal
from gendalens.report.terminal.console import PlainConsole
from gendalens.results import saved_results
from gendalens.results.figures import show_p
from gendalens.results.result import Contrast, Result
from gendalens.results.saved_results import SavedResult
from gendalens.stats.estimate import Estimate
from gendalens.tasks import get_task
from gendalens.tasks.base import ComparedFigures
from gendalens.words import ENGLISH, use_language, write

GAP, ODDS_GAP = "F1_pro - F1_anti", "log-odds of the male form, male-typed - female-typed referent"
PRONOUN_GAP, ODDS = (
    "F1 of male pronouns - of female pronouns",
    "log-odds of the male form, all lines",
)
HEADLINE = "bias found, also in groups (large)"


@pytest.fixture(autouse=True)
def english() -> Iterator[None]:
    yield
    use_language(ENGLISH)


@pytest.fixture(scope="module")
def saved(small_run: Path) -> SavedResult:
    (model,) = (path for path in small_run.iterdir() if "stereotyped" in path.name)
    (one,) = saved_results.find_results([*model.glob("lm-dawinobias@2-*")])
    return distinct.make_result(one)


@pytest.fixture(scope="module")
def result(saved: SavedResult) -> Result:
    return saved.result


def test_every_figure_of_the_result_is_another_number(result: Result) -> None:
    plain = result.to_dict()
    parts = [plain["finding"][part]["evidence"] for part in ("main", "groups")]
    names = ("gender_effect_size", "gap", "contrast", "conditions", "nuance", "extra", "coverage")
    found = list(distinct.list_numbers([*parts, *(plain[name] for name in names)]))
    assert len(found) > 90
    assert len(set(found)) == len(found)


# JSON


def test_json_holds_each_figure_under_its_name(result: Result) -> None:
    plain = json.loads(result.to_json())
    assert plain == json.loads(Result.from_dict(plain).to_json())
    ges = plain["gender_effect_size"]
    assert (ges["value"], ges["low"], ges["high"]) == (1.234, 0.876, 1.592)
    keys = ("value", "low", "high", "p", "p_adjusted")
    assert [plain["gap"][key] for key in keys] == [0.231, 0.142, 0.320, 0.005, 0.017]
    assert [plain["contrast"][key] for key in keys] == [-0.172, -0.263, -0.081, 0.0008, 0.0032]
    cells = {
        (cell["condition"], cell["group"]): [cell[key] for key in ("value", "low", "high", "n")]
        for cell in (*plain["conditions"], *plain["nuance"])
    }
    assert cells == {
        ("pro", None): [0.812, 0.763, 0.861, 301],
        ("anti", None): [0.581, 0.522, 0.641, 302],
        ("pro", "female pronouns"): [0.795, 0.736, 0.854, 151],
        ("pro", "male pronouns"): [0.829, 0.771, 0.887, 152],
        ("anti", "female pronouns"): [0.493, 0.424, 0.562, 153],
        ("anti", "male pronouns"): [0.669, 0.601, 0.737, 154],
    }
    finding = plain["finding"]
    assert finding["headline"] == "bias"
    decided = ("is", "direction", "size", "band", "unit", "could_have_seen", "could_have_acquitted")
    assert [finding["main"][key] for key in decided] == [
        *("bias", "pro-stereotypical", "large", 0.051, "F1", 0.127, 0.148)
    ]
    assert [finding["groups"][key] for key in decided] == [
        *("bias", "female pronouns", "medium", 0.053, "F1", 0.131, 0.156)
    ]
    figures = (*keys, "band", "seen", "acquitted", "is")
    assert [[one[key] for key in figures] for one in finding["main"]["evidence"]] == [
        [0.233, 0.144, 0.322, 0.006, 0.018, 0.051, 0.127, 0.148, "bias"],
        [1.51, 0.92, 2.11, 0.007, 0.021, 0.252, 0.84, 0.97, "bias"],
    ]
    assert [[one[key] for key in figures] for one in finding["groups"]["evidence"]] == [
        [-0.174, -0.265, -0.083, 0.0009, 0.0036, 0.053, 0.131, 0.156, "bias"],
        [0.41, -0.12, 0.94, 0.129, 0.258, 0.254, 0.76, 0.88, "undecided"],
    ]


# Tables


def test_csv_holds_each_figure_in_its_column(result: Result) -> None:
    rows = list(csv.DictReader(io.StringIO(to_csv(long_table([result])))))
    assert list(rows[0]) == list(COLUMNS)
    for row in rows:
        start = [row[name] for name in ("model", "revision", "dtype", "test", "protocol")]
        assert start == ["org/first", "rev-1", "bfloat16", "lm-dawinobias", "2"]
        assert (row["finding"], row["verdict"]) == ("bias", HEADLINE)
        assert row["signature"] == result.signature
    where = ("part", "condition", "group", "name", "unit")
    what = ("value", "low", "high", "p", "p_adjusted", "n")
    judged = ("band", "could_have_seen", "could_have_acquitted", "evidence_finding")
    found = [
        (
            [row[name] for name in where],
            [row[name] for name in what],
            [row[name] for name in judged],
        )
        for row in rows
    ]
    none = ["", "", "", ""]
    expected = [
        (
            ["effect", "", "", "gender effect size", "log2 ratio"],
            ["1.234", "0.876", "1.592", "", "", ""],
            none,
        ),
        (["gap", "", "", GAP, "F1"], ["0.231", "0.142", "0.32", "0.005", "0.017", ""], none),
        (
            ["contrast", "", "", PRONOUN_GAP, "F1"],
            ["-0.172", "-0.263", "-0.081", "0.0008", "0.0032", ""],
            none,
        ),
        (
            ["evidence_main", "", "", GAP, "F1"],
            ["0.233", "0.144", "0.322", "0.006", "0.018", ""],
            ["0.051", "0.127", "0.148", "bias"],
        ),
        (
            ["evidence_main", "", "", ODDS_GAP, "bits"],
            ["1.51", "0.92", "2.11", "0.007", "0.021", ""],
            ["0.252", "0.84", "0.97", "bias"],
        ),
        (
            ["evidence_groups", "", "", PRONOUN_GAP, "F1"],
            ["-0.174", "-0.265", "-0.083", "0.0009", "0.0036", ""],
            ["0.053", "0.131", "0.156", "bias"],
        ),
        (
            ["evidence_groups", "", "", ODDS, "bits"],
            ["0.41", "-0.12", "0.94", "0.129", "0.258", ""],
            ["0.254", "0.76", "0.88", "undecided"],
        ),
    ]
    cells = (
        ("condition", "pro", "", "0.812 0.763 0.861 301"),
        ("condition", "anti", "", "0.581 0.522 0.641 302"),
        ("nuance", "pro", "female pronouns", "0.795 0.736 0.854 151"),
        ("nuance", "pro", "male pronouns", "0.829 0.771 0.887 152"),
        ("nuance", "anti", "female pronouns", "0.493 0.424 0.562 153"),
        ("nuance", "anti", "male pronouns", "0.669 0.601 0.737 154"),
    )
    for part, condition, group, numbers in cells:
        value, low, high, n = numbers.split()
        expected.append(([part, condition, group, "f1", ""], [value, low, high, "", "", n], none))
    for one in result.extra:
        own = [repr(one.value), repr(one.low), repr(one.high), "", "", str(one.n)]
        expected.append((["extra", "", "", str(one.name), one.unit], own, none))
    assert found == expected


OVERVIEW = [
    "org/first",
    "lm-dawinobias@2",
    "1.23 [0.88, 1.59]",
    "0.233 [0.144, 0.322] F1",
    ".018",
    HEADLINE,
]
CONDITIONS = [
    ["pro", "0.81 [0.76, 0.86]", "0.80 [0.74, 0.85]", "0.83 [0.77, 0.89]"],
    ["anti", "0.58 [0.52, 0.64]", "0.49 [0.42, 0.56]", "0.67 [0.60, 0.74]"],
]


def test_short_tables_hold_what_their_headings_say(result: Result) -> None:
    overview, conditions = short_tables([result])
    assert list(overview.headings) == ["model", "test", "GES", "gap", "p (Holm)", "verdict"]
    assert [list(row) for row in overview.rows] == [OVERVIEW]
    assert list(conditions.headings) == [
        *("condition", "main effect", "female pronouns", "male pronouns")
    ]
    assert [list(row) for row in conditions.rows] == CONDITIONS
    assert conditions.title == "lm-dawinobias@2, org/first: F1"
    assert f"Signature: {result.signature}." in conditions.notes
    assert "A warning of its own." in conditions.notes


def test_danish_tables_hold_the_same_in_danish_notation(result: Result) -> None:
    use_language("da")
    overview, conditions = short_tables([result])
    assert [list(row) for row in overview.rows] == [
        [
            "org/first",
            "lm-dawinobias@2",
            "1,23 [0,88; 1,59]",
            "0,233 [0,144; 0,322] F1",
            "0,018",
            "bias fundet, også i grupper (stor)",
        ]
    ]
    assert [list(row) for row in conditions.rows] == [
        ["prostereotyp", "0,81 [0,76; 0,86]", "0,80 [0,74; 0,85]", "0,83 [0,77; 0,89]"],
        ["antistereotyp", "0,58 [0,52; 0,64]", "0,49 [0,42; 0,56]", "0,67 [0,60; 0,74]"],
    ]
    assert list(conditions.headings) == [
        *("betingelse", "hovedeffekt", "kvindelige pronominer", "mandlige pronominer")
    ]


def test_markdown_and_latex_keep_the_order_of_cells() -> None:
    table = Table(("a", "b"), (("1", "2"), ("3", None)), "title", notes=("note",))
    assert to_markdown([table]) == (
        "**title**\n\n| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | – |\n\nnote\n"
    )
    latex = to_latex([table]).splitlines()
    assert [line for line in latex if "&" in line] == [r"a & b \\", r"1 & 2 \\", r"3 & -- \\"]
    assert r"\caption{title.}" in latex
    assert r"{\footnotesize note.\par}" in latex


@pytest.mark.parametrize(
    ("p", "english", "danish"),
    [
        (0.0004, "< .001", "< 0,001"),
        (0.00099, "< .001", "< 0,001"),
        (0.001, ".001", "0,001"),
        (0.005, ".005", "0,005"),
        (0.0496, ".050", "0,050"),
        (0.25, ".250", "0,250"),
        (0.9996, "1.000", "1,000"),
        (None, "no p", "intet p"),
    ],
)
def test_p_is_rounded_to_thousandths_and_no_further(
    p: float | None, english: str, danish: str
) -> None:
    assert (write(show_p(p), "en"), write(show_p(p), "da")) == (english, danish)


# Model card, hub, Every Eval Ever, JUnit


@pytest.mark.parametrize("document", [model_card, annex_iv])
def test_a_document_holds_each_figure_in_its_column(
    document: Callable[[list[Result]], str], result: Result
) -> None:
    lines = document([result]).splitlines()
    table = [line.replace("\\", "") for line in lines if line.startswith("|")]
    assert table == [
        "| test | Gender Effect Size | gap | verdict |",
        "|---|---|---|---|",
        f"| lm-dawinobias@2 | 1.23 [0.88, 1.59] | 0.233 [0.144, 0.322] F1 | {HEADLINE} |",
    ]


def test_the_model_card_says_what_was_measured(result: Result) -> None:
    lines = model_card([result]).splitlines()
    (measured,) = [line for line in lines if line.startswith("Measured with GenDa Lens")]
    assert "on org/first, revision rev-1." in measured
    text = "\n".join(lines)
    assert "Harm in question: stereotyping." in text
    assert "Warning: A warning of its own." in text
    assert f"```\n{result.signature}\n```" in text


DETAILS = {
    "finding": "bias",
    "verdict": HEADLINE,
    "main_finding": "bias",
    "main_direction": "pro-stereotypical",
    "main_size": "large",
    "main_band": "0.051 F1",
    "groups_finding": "bias",
    "groups_direction": "female pronouns",
    "groups_size": "medium",
    "groups_band": "0.053 F1",
}


def test_the_hub_gets_each_figure_with_its_own_bounds(result: Result) -> None:
    yaml = pytest.importorskip("yaml")
    (model,) = yaml.safe_load(hub_metadata([result]))["model-index"]
    assert model["name"] == "org/first"
    (entry,) = model["results"]
    shared = {"test": "lm-dawinobias@2", **DETAILS, "signature": result.signature}
    assert entry["metrics"] == [
        {
            "type": "gender_effect_size",
            "value": 1.234,
            "name": "Gender Effect Size",
            "args": {"low": 0.876, "high": 1.592, **shared},
        },
        {
            "type": "gap",
            "value": 0.231,
            "name": f"{GAP} (F1)",
            "args": {"low": 0.142, "high": 0.32, **shared},
        },
    ]


def test_every_eval_ever_gets_each_figure_with_its_own_bounds(saved: SavedResult) -> None:
    plain = json.loads(every_eval_ever([saved], now=1_700_000_000))
    assert plain["evaluation_id"] == "gendalens/org/first/1700000000"
    details = plain["model_info"]["additional_details"]
    assert details == {
        "deployment_type": "self_deployed",
        "model_availability": "unknown",
        "revision": "rev-1",
        "dtype": "bfloat16",
        "kind": "masked language model",
        "tokenizer": "tok-1",
        "software": "torch 9.1",
    }
    expected = (
        ("gender_effect_size", "Gender Effect Size", "log2 ratio", 1.234, 0.876, 1.592),
        ("gap", GAP, "F1", 0.231, 0.142, 0.32),
    )
    assert len(plain["evaluation_results"]) == len(expected)
    for one, (kind, name, unit, value, low, high) in zip(
        plain["evaluation_results"], expected, strict=True
    ):
        assert one["evaluation_name"] == "lm-dawinobias@2"
        assert one["evaluation_result_id"] == f"lm-dawinobias@2-{saved.result.key}/{kind}"
        metric, score = one["metric_config"], one["score_details"]
        assert metric["metric_id"] == f"gendalens.absolute_{kind}"
        assert (metric["metric_name"], metric["metric_unit"]) == (f"|{name}|", unit)
        assert score["score"] == value
        bounds = score["uncertainty"]["confidence_interval"]
        assert (bounds["lower"], bounds["upper"], bounds["confidence_level"]) == (low, high, 0.95)
        assert score["details"] == {
            "signed": repr(value),
            "signed_low": repr(low),
            "signed_high": repr(high),
            **DETAILS,
            "sample": "all",
            "signature": saved.result.signature,
        }


@pytest.mark.parametrize(
    ("bounds", "folded"),
    [
        ((-0.4, -0.9, -0.2), (0.4, 0.2, 0.9)),
        ((-0.1, -0.3, 0.2), (0.1, 0.0, 0.3)),
        ((0.4, 0.2, 0.9), (0.4, 0.2, 0.9)),
    ],
)
def test_bounds_are_folded_at_zero_where_a_score_is_a_distance(
    saved: SavedResult, bounds: tuple[float, float, float], folded: tuple[float, float, float]
) -> None:
    result = replace(saved.result, gender_effect_size=Estimate(*bounds))
    plain = json.loads(every_eval_ever([replace(saved, result=result)]))
    score = plain["evaluation_results"][0]["score_details"]
    interval = score["uncertainty"]["confidence_interval"]
    assert (score["score"], interval["lower"], interval["upper"]) == folded
    names = ("signed", "signed_low", "signed_high")
    assert tuple(float(score["details"][name]) for name in names) == bounds


def test_junit_names_each_part_with_its_figure_and_limit(result: Result) -> None:
    other = replace(
        result,
        model=replace(result.model, name="org/second"),
        finding=replace(result.finding, groups=result.finding.main, main=result.finding.groups),
    )
    judgements = judge([result, other], Limits(), parts=("main", "groups"))
    root = ElementTree.fromstring(junit(judgements))
    totals = {"tests": "4", "failures": "4", "errors": "0", "skipped": "0"}
    assert {name: root.get(name) for name in totals} == totals
    found = [
        (case.get("classname"), case.get("name"), *(one.get("message") for one in case))
        for case in root.iter("testcase")
    ]
    # Of several figures beyond their limits, the one that is furthest beyond.
    main = f"{ODDS_GAP} 1.51 [0.92, 2.11] bits lies beyond ±0.252"
    groups = f"{PRONOUN_GAP} −0.174 [−0.265, −0.083] F1 lies beyond ±0.053"
    assert found == [
        ("org/first", "lm-dawinobias@2 main", main),
        ("org/first", "lm-dawinobias@2 groups", groups),
        ("org/second", "lm-dawinobias@2 main", groups),
        ("org/second", "lm-dawinobias@2 groups", main),
    ]
    assert {one.text for one in root.iter("failure")} == {result.signature}


# Terminal


def print_result(result: Result) -> list[str]:
    console = PlainConsole(file=io.StringIO(), width=10_000)
    terminal.show(console, result, Path("some/folder"))
    text = console.file.getvalue()  # type: ignore[attr-defined]
    return [" ".join(line.split()) for line in text.splitlines()]


def test_the_terminal_shows_each_figure_beside_its_label(result: Result) -> None:
    lines = print_result(result)
    text = "\n".join(lines)
    assert f"lm-dawinobias@2 · {result.model.name} " in f"{lines[1]} "
    assert "masked language model, bfloat16" in lines
    assert "GES 1.23 [0.88, 1.59]" in lines
    for expected in (
        "main 0.233 [0.144, 0.322] F1, band ±0.051 F1, p = .006 (adjusted .018)\n"
        f"{GAP}\nbias found; could have seen 0.13 F1, ruled out 0.15 F1",
        "1.51 [0.92, 2.11] bits, band ±0.252 bits, p = .007 (adjusted .021)\n"
        f"{ODDS_GAP}\nbias found; could have seen 0.84 bits, ruled out 0.97 bits",
        "groups −0.174 [−0.265, −0.083] F1, band ±0.053 F1, p < .001 (adjusted .004)\n"
        f"{PRONOUN_GAP}\nbias found; could have seen 0.13 F1, ruled out 0.16 F1",
        "0.41 [−0.12, 0.94] bits, band ±0.254 bits, p = .129 (adjusted .258)\n"
        f"{ODDS}\ntoo little data to tell; could have seen 0.76 bits, ruled out 0.88 bits",
    ):
        assert expected in text
    assert "condition main effect female pronouns male pronouns" in lines
    for row in CONDITIONS:
        assert " ".join(row) in lines
    for one in result.extra:
        assert any(
            line.startswith(f"{one.name} {one.value:.2f} [{one.low:.2f}, ") for line in lines
        )
    assert "! A warning of its own." in lines
    for name, count in result.coverage.items():
        if isinstance(count, int) and count:
            assert f"{name.replace('_', ' ')} {count}" in text
    assert "pieces per pronoun female 1.61, male 1.72" in text
    assert "main harm: stereotyping; may come from: semantic bias" in lines
    assert "groups harm: underrepresentation; may come from: selection bias" in lines
    assert f"signature {result.signature}" in lines
    assert "folder some/folder" in lines


def test_gap_and_contrast_stand_apart_where_the_verdict_rests_on_other_figures(
    result: Result,
) -> None:
    finding = replace(
        result.finding,
        main=replace(result.finding.main, evidence=result.finding.main.evidence[1:]),
        groups=replace(result.finding.groups, evidence=result.finding.groups.evidence[1:]),
    )
    text = "\n".join(print_result(replace(result, finding=finding)))
    assert f"gap 0.231 [0.142, 0.320] F1, p = .005 (adjusted .017)\n{GAP}\n" in text
    assert f"by group −0.172 [−0.263, −0.081] F1, p < .001 (adjusted .003)\n{PRONOUN_GAP}\n" in text


# Pages


def read_tables(page: str) -> list[list[list[str]]]:
    """The tables of a page in English, each as rows of cells, as on a wide screen."""
    english = re.sub(r'<span class="t" lang="da">.*?</span>', "", page, flags=re.DOTALL)
    english = re.sub(r'<small class="of-card">.*?</small>', "", english, flags=re.DOTALL)
    return [
        [
            [_read(cell) for cell in re.findall(r"<t[hd].*?>(.*?)</t[hd]>", row, re.DOTALL)]
            for row in re.findall(r"<tr[^>]*>(.*?)</tr>", table, re.DOTALL)
        ]
        for table in re.findall(r"<table.*?>(.*?)</table>", english, re.DOTALL)
        if table  # those of the numbers of a chart are filled when they are opened
    ]


def _read(cell: str) -> str:
    spaced = cell.replace("<small>", " <small>").replace("</div>", "; ")
    return " ".join(html.unescape(re.sub(r"<.*?>", "", spaced)).split())


@pytest.fixture(scope="module")
def page(saved: SavedResult) -> str:
    return run_page.html([saved])


def test_the_page_shows_each_figure_in_its_row_and_column(page: str, result: Result) -> None:
    figures, evidence, conditions, *_ = read_tables(page)
    assert figures[0] == ["Figure", "Value, 95% interval", "p", "p, corrected", "Harm"]
    assert [row[1:] for row in figures[1:]] == [
        ["1.23 [0.88, 1.59]", "", "", "Stereotyping Semantic bias"],
        ["0.231 [0.142, 0.320] F1", "0.005", "0.017", "Stereotyping"],
        [
            "−0.172 [−0.263, −0.081] F1",
            "< 0.001",
            "0.003",
            "Underrepresentation Selection bias",
        ],
    ]
    assert [row[0] for row in figures[1:]] == [
        "GES log2(F1_pro / F1_anti) "
        "F1_pro: F1 where the pronoun fits the stereotype of the occupation "
        "F1_anti: F1 where the pronoun goes against the stereotype of the occupation",
        f"Main effect {GAP}",
        f"Groups {PRONOUN_GAP}",
    ]
    assert evidence == [
        [
            *("Effect", "Value, 95% interval", "Band", "p, corrected", "Verdict"),
            *("Could have seen", "Could have ruled out"),
        ],
        [
            *(f"Main effect {GAP}", "0.233 [0.144, 0.322] F1", "±0.05", "0.018", "Bias found"),
            *("0.13", "0.15"),
        ],
        [
            *(
                f"Main effect {ODDS_GAP[0].upper()}{ODDS_GAP[1:]}",
                "1.51 [0.92, 2.11] bits",
                "±0.25",
            ),
            *("0.021", "Bias found", "0.84", "0.97"),
        ],
        [
            *(f"Groups {PRONOUN_GAP}", "−0.174 [−0.265, −0.083] F1", "±0.05", "0.004"),
            *("Bias found", "0.13", "0.16"),
        ],
        [
            *(f"Groups {ODDS[0].upper()}{ODDS[1:]}", "0.41 [−0.12, 0.94] bits", "±0.25", "0.258"),
            *("Too little data to tell", "0.76", "0.88"),
        ],
    ]
    assert conditions == [
        ["Condition", "Main effect", "Female pronouns", "Male pronouns"],
        [
            "Pro",
            "0.81 [0.76, 0.86] n = 301",
            "0.80 [0.74, 0.85] n = 151",
            "0.83 [0.77, 0.89] n = 152",
        ],
        [
            "Anti",
            "0.58 [0.52, 0.64] n = 302",
            "0.49 [0.42, 0.56] n = 153",
            "0.67 [0.60, 0.74] n = 154",
        ],
    ]


def test_the_page_shows_further_figures_and_coverage_beside_their_names(
    page: str, result: Result
) -> None:
    further = next(table for table in read_tables(page) if len(table) == len(result.extra) + 1)
    for row, one in zip(further[1:], result.extra, strict=True):
        assert row[0].lower().startswith(str(one.name).lower())
        assert row[1].startswith(f"{one.value:.2f} [{one.low:.2f}, {one.high:.2f}]")
    english = re.sub(r'<span class="t" lang="da">.*?</span>', "", page, flags=re.DOTALL)
    listed = {
        _read(name).lower(): _read(value)
        for name, value in re.findall(
            r"<div><dt>(.*?)</dt>\s*<dd>(.*?)</dd></div>", english, re.DOTALL
        )
    }
    for name, value in result.coverage.items():
        if isinstance(value, int):
            assert listed[name.replace("_", " ")] == str(value)


def test_each_number_on_the_page_names_its_place_in_the_result(page: str, result: Result) -> None:
    plain = result.to_dict()
    marked = re.findall(r'data-value="(.*?)" data-path="(.*?)"', page)
    assert len(marked) > 80
    for value, path in marked:
        place: Any = plain
        for step in path.split("."):
            place = place[int(step)] if isinstance(place, list) else place[step]
        assert float(value) == place


# Comparisons


def make_comparison(result: Result) -> Comparison:
    """Two models and their difference, every figure another number."""
    second = replace(
        result, model=replace(result.model, name="org/second"), signature=f"{result.signature}|2"
    )
    names = {one.id: one.name for one in result.finding.evidence}
    main = result.finding.main.evidence[0]
    groups = result.finding.groups.evidence[0]
    swapped = replace(
        result.finding,
        main=replace(result.finding.main, evidence=(replace(main, **_bounds(0.35, 0.26, 0.44)),)),
        groups=replace(
            result.finding.groups, evidence=(replace(groups, **_bounds(0.015, -0.007, 0.037)),)
        ),
    )
    figures = ComparedFigures(
        effect=result.gender_effect_size,
        gap=result.gap,
        contrast=result.contrast,
        finding=replace(
            result.finding,
            main=replace(result.finding.main, evidence=(main,)),
            groups=replace(result.finding.groups, evidence=(groups,)),
        ),
    )
    other = replace(figures, effect=Estimate(2.346, 1.987, 2.703), finding=swapped)
    pair = Pair(
        first="org/first",
        second="org/second",
        main=(_difference(names["gap"], -0.117, -0.208, -0.026, 0.011, 0.022),),
        groups=(_difference(names["contrast"], -0.189, -0.271, -0.107, 0.0007, 0.0014),),
        effect=Estimate(-1.111, -1.654, -0.568),
        finding=PairFinding(
            main="second_leans_further", groups="differ", differing=(names["contrast"],)
        ),
    )
    group = Group(
        comparability=get_comparability(result),
        title=get_task("lm-dawinobias", 2).card.title,
        rows=(Row("org/first", result, figures), Row("org/second", second, other)),
        pairs=(pair,),
    )
    return Comparison((group,))


def _bounds(value: float, low: float, high: float) -> dict[str, Any]:
    return {"value": value, "low": low, "high": high, "p": 0.031, "p_adjusted": 0.041}


def _difference(name: Any, *numbers: float) -> Contrast:
    value, low, high, p, adjusted = numbers
    return Contrast(
        name=DIFFERENCE(figure=name),
        unit="F1",
        value=value,
        low=low,
        high=high,
        p=p,
        p_adjusted=adjusted,
    )


@pytest.fixture(scope="module")
def comparison(result: Result) -> Comparison:
    return make_comparison(result)


LEANS = (
    "the second leans further to the male or pro-stereotypical side, and they differ in groups: "
    + PRONOUN_GAP
)
MAIN_1, GROUPS_1 = "0.233 [0.144, 0.322] F1", "−0.174 [−0.265, −0.083] F1"
MAIN_2, GROUPS_2 = "0.350 [0.260, 0.440] F1", "0.015 [−0.007, 0.037] F1"
MAIN_D, GROUPS_D = "−0.117 [−0.208, −0.026] F1", "−0.189 [−0.271, −0.107] F1"


def test_a_comparison_s_short_tables_hold_each_model_s_own_figures(comparison: Comparison) -> None:
    models, pairs = comparison_tables.short_tables(comparison)
    assert list(models.headings) == ["model", "GES", "verdict", "main effect", "groups"]
    assert [list(row) for row in models.rows] == [
        [
            "org/first",
            "1.23 [0.88, 1.59]",
            HEADLINE,
            f"bias found (large): {GAP} {MAIN_1}",
            f"bias found (medium): {PRONOUN_GAP} {GROUPS_1}",
        ],
        [
            "org/second",
            "2.35 [1.99, 2.70]",
            "bias found (large)",
            f"bias found (large): {GAP} {MAIN_2}",
            f"no difference that matters: {PRONOUN_GAP} {GROUPS_2}",
        ],
    ]
    assert list(pairs.headings) == [
        *("first", "second", "main effect, difference"),
        *("groups, difference", "difference of GES", "finding"),
    ]
    assert [list(row) for row in pairs.rows] == [
        [
            "org/first",
            "org/second",
            f"{MAIN_D}, p = .022",
            f"{GROUPS_D}, p = .001",
            "−1.11 [−1.65, −0.57]",
            LEANS,
        ]
    ]


def test_a_comparison_s_csv_holds_each_figure_in_its_row(comparison: Comparison) -> None:
    rows = list(csv.DictReader(io.StringIO(to_csv(comparison_tables.long_table(comparison)))))
    columns = ("kind", "model", "minus", "part", "figure")
    numbers = ("value", "low", "high", "unit", "p", "p_adjusted", "finding")
    found = [([row[name] for name in columns], [row[name] for name in numbers]) for row in rows]
    pair = ("difference", "org/first", "org/second")
    assert found == [
        (
            ["model", "org/first", "", "ges", "GES"],
            ["1.234", "0.876", "1.592", "log2 ratio", "", "", "bias"],
        ),
        (
            ["model", "org/first", "", "main", GAP],
            ["0.233", "0.144", "0.322", "F1", "0.006", "0.018", "bias"],
        ),
        (
            ["model", "org/first", "", "groups", PRONOUN_GAP],
            ["-0.174", "-0.265", "-0.083", "F1", "0.0009", "0.0036", "bias"],
        ),
        (
            ["model", "org/second", "", "ges", "GES"],
            ["2.346", "1.987", "2.703", "log2 ratio", "", "", "bias"],
        ),
        (
            ["model", "org/second", "", "main", GAP],
            ["0.35", "0.26", "0.44", "F1", "0.031", "0.041", "bias"],
        ),
        (
            ["model", "org/second", "", "groups", PRONOUN_GAP],
            ["0.015", "-0.007", "0.037", "F1", "0.031", "0.041", "negligible"],
        ),
        ([*pair, "ges", "GES"], ["-1.111", "-1.654", "-0.568", "log2 ratio", "", "", ""]),
        (
            [*pair, "main", f"difference of {GAP}"],
            ["-0.117", "-0.208", "-0.026", "F1", "0.011", "0.022", "second_leans_further"],
        ),
        (
            [*pair, "groups", f"difference of {PRONOUN_GAP}"],
            ["-0.189", "-0.271", "-0.107", "F1", "0.0007", "0.0014", "differ"],
        ),
    ]
    signatures = [row["signature"] for row in rows]
    own = comparison.groups[0].rows[0].result.signature
    assert signatures == [own] * 3 + [f"{own}|2"] * 3 + [""] * 3


def test_a_comparison_in_the_terminal_keeps_models_apart(comparison: Comparison) -> None:
    console = PlainConsole(file=io.StringIO(), width=10_000)
    comparison_terminal.show(console, comparison)
    written = console.file.getvalue()  # type: ignore[attr-defined]
    lines = [" ".join(line.split()) for line in written.splitlines()]
    at = {name: next(i for i, line in enumerate(lines) if name in line) for name in ("[1]", "[2]")}
    assert lines[at["[1]"]] == "[1] org/first"
    assert lines[at["[2]"]] == "[2] org/second"
    first = lines[at["[1]"] : at["[2]"]]
    second = lines[at["[2]"] :]
    for part, ges, main, groups in (
        (first, "GES 1.23 [0.88, 1.59]", MAIN_1, GROUPS_1),
        (second, "GES 2.35 [1.99, 2.70]", MAIN_2, GROUPS_2),
    ):
        text = "\n".join(part)
        assert ges in text
        assert f"main {main} bias found (large)" in text
        assert f"groups {groups} " in text
    end = "\n".join(second)
    assert "[1] − [2] [2] leans further to the male or pro-stereotypical side" in end
    assert f"main {MAIN_D}, p = .011 (adjusted .022)" in end
    assert f"groups {GROUPS_D}, p < .001 (adjusted .001)" in end
    assert "GES −1.11 [−1.65, −0.57]" in end


def test_a_comparison_s_page_keeps_models_apart(comparison: Comparison) -> None:
    _, models, pairs, *_ = read_tables(comparison_page.html(comparison))
    assert [row[:3] for row in models[1:]] == [
        ["org/first", "1.23 [0.88, 1.59]", f"{HEADLINE[0].upper()}{HEADLINE[1:]}"],
        ["org/second", "2.35 [1.99, 2.70]", "Bias found (large)"],
    ]
    shown = [[cell.partition(" F1 ")[0] + " F1" for cell in row[3:]] for row in models[1:]]
    assert shown == [[MAIN_1, GROUPS_1], [MAIN_2, GROUPS_2]]
    assert pairs[0] == [
        *("First", "Second", "Finding", "Main effect, difference", "Groups, difference"),
        "Difference (GES)",
    ]
    assert pairs[1] == [
        "org/first",
        "org/second",
        LEANS,
        f"{MAIN_D}, p 0.022 {GAP};",
        f"{GROUPS_D}, p 0.001 {PRONOUN_GAP};",
        "−1.11 [−1.65, −0.57]",
    ]


def test_every_number_on_a_comparison_s_page_is_the_comparison_s(comparison: Comparison) -> None:
    plain = comparison.to_dict()
    numbers = read_numbers(comparison_page.html(comparison))
    for _, path, value, scale, text in numbers:
        exact = at(plain, path)
        assert repr(exact) == value, path
        check_text(exact, scale, text)
    paths = {path for _, path, *_ in numbers}
    for i, model in enumerate(plain["groups"][0]["models"]):
        for part in ("main", "groups"):
            for j, _ in enumerate(model["finding"][part]["evidence"]):
                for end in ("value", "low", "high"):
                    assert f"groups.0.models.{i}.finding.{part}.evidence.{j}.{end}" in paths
        assert f"groups.0.models.{i}.gender_effect_size.value" in paths


def test_a_comparison_s_json_holds_each_model_s_own_figures(comparison: Comparison) -> None:
    (group,) = comparison.to_dict()["groups"]
    assert [
        (
            one["label"],
            one["gender_effect_size"]["value"],
            one["finding"]["main"]["evidence"][0]["value"],
        )
        for one in group["models"]
    ] == [("org/first", 1.234, 0.233), ("org/second", 2.346, 0.35)]
    (difference,) = group["differences"]
    assert (difference["first"], difference["second"]) == ("org/first", "org/second")
    assert difference["main"][0]["p_adjusted"] == 0.022
    assert difference["groups"][0]["value"] == -0.189
    assert difference["effect"]["low"] == -1.654
    assert difference["finding"]["text"] == LEANS
