"""Token classifiers from Hugging Face (…ForTokenClassification): a label for each word of a text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

from gendalens.errors import UserError
from gendalens.models.base import Answer, Tag, TagAnswer
from gendalens.models.huggingface.checkpoint import Checkpoint
from gendalens.models.huggingface.encoding import tokenise
from gendalens.models.huggingface.label_schemes import (
    Mark,
    entities,
    read_labels,
    run_on_entities,
    types,
)
from gendalens.models.huggingface.transformer import Transformer, explained
from gendalens.models.huggingface.weights import load_weights
from gendalens.models.huggingface.windows import Row, SingleSpaced, Windows, cut

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# Part of every fingerprint: raise it when the same weights would tag differently than before.
ANSWERS_VERSION = 1

_LOGITS_BYTES = 512 * 1024 * 1024
# The planner keeps batches far below this; it bounds the memory of a single very long text.
_MAX_TOKENS = 32_768
# A sentence is far shorter; a longer text is a broken file, and would eat the memory.
_MAX_CHARACTERS = 200_000

# These label the words of a page and need to know where on it each one stands.
_PAGE_MODELS = frozenset({"bros", "layoutlm", "layoutlmv2", "layoutlmv3", "lilt", "markuplm"})


class TokenClassifier(Transformer):
    """A token classifier; its weights are loaded with the first answer.

    A word has the label of its first piece, as such models are trained. A text longer than the
    model's window is read in windows that overlap by half, and each word where it sees most.
    """

    kind: ClassVar[str] = "token classifier"
    label: ClassVar[str] = "token classifiers (NER)"
    answers: ClassVar[frozenset[str]] = frozenset({Tag.kind})

    @staticmethod
    def claims(checkpoint: Checkpoint) -> bool:
        """Whether the weights were saved from a token classifier that reads plain text."""
        if checkpoint.gguf or checkpoint.config.model_type in _PAGE_MODELS:
            return False
        return checkpoint.architecture.endswith("ForTokenClassification")

    def __init__(self, checkpoint: Checkpoint) -> None:
        self._marks = _marks(checkpoint)
        super().__init__(checkpoint)

    @property
    def labels(self) -> tuple[str, ...]:
        """The types of entity the model can find, in its own words."""
        return types(self._marks)

    @property
    def max_positions(self) -> int:
        """How many labelled positions fit into memory at once."""
        return max(1, _LOGITS_BYTES // (4 * len(self._marks)))

    def fingerprint(self) -> str:
        """A digest of all that decides the answers."""
        return self.checkpoint.digest(ANSWERS_VERSION, self.kind)

    @explained
    def encode(self, requests: Sequence[Tag]) -> list[Windows]:
        """The texts, tokenised and cut into windows."""
        for request in requests:
            if len(request.text) > _MAX_CHARACTERS:
                raise UserError(
                    f"A text of {len(request.text):,} characters is too long for a tagger: shorten"
                    f" “{request.text[:59]}…”."
                )
        texts = [SingleSpaced(request.text) for request in requests]
        # All texts at once: the tokenizer then works in parallel.
        tokens = tokenise(self.tokenizer, [text.text for text in texts], specials=True)
        encoded = [
            cut(text, some, self.window, averaged=request.averaged)
            for request, text, some in zip(requests, texts, tokens, strict=True)
        ]
        for item in encoded:
            self.must_know(item.inputs)
        return encoded

    @explained
    def answer(self, batch: Sequence[Windows]) -> list[Answer]:
        """The entities of each text, in order."""
        scores = self._scores(list(dict.fromkeys(row for item in batch for row in item.inputs)))
        return [self._answer(item, [scores[row] for row in item.inputs]) for item in batch]

    @cached_property
    def model(self) -> Any:
        """The model itself, loaded on first use."""
        return load_weights(self.checkpoint, "AutoModelForTokenClassification")

    def _answer(self, item: Windows, scores: Sequence[NDArray[np.float32]]) -> TagAnswer:
        if item.averaged:
            best = [int(scores[row][begin:end].mean(0).argmax()) for row, begin, end in item.pieces]
            found = run_on_entities([self._marks[label] for label in best], item.spans)
        else:
            labels = [row.argmax(-1).tolist() for row in scores]
            marks = [self._marks[labels[row][first]] for row, first, _ in item.pieces]
            found = entities(marks, item.spans)
        return TagAnswer(tuple(found), sum(end - begin for _, begin, end in item.pieces))

    def _scores(self, rows: list[Row]) -> dict[Row, NDArray[np.float32]]:
        """The score of each label at each position of each row."""
        found: dict[Row, NDArray[np.float32]] = {}
        rows.sort(key=len, reverse=True)
        while rows:
            count = max(1, _MAX_TOKENS // len(rows[0]))
            found.update(self._pass(rows[:count]))
            del rows[:count]
        return found

    def _pass(self, rows: Sequence[Row]) -> dict[Row, NDArray[np.float32]]:
        import numpy as np
        import torch

        # Padded by hand and on the right: some tokenizers pad on the left, some cannot pad at all.
        width = max(map(len, rows))
        padded = [row + (self.padding,) * (width - len(row)) for row in rows]
        mask = [[1] * len(row) + [0] * (width - len(row)) for row in rows]
        device = self.model.device
        with torch.inference_mode():
            output = self.model(
                input_ids=torch.tensor(padded, device=device),
                attention_mask=torch.tensor(mask, device=device),
            )
        logits = output.logits.float().cpu().numpy()
        scores = {row: logits[index, : len(row)] for index, row in enumerate(rows)}
        if not all(np.isfinite(some).all() for some in scores.values()):
            raise UserError(
                f"{self.checkpoint.name} gives scores that are no numbers: its weights are damaged,"
                " or its number format is too small for it; try float32."
            )
        return scores


def _marks(checkpoint: Checkpoint) -> list[Mark | None]:
    """The model's labels, read; refuses a model whose labels name no entities."""
    names: dict[int, str] = checkpoint.config.id2label
    labels = [str(names[index]) for index in sorted(names)]
    _check_texts(checkpoint, labels)
    if all(re.fullmatch(r"LABEL_\d+", label) for label in labels):
        raise UserError(
            f"{checkpoint.name} has no label names (its labels are {labels[0]}, …), so what it"
            " finds cannot be known: write them as id2label into its config.json."
        )
    marks = read_labels(labels)
    if not any(marks):
        raise UserError(
            f"{checkpoint.name} has no entity labels (only {', '.join(labels)}): name a model that"
            " was trained to find entities."
        )
    return marks


def _check_texts(checkpoint: Checkpoint, labels: Sequence[str]) -> None:
    """Refuse half a character, which JSON can write and neither the cache nor a result can hold."""
    for label in labels:
        try:
            label.encode()
        except UnicodeEncodeError as error:
            raise UserError(
                f"{checkpoint.name} has a label that is no text ({label[:40]}): correct id2label in"
                " its config.json."
            ) from error


BACKEND = TokenClassifier
