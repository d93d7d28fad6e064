"""Where the weights of a model lie in memory, whatever their files are called."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from gendalens.models.huggingface import mapped_weights


def test_a_path_of_weights_may_have_any_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    maps = tmp_path / "maps"
    maps.write_bytes(
        b"1000-2000 r--p 00000000 08:01 7 /m\xff\xe9\x85 \r/model.safetensors\n"
        b"2000-3000 r--p 00000000 08:01 8 /lib/libc.so.6\n"
        b"3000-4000 rw-p 00000000 00:00 0 \n"
        b"4000-5000 r--p 00000000 08:01 9 /m/model.gguf\n"
    )
    monkeypatch.setattr(mapped_weights, "_MAPS", maps)
    assert list(mapped_weights._find_mapped_ranges()) == [(0x1000, 0x2000), (0x4000, 0x5000)]


def test_a_copy_has_the_same_numbers_and_leaves_the_file(tmp_path: Path) -> None:
    large = torch.arange(5_000_003, dtype=torch.float32)  # two pieces, the last one odd
    written = {"large": large, "short": large[:7].half(), "one": torch.tensor(3.5)}
    model = _map_weights(tmp_path, written)
    mapped_weights.copy_mapped_weights(model)
    (tmp_path / "model.safetensors").write_bytes(b"")  # a mapped page would end the process
    assert {name: part.dtype for name, part in model.named_parameters()} == {
        name: part.dtype for name, part in written.items()
    }
    for name, part in model.named_parameters():
        assert torch.equal(part, written[name])


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="only Linux tells the peak")
def test_a_large_tensor_is_never_in_memory_twice(tmp_path: Path) -> None:
    size = 192
    model = _map_weights(tmp_path, {"large": torch.ones(size * 2**20 // 4)})
    before = _measure("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")  # the peak is measured from here
    mapped_weights.copy_mapped_weights(model)
    assert _measure("VmHWM") - before < 1.3 * size


def _map_weights(folder: Path, tensors: dict[str, torch.Tensor]) -> torch.nn.Module:
    """A module whose weights are mapped from a file."""
    save_file(tensors, folder / "model.safetensors")
    model = torch.nn.Module()
    for name, tensor in load_file(folder / "model.safetensors").items():
        model.register_parameter(name, torch.nn.Parameter(tensor, requires_grad=False))
    return model


def _measure(figure: str) -> int:
    """A figure of this process's memory in megabytes."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(figure)) // 1024
