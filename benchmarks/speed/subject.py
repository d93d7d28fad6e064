"""The models of the speed benchmarks: BERT-base with random weights, a tagger, and small versions.

12 layers of 768, 32,000 word pieces. Random weights do not affect the speed.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import Any

from tokenizers import BertWordPieceTokenizer

from gendalens.data.registry import find_source
from gendalens.tasks import get_task

VOCABULARY = 32_000
SPECIALS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
SMALL = {
    "num_hidden_layers": 2,
    "hidden_size": 128,
    "num_attention_heads": 2,
    "intermediate_size": 512,
}
LABELS = ("O", "B-PER", "I-PER", "B-LOC", "I-LOC", "B-ORG", "I-ORG")


def build(folder: Path) -> dict[str, Path]:
    """The folders of the masked model and the token classifier, built on first use."""
    import torch
    from transformers import (
        BertConfig,
        BertForMaskedLM,
        BertForTokenClassification,
        BertTokenizerFast,
    )

    found = {name: folder / name for name in ("lm", "ner", "small-lm", "small-ner")}
    if all((path / "vocab.txt").is_file() for path in found.values()):
        return found
    torch.manual_seed(0)
    folder.mkdir(parents=True, exist_ok=True)
    vocabulary = folder / "vocab.txt"
    vocabulary.write_text("\n".join(_learn_pieces()) + "\n", encoding="utf-8")
    tokenizer = BertTokenizerFast(str(vocabulary), do_lower_case=True, strip_accents=False)
    names = dict(enumerate(LABELS))
    for name, path in found.items():
        size = SMALL if name.startswith("small") else {}
        labels = {"id2label": names, "label2id": {label: id_ for id_, label in names.items()}}
        tags = labels if name.endswith("ner") else {}
        config = BertConfig(vocab_size=VOCABULARY, pad_token_id=0, **size, **tags)
        kind = BertForTokenClassification if tags else BertForMaskedLM
        kind(config).save_pretrained(path)
        tokenizer.save_pretrained(path)
        # Older versions of transformers, such as the peers', read the plain list.
        shutil.copy(vocabulary, path / "vocab.txt")
    return found


def _learn_pieces() -> list[str]:
    """Word pieces learnt from the official sentences, filled up to the usual size with dummies."""
    texts = [line.text for line in _read_items("lm-dawinobias", "dawinobias")]
    texts += [triple.reflexive for triple in _read_items("lm-abc", "abc")]
    texts += ["hans hendes han hun ham hende sin sit sine"] * 100
    learner = BertWordPieceTokenizer(lowercase=True, strip_accents=False)
    learner.train_from_iterator(texts, vocab_size=4000, special_tokens=list(SPECIALS))
    found = sorted(learner.get_vocab(), key=learner.get_vocab().__getitem__)
    return found + [f"[unused{i}]" for i in range(VOCABULARY - len(found))]


def _read_items(task: str, data: str) -> list[Any]:
    return list(get_task(task, 2).items({data: find_source(data)}))


if __name__ == "__main__":
    build(Path(sys.argv[1]))
