"""Processors that advertise instructions which the system forbids."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import tiny
import torch

from gendalens.system import forbidden_instructions
from gendalens.system.forbidden_instructions import avoid_forbidden_instructions, survives_in_fork

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
ISA = "ONEDNN_MAX_CPU_ISA"


@pytest.fixture(autouse=True)
def untouched(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv(ISA, "")
    monkeypatch.delenv(ISA)
    before = torch.backends.mkldnn.enabled
    avoid_forbidden_instructions.cache_clear()
    yield
    avoid_forbidden_instructions.cache_clear()
    torch.backends.mkldnn.enabled = before


def forbidden() -> None:
    """What the system does to a program that uses AMX, unless oneDNN is told not to."""
    if ISA not in os.environ:
        os.kill(os.getpid(), signal.SIGILL)


def test_a_signal_an_error_and_a_wait_are_no_survival(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forbidden_instructions, "_PATIENCE", 0.2)
    assert survives_in_fork(lambda: None)
    assert not survives_in_fork(forbidden)
    assert not survives_in_fork(signal.pause)


def test_a_processor_that_promises_no_amx_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forbidden_instructions, "_advertises_amx", lambda: False)
    monkeypatch.setattr(
        forbidden_instructions, "survives_in_fork", lambda work: pytest.fail("tried")
    )
    avoid_forbidden_instructions()
    assert ISA not in os.environ


def test_amx_that_works_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forbidden_instructions, "_advertises_amx", lambda: True)
    monkeypatch.setattr(forbidden_instructions, "_multiply", lambda: None)
    avoid_forbidden_instructions()
    assert ISA not in os.environ
    assert torch.backends.mkldnn.enabled


def test_amx_that_is_forbidden_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forbidden_instructions, "_advertises_amx", lambda: True)
    monkeypatch.setattr(forbidden_instructions, "_multiply", forbidden)
    avoid_forbidden_instructions()
    assert os.environ[ISA] == "AVX512_CORE"
    assert torch.backends.mkldnn.enabled


def test_where_onednn_is_in_use_already_torch_goes_without_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(forbidden_instructions, "_advertises_amx", lambda: True)
    monkeypatch.setattr(forbidden_instructions, "survives_in_fork", lambda work: False)
    avoid_forbidden_instructions()
    assert not torch.backends.mkldnn.enabled


@pytest.mark.slow
def test_a_model_answers_in_smaller_formats_on_a_processor_that_advertises_amx(
    tmp_path: Path,
) -> None:
    tokenizer = tiny.wordpiece()
    tiny.save(tmp_path / "model", tiny.bert_model(tokenizer), tokenizer)
    code = (
        "import torch, gendalens\n"
        "from gendalens.models.requests import Score\n"
        "torch.cpu._is_amx_tile_supported = lambda: True\n"
        "for dtype in ('bfloat16', 'float16'):\n"
        f"    model = gendalens.load_model({str(tmp_path / 'model')!r}, dtype=dtype, device='cpu')\n"
        f"    print(*model.answer(model.encode([Score({tiny.SENTENCES[0]!r})])))\n"
    )
    end = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert end.returncode == 0, end.stderr
    assert end.stdout.count("ScoreAnswer(log_likelihood=-") == 2
