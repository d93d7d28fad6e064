"""The kinds of model that are tortured: toys that ship with the package, on built-in data."""

from __future__ import annotations

from collections.abc import Mapping

_SMALL = ["--data", "builtin", "--offline", "--batch-tokens", "256"]

#: By kind of model, the arguments of ``gendalens run``. Small batches make many transactions.
KINDS: Mapping[str, list[str]] = {
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
#: The shortest of all, for disturbances in which the kind of model makes no difference.
SHORT = ["demo-lm", "--tasks", "lm-abc", "--sample", "20", *_SMALL]
