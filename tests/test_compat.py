"""The classic calls, as the tutorials of GenDa Lens 0.0.3 make them, with one import changed."""

from __future__ import annotations

import csv
import importlib.util
import inspect
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from gendalens.compat import ClassicError, Evaluator, Visualizer
from gendalens.data.registry import find_source
from gendalens.errors import UserError

SHARED = Path(__file__).parents[1].parent / "shared"
GOLDEN = SHARED / "golden"
shared = [
    pytest.mark.shared,
    pytest.mark.skipif(
        not GOLDEN.is_dir(), reason="the golden outputs are not beside the checkout"
    ),
]
BERT = str(GOLDEN / "models" / "bert-tiny")


def both(test: Any) -> Any:
    for mark in (*shared, pytest.mark.network):
        test = mark(test)
    return test


def table(path: Path) -> list[list[str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file))


def assert_golden(output: list[pd.DataFrame], folder: str, out: Path) -> None:
    simple_output = output[0]
    detailed_output = output[1]
    for name, frame in (("simple", simple_output), ("detailed", detailed_output)):
        frame.to_csv(out / f"{name}.csv")
        assert table(out / f"{name}.csv") == table(GOLDEN / folder / f"{name}.csv")


@both
@pytest.mark.slow
def test_the_dawinobias_tutorial_gives_golden_frames(official_home: Path, tmp_path: Path) -> None:
    ev = Evaluator(model_name=BERT)
    output = ev.evaluate_pretrained(test="dawinobias", mask_token="[MASK]")
    assert_golden(output, "lm-dawinobias.bert-tiny", tmp_path)
    with pytest.raises(ClassicError, match=r"has '\[MASK\]'; name the tokenizer's"):
        ev.evaluate_pretrained(test="dawinobias", mask_token="<mask>")


@both
@pytest.mark.slow
def test_the_abc_tutorial_gives_golden_frames(official_home: Path, tmp_path: Path) -> None:
    ev = Evaluator(model_name=BERT)
    output = ev.evaluate_pretrained(test="abc", start_token="[CLS]", sep_token="[SEP]")
    assert_golden(output, "lm-abc.bert-tiny", tmp_path)
    plot = Visualizer().chart_results(
        data=output[1], framework="abc", model_name="my-model-name", task="lm"
    )
    assert values(plot) == [8.83, 9.62, 9.24, 9.76, 9.18, 9.5]


@pytest.fixture
def stub(official_home: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv("ABC_DATA", str(find_source("abc", offline=True).folder) + os.sep)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    found = importlib.util.spec_from_file_location("stub_coref", GOLDEN / "stub_coref.py")
    assert found is not None
    assert found.loader is not None
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module.StubCoref()


@both
@pytest.mark.filterwarnings(
    "ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"
)
def test_the_coreference_tutorials_give_golden_frames(stub: Any, tmp_path: Path) -> None:
    ev = Evaluator(model_name="danlp-xlmr")
    assert_golden(ev.evaluate_coref(test="abc", model=stub), "coref-abc.stub", tmp_path)
    simple, detailed = ev.evaluate_coref(test="dawinobias", model=stub)
    # Each line once, as the README of the golden outputs has it; 0.0.3 itself shuffles.
    assert [float(str(x)) for x in simple.loc["Accuracy"]] == pytest.approx(
        [0.296875, 0.741135], abs=0.005
    )
    assert simple.loc["Gender Effect Size"].iloc[1] == 1.30
    figures = [float(str(x)) for x in detailed.loc["F1"]]
    assert figures == pytest.approx([0.2650, 0.3261, 0.7336, 0.7483], abs=0.0051)
    layout = table(GOLDEN / "coref-dawinobias.stub" / "detailed.csv")
    assert list(detailed.index) == [row[0] for row in layout[1:]]
    plot = Visualizer().chart_results(detailed, "dawinobias", "danlp-xlmr", task="coref")
    assert values(plot)[:4] == figures


@both
def test_the_ner_tutorial_gives_frames_of_the_same_shape(
    official_home: Path, tmp_path: Path
) -> None:
    dane = SHARED / "data" / "dane" / "ddt.test.conllu"
    ev = Evaluator(model_name=str(GOLDEN / "models" / "ner-tiny"), data={"dane": dane})
    output = ev.evaluate_ner(n=2)
    for name, frame in zip(("simple", "detailed"), output, strict=True):
        frame.to_csv(tmp_path / "table.csv")
        ours, theirs = (
            table(tmp_path / "table.csv"),
            table(GOLDEN / "ner-dane.ner-tiny" / f"{name}.csv"),
        )
        assert [row[0] for row in ours] == [row[0] for row in theirs]
        assert [len(row) for row in ours] == [len(row) for row in theirs]
        assert ours[2] == theirs[2]
    plot = Visualizer().chart_results(data=output[1], framework="ner", model_name="my-model-name")
    # Forty draws of 0.0.3 have .4632, .4416, .4734, .4229.
    assert values(plot) == pytest.approx([0.4632, 0.4416, 0.4734, 0.4229], abs=0.03)


def values(plot: Any) -> list[float]:
    plain = plot.to_dict()
    (rows,) = plain["datasets"].values()
    return [row["value"] for row in rows]


def test_signatures_and_defaults_are_those_of_the_release() -> None:
    """Read off GenDa Lens 0.0.3."""
    expected: dict[Callable[..., Any], str] = {
        Evaluator.__init__: "self, model_name",
        Evaluator.evaluate_pretrained: "self, test, mask_token=None, start_token=None, sep_token=None",
        Evaluator.evaluate_ner: "self, n",
        Evaluator.evaluate_coref: "self, test, model",
        Visualizer.visualize_results: "self, data, framework, model_name, task=None",
    }
    for function, signature in expected.items():
        named = [
            name if parameter.default is parameter.empty else f"{name}={parameter.default}"
            for name, parameter in inspect.signature(function).parameters.items()
            if parameter.kind is parameter.POSITIONAL_OR_KEYWORD
        ]
        assert ", ".join(named) == signature


def test_mistakes_are_one_sentence_and_a_value_error_as_in_the_release() -> None:
    ev = Evaluator("no-such-model")
    calls: tuple[Callable[[], object], ...] = (
        lambda: ev.evaluate_pretrained("winogender"),
        lambda: ev.evaluate_pretrained("dawinobias"),
        lambda: ev.evaluate_pretrained("abc", start_token="<s>"),
        lambda: ev.evaluate_coref("winogender", object()),
    )
    for call in calls:
        with pytest.raises(ValueError, match=r"^(There is no test|The test .* needs)") as caught:
            call()
        assert isinstance(caught.value, UserError)


def test_a_coreference_system_by_name_is_told_to_come_as_an_object() -> None:
    with pytest.raises(ClassicError, match=r"load it yourself.* and pass the object as model="):
        Evaluator("danlp-xlmr").evaluate_coref(test="abc", model="xlmr-coref")
    with pytest.raises(UserError, match="is not a model that GenDa Lens can use"):
        Evaluator("mine").evaluate_coref(test="abc", model=object())


DETAILED = {
    "ner": [
        ["", "Augmented DaNe", "", ""],
        ["", 0.03, "", ""],
        ["0.5 (0.01)", "", "0.6 (0.01)", ""],
        ["Majority Female", "Minority Female", "Majority Male", "Minority Male"],
        ["0.5 (0.01)", "0.4 (0.01)", "0.6 (0.01)", "0.3 (0.01)"],
    ],
}


@pytest.mark.parametrize("form", ["png", "svg"])
def test_a_plot_of_a_table_read_back_from_csv_is_the_same_and_can_be_saved(
    tmp_path: Path, form: str
) -> None:
    frame = pd.DataFrame(DETAILED["ner"], index=list("abcde"))
    frame.to_csv(tmp_path / "detailed.csv")
    read = pd.read_csv(tmp_path / "detailed.csv")
    plots = [Visualizer().chart_results(one, "ner", "mæ/<b>") for one in (frame, read)]
    assert values(plots[0]) == values(plots[1]) == [0.5, 0.4, 0.6, 0.3]
    plots[0].save(str(tmp_path / f"plot.{form}"))
    assert (tmp_path / f"plot.{form}").stat().st_size > 1000


def test_another_table_or_framework_is_told(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="not a detailed table"):
        Visualizer().chart_results(pd.DataFrame([[1, 2]]), "ner", "m")
    with pytest.raises(UserError, match="no plot of framework 'abc' with task None"):
        Visualizer().chart_results(pd.DataFrame(DETAILED["ner"]), "abc", "m")
