"""The report as a file: complete, exact, harmless."""

from __future__ import annotations

import json
import math
import re
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import report_run
from page_numbers import Numbers, at, check_text

from gendalens.cli.report import write_charts, write_page
from gendalens.errors import UserError
from gendalens.report.charts import charts
from gendalens.report.charts.library import draw_pictures
from gendalens.report.exports.chart_files import add_title
from gendalens.report.html import after_run, run_page
from gendalens.report.html.examples import (
    FEMALE_EXTREME,
    MALE_EXTREME,
    TYPICAL,
    choose_examples,
    choose_telling,
)
from gendalens.report.html.glossary import list_symbols
from gendalens.report.html.page import json_for_script
from gendalens.report.wording import write_formula
from gendalens.results import saved_results
from gendalens.tasks import get_task
from gendalens.tasks.views import Example
from gendalens.words import translate


def test_every_number_on_the_page_equals_result_json(small_run: Path) -> None:
    results = saved_results.find_results([small_run])
    page = Numbers()
    page.feed(run_page.html(results))
    plain = {f"test-{i}": json.loads(r.result.to_json()) for i, r in enumerate(results, 1)}
    assert {result for result, *_ in page.found} == set(plain)
    for result, path, value, scale, text in page.found:
        exact = at(plain[str(result)], path)
        assert float(value) == exact, path
        check_text(exact, scale, text)
    for name, result in plain.items():
        paths = {path for one, path, *_ in page.found if one == name}
        for part in ("conditions", "nuance", "extra"):
            for i, cell in enumerate(result[part]):
                for end in ("value", "low", "high"):
                    whole = cell["value"] is not None and cell["low"] is not None
                    if cell[end] is not None and (end == "value" or whole):
                        assert f"{part}.{i}.{end}" in paths
        for part in ("main", "groups"):
            for i, evidence in enumerate(result["finding"][part]["evidence"]):
                for name in ("value", "low", "high", "band", "seen", "acquitted", "p_adjusted"):
                    path = f"finding.{part}.evidence.{i}.{name}"
                    assert (path in paths) == (evidence[name] is not None), path
        for path in ("gender_effect_size.value", "gap.value", "gap.p", "contrast.value"):
            assert (path in paths) == (at(result, path) is not None), (name, path)


def test_a_run_leaves_its_report_and_the_command_writes_the_same_kind_of_page(
    small_run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert (small_run / "report.html").stat().st_size < 5_000_000
    write_page([small_run], tmp_path / "deep.html")
    assert "deep.html" in capsys.readouterr().err
    text = (tmp_path / "deep.html").read_text(encoding="utf-8")
    for name in ("lm-dawinobias@2", "lm-abc@2", "coref-dawinobias@2", "coref-abc@2", "ner-dane@2"):
        assert text.count(f'data-task="{name}"') == 2
    for result in saved_results.find_results([small_run]):
        assert result.result.signature in text


def test_a_page_names_no_place_on_the_network(small_run: Path) -> None:
    text = (small_run / "report.html").read_text(encoding="utf-8")
    own = re.sub(r"<script>.*?</script>", "", text, flags=re.DOTALL)
    assert re.findall(r"""(?:src|href|action)=["'](?!#|data:)""", own) == []
    assert "default-src &#39;none&#39;" in own
    assert "unsafe" not in own.partition("</head>")[0]


def test_hostile_strings_stay_text(small_run: Path, tmp_path: Path) -> None:
    shutil.copytree(small_run, tmp_path / "run")
    report_run.poison(tmp_path / "run")
    text = run_page.html(saved_results.find_results([tmp_path / "run"]))
    assert text.count("<script") == 3
    assert text.count("</script>") == 3
    own = re.sub(r"<script.*?</script>", "", text, flags=re.DOTALL)
    assert "<img" not in own
    assert "&lt;img" in own
    assert "\u202e" not in text.partition("</title>")[0]


def test_a_page_of_hostile_data_is_json_that_cannot_end_its_script() -> None:
    plain = {"a": "</script><!--&\u2028\ud800"}
    text = str(json_for_script(plain))
    assert not re.search("[<>&\u2028]", text)
    assert json.loads(text) == {"a": "</script><!--&\u2028\ufffd"}


def test_too_many_examples_are_the_furthest_leanings_and_a_cross_section() -> None:
    def example(i: int) -> Example:
        lean = 1.0 if i < 10 else 0.1
        return Example(text=str(i), condition="pro", outcome="right", about="one", lean=lean)

    examples = [example(i) for i in range(100)]
    shown = choose_examples(lambda: examples, 20)
    kept = [int(one.text) for one in shown.examples]
    assert shown.total == 100
    assert kept == sorted(kept)
    assert kept[:10] == list(range(10))
    assert kept[10:] == list(range(10, 100, 9))
    assert choose_examples(lambda: examples, 100).examples == tuple(examples)


def test_the_first_examples_are_extremes_and_typical_ones_and_one_per_occupation() -> None:
    leans = [3.0, 2.9, 2.0, 1.0, 0.2, 0.1, 0.0, -0.1, -1.0, -2.0, -2.9, -3.0]
    jobs = ["smed", "smed", "pilot", "vagt", "a", "b", "c", "d", "frisør", "lærer", "pæd", "pæd"]
    telling = choose_telling(leans, [jobs.index(job) for job in jobs])
    chosen = {why: [jobs[i] for i, one in telling if one == why] for _, why in telling}
    assert chosen == {
        MALE_EXTREME: ["smed", "pilot", "vagt"],
        FEMALE_EXTREME: ["pæd", "lærer", "frisør"],
        TYPICAL: ["c", "b", "d", "a"],
    }
    # They are kept, and found again, where there is no room for all.
    examples = [
        Example(text=str(i), condition="pro", outcome="right", about=job, lean=lean)
        for i, (job, lean) in enumerate(zip(jobs, leans, strict=True))
    ]
    shown = choose_examples(lambda: examples, 10)
    assert [shown.examples[i].text for i, _ in shown.telling] == [str(i) for i, _ in telling]
    assert choose_telling([], []) == []


def test_of_equal_examples_the_first_are_of_the_occupations_that_lean_furthest() -> None:
    nurses, smiths = ("nurse", "midwife", "teacher"), ("smith", "pilot", "guard")
    jobs = [job for job in (*nurses, *smiths) for _ in range(3)]
    leans = [1.0, -1.0, -1.0] * 3 + [1.0, 1.0, -1.0] * 3
    telling = choose_telling(leans, [jobs.index(job) for job in jobs])
    chosen = {why: tuple(jobs[i] for i, one in telling if one == why) for _, why in telling}
    assert chosen == {MALE_EXTREME: smiths, FEMALE_EXTREME: nurses}


def test_the_pronouns_of_an_example_have_probabilities_that_follow_its_leaning(
    small_run: Path,
) -> None:
    for one in saved_results.find_results([small_run]):
        if one.result.task not in ("lm-abc", "lm-dawinobias"):
            continue
        for example in get_task(one.result.task, 2).examples(one.records()):
            (male, share), (female, rest) = example.shares
            assert {male, female} in ({"han", "hun"}, {"ham", "hende"}, {"hans", "hendes"})
            assert male in ("han", "ham", "hans")
            assert share + rest == pytest.approx(1)
            assert math.log2(share / rest) == pytest.approx(example.lean)


@pytest.mark.slow
def test_the_page_is_dated_if_the_run_was(small_run: Path, tmp_path: Path) -> None:
    shutil.copytree(small_run, tmp_path / "run")
    found = saved_results.find_results([tmp_path / "run"])
    days = ["2026-01-31", "2026-02-01"]
    for one, day in zip(found, [*days, *days[1:] * len(found)], strict=False):
        (one.folder / "run.json").write_text(f'{{"began": "{day}T23:59:59+00:00"}}')
    assert "2026-01-31 to 2026-02-01" in run_page.html(found)
    for one in found:
        (one.folder / "run.json").write_text('{"began": "<b>soon</b>"}')
    page = run_page.html(found)
    assert "date not saved" in page
    assert "soon" not in page


def test_what_is_planted_in_the_demo_stands_beside_what_was_measured(small_run: Path) -> None:
    (one,) = [
        replace(one.result, model=replace(one.result.model, name="demo-lm"))
        for one in saved_results.find_results([small_run])
        if (one.result.task, one.result.model.name[:12]) == ("lm-abc", "control:male")
    ]
    text = run_page.html([one])
    page = Numbers()
    page.feed(text[text.index('id="planted"') : text.index('id="effects"')])
    evidence = one.finding.main.evidence[0]
    assert "hans is three times as frequent as hendes" in text
    assert [(result, path, float(value)) for result, path, value, *_ in page.found] == [
        ("test-1", f"finding.main.evidence.0.{end}", getattr(evidence, end))
        for end in ("value", "low", "high")
    ]
    assert 'id="planted"' not in run_page.html([replace(one, task="coref-abc")])


def test_every_coverage_figure_and_metric_that_is_explained_exists(small_run: Path) -> None:
    used: dict[str, set[str]] = {}
    for one in saved_results.find_results([small_run]):
        cells = (*one.result.conditions, *one.result.nuance)
        sides = (side for figure in one.result.finding.evidence for side in figure.sides)
        names = {*one.result.coverage, *(cell.metric for cell in cells), *sides}
        used.setdefault(one.result.task, set()).update(names)
    for task, names in used.items():
        card = get_task(task, 2).card
        symbols = {name for name, _ in list_symbols(card)}
        optional = {"unknown_tokens", "f1"}
        assert {name for name, _ in card.terms} - symbols - optional <= names


@pytest.mark.parametrize("unstable", [True, False])
def test_an_effect_that_is_unstable_says_so_where_it_stands(
    small_run: Path, unstable: bool
) -> None:
    """Its interval may include 0 beside a bias that is found in bits."""
    one = next(r for r in saved_results.find_results([small_run]) if r.result.task == "lm-abc")
    effect = replace(one.result.gender_effect_size, unstable=unstable)
    page = run_page.html([replace(one, result=replace(one.result, gender_effect_size=effect))])
    assert ("GES is unstable here" in page) == unstable


@pytest.mark.parametrize("task", report_run.FIVE)
def test_the_symbols_of_a_formula_are_explained_in_its_language(task: str) -> None:
    card = get_task(task, 2).card
    symbols = [translate(name, "da") for name, _ in list_symbols(card)]
    assert len(symbols) > 1
    assert all(symbol in write_formula(card, "da") for symbol in symbols)


def test_two_models_of_one_name_are_told_apart(small_run: Path, tmp_path: Path) -> None:
    shutil.copytree(small_run, tmp_path / "run")
    found = saved_results.find_results([tmp_path / "run"])
    names = dict.fromkeys(one.result.model.name for one in found)
    revisions = {name: f"r{i}" for i, name in enumerate(names)}
    for one in found:
        path = one.folder / "result.json"
        plain = json.loads(path.read_text(encoding="utf-8"))
        plain["model"] |= {"name": "hus/æble blå", "revision": revisions[plain["model"]["name"]]}
        path.write_text(json.dumps(plain), encoding="utf-8")
    models = run_page.prepare(saved_results.find_results([tmp_path / "run"]))
    assert [model.heading for model in models] == ["hus/æble blå @ r0", "hus/æble blå @ r1"]


def test_records_of_another_shape_are_one_clear_sentence(small_run: Path, tmp_path: Path) -> None:
    shutil.copytree(small_run, tmp_path / "run")
    found = saved_results.find_results([tmp_path / "run"])
    one = next(one for one in found if one.result.task == "coref-abc")
    (one.folder / "records.jsonl").write_text('{"condition": "pro"}\n', encoding="utf-8")
    with pytest.raises(UserError, match=r"does not hold records of .*run the test again"):
        run_page.html([one])


def test_a_report_that_fails_loses_no_result(
    small_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: Any) -> str:
        raise RuntimeError("no\nroom")

    monkeypatch.setattr(run_page, "html", broken)
    with pytest.raises(
        UserError, match="results are kept, but their report was not written: no room"
    ):
        after_run.write_report(tmp_path, [saved_results.find_results([small_run])[0].folder])
    assert after_run.write_report(tmp_path, [None]) is None


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["png", "svg", "pdf"])
def test_every_chart_is_written_as_a_file(
    small_run: Path, tmp_path: Path, kind: str, capsys: pytest.CaptureFixture[str]
) -> None:
    model = next(path for path in small_run.iterdir() if "stereotyped" in path.name)
    write_charts([model], tmp_path, kind)
    start = {"png": b"\x89PNG", "svg": b"<svg", "pdf": b"%PDF"}[kind]
    files = sorted(tmp_path.glob(f"*.{kind}"))
    assert all(file.read_bytes().startswith(start) for file in files)
    names = {file.stem.rpartition("--")[2] for file in files}
    assert names == {"forest", "interaction", "occupations", "bearers", "length"}
    assert all(file.name in capsys.readouterr().err for file in files[:1])


def test_the_file_of_a_chart_has_its_title_at_the_left_on_white() -> None:
    spec = add_title({"description": "Gaps", "config": {"view": {}}}, "lm-abc@2 · m")
    title = spec["title"]
    assert (title["text"], title["subtitle"], title["anchor"]) == ("Gaps", "lm-abc@2 · m", "start")
    assert title["fontSize"] > title["subtitleFontSize"]
    assert spec["config"] == {"view": {}, "background": "white", "padding": 12}


def test_another_format_is_told(small_run: Path, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="choose png, svg or pdf"):
        write_charts([small_run], tmp_path, "gif")


def test_a_chart_that_cannot_be_written_is_named_with_the_reason(
    small_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(path: Path, content: bytes) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("gendalens.cli.report.replace_file", refuse)
    with pytest.raises(UserError) as error:
        write_charts([small_run], tmp_path, "svg")
    assert str(error.value).startswith(f"The chart cannot be written to {tmp_path}")
    assert "(No space left on device)" in str(error.value)


def test_large_numbers_of_an_axis_are_written_out(small_run: Path) -> None:
    result = next(
        one.result for one in saved_results.find_results([small_run]) if one.result.task == "lm-abc"
    )
    large = [
        replace(cell, value=90.0 + 20 * i, low=80.0, high=1_200.0)
        for i, cell in enumerate((*result.conditions, *result.nuance))
    ]
    many = len(result.conditions)
    changed = replace(result, conditions=tuple(large[:many]), nuance=tuple(large[many:]))
    (picture,) = draw_pictures([charts.draw_interaction(changed, "en")], "svg", "en")
    ticks = re.findall(r"<text[^>]*>([\d,.e+]+)</text>", picture.decode())
    assert "1,000" in ticks
    assert not [tick for tick in ticks if "e" in tick]
