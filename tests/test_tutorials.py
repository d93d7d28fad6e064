"""Both tutorials of GenDa Lens 0.0.3 (LM_demo and coref_demo), call by call, on local models.

What a cell calls is written as there; only the import and the names of the models are others.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from gendalens.compat import Evaluator, Visualizer
from gendalens.data.registry import find_source
from gendalens.errors import UserError
from gendalens.report.exports import classic_pyplot

GOLDEN = Path(__file__).parents[1].parent / "shared" / "golden"
on_golden_models = pytest.mark.skipif(
    not GOLDEN.is_dir(), reason="the golden outputs are not beside the checkout"
)
SAMPLE: dict[str, list[list[Any]]] = {
    "ner": [
        ["0.5 (0.01)", "", "0.6 (0.02)", ""],
        ["0.5 (0.0)", "0.4 (0.0)", "0.6 (0.0)", "0.3 (0.0)"],
    ],
    "dawinobias": [[0.57, "", 0.51, ""], [0.51, 0.62, 0.4, 0.59]],
    "abc": [
        ["15.2 (1, 2)", "", "11.1 (1, 2)", ""],
        ["14.1 (1)", "16.0 (1)", "11.2 (1)", "11.0 (1)"],
    ],
}


@pytest.fixture(autouse=True)
def pyplot() -> Iterator[Any]:
    matplotlib = pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    matplotlib.use("Agg")
    from matplotlib import pyplot

    yield pyplot
    pyplot.close("all")


def table(framework: str) -> pd.DataFrame:
    main, fine = SAMPLE[framework]
    return pd.DataFrame([["", "x", "", ""], ["", 0.1, "", ""], main, ["F", "M", "F", "M"], fine])


def describe(plot: Any) -> tuple[str, str, str, list[str], list[str]]:
    axes = plot.gca()
    return (
        axes.get_title(),
        axes.get_xlabel(),
        axes.get_ylabel(),
        [label.get_text() for label in axes.get_xticklabels()],
        [text.get_text() for text in axes.get_legend().get_texts()],
    )


@pytest.mark.network
@pytest.mark.shared
@pytest.mark.slow
@on_golden_models
def test_the_language_model_tutorial(official_home: Path, tmp_path: Path) -> None:
    model_name = str(GOLDEN / "models" / "bert-tiny")
    eval = Evaluator(model_name=model_name)  # noqa: A001 (the tutorial's own name)
    output = eval.evaluate_pretrained(test="abc", start_token="[CLS]", sep_token="[SEP]")
    detailed_output = output[1]
    detailed_output.style  # noqa: B018 (the last line of a cell)
    viz = Visualizer()
    plot = viz.visualize_results(
        data=detailed_output, framework="abc", model_name=model_name, task="lm"
    )
    plot.ylim(8, 11)
    plot.legend(bbox_to_anchor=(1.02, 1), loc="upper left", borderaxespad=0)
    plot.savefig(tmp_path / "plot.png", bbox_inches="tight")
    assert (tmp_path / "plot.png").stat().st_size > 10_000
    assert plot.ylim() == (8, 11)
    lines = {line.get_label(): list(line.get_ydata()) for line in plot.gca().get_lines()}
    assert lines == {
        "Female occupations": [8.83, 9.24],
        "Male occupations": [9.62, 9.76],
        "Main Effect": [9.18, 9.5],
    }


@pytest.fixture
def coref_model(official_home: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv("ABC_DATA", str(find_source("abc", offline=True).folder) + os.sep)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    found = importlib.util.spec_from_file_location("stub_coref", GOLDEN / "stub_coref.py")
    assert found is not None
    assert found.loader is not None
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module.StubCoref()


@pytest.mark.network
@pytest.mark.shared
@on_golden_models
@pytest.mark.filterwarnings(
    "ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"
)
def test_the_coreference_tutorial(coref_model: Any, tmp_path: Path) -> None:
    model_name, model = "xlm-r coref", coref_model
    eval = Evaluator(model_name=model_name)  # noqa: A001 (the tutorial's own name)
    output = eval.evaluate_coref(test="dawinobias", model=model)
    detailed_output = output[1]
    viz = Visualizer()
    plot_wino = viz.visualize_results(
        detailed_output, framework="dawinobias", model_name=model_name, task="coref"
    )
    assert describe(plot_wino)[0] == "DaWinoBias, Coreference Task: xlm-r coref"
    plot_wino.savefig(tmp_path / "wino.png")
    output_abc = eval.evaluate_coref(test="abc", model=model)
    detailed_output = output_abc[1]
    plot_abc = viz.visualize_results(
        detailed_output, framework="abc", model_name=model_name, task="coref"
    )
    plot_abc.legend(bbox_to_anchor=(1.02, 1), loc="upper left", borderaxespad=0)
    assert describe(plot_abc)[0] == "ABC Coref Task: xlm-r coref"
    assert len(plot_abc.get_fignums()) == 2  # the second plot is not drawn over the first


@pytest.mark.parametrize(
    ("framework", "task", "expected"),
    [
        ("ner", None, ("NER Task, Augmented DaNe: m", "Augmentation", "Performance")),
        ("dawinobias", "lm", ("DaWinoBias, LM Task: m", "Condition", "Performance")),
        ("abc", "lm", ("ABC LM Task: m", "Anti-reflexive Pronoun", "Median Perplexity")),
        ("abc", "coref", ("ABC Coref Task: m", "Anti-reflexive Pronoun", "False Positive Rates")),
    ],
)
def test_titles_axes_and_legends_are_those_of_the_release(
    framework: str, task: str | None, expected: tuple[str, str, str], pyplot: Any
) -> None:
    plot = Visualizer().visualize_results(table(framework), framework, "m", task)
    assert plot is pyplot
    *titles, conditions, lines = describe(plot)
    assert tuple(titles) == expected
    labels = {
        "ner": (["Female Names", "Male Names"], ["Majority (F1)", "Minority (F1)"]),
        "dawinobias": (
            ["Anti-stereotypical", "Pro-stereotypical"],
            ["Female (F1)", "Male (F1)", "Main Effect (Accuracy)"],
        ),
        "abc": (["Female", "Male"], ["Female occupations", "Male occupations", "Main Effect"]),
    }
    assert (conditions, lines) == labels[framework]
    legend = plot.gca().get_legend().get_title().get_text()
    assert (
        legend
        == {
            "ner": "Protected Group",
            "dawinobias": "Pronoun",
            "abc": "Stereotypical Occupations",
        }[framework]
    )
    found = {line.get_label(): list(line.get_ydata()) for line in plot.gca().get_lines()}
    first, *_ = labels[framework][1]
    assert (
        found[first]
        == {"ner": [0.5, 0.6], "dawinobias": [0.51, 0.4], "abc": [14.1, 11.2]}[framework]
    )


def test_the_chart_has_conditions_across_values_upwards_and_groups_in_colour() -> None:
    plain = Visualizer().chart_results(table("abc"), "abc", "m", "lm").to_dict()
    for layer in plain["layer"]:
        drawn = {
            name: (one["field"], one["type"], one["title"])
            for name, one in layer["encoding"].items()
            if name in ("x", "y", "color", "strokeDash")
        }
        assert drawn.pop("x") == ("condition", "nominal", "Anti-reflexive Pronoun")
        assert drawn.pop("y") == ("value", "quantitative", "Median Perplexity")
        assert set(drawn.values()) == {("group", "nominal", "Stereotypical Occupations")}
    assert plain["layer"][0]["mark"]["type"] == "line"
    assert plain["layer"][1]["mark"]["type"] == "point"


def test_a_figure_of_the_users_own_is_drawn_on(pyplot: Any) -> None:
    figure = pyplot.figure(figsize=(3, 2))
    assert Visualizer().visualize_results(table("ner"), "ner", "m").gcf() is figure


def test_without_matplotlib_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(classic_pyplot, "find_spec", lambda name: None)
    with pytest.raises(UserError, match=r'run `pip install "matplotlib.*, or use chart_results'):
        Visualizer().visualize_results(table("ner"), "ner", "m")
