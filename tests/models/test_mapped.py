"""Where the weights of a model lie in memory, whatever their files are called."""

from __future__ import annotations

from pathlib import Path

import pytest

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
