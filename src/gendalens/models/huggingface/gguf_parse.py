"""A `.gguf` file, parsed once for its configuration, its tokenizer and its weights.

transformers parses the whole file again for each of them, and for most architectures by the reader of the
`gguf` package, which makes an object of every token of the vocabulary: a vocabulary of 262,000 tokens
takes longer than all the weights.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

#: Arrays longer than this are vocabularies; what a configuration or a tensor needs has an entry a layer.
_LONG = 4096


class SharedParse:
    """The one parse of a file, made when it is first needed and reduced when it has been read.

    What makes the parse large, the vocabulary, is dropped after the configuration was read from it:
    transformers takes the tokenizer's part from the file by a quick reader of its own.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._parsed: Any = None

    @contextmanager
    def share(self) -> Iterator[None]:
        """Have the `gguf` package return this parse when transformers asks it for the file."""
        import gguf

        parse = gguf.GGUFReader

        def find_parsed(path: Any, *rest: Any, **more: Any) -> Any:
            if Path(path) != self.path:
                return parse(path, *rest, **more)
            if self._parsed is None:
                self._parsed = parse(path, *rest, **more)
            return self._parsed

        gguf.GGUFReader = find_parsed
        try:
            yield
        finally:
            gguf.GGUFReader = parse

    def drop_vocabulary(self) -> None:
        """Forget the arrays that only a tokenizer needs."""
        if self._parsed is not None:
            fields = self._parsed.fields
            for name in [name for name, field in fields.items() if len(field.data) > _LONG]:
                del fields[name]

    def forget(self) -> None:
        """Forget everything, the mapped file included."""
        self._parsed = None
