"""`.gguf` files with mangled header numbers, lengths, types, offsets, values and bytes.

Two targets: the header check, run often and compared with the format's own reader; and the whole way
from the file to answers, which takes a tenth of a second.
"""

from __future__ import annotations

import resource
import warnings
from pathlib import Path
from random import Random
from typing import Any, ClassVar

from fuzz.mangle import draw_count
from fuzz.target import Input, Target

TEXT = "Åse Lund så Bo i Ribe."
NUMBERS = (0, 1, 2, 3, 4, 7, 8, 9, 12, 31, 32, 33, 64, 255, 4096, 65537, 2**31 - 1, 2**31)
LARGE = (2**32 - 1, 2**32, 2**40, 2**61, 2**62, 2**63 - 1, 2**63, 2**64 - 8, 2**64 - 1)
MEMORY = 700 * 1024**2  # more than these files need, less than a false size would take
Place = tuple[int, int]


class GgufHeads(Target):
    """Accepted: a file that the format's own reader takes, with all tensors inside it."""

    name: ClassVar[str] = "gguf-heads"
    share: ClassVar[float] = 25
    words: ClassVar[tuple[bytes, ...]] = (
        *(b"GGUF", b"llama", b"gpt2", b"gemma3", b"general.alignment", b"split.count"),
        *(b"\x00" * 8, b"\xff" * 8, b"\x08\x00\x00\x00", b"\x09\x00\x00\x00"),
    )

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.bases = {
            (path.stem, path.name): path.read_bytes() for path in _make_sound_files(folder)
        }
        self._places = {base: _find_places(folder / file) for base, file in self.bases}

    def mangle_file(self, file: str, content: bytes, dice: Random) -> bytes:
        """Mostly replace numbers in place, so that nothing else moves."""
        if dice.random() < 0.3:
            return super().mangle_file(file, content, dice)
        places = self._places[file.removesuffix(".gguf")]
        damaged = bytearray(content)
        for _ in range(draw_count(dice, 0.3, 6)):
            at, width = dice.choice(dice.choice(places))
            damaged[at : at + width] = _draw_value(damaged[at : at + width], len(content), dice)
        return bytes(damaged)

    def check_input(self, given: Input) -> None:
        """Check the header only."""
        import gguf

        from gendalens.errors import UserError
        from gendalens.models.huggingface import gguf_header

        path = self.folder / "mangled.gguf"
        path.write_bytes(given.content)
        try:
            gguf_header.check_header(path)
        except gguf_header.UnsoundError as error:
            raise UserError("{reason}.", reason=error.message) from error
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            reader: Any = gguf.GGUFReader(path)
        for tensor in reader.tensors:
            assert tensor.data_offset + tensor.n_bytes <= len(given.content), "bytes outside"
            assert tensor.data.nbytes == tensor.n_bytes, "bytes are missing"


class Gguf(GgufHeads):
    """Accepted: finite answers to the requests."""

    name: ClassVar[str] = "gguf"
    share: ClassVar[float] = 1.5
    limit: ClassVar[float] = 20.0

    def check_input(self, given: Input) -> None:
        """Load the model and ask it, as a run would; a refusal must take little memory too."""
        path = self.folder / "mangled.gguf"
        path.write_bytes(given.content)
        before = _peak_memory()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                _ask(path)
        finally:
            assert _peak_memory() - before < MEMORY, "memory for a lie"


def _ask(path: Path) -> None:
    from gendalens.engine.executor import ask
    from gendalens.models.base import LoadOptions
    from gendalens.models.detect import load_model
    from gendalens.models.requests import Fill, Score

    backend: Any = load_model(str(path), LoadOptions(device="cpu"))
    assert backend.info.name
    assert backend.fingerprint()
    for request in (Score(TEXT), Fill("Det er ", " båd.", ("hans", "hendes"))):
        ask(backend, [request])


def _peak_memory() -> int:
    """The peak memory of this process in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def _draw_value(old: bytes | bytearray, size: int, dice: Random) -> bytes:
    """Another value of the same width; in texts, some bytes are replaced."""
    width = len(old)
    if width > 8 or width not in (1, 2, 4, 8):
        new = bytearray(old)
        for _ in range(draw_count(dice, 0.5, 8)):
            new[dice.randrange(width)] = dice.choice((0, 32, 46, 255, dice.randrange(256)))
        return bytes(new)
    number = int.from_bytes(old, "little")
    how = dice.randrange(5)
    if how == 0:
        number += dice.randrange(-3, 4)
    elif how == 1:
        number = dice.choice((size, size - 1, size + 1, size // 2, number * 2, number // 2))
    elif how == 2:
        number ^= 1 << dice.randrange(8 * width)
    else:
        number = dice.choice(NUMBERS if how == 3 else LARGE)
    return int(number % 2 ** (8 * width)).to_bytes(width, "little")


def _find_places(path: Path) -> list[list[Place]]:
    """The offset and width of each part of each entry and tensor description."""
    import gguf

    reader: Any = gguf.GGUFReader(path)
    begin = reader.data.ctypes.data
    fields = [*reader.fields.values(), *(tensor.field for tensor in reader.tensors)]
    return [
        [(part.ctypes.data - begin, part.nbytes) for part in field.parts if part.nbytes]
        for field in fields
    ]


def _make_sound_files(folder: Path) -> list[Path]:
    """The same small Llama with plain and with block-quantised matrices."""
    import gguf
    import tiny

    tokenizer = tiny.gpt2(specials=True, size=264)
    model = tiny.llama_model(tokenizer, num_hidden_layers=1, intermediate_size=32)
    kinds = {"plain": None, "blocks": gguf.GGMLQuantizationType.Q8_0}
    for name, kind in kinds.items():
        tiny.save_gguf(folder / f"{name}.gguf", model, tokenizer, kind=kind)
    return [folder / f"{name}.gguf" for name in kinds]
