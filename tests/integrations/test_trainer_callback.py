"""The callback for the Trainer: what it logs, when, and that it changes nothing."""

from __future__ import annotations

import logging
import weakref
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from small_training import QUICK, STEPS, make_model, train_with_trainer

import gendalens
from gendalens.errors import UserError
from gendalens.integrations import GenderBiasCallback, measure_bias, trainer_callback


class Reporter(transformers.TrainerCallback):  # type: ignore[misc]
    """What a tracker of transformers does: it keeps what the Trainer logs."""

    def __init__(self) -> None:
        self.steps: dict[int, dict[str, float]] = {}

    def on_log(self, _args: Any, state: Any, _control: Any, logs: Any, **_: Any) -> None:
        self.steps.setdefault(state.global_step, {}).update(logs)


def test_the_losses_of_a_trainer_are_the_same_bits_with_and_without_the_callback(
    tmp_path: Path,
) -> None:
    callback = GenderBiasCallback(every_steps=3, **QUICK)
    plain = train_with_trainer(out=tmp_path)
    measured = train_with_trainer(callback, out=tmp_path)
    assert [bool(one.results) for one in callback.history] == [True] * 4
    assert len(plain.losses) == STEPS
    assert measured.losses == plain.losses
    pairs = zip(measured.weights(), plain.weights(), strict=True)
    assert all(torch.equal(one, other) for one, other in pairs)


def test_figures_reach_the_log_history_and_every_reporter(tmp_path: Path) -> None:
    callback, reporter = GenderBiasCallback(every_steps=4, **QUICK), Reporter()
    # The reporters of a Trainer are called before the callbacks of its user.
    trained = train_with_trainer(reporter, callback, out=tmp_path)
    logged = {one["step"]: one for one in trained.log if any("gendalens" in name for name in one)}
    assert list(logged) == [one.step for one in callback.history] == [0, 4, 8, STEPS]
    for measured in callback.history:
        assert measured.step is not None
        figures = {f"eval_gendalens/{name}": one for name, one in measured.figures.items()}
        assert {"eval_gendalens/lm-abc/gap", "eval_gendalens/seconds"} <= set(figures)
        assert figures.items() <= logged[measured.step].items()
        assert figures.items() <= reporter.steps[measured.step].items()


def test_the_figures_are_those_of_the_model_at_that_step(tmp_path: Path) -> None:
    callback = GenderBiasCallback(every_steps=STEPS, **QUICK)
    trained = train_with_trainer(callback, out=tmp_path)
    first, last = callback.history
    model, tokenizer = make_model()
    assert first.results[0].gap == measure_bias(model, tokenizer, **QUICK).results[0].gap
    assert last.results[0].gap == measure_bias(trained.model, tokenizer, **QUICK).results[0].gap
    assert first.results[0].gap != last.results[0].gap


def test_mixed_precision_is_for_the_training_alone(tmp_path: Path) -> None:
    callback = GenderBiasCallback(every_steps=STEPS, **QUICK)
    plain = train_with_trainer(out=tmp_path, bf16=True)
    measured = train_with_trainer(callback, out=tmp_path, bf16=True)
    assert measured.losses == plain.losses
    expected = measure_bias(*make_model(), **QUICK).results[0]
    assert callback.history[0].results[0].gap == expected.gap


@pytest.mark.slow
def test_a_model_is_tested_before_training_after_each_epoch_and_at_the_end(tmp_path: Path) -> None:
    callback = GenderBiasCallback(**QUICK)
    train_with_trainer(callback, out=tmp_path)  # of ten lines, in batches of four: three steps each
    assert [(one.step, one.epoch) for one in callback.history] == [(0, 0), (3, 1), (6, 2), (9, 3)]
    every_second = GenderBiasCallback(every_epochs=2, **QUICK)
    train_with_trainer(every_second, out=tmp_path, max_steps=8)
    assert [one.step for one in every_second.history] == [0, 6, 8]


def test_a_failure_is_logged_once_and_training_goes_on(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    callback = GenderBiasCallback(every_steps=2, **QUICK | {"tasks": "ner-dane"})
    with caplog.at_level(logging.WARNING, "gendalens"):
        trained = train_with_trainer(callback, out=tmp_path)
    assert trained.losses == train_with_trainer(out=tmp_path).losses
    [record] = [one for one in caplog.records if one.name.startswith("gendalens")]
    assert "cannot take ner-dane" in record.getMessage()
    assert [len(one.failures) for one in callback.history] == [1] * 6
    assert not any("gendalens" in name for one in trained.log for name in one)


def test_even_an_error_of_our_own_does_not_stop_the_training(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any, **__: Any) -> Any:
        raise ZeroDivisionError("division by zero")

    monkeypatch.setattr(trainer_callback, "measure_bias", fail)
    with caplog.at_level(logging.WARNING, "gendalens"):
        trained = train_with_trainer(GenderBiasCallback(every_steps=2, **QUICK), out=tmp_path)
    assert len(trained.losses) == STEPS
    [record] = [one for one in caplog.records if one.name.startswith("gendalens")]
    assert "ZeroDivisionError: division by zero" in record.getMessage()


def test_a_trainer_without_a_tokenizer_is_told_where_to_give_one(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING, "gendalens"):
        train_with_trainer(GenderBiasCallback(**QUICK), out=tmp_path, tokenizer_given=False)
    assert "processing_class" in caplog.text
    given = GenderBiasCallback(tokenizer=make_model()[1], **QUICK)
    train_with_trainer(given, out=tmp_path, tokenizer_given=False)
    assert all(one.results for one in given.history)


def test_only_the_main_process_measures() -> None:
    callback = GenderBiasCallback(**QUICK)
    model, tokenizer = make_model()
    control, arguments = transformers.TrainerControl(), transformers.TrainingArguments()
    for is_main in (False, True):
        state = transformers.TrainerState(is_world_process_zero=is_main)
        parts = {"model": model, "processing_class": tokenizer}
        callback.on_train_begin(arguments, state, control, **parts)
        assert len(callback.history) == is_main


def test_a_trainer_that_shards_the_weights_is_refused_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    callback = GenderBiasCallback(every_steps=1, **QUICK)
    model, tokenizer = make_model()
    control, arguments = transformers.TrainerControl(), transformers.TrainingArguments()
    arguments.fsdp = ["full_shard"]
    state = transformers.TrainerState(is_world_process_zero=True)
    for step in range(3):
        state.global_step = step
        callback.on_step_end(arguments, state, control, model=model, processing_class=tokenizer)
    assert caplog.text.count("spread over several processes") == 1


def test_results_of_every_step_are_saved_and_can_be_compared(tmp_path: Path) -> None:
    callback = GenderBiasCallback(every_steps=5, out=tmp_path / "runs", **QUICK)
    train_with_trainer(callback, out=tmp_path)
    folders = sorted(one.name for one in (tmp_path / "runs").iterdir())
    assert folders == ["step-000000", "step-000005", "step-000009"]
    assert all((tmp_path / "runs" / name / "report.html").is_file() for name in folders)
    compared = gendalens.compare([tmp_path / "runs" / name for name in (folders[0], folders[-1])])
    [group] = compared.groups
    assert sorted(row.label for row in group.rows) == [
        "BertForMaskedLM, step 0",
        "BertForMaskedLM, step 9",
    ]
    assert group.pairs  # their differences are paired


def test_the_trainer_is_not_kept_alive(tmp_path: Path) -> None:
    callback = GenderBiasCallback(every_steps=STEPS, **QUICK)
    train_with_trainer(callback, out=tmp_path)
    assert isinstance(callback._trainer, weakref.ref)


@pytest.mark.parametrize(
    "wrong",
    [{"every_steps": 0}, {"every_epochs": -1}, {"every_steps": 2, "every_epochs": 1}],
)
def test_a_wrong_schedule_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(UserError, match="every_"):
        GenderBiasCallback(**wrong)


@pytest.mark.parametrize(
    ("wrong", "error"),
    [
        ({"tasks": "lm-abd"}, UserError),
        ({"sample": 0}, UserError),
        ({"data": "own"}, UserError),
        ({"samples": 10}, TypeError),
    ],
)
def test_a_slip_is_told_before_the_training(wrong: dict[str, Any], error: type[Exception]) -> None:
    with pytest.raises(error):
        GenderBiasCallback(**wrong)
