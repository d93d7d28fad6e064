"""What the head of a `.gguf` file says must fit into the file."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from gendalens.errors import UserError
from gendalens.models.detect import load_model
from gendalens.models.huggingface import gguf_header
from gendalens.models.huggingface.gguf_header import UnsoundError


def text(value: str | bytes) -> bytes:
    value = value.encode() if isinstance(value, str) else value
    return struct.pack("<Q", len(value)) + value


def entry(name: str | bytes, kind: int, value: bytes) -> bytes:
    return text(name) + struct.pack("<I", kind) + value


def number(name: str, value: int) -> bytes:
    return entry(name, 4, struct.pack("<I", value))


def tensor(name: str, shape: tuple[int, ...], start: int, kind: int = 0) -> bytes:
    sides = struct.pack(f"<I{len(shape)}Q", len(shape), *shape)
    return text(name) + sides + struct.pack("<IQ", kind, start)


ARCHITECTURE = entry("general.architecture", 8, text("llama"))
NEEDED = (ARCHITECTURE, number("llama.block_count", 1), number("llama.embedding_length", 8))
TENSORS = (tensor("blk.0.attn_q.weight", (8, 8), 0), tensor("token_embd.weight", (8, 4), 256))


def written(
    folder: Path,
    entries: tuple[bytes, ...] = NEEDED,
    tensors: tuple[bytes, ...] = TENSORS,
    *,
    version: int = 3,
    counts: tuple[int, int] | None = None,
    data: int = 384,
) -> Path:
    path = folder / "small.gguf"
    numbers = struct.pack("<IQQ", version, *(counts or (len(tensors), len(entries))))
    head = b"GGUF" + numbers + b"".join(entries) + b"".join(tensors)
    path.write_bytes(head + bytes(-len(head) % 32 + data))
    return path


def test_a_sound_head_is_one(tmp_path: Path) -> None:
    more = (
        entry("tokenizer.ggml.tokens", 9, struct.pack("<IQ", 8, 2) + text("æ") + text("")),
        entry("tokenizer.ggml.scores", 9, struct.pack("<IQ2f", 6, 2, 0.5, 1.5)),
        entry("general.name", 8, text(b"\xff")),
        entry("llama.rope.freq_base", 6, struct.pack("<f", 1e6)),
    )
    gguf_header.check_header(written(tmp_path, NEEDED + more))
    gguf_header.check_header(written(tmp_path, version=2))


@pytest.mark.parametrize(
    ("counts", "entries", "words"),
    [
        ((2, 2**60), (), "ends before the 1,152,921,504,606,846,976 entries"),
        ((2**60, 3), (), "ends before the .* tensors"),
        (None, (entry("a", 8, struct.pack("<Q", 2**63)),), "ends before the .* letters"),
        (None, (entry("a", 9, struct.pack("<IQ", 8, 2**61)),), "ends before the .* texts"),
        (None, (entry("a", 9, struct.pack("<IQ", 12, 2**61)),), "ends before the .* numbers"),
        (None, (entry("a", 9, struct.pack("<IQQ", 8, 3, 2**50)),), "ends before the 3 texts"),
        (None, (entry("a", 13, b""),), r"a is of an unknown type \(13\)"),
        (None, (entry("a", 9, struct.pack("<IQ", 9, 1)),), r"values of an unknown type \(9\)"),
        (None, (entry(b"\xff", 4, bytes(4)),), "a name in it is no text"),
        (None, (number("llama.block_count", 1),), "it has llama.block_count twice"),
        (None, (number("llama.feed_forward_length", 9),), "its tensors are for 8 at most"),
        (None, (number("general.alignment", 0),), "no power of two"),
        (None, (number("split.count", 3),), "one of 3 parts"),
    ],
)
def test_an_entry_that_cannot_be_is_told(
    counts: tuple[int, int] | None, entries: tuple[bytes, ...], words: str, tmp_path: Path
) -> None:
    with pytest.raises(UnsoundError, match=words):
        gguf_header.check_header(written(tmp_path, NEEDED + entries, counts=counts))


@pytest.mark.parametrize(
    ("tensors", "words"),
    [
        ((tensor("b", (8, 8), 384),), "ends before the tensor b does"),
        ((tensor("b", (2**62, 8), 384),), "ends before the tensor b does"),
        ((tensor("b", (8,), 32),), "lies inside another"),
        ((tensor("b", (8,), 33),), "is not aligned"),
        ((tensor("b", (0, 8), 384),), "holds nothing"),
        ((tensor("b", (1,) * 5, 384),), "5 dimensions"),
        ((tensor("b", (8,), 384, kind=8),), "rows that its type cannot have"),
        ((tensor("b", (8,), 384, kind=99),), r"unknown type \(99\)"),
        ((tensor("token_embd.weight", (8,), 384),), "token_embd.weight twice"),
    ],
)
def test_a_tensor_that_cannot_be_is_told(
    tensors: tuple[bytes, ...], words: str, tmp_path: Path
) -> None:
    with pytest.raises(UnsoundError, match=words):
        gguf_header.check_header(written(tmp_path, tensors=TENSORS + tensors))


@pytest.mark.parametrize(
    ("blocks", "words"),
    [((), "it lacks llama.block_count"), ((number("llama.block_count", 2),), "for 1 at most")],
)
def test_a_model_is_no_larger_than_its_tensors(
    blocks: tuple[bytes, ...], words: str, tmp_path: Path
) -> None:
    """transformers would first build what the numbers say, or a large model without them."""
    with pytest.raises(UnsoundError, match=words):
        gguf_header.check_header(written(tmp_path, (ARCHITECTURE, NEEDED[2], *blocks)))


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "too short"),
        (b"GGML" + bytes(30), "does not start with the GGUF magic number"),
        (b"GGUF" + bytes(30), "another byte order|version"),
        (b"GGUF\x00\x00\x00\x03" + bytes(30), "another byte order"),
        (b"GGUF\x01\x00\x00\x00" + bytes(30), "its version is 1"),
    ],
)
def test_another_kind_of_file_is_refused_in_one_sentence(
    content: bytes, words: str, tmp_path: Path
) -> None:
    path = tmp_path / "other.gguf"
    path.write_bytes(content)
    with pytest.raises(UserError, match=rf"other\.gguf cannot be read.*({words}).*again, whole"):
        load_model(str(path))


def test_a_file_that_breaks_off_anywhere_is_told(tmp_path: Path) -> None:
    path = written(tmp_path)
    content = path.read_bytes()
    for length in range(0, len(content), 5):
        path.write_bytes(content[:length])
        with pytest.raises(UnsoundError):
            gguf_header.check_header(path)


def test_what_is_no_plain_file_is_not_opened(tmp_path: Path) -> None:
    endless = tmp_path / "endless.gguf"
    endless.symlink_to("/dev/zero")
    with pytest.raises(UserError, match="it is no file"):
        load_model(str(endless))
