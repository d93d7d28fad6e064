"""The head of a `.gguf` file, read before anything else believes what it says.

A file is its magic and version, how many entries of metadata and how many tensors it has, the entries
(a name, a type, a value), where each tensor lies, and the tensors. Every count and length in it could
lie: here each must fit into the file, and no tensor may share its bytes with another. (The format:
https://github.com/ggml-org/ggml/blob/master/docs/gguf.md.)
"""

from __future__ import annotations

import mmap
import re
import struct
from dataclasses import dataclass
from math import prod
from pathlib import Path

MAGIC = b"GGUF"
VERSIONS = (2, 3)
ALIGNMENT = "general.alignment"
ARCHITECTURE = "general.architecture"
PARTS = "split.count"
_STRING, _ARRAY = 8, 9
#: The other types of value, as struct writes them.
_SCALARS = dict(enumerate("BbHhIif?")) | {10: "Q", 11: "q", 12: "d"}
_INTEGERS = frozenset({0, 1, 2, 3, 4, 5, 10, 11})
_DIMENSIONS = 4  # ggml's own limit
_BLOCK = re.compile(r"\bblk\.(\d+)\.")
_BLOCKS = "block_count"
_NEEDED = (_BLOCKS, "embedding_length")
#: Numbers that are a side of some tensor, or part of one.
_SIDES = frozenset(
    """attention.head_count attention.head_count_kv attention.key_length attention.value_length
    embedding_length expert_count feed_forward_length rope.dimension_count vocab_size""".split()  # noqa: SIM905
)


class UnsoundError(ValueError):
    """What is wrong with a file, as a clause."""


@dataclass(frozen=True, slots=True)
class Tensor:
    """A tensor as the head describes it; ``start`` counts from where the tensors begin."""

    name: str
    shape: tuple[int, ...]
    kind: int
    start: int


def check(path: Path) -> None:
    """Unsound where the head of the file says what cannot be."""
    if not path.is_file():
        raise UnsoundError("it is no file")
    if path.stat().st_size < 24:
        raise UnsoundError("it is too short")
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        _Head(content).check()


class _Head:
    """A reader that goes forward through the head, and never beyond the file."""

    def __init__(self, content: mmap.mmap) -> None:
        self.content = content
        self.size = len(content)
        self.at = 0
        self.architecture = ""
        self.numbers: dict[str, int] = {}

    def check(self) -> None:
        """The whole head."""
        if self.content[:4] != MAGIC:
            raise UnsoundError("it does not begin as one")
        self.at = 4
        version = self.number("I")
        if version not in VERSIONS:
            swapped = version & 0xFFFF == 0
            raise UnsoundError(
                "it is of another byte order" if swapped else f"its version is {version}"
            )
        tensors, entries = self.number("Q"), self.number("Q")
        self.fits(entries, 13, "entries")
        self.fits(tensors, 24, "tensors")
        names: set[str] = set()
        for _ in range(entries):
            self.entry(new(self.string("a name"), names))
        found: set[str] = set()
        if (parts := self.numbers.get(PARTS, 1)) > 1:
            raise UnsoundError(f"it is one of {parts} parts, which must be merged")
        described = [self.tensor(new(self.string("a name"), found)) for _ in range(tensors)]
        self.places(described)
        self.sizes(described)

    def number(self, form: str) -> int:
        """The next number."""
        width = struct.calcsize(form)
        self.fits(1, width, "bytes")
        (value,) = struct.unpack_from(f"<{form}", self.content, self.at)
        self.at += width
        return int(value) if form not in "fd" else 0

    def fits(self, count: int, width: int, what: str) -> None:
        """Unsound where so many cannot be left."""
        if count * width > self.size - self.at:
            raise UnsoundError(f"it ends before the {count:,} {what} that it says it has")

    def skip(self, count: int, width: int, what: str) -> None:
        """Pass over so many."""
        self.fits(count, width, what)
        self.at += count * width

    def string(self, what: str) -> str:
        """The next text; names must be some."""
        start = self.at + 8
        length = self.number("Q")
        self.skip(length, 1, "letters")
        try:
            return self.content[start : start + length].decode()
        except UnicodeDecodeError:
            raise UnsoundError(f"{what} in it is no text") from None

    def entry(self, name: str) -> None:
        """The value of one entry; whole numbers are remembered."""
        kind = self.number("I")
        if kind in _INTEGERS:
            self.numbers[name] = self.number(_SCALARS[kind])
        elif kind in _SCALARS:
            self.number(_SCALARS[kind])
        elif kind == _STRING and name == ARCHITECTURE:
            self.architecture = self.string("the name of its architecture")
        elif kind == _STRING:
            self.skip(self.number("Q"), 1, "letters")
        elif kind == _ARRAY:
            self.array(name)
        else:
            raise UnsoundError(f"{name} is of an unknown type ({kind})")

    def array(self, name: str) -> None:
        """The values of one entry."""
        kind, count = self.number("I"), self.number("Q")
        if kind == _STRING:
            self.texts(count)
        elif kind in _SCALARS:
            self.skip(count, struct.calcsize(_SCALARS[kind]), "numbers")
        else:
            raise UnsoundError(f"{name} holds values of an unknown type ({kind})")

    def texts(self, count: int) -> None:
        """Pass over so many texts; a vocabulary has hundreds of thousands."""
        self.fits(count, 8, "texts")
        length, at, last = struct.Struct("<Q").unpack_from, self.at, self.size - 8
        for _ in range(count):
            if at > last:
                break
            at += 8 + length(self.content, at)[0]
        else:
            if at <= self.size:
                self.at = at
                return
        raise UnsoundError(f"it ends before the {count:,} texts that it says it has")

    def tensor(self, name: str) -> Tensor:
        """Where the next tensor is, and what."""
        dimensions = self.number("I")
        if dimensions > _DIMENSIONS:
            raise UnsoundError(f"the tensor {name} has {dimensions:,} dimensions")
        shape = tuple(self.number("Q") for _ in range(dimensions))
        if 0 in shape:
            raise UnsoundError(f"the tensor {name} holds nothing")
        return Tensor(name, shape, self.number("I"), self.number("Q"))

    def places(self, tensors: list[Tensor]) -> None:
        """Unsound where a tensor is not inside the file, or inside another."""
        alignment = self.numbers.get(ALIGNMENT, 32)
        if alignment <= 0 or alignment & (alignment - 1):
            raise UnsoundError(f"{ALIGNMENT} is {alignment}, which is no power of two")
        room = self.size - -(-self.at // alignment) * alignment
        end = 0
        for tensor in sorted(tensors, key=lambda tensor: tensor.start):
            if tensor.start % alignment:
                raise UnsoundError(f"the tensor {tensor.name} begins between two places")
            if tensor.start < end:
                raise UnsoundError(f"the tensor {tensor.name} lies inside another")
            end = tensor.start + extent(tensor)
            if end > room:
                raise UnsoundError(f"it ends before the tensor {tensor.name} does")

    def sizes(self, tensors: list[Tensor]) -> None:
        """Unsound where the model would be larger than its tensors.

        It is built by these numbers first, and by a library's own (a large model's) where they lack.
        """
        for size in _NEEDED:
            if f"{self.architecture}.{size}" not in self.numbers:
                raise UnsoundError(f"it lacks {self.architecture}.{size}")
        longest = max((side for tensor in tensors for side in tensor.shape), default=0)
        blocks = {found[1] for tensor in tensors if (found := _BLOCK.search(tensor.name))}
        for name, number in self.numbers.items():
            size = name.removeprefix(f"{self.architecture}.")
            if size != _BLOCKS and size not in _SIDES:
                continue
            most = len(blocks) if size == _BLOCKS else longest
            if not 0 <= number <= most:
                raise UnsoundError(
                    f"{name} is {number:,}, and its tensors are for {most:,} at most"
                )


def new(name: str, names: set[str]) -> str:
    """The name, if it is none of those before."""
    if name in names:
        raise UnsoundError(f"it has {name} twice")
    names.add(name)
    return name


def extent(tensor: Tensor) -> int:
    """The bytes of a tensor."""
    from gguf.constants import GGML_QUANT_SIZES

    if tensor.kind not in GGML_QUANT_SIZES:
        raise UnsoundError(f"the tensor {tensor.name} is of an unknown type ({tensor.kind})")
    block, width = GGML_QUANT_SIZES[tensor.kind]
    if sum(tensor.shape[:1]) % block:
        raise UnsoundError(f"the tensor {tensor.name} has rows that its type cannot have")
    return int(prod(tensor.shape) // block * width)
