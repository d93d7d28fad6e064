"""Model folders with mangled configuration, tokenizer, labels or weights; spaCy pipelines too."""

from __future__ import annotations

import struct
import warnings
from pathlib import Path
from random import Random
from typing import Any, ClassVar

from fuzz import json_values
from fuzz.target import Input, Target

TEXT = "Åse Lund så Bo i Ribe."
SMALL = {
    "hidden_size": 8,
    "num_hidden_layers": 1,
    "num_attention_heads": 2,
    "intermediate_size": 8,
}
LABELS = ("O", "B-PER", "I-PER", "B-LOC", "I-LOC")


class Folders(Target):
    """Accepted: finite answers to the requests, with offsets inside the text."""

    name: ClassVar[str] = "folders"
    share: ClassVar[float] = 1.5
    limit: ClassVar[float] = 20.0
    words: ClassVar[tuple[bytes, ...]] = (
        *(b"null", b"true", b'"auto_map": {"AutoConfig": "x.X"},', b'"architectures": []', b"{}"),
        *(b'"vocab_size": 1', b'"model_type": "gpt2"', b'"F32"', b'"BF16"', b"[UNK]", b"[MASK]"),
    )

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        for make in (_make_masked, _make_causal, _make_tagger, _make_pipeline):
            make(folder)
        self.bases = {
            (base.name, file.relative_to(base).as_posix()): file.read_bytes()
            for base in sorted(folder.iterdir())
            for file in sorted(base.rglob("*"))
            if file.is_file()
        }

    def mangle_file(self, file: str, content: bytes, dice: Random) -> bytes:
        """Mangle mostly the header of weights, which is short and describes everything else."""
        if file.endswith(".safetensors") and dice.random() < 0.7:
            (size,) = struct.unpack("<Q", content[:8])
            header = json_values.change(content[8 : 8 + size], dice)
            return struct.pack("<Q", len(header)) + header + content[8 + size :]
        return super().mangle_file(file, content, dice)

    def check_input(self, given: Input) -> None:
        """Load the model and ask it, as a run would."""
        from gendalens.models.base import LoadOptions
        from gendalens.models.detect import load_model
        from gendalens.models.requests import Fill, Score, Tag

        path = self.folder / given.base / given.file
        path.write_bytes(given.content)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                folder, options = self.folder / given.base, LoadOptions(device="cpu")
                backend: Any = load_model(str(folder), options)
                assert backend.info.name
                assert backend.fingerprint()
                for request in (
                    Score(TEXT),
                    Fill("Det er ", " båd.", ("hans", "hendes")),
                    Tag(TEXT),
                ):
                    if request.kind in backend.answers:
                        _ask(backend, request)
        finally:
            path.write_bytes(self.bases[given.base, given.file])


def _ask(backend: Any, request: Any) -> None:
    from gendalens.engine.executor import ask
    from gendalens.models.requests import TagAnswer

    if request.kind == "tag":
        assert all(isinstance(label, str) for label in backend.labels)
    (answer,) = ask(backend, [request]).values()
    if isinstance(answer, TagAnswer):
        for begin, end, label in answer.entities:
            assert 0 <= begin < end <= len(TEXT), "a place outside the text"
            assert label in backend.labels, "a label that the model does not have"


def _make_masked(folder: Path) -> None:
    import tiny
    import transformers

    tokenizer = tiny.wordpiece(size=120)
    config = transformers.BertConfig(vocab_size=len(tokenizer), max_position_embeddings=64, **SMALL)
    tiny.save(folder / "masked", transformers.BertForMaskedLM(config), tokenizer)


def _make_causal(folder: Path) -> None:
    import tiny
    import transformers

    tokenizer = tiny.gpt2(specials=True, size=270)
    config = transformers.GPT2Config(
        vocab_size=len(tokenizer),
        n_positions=64,
        n_embd=8,
        n_layer=1,
        n_head=2,
        bos_token_id=0,
        eos_token_id=1,
    )
    tiny.save(folder / "causal", transformers.GPT2LMHeadModel(config), tokenizer)


def _make_tagger(folder: Path) -> None:
    import tiny
    import transformers

    tokenizer = tiny.wordpiece(size=120)
    config = transformers.BertConfig(
        vocab_size=len(tokenizer),
        max_position_embeddings=64,
        id2label=dict(enumerate(LABELS)),
        label2id={label: at for at, label in enumerate(LABELS)},
        **SMALL,
    )
    tiny.save(folder / "tagger", transformers.BertForTokenClassification(config), tokenizer)


def _make_pipeline(folder: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import spacy

        nlp = spacy.blank("da", meta={"name": "regler", "version": "1.0.0"})
        nlp.add_pipe("entity_ruler").add_patterns(
            [{"label": "PER", "pattern": "Bo"}, {"label": "LOC", "pattern": [{"LOWER": "ribe"}]}]
        )
        nlp.to_disk(folder / "pipeline")
