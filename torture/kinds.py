"""The kinds of model under test: small models, shipped or generated, on built-in data."""

from __future__ import annotations

from pathlib import Path

from gendalens.models import demo

_SMALL = ["--data", "builtin", "--offline", "--batch-tokens", "256"]

#: By kind of model, the arguments of ``gendalens run``. Small batches make many transactions.
KINDS: dict[str, list[str]] = {
    "masked language model": [
        *("demo-lm", "--tasks", "lm-abc,lm-dawinobias", "--sample", "20"),
        *_SMALL,
    ],
    "token classifier": [
        *("demo-ner", "--tasks", "ner-dane", "--sample", "40", "--repeats", "2"),
        *_SMALL,
    ],
    "resolver": [
        *("lm-coref:demo-lm?prompt=refers", "--tasks", "coref-abc,coref-dawinobias"),
        *("--sample", "20", *_SMALL),
    ],
}
#: The shortest run, for disturbances to which the kind of model makes no difference.
SHORT = ["demo-lm", "--tasks", "lm-abc", "--sample", "20", *_SMALL]

#: Two more short runs, of other kinds of model.
SHORTER = (
    ["demo-ner", "--tasks", "ner-dane", "--sample", "20", "--repeats", "1", *_SMALL],
    ["lm-coref:demo-lm?prompt=refers", "--tasks", "coref-abc", "--sample", "10", *_SMALL],
)

#: Enough draws that rows are written to a file during the run.
PORTIONS = [
    *("demo-ner", "--tasks", "ner-dane", "--sample", "60", "--repeats", "30"),
    *("--data", "builtin", "--offline"),
]


def make_causal(folder: Path) -> Path:
    """A causal language model with fixed random weights and the tokenizer of ``demo-lm``."""
    import torch
    import transformers

    tokenizer = transformers.AutoTokenizer.from_pretrained(demo.FOLDER / "demo-lm")
    tokenizer.bos_token, tokenizer.eos_token = tokenizer.cls_token, tokenizer.sep_token
    config = transformers.GPT2Config(
        vocab_size=len(tokenizer), n_positions=128, n_embd=32, n_layer=2, n_head=2,
        bos_token_id=tokenizer.bos_token_id, eos_token_id=tokenizer.eos_token_id,
    )  # fmt: skip
    with torch.random.fork_rng():
        torch.manual_seed(0)
        transformers.GPT2LMHeadModel(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def causal(model: Path) -> dict[str, list[str]]:
    """The one kind of which the package ships no model."""
    asked = [str(model), "--tasks", "lm-abc,lm-dawinobias", "--sample", "20"]
    return {"causal language model": [*asked, *_SMALL]}
