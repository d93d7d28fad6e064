"""Measuring the bias of a model in the middle of its training, in any loop."""

from __future__ import annotations

import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
import tiny
import torch
from small_training import QUICK, STEPS, make_model, train_in_loop

import gendalens
from gendalens import api
from gendalens.errors import UserError
from gendalens.integrations import BiasHistory, measure_bias, measurement


@pytest.fixture
def rude_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """A run that draws from every global generator and takes all threads, as a plug-in's test might."""

    def execute(*parts: Any) -> Any:
        random.random()
        np.random.random()
        torch.rand(1)
        torch.set_num_threads(torch.get_num_threads() + 1)
        return api.execute(*parts)

    monkeypatch.setattr(measurement, "execute", execute)


def test_the_losses_of_a_loop_are_the_same_bits_with_and_without_measuring(rude_run: None) -> None:
    history = BiasHistory()

    def measure(step: int, model: Any, tokenizer: Any) -> None:
        if step % 3 == 0:
            history.append(measure_bias(model, tokenizer, step=step, **QUICK))

    plain, measured = train_in_loop(), train_in_loop(measure)
    assert [one.step for one in history] == [0, 3, 6]
    assert all(one.results and not one.failures for one in history)
    assert len(plain.losses) == STEPS
    assert measured.losses == plain.losses
    pairs = zip(measured.weights(), plain.weights(), strict=True)
    assert all(torch.equal(one, other) for one, other in pairs)


def test_modes_gradients_and_threads_are_left_as_they_were(rude_run: None) -> None:
    model, tokenizer = make_model()
    model(**tokenizer(tiny.SENTENCES[0], return_tensors="pt")).logits.sum().backward()
    before = _describe(model)
    measure_bias(model, tokenizer, **QUICK)
    assert _describe(model) == before


def _describe(model: Any) -> list[Any]:
    return [
        torch.get_num_threads(),
        torch.is_grad_enabled(),
        torch.is_inference_mode_enabled(),
        [part.training for part in model.modules()],
        [sorted(vars(part)) for part in model.modules()],
        [len(part._forward_hooks) + len(part._forward_pre_hooks) for part in model.modules()],
        [one.grad.sum().item() for one in model.parameters() if one.grad is not None],
        [one.requires_grad and not one.is_inference() for one in model.parameters()],
    ]


def test_the_figures_are_those_of_a_run_on_the_saved_model(tmp_path: Path) -> None:
    model, tokenizer = make_model()
    found = measure_bias(model, tokenizer, step=7, **QUICK)
    [saved] = gendalens.run(tiny.save(tmp_path / "saved", model, tokenizer), **QUICK)
    assert found.figures["lm-abc/gap"] == pytest.approx(saved.gap.value, abs=1e-6)
    assert found.figures["lm-abc/gap_low"] == pytest.approx(saved.gap.low, abs=1e-6)
    assert found.figures["lm-abc/contrast"] == pytest.approx(saved.contrast.value, abs=1e-6)
    assert found.figures["seconds"] == found.seconds > 0
    assert found.results[0].model.name == "BertForMaskedLM, step 7"


def test_mixed_precision_around_the_call_does_not_change_the_figures() -> None:
    model, tokenizer = make_model()
    plain = measure_bias(model, tokenizer, **QUICK).results[0]
    with torch.autocast("cpu", dtype=torch.bfloat16):
        cast = measure_bias(model, tokenizer, **QUICK).results[0]
    assert cast.gap == plain.gap


def test_a_test_that_cannot_be_run_is_told_and_the_others_are_kept() -> None:
    model, tokenizer = make_model()
    found = measure_bias(model, tokenizer, **QUICK | {"tasks": "ner-dane"})
    assert found.results == ()
    assert ["cannot take ner-dane" in one for one in found.failures] == [True]


@pytest.mark.parametrize("option", ["everyone", "dtype"])
def test_an_option_without_a_meaning_is_refused(option: str) -> None:
    with pytest.raises(TypeError, match=option):
        measure_bias(*make_model(), **{option: cast(Any, True)})


def test_what_cannot_be_trained_is_refused() -> None:
    with pytest.raises(UserError, match="str is not a module of torch"):
        measure_bias("demo-lm", make_model()[1], **QUICK)


def test_control_c_is_not_swallowed(monkeypatch: pytest.MonkeyPatch) -> None:
    model, tokenizer = make_model()

    def interrupt(*_: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr("gendalens.engine.session.ModelRun.run", interrupt)
    with pytest.raises(KeyboardInterrupt):
        measure_bias(model, tokenizer, **QUICK)


def test_nothing_is_left_in_the_cache(own_home: Path) -> None:
    measure_bias(*make_model(), **QUICK)
    assert not (own_home / "cache.sqlite").exists()


@pytest.fixture
def one_process(tmp_path: Path) -> Iterator[None]:
    """Distributed training with a single process."""
    store = f"file://{tmp_path / 'store'}"
    torch.distributed.init_process_group("gloo", init_method=store, rank=0, world_size=1)
    yield
    torch.distributed.destroy_process_group()


def test_weights_spread_over_processes_are_refused(one_process: None) -> None:
    from torch.distributed.fsdp import fully_shard

    model, tokenizer = make_model()
    fully_shard(model, mesh=torch.distributed.device_mesh.init_device_mesh("cpu", (1,)))
    with pytest.raises(UserError, match="spread over several processes"):
        measure_bias(model, tokenizer, **QUICK)


def test_a_model_wrapped_for_data_parallel_training_is_measured(one_process: None) -> None:
    model, tokenizer = make_model()
    plain = measure_bias(model, tokenizer, **QUICK).results[0]
    wrapped = torch.nn.parallel.DistributedDataParallel(model)
    assert measure_bias(wrapped, tokenizer, **QUICK).results[0].gap == plain.gap


def test_importing_the_integrations_imports_neither_torch_nor_a_tracker() -> None:
    heavy = ("torch", "transformers", "mlflow", "trackio", "wandb", "altair")
    code = f"""if True:
        import sys
        import gendalens.integrations
        assert "measure_bias" in dir(gendalens.integrations)
        from gendalens.integrations import BiasHistory, measure_bias
        found = [name for name in {heavy!r} if name in sys.modules]
        assert not found, found
    """
    subprocess.run([sys.executable, "-c", code], check=True)
