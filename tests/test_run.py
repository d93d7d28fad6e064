"""Whole runs on small data: what they give, what they leave on disk, what is the same again."""

from __future__ import annotations

import json
from dataclasses import replace
from importlib import resources
from pathlib import Path
from typing import Any

import jsonschema
import pandas as pd
import pytest
from families import opened
from scripted import Scripted
from small_data import control_tests, small_data

import gendalens
from gendalens.compat import detailed, simple
from gendalens.engine import executor
from gendalens.errors import UserError
from gendalens.results.model_info import ModelInfo
from gendalens.results.result import Result
from gendalens.results.run_folder import folder_name, result_folder
from gendalens.stats.multiple import holm

#: For models that are no control models: those take every test, also one whose data are not here.
LANGUAGE_MODEL_TESTS = ["lm-abc", "lm-dawinobias"]
CONTROLS = ["control:fair", "control:stereotyped", "control:male-default", "control:always-han"]


@pytest.fixture
def data(tmp_path: Path) -> dict[str, Path]:
    return small_data(tmp_path / "data")


def files(out: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(out)): path.read_bytes()
        for path in sorted(out.rglob("*"))
        if path.is_file() and path.name != "run.json"
    }


@pytest.mark.parametrize("model", CONTROLS)
def test_a_result_fits_the_published_schema_and_reads_back(
    data: dict[str, Path], model: str
) -> None:
    schema = json.loads(
        resources.files("gendalens.results").joinpath("result.schema.json").read_text()
    )
    for result in gendalens.run(model, data=data):
        plain = json.loads(result.to_json())
        jsonschema.validate(plain, schema)
        assert Result.from_dict(plain).to_json() == result.to_json()


def test_a_run_leaves_result_records_and_circumstances(
    data: dict[str, Path], tmp_path: Path
) -> None:
    out = tmp_path / "run"
    results = gendalens.run(Scripted(), tasks=LANGUAGE_MODEL_TESTS, data=data, out=out)
    assert [r.task for r in results] == LANGUAGE_MODEL_TESTS
    for result in results:
        folder = result_folder(out, result)
        assert folder.name == f"{result.task}@2-{result.key}"
        assert json.loads((folder / "result.json").read_text()) == json.loads(result.to_json())
        text = (folder / "records.jsonl").read_text(encoding="utf-8")
        records = [json.loads(line) for line in text.splitlines()]
        assert len(records) == {"lm-abc": 128, "lm-dawinobias": 72}[result.task]
        run = json.loads((folder / "run.json").read_text())
        assert run["requests"]["requests"] >= run["requests"]["distinct"] > 0


def test_the_same_run_from_an_empty_cache_gives_the_same_bytes(
    data: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("one", "two"):
        monkeypatch.setenv("GENDALENS_HOME", str(tmp_path / f"home-{name}"))
        gendalens.run(Scripted(), tasks=LANGUAGE_MODEL_TESTS, data=data, out=tmp_path / name)
    assert files(tmp_path / "one") == files(tmp_path / "two")


def test_a_second_run_asks_nothing(data: dict[str, Path]) -> None:
    first, second = Scripted(), Scripted()
    one = gendalens.run(first, tasks=LANGUAGE_MODEL_TESTS, data=data)
    two = gendalens.run(second, tasks=LANGUAGE_MODEL_TESTS, data=data)
    assert first.asked
    assert not second.asked
    assert [r.to_json() for r in one] == [r.to_json() for r in two]


def test_without_the_cache_everything_is_asked_again(data: dict[str, Path]) -> None:
    gendalens.run(Scripted(), tasks=LANGUAGE_MODEL_TESTS, data=data)
    again = Scripted()
    gendalens.run(again, tasks=LANGUAGE_MODEL_TESTS, data=data, cache=False)
    assert again.asked


def numbers(value: object) -> list[float]:
    """All numbers in a nested value, in order."""
    if isinstance(value, dict):
        return [n for part in value.values() for n in numbers(part)]
    if isinstance(value, list):
        return [n for part in value for n in numbers(part)]
    return [float(value)] if isinstance(value, int | float) else []


@pytest.mark.slow
@pytest.mark.parametrize("family", ["wordpiece letters", "llama"])
def test_batch_size_and_order_change_no_number(
    data: dict[str, Path], family: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    backend = opened(family).backend
    (one,) = gendalens.run(backend, data=data, tasks=["lm-abc"], cache=False, batch_tokens=32)
    ask = executor.ask

    def shuffled(model: Any, requests: Any, **options: Any) -> Any:
        return ask(model, sorted(requests, key=lambda r: str(r)[::-1]), **options)

    monkeypatch.setattr("gendalens.engine.model_run.ask", shuffled)
    (two,) = gendalens.run(backend, data=data, tasks=["lm-abc"], cache=False, batch_tokens=8192)
    found, again = numbers(json.loads(one.to_json())), numbers(json.loads(two.to_json()))
    # A relative perplexity is a small difference of large numbers: float32 leaves it three digits.
    assert found == pytest.approx(again, rel=1e-3, abs=1e-3)


def test_the_order_of_the_records_moves_no_number(data: dict[str, Path], tmp_path: Path) -> None:
    for result in gendalens.run("control:stereotyped", data=data, out=tmp_path):
        text = (result_folder(tmp_path, result) / "records.jsonl").read_text(encoding="utf-8")
        records = [json.loads(line) for line in text.splitlines()]
        task = gendalens.tasks.get_task(result.task, 2)
        pairs = [records[i : i + 2] for i in range(0, len(records), 2)]
        turned = [row for pair in reversed(pairs) for row in pair]
        one, two = task.measure(records, seed=0), task.measure(turned, seed=0)
        assert (one.gap, one.conditions, one.nuance) == (two.gap, two.conditions, two.nuance)
        assert one.gender_effect_size == two.gender_effect_size == result.gender_effect_size


def test_the_seed_changes_intervals_and_not_values(data: dict[str, Path]) -> None:
    one, two = (gendalens.run(Scripted(), data=data, tasks=["lm-abc"], seed=s)[0] for s in (0, 1))
    assert one.gap.value == two.gap.value
    assert one.gap.low != two.gap.low
    assert one.signature != two.signature


def test_the_signature_names_all_that_changes_a_number(data: dict[str, Path]) -> None:
    (result,) = gendalens.run(Scripted(), data=data, tasks=["lm-abc"], sample=16, seed=3)
    for part in ("lm-abc@2|", "model:scripted@1", "dtype:float32", "seed:3", "sample:16", "numpy:"):
        assert part in result.signature
    assert result.data["abc"]["sha256"][:12] in result.signature
    assert result.coverage["triples_asked"] == 16


def test_a_sample_as_large_as_the_whole_is_the_whole(data: dict[str, Path]) -> None:
    whole, sample = (
        gendalens.run(Scripted(), tasks="lm-abc", data=data, sample=size)[0]
        for size in (None, 99_999)
    )
    assert sample.signature == whole.signature
    assert sample.to_dict() == whole.to_dict()


def test_several_models_are_tested_in_one_call(data: dict[str, Path]) -> None:
    results = gendalens.run(CONTROLS[:2], data=data)
    assert [(r.model.name, r.task) for r in results] == [
        (name, task)
        for name in ("control:fair", "control:stereotyped?strength=0.5")
        for task in control_tests()
    ]


def test_p_values_are_corrected_over_the_tests_of_a_run(data: dict[str, Path]) -> None:
    four = ["coref-abc", "coref-dawinobias", "lm-abc", "lm-dawinobias"]
    together = gendalens.run("control:male-default", data=data, tasks=four)
    assert len(together) == 4
    for result in together:
        alone = gendalens.run("control:male-default", data=data, tasks=[result.task])[0]
        assert alone.gap.p == result.gap.p
        # Two figures of coref-abc and of lm-abc, four of each DaWinoBias test.
        assert result.finding.main.tests == 12
        for mine, ours in zip(alone.finding.evidence, result.finding.evidence, strict=True):
            assert mine.p_adjusted is not None
            assert ours.p_adjusted is not None
            assert mine.p_adjusted <= ours.p_adjusted <= min(1, 12 * (ours.p or 0))
    everything = [one for result in together for one in result.finding.evidence]
    assert [one.p_adjusted for one in everything] == holm([one.p for one in everything])


def test_the_classic_tables_have_the_classic_layout(data: dict[str, Path]) -> None:
    abc, wino = gendalens.run("control:fair", data=data, tasks=["lm-abc", "lm-dawinobias"])
    assert isinstance(simple(wino), pd.DataFrame)
    assert list(simple(wino).index) == ["Gender Effect Size", "Condition", "F1"]
    assert list(detailed(wino).columns) == ["", "DaWinoBias", "", ""]
    assert list(simple(abc).loc["Pronoun"]) == ["Female", "", "", "Male"]
    abc, wino = gendalens.run("control:fair", data=data, tasks=["coref-abc", "coref-dawinobias"])
    assert list(simple(abc).loc["Pronoun"]) == ["Female", "Male", "Reflexive"]
    assert list(detailed(abc).columns) == ["", "", "ABC", "", "", ""]
    assert list(detailed(wino).loc["Occupations"]) == ["Female", "Male", "Female", "Male"]


def test_a_model_that_cannot_do_a_task_is_told_what_it_can(data: dict[str, Path]) -> None:
    only_scores = Scripted(answers=frozenset({"score"}))
    able = [
        name
        for (name, protocol), task in sorted(gendalens.tasks.all_tasks().items())
        if protocol == 2 and task.card.needs <= {"score"}
    ]
    assert "lm-abc" in able
    assert "lm-dawinobias" not in able
    told = rf"cannot take lm-dawinobias@2; .*it can take: {', '.join(able)}\."
    with pytest.raises(UserError, match=told):
        gendalens.run(only_scores, data=data, tasks=["lm-dawinobias"])
    assert [r.task for r in gendalens.run(only_scores, data="builtin", sample=8)] == able


def test_a_control_model_has_no_protocol_one(data: dict[str, Path]) -> None:
    with pytest.raises(UserError, match="use protocol 2"):
        gendalens.run("control:fair", data=data, protocol=1)


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("control:kind", "no control model 'kind'"),
        ("control:stereotyped?strength=2", "strength must be between 0 and 1"),
        ("control:stereotyped?strength=strong", "cannot read strength=strong"),
        ("control:fair?strength=0.5", "has no strength"),
        ("control:fair?size=3", "cannot read size=3"),
    ],
)
def test_a_control_model_that_does_not_exist_is_told(name: str, reason: str) -> None:
    with pytest.raises(UserError, match=reason.replace("?", r"\?")):
        gendalens.load_model(name)


@pytest.mark.parametrize(
    ("model", "folder"),
    [
        ("org/name", "org_name"),
        ("../../etc/passwd", "etc_passwd"),
        ("blåbær og æble", "blåbær_og_æble"),
        ("…", "model"),
        ("x" * 500, "x" * 100),
        ("æ" + "𠀀" * 100, "æ" + "𠀀" * 49),  # 198 bytes: file systems count these
    ],
)
def test_a_models_name_makes_one_safe_folder(model: str, folder: str) -> None:
    assert folder_name(model) == folder


def test_the_public_names_are_there() -> None:
    for name in gendalens.__all__:
        assert getattr(gendalens, name) is not None
    cards = {task.card.id for task in gendalens.tasks.all_tasks().values()}
    names = ("coref-abc", "coref-dawinobias", "lm-abc", "lm-dawinobias", "ner-dane")
    assert cards >= {f"{name}@{protocol}" for name in names for protocol in (1, 2)}
    with pytest.raises(AttributeError):
        _ = gendalens.nothing


def test_one_test_that_fails_does_not_take_the_others_with_it(
    data: dict[str, Path], tmp_path: Path
) -> None:
    class HalfBroken(Scripted):
        def answer(self, batch: Any) -> Any:
            if batch[0].request.kind == "fill":
                raise UserError("The tokenizer cannot write it.")
            return super().answer(batch)

    with pytest.raises(UserError, match=r"lm-dawinobias: The tokenizer cannot write it\."):
        gendalens.run(HalfBroken(), tasks=LANGUAGE_MODEL_TESTS, data=data, out=tmp_path / "run")
    (kept,) = (tmp_path / "run").rglob("result.json")
    assert kept.parent.name.startswith("lm-abc@2-")


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"seed": -1}, "seed is -1"),
        ({"sample": 0}, "sample is 0"),
        ({"sample": -5}, "sample is -5"),
        ({"seed": "abc"}, "seed is 'abc'; it must be a whole number"),
        ({"sample": 2.5}, r"sample is 2\.5; it must be a whole number"),
        ({"repeats": 10**23}, "repeats is 1000.*; it must be 100,000 or less"),
        ({"data": {"foo": "bar"}}, "no data set 'foo'"),
        ({"tasks": []}, "No test is named"),
        ({"tasks": "lm-xyz"}, "no task 'lm-xyz'"),
    ],
)
def test_the_api_checks_its_options(options: dict[str, Any], reason: str) -> None:
    with pytest.raises(UserError, match=reason):
        gendalens.run("control:fair", **options)


@pytest.mark.parametrize("field", ["name", "revision", "tokenizer"])
def test_half_of_a_character_in_a_models_own_words_is_told_before_the_work(
    data: dict[str, Path], tmp_path: Path, field: str
) -> None:
    class Half(Scripted):
        @property
        def info(self) -> ModelInfo:
            said: dict[str, Any] = {field: "1\ud800"}
            return replace(super().info, **said)

    model = Half()
    with pytest.raises(UserError, match="half of a character"):
        gendalens.run(model, tasks=LANGUAGE_MODEL_TESTS, data=data, out=tmp_path / "run")
    assert not model.batches


def test_a_bias_by_class_heads_the_finding(data: dict[str, Path]) -> None:
    (strong,) = gendalens.run("control:stereotyped?strength=1", data=data, tasks="lm-abc")
    (fair,) = gendalens.run("control:fair", data=data, tasks="lm-abc")
    assert strong.finding.is_in_groups_only
    assert strong.contrast.p_adjusted == strong.finding.groups.evidence[0].p_adjusted
    assert fair.finding.headline != "bias"


def test_a_new_version_of_the_software_asks_anew(data: dict[str, Path]) -> None:
    class Upgraded(Scripted):
        @property
        def info(self) -> Any:
            return replace(super().info, software=("torch 99",))

    gendalens.run(Scripted(), tasks=LANGUAGE_MODEL_TESTS, data=data)
    upgraded = Upgraded()
    gendalens.run(upgraded, tasks=LANGUAGE_MODEL_TESTS, data=data)
    assert upgraded.asked
