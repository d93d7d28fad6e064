"""The header of a `.gguf` file, checked before anything else trusts it.

A file consists of a magic number and a version, the numbers of metadata entries and tensors, the
entries (name, type, value), the offset of each tensor, and the tensors. Any count or length could be
false: each must fit into the file, and no two tensors may overlap. (The format:
https://github.com/ggml-org/ggml/blob/master/docs/gguf.md.)
"""

from __future__ import annotations

import mmap
import re
import struct
from dataclasses import dataclass
from math import prod
from pathlib import Path

from gendalens.system.file_reading import open_ordinary
from gendalens.words import Message, phrase

MAGIC = b"GGUF"
VERSIONS = (2, 3)
ALIGNMENT = "general.alignment"
ARCHITECTURE = "general.architecture"
PARTS = "split.count"
_STRING, _ARRAY = 8, 9
#: The scalar value types, as struct format characters.
_SCALARS = dict(enumerate("BbHhIif?")) | {10: "Q", 11: "q", 12: "d"}
_INTEGERS = frozenset({0, 1, 2, 3, 4, 5, 10, 11})
_DIMENSIONS = 4  # ggml's own limit
_BLOCK = re.compile(r"\bblk\.(\d+)\.")
_BLOCKS = "block_count"
_NEEDED = (_BLOCKS, "embedding_length")
#: Numbers that are a dimension of some tensor, or part of one.
_SIDES = frozenset(
    """attention.head_count attention.head_count_kv attention.key_length attention.value_length
    embedding_length expert_count feed_forward_length rope.dimension_count vocab_size""".split()  # noqa: SIM905
)

_BYTES, _ENTRIES, _LETTERS = phrase("bytes"), phrase("entries"), phrase("letters")
_NUMBERS, _TENSORS, _TEXTS = phrase("numbers"), phrase("tensors"), phrase("texts")


class UnsoundError(ValueError):
    """A defect of a file; the message is a clause."""

    def __init__(self, message: Message) -> None:
        super().__init__(str(message))
        self.message = message


@dataclass(frozen=True, slots=True)
class Tensor:
    """A tensor as the header describes it; ``start`` counts from where the tensors begin."""

    name: str
    shape: tuple[int, ...]
    kind: int
    start: int


def check_header(path: Path) -> None:
    """Raise ``UnsoundError`` if the header is inconsistent with the file."""
    if not path.is_file():
        raise UnsoundError(phrase("it is no file"))
    if path.stat().st_size < 24:
        raise UnsoundError(phrase("it is too short"))
    with (
        open_ordinary(path) as file,
        mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content,
    ):
        _Header(content).check()


class _Header:
    """A reader that moves forward through the header and never beyond the end of the file."""

    def __init__(self, content: mmap.mmap) -> None:
        self.content = content
        self.size = len(content)
        self.at = 0
        self.architecture = ""
        self.numbers: dict[str, int] = {}

    def check(self) -> None:
        """Check every part of the header."""
        if self.content[:4] != MAGIC:
            raise UnsoundError(phrase("it does not start with the GGUF magic number"))
        self.at = 4
        version = self.read_number("I")
        if version & 0xFFFF == 0:
            raise UnsoundError(phrase("it is of another byte order"))
        if version not in VERSIONS:
            raise UnsoundError(phrase("its version is {version}", version=version))
        tensors, entries = self.read_number("Q"), self.read_number("Q")
        self.require_room(entries, 13, _ENTRIES)
        self.require_room(tensors, 24, _TENSORS)
        names: set[str] = set()
        for _ in range(entries):
            self.read_entry(require_new(self.read_text(phrase("a name")), names))
        found: set[str] = set()
        if (parts := self.numbers.get(PARTS, 1)) > 1:
            raise UnsoundError(
                phrase("it is one of {parts} parts, which must be merged", parts=parts)
            )
        described = [
            self.read_tensor(require_new(self.read_text(phrase("a name")), found))
            for _ in range(tensors)
        ]
        self.check_places(described)
        self.check_sizes(described)

    def read_number(self, form: str) -> int:
        """The next number."""
        width = struct.calcsize(form)
        self.require_room(1, width, _BYTES)
        (value,) = struct.unpack_from(f"<{form}", self.content, self.at)
        self.at += width
        return int(value) if form not in "fd" else 0

    def require_room(self, count: int, width: int, what: Message) -> None:
        """Raise an error if the file ends before ``count`` items of this width."""
        if count * width > self.size - self.at:
            raise explain_end(count, what)

    def skip(self, count: int, width: int, what: Message) -> None:
        """Skip ``count`` items of this width."""
        self.require_room(count, width, what)
        self.at += count * width

    def read_text(self, what: Message) -> str:
        """The next text, which must be valid UTF-8."""
        start = self.at + 8
        length = self.read_number("Q")
        self.skip(length, 1, _LETTERS)
        try:
            return self.content[start : start + length].decode()
        except UnicodeDecodeError:
            raise UnsoundError(phrase("{what} in it is no text", what=what)) from None

    def read_entry(self, name: str) -> None:
        """Read the value of one entry; whole numbers are remembered."""
        kind = self.read_number("I")
        if kind in _INTEGERS:
            self.numbers[name] = self.read_number(_SCALARS[kind])
        elif kind in _SCALARS:
            self.read_number(_SCALARS[kind])
        elif kind == _STRING and name == ARCHITECTURE:
            self.architecture = self.read_text(phrase("the name of its architecture"))
        elif kind == _STRING:
            self.skip(self.read_number("Q"), 1, _LETTERS)
        elif kind == _ARRAY:
            self.skip_array(name)
        else:
            raise UnsoundError(
                phrase("{name} is of an unknown type ({kind})", name=name, kind=kind)
            )

    def skip_array(self, name: str) -> None:
        """Skip the values of an array entry."""
        kind, count = self.read_number("I"), self.read_number("Q")
        if kind == _STRING:
            self.skip_texts(count)
        elif kind in _SCALARS:
            self.skip(count, struct.calcsize(_SCALARS[kind]), _NUMBERS)
        else:
            raise UnsoundError(
                phrase("{name} holds values of an unknown type ({kind})", name=name, kind=kind)
            )

    def skip_texts(self, count: int) -> None:
        """Skip ``count`` texts; a vocabulary has hundreds of thousands."""
        self.require_room(count, 8, _TEXTS)
        length, at, last = struct.Struct("<Q").unpack_from, self.at, self.size - 8
        for _ in range(count):
            if at > last:
                break
            at += 8 + length(self.content, at)[0]
        else:
            if at <= self.size:
                self.at = at
                return
        raise explain_end(count, _TEXTS)

    def read_tensor(self, name: str) -> Tensor:
        """The description of the next tensor."""
        dimensions = self.read_number("I")
        if dimensions > _DIMENSIONS:
            raise UnsoundError(
                phrase("the tensor {name} has {count:,} dimensions", name=name, count=dimensions)
            )
        shape = tuple(self.read_number("Q") for _ in range(dimensions))
        if 0 in shape:
            raise UnsoundError(phrase("the tensor {name} holds nothing", name=name))
        return Tensor(name, shape, self.read_number("I"), self.read_number("Q"))

    def check_places(self, tensors: list[Tensor]) -> None:
        """Raise an error if a tensor is not inside the file or overlaps another."""
        alignment = self.numbers.get(ALIGNMENT, 32)
        if alignment <= 0 or alignment & (alignment - 1):
            raise UnsoundError(
                phrase(
                    "{name} is {number}, which is no power of two", name=ALIGNMENT, number=alignment
                )
            )
        room = self.size - -(-self.at // alignment) * alignment
        end = 0
        for tensor in sorted(tensors, key=lambda tensor: tensor.start):
            if tensor.start % alignment:
                raise UnsoundError(phrase("the tensor {name} is not aligned", name=tensor.name))
            if tensor.start < end:
                raise UnsoundError(
                    phrase("the tensor {name} lies inside another", name=tensor.name)
                )
            end = tensor.start + count_bytes(tensor)
            if end > room:
                raise UnsoundError(
                    phrase("it ends before the tensor {name} does", name=tensor.name)
                )

    def check_sizes(self, tensors: list[Tensor]) -> None:
        """Raise an error if the metadata describe a model larger than its tensors.

        The model is first built from these numbers; a missing one is replaced by the library's default,
        which is that of a large model.
        """
        for size in _NEEDED:
            if f"{self.architecture}.{size}" not in self.numbers:
                raise UnsoundError(phrase("it lacks {name}", name=f"{self.architecture}.{size}"))
        longest = max((side for tensor in tensors for side in tensor.shape), default=0)
        blocks = {found[1] for tensor in tensors if (found := _BLOCK.search(tensor.name))}
        for name, number in self.numbers.items():
            size = name.removeprefix(f"{self.architecture}.")
            if size != _BLOCKS and size not in _SIDES:
                continue
            most = len(blocks) if size == _BLOCKS else longest
            if not 0 <= number <= most:
                raise UnsoundError(
                    phrase(
                        "{name} is {number:,}, and its tensors are for {most:,} at most",
                        name=name,
                        number=number,
                        most=most,
                    )
                )


def explain_end(count: int, what: Message) -> UnsoundError:
    """The error for a file that ends too early."""
    return UnsoundError(
        phrase("it ends before the {count:,} {what} that it says it has", count=count, what=what)
    )


def require_new(name: str, names: set[str]) -> str:
    """The name, which must not have occurred before."""
    if name in names:
        raise UnsoundError(phrase("it has {name} twice", name=name))
    names.add(name)
    return name


def count_bytes(tensor: Tensor) -> int:
    """The size of a tensor in bytes."""
    from gguf.constants import GGML_QUANT_SIZES

    if tensor.kind not in GGML_QUANT_SIZES:
        raise UnsoundError(
            phrase(
                "the tensor {name} is of an unknown type ({kind})",
                name=tensor.name,
                kind=tensor.kind,
            )
        )
    block, width = GGML_QUANT_SIZES[tensor.kind]
    if sum(tensor.shape[:1]) % block:
        raise UnsoundError(
            phrase("the tensor {name} has rows that its type cannot have", name=tensor.name)
        )
    return int(prod(tensor.shape) // block * width)
