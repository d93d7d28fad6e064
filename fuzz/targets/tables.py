"""Rows of the hub's tables, which are converted to CoNLL-U; their owner may change them at any time."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, ClassVar

from fuzz.target import Input, Target
from fuzz.targets.conllu import check_sentence
from gendalens.data import conllu, hub

ROW: dict[str, Any] = {
    "sent_id": "dev-1\n",
    "text": "Åse Lund bor i Ribe, siger hun.\n",
    "tokens": ["Åse", "Lund", "bor", "i", "Ribe", ",", "siger", "hun", "."],
    "ner_tags": [1, 2, 0, 0, 5, 0, 0, 0, 0],
    "lemmas": ["Åse", "Lund", "bo", "i", "Ribe", ",", "sige", "hun", "."],
    "morph_tags": ["_", "Case=Gen", "_", "_", "_", "_", "_", "_", "_"],
}


class Tables(Target):
    """Accepted: a sentence with the row's tokens."""

    name: ClassVar[str] = "tables"
    share: ClassVar[float] = 40
    words: ClassVar[tuple[bytes, ...]] = (b'"B-PER"', b'"O"', b"null", b"\\n", b"\\t", b"\\ud800")

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        words = {**ROW, "ner_tags": ["B-PER", "I-PER", *["O"] * 7]}
        self.bases = {
            ("numbers", "row.json"): json.dumps(ROW).encode(),
            ("words", "row.json"): json.dumps(words, ensure_ascii=False).encode(),
        }
        self.path = folder / "test.jsonl"
        self.made = folder / "test.conllu"

    def check_input(self, given: Input) -> None:
        """Convert the row as a pull would, and read it."""
        self.path.write_bytes(given.content.replace(b"\n", b" ") + b"\n")
        rows = list(hub.read_rows([self.path]))
        lines = [line for row in rows for line in hub.to_conllu(row, "somebody/dane")]
        self.made.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        found = conllu.read(self.made.read_text(encoding="utf-8").split("\n")[:-1], self.made)
        assert len(found) == len(rows)
        for sentence, row in zip(found, rows, strict=True):
            check_sentence(sentence)
            assert [token.text for token in sentence.tokens] == list(map(str, row["tokens"]))
