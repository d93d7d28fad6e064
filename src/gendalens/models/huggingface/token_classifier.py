"""Token classifiers from Hugging Face (…ForTokenClassification): a label for each word of a text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

from gendalens.errors import UserError
from gendalens.models.base import Batching
from gendalens.models.huggingface.checkpoint import Checkpoint
from gendalens.models.huggingface.devices import find_input_device
from gendalens.models.huggingface.encoding import tokenise
from gendalens.models.huggingface.label_schemes import (
    Mark,
    join_entities,
    join_run_on_entities,
    list_types,
    read_labels,
)
from gendalens.models.huggingface.long_texts import find_length_limit
from gendalens.models.huggingface.padding_trial import PaddingTrial
from gendalens.models.huggingface.tokenizer_check import TokenizerCheck
from gendalens.models.huggingface.transformer import Transformer, explain_failures
from gendalens.models.huggingface.windows import Row, SingleSpaced, Windows, cut_windows
from gendalens.models.requests import Answer, Tag, TagAnswer
from gendalens.results.model_info import TOKEN_CLASSIFICATION
from gendalens.words import N_, Message, Template

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# Part of every fingerprint: raise the number when the same weights would tag differently than before.
ANSWERS_VERSION = 1
_READING = "token classifier"

_LOGITS_BYTES = 512 * 1024 * 1024
# Planned batches are far smaller; this bounds the memory of a single very long text.
_MAX_TOKENS = 32_768
# A sentence is far shorter; a longer text comes from a broken file and would exhaust the memory.
_MAX_CHARACTERS = 200_000

# These models label the words of a page and need each word's position on it.
_PAGE_MODELS = frozenset({"bros", "layoutlm", "layoutlmv2", "layoutlmv3", "lilt", "markuplm"})


class TokenClassifier(Transformer):
    """A token classifier; its weights are loaded on the first request.

    A word gets the label of its first piece, as such models are trained. A text longer than the model's
    window is read in windows that overlap by half, and each word in the window that gives it most
    context.
    """

    label: ClassVar[str] = N_("token classifiers (NER)")
    kind: ClassVar[Template] = Template("token_classifier", "token classifier")
    hub_task: ClassVar[str] = TOKEN_CLASSIFICATION
    loaded: ClassVar[tuple[str, ...]] = ("model",)
    answers = frozenset({Tag.kind})

    @classmethod
    def recognises(cls, checkpoint: Checkpoint) -> bool:
        """Whether the weights were saved from a token classifier that reads plain text."""
        if checkpoint.gguf or checkpoint.config.model_type in _PAGE_MODELS:
            return False
        return checkpoint.architecture.endswith("ForTokenClassification")

    def __init__(self, checkpoint: Checkpoint) -> None:
        self._marks = _read_marks(checkpoint)
        super().__init__(checkpoint)

    def check_tokenizer(self, check: TokenizerCheck) -> list[Message]:
        """The same, with a warning of unknown letters, which the tests of taggers do not count."""
        return [*super().check_tokenizer(check), *check.list_unknown()]

    @property
    def labels(self) -> tuple[str, ...]:
        """The entity types that the model can find, under its own labels."""
        return list_types(self._marks)

    @property
    def max_positions(self) -> int:
        """How many labelled positions fit into memory at once."""
        return max(1, _LOGITS_BYTES // (4 * len(self._marks)))

    def fingerprint(self) -> str:
        """A digest of everything that determines the answers."""
        return self.digest_answers(ANSWERS_VERSION, _READING)

    @explain_failures
    def encode(self, requests: Sequence[Tag]) -> list[Windows]:
        """The texts, tokenised and cut into windows."""
        for request in requests:
            if len(request.text) > _MAX_CHARACTERS:
                raise UserError(
                    "A text of {length:,} characters is too long for a tagger: shorten “{text}…”.",
                    length=len(request.text),
                    text=request.text[:59],
                )
        texts = [SingleSpaced(request.text) for request in requests]
        # All texts in one call, so that the tokenizer works in parallel.
        tokens = tokenise(self.tokenizer, [text.text for text in texts], specials=self.specials)
        encoded = [
            cut_windows(text, some, self.window, averaged=request.averaged)
            for request, text, some in zip(requests, texts, tokens, strict=True)
        ]
        for item in encoded:
            self.check_tokens(item.inputs)
        return encoded

    @explain_failures
    def answer(self, batch: Sequence[Windows]) -> list[Answer]:
        """The entities of each text, in order."""
        scores = self._score_rows(list(dict.fromkeys(row for item in batch for row in item.inputs)))
        return [self._answer(item, [scores[row] for row in item.inputs]) for item in batch]

    @cached_property
    def model(self) -> Any:
        """The model itself, loaded on first use."""
        return self.checkpoint.load_model("AutoModelForTokenClassification")

    @cached_property
    def _length_limit(self) -> float:
        return find_length_limit(self.checkpoint.config)

    @cached_property
    def tried_batching(self) -> Batching:
        """Which rows the loaded model can read together."""
        trial = PaddingTrial(
            self.model,
            lambda row: self._run_pass([row])[row],
            lambda rows: [*self._run_pass(rows).values()],
        )
        rows = self.make_trial_rows(specials=self.specials)
        with self.explain_first_reading():
            return trial.choose_batching(rows, self.checkpoint.name)

    def _answer(self, item: Windows, scores: Sequence[NDArray[np.float32]]) -> TagAnswer:
        if item.averaged:
            best = [int(scores[row][begin:end].mean(0).argmax()) for row, begin, end in item.pieces]
            found = join_run_on_entities([self._marks[label] for label in best], item.spans)
        else:
            labels = [row.argmax(-1).tolist() for row in scores]
            marks = [self._marks[labels[row][first]] for row, first, _ in item.pieces]
            found = join_entities(marks, item.spans)
        return TagAnswer(tuple(found), sum(end - begin for _, begin, end in item.pieces))

    def _score_rows(self, rows: list[Row]) -> dict[Row, NDArray[np.float32]]:
        """The score of each label at each position of each row."""
        found: dict[Row, NDArray[np.float32]] = {}
        rows.sort(key=len, reverse=True)
        while rows:
            count = 1
            if self.tried_batching is not Batching.ONE_ROW:
                count = max(1, _MAX_TOKENS // len(rows[0]))
            if self.tried_batching is Batching.EQUAL_LENGTH:
                count = min(count, sum(len(row) == len(rows[0]) for row in rows))
            if len(rows[0]) > self._length_limit:
                count = min(count, sum(len(row) > self._length_limit for row in rows))
            found.update(self._run_pass(rows[:count]))
            del rows[:count]
        return found

    def _run_pass(self, rows: Sequence[Row]) -> dict[Row, NDArray[np.float32]]:
        import numpy as np
        import torch

        # Padding is done here, on the right: some tokenizers pad on the left, and some cannot pad at all.
        width = max(map(len, rows))
        padded = [row + (self.padding,) * (width - len(row)) for row in rows]
        mask = [[1] * len(row) + [0] * (width - len(row)) for row in rows]
        device = find_input_device(self.model)
        with torch.inference_mode():
            output = self.model(
                input_ids=torch.tensor(padded, device=device),
                attention_mask=torch.tensor(mask, device=device),
            )
        logits = output.logits.float().cpu().numpy()
        scores = {row: logits[index, : len(row)] for index, row in enumerate(rows)}
        if not all(np.isfinite(some).all() for some in scores.values()):
            raise UserError(
                "{name} returns scores that are not numbers: its weights are damaged, or its"
                " number format is too small for it; try float32.",
                name=self.checkpoint.name,
            )
        return scores


def _read_marks(checkpoint: Checkpoint) -> list[Mark | None]:
    """The marks of the model's labels; refuses a model whose labels name no entities."""
    names: dict[int, str] = checkpoint.config.id2label
    labels = [str(names[index]) for index in sorted(names)]
    _check_texts(checkpoint, labels)
    if all(re.fullmatch(r"LABEL_\d+", label) for label in labels):
        raise UserError(
            "{name} has no label names (its labels are {label}, …), so what it finds cannot be known:"
            " write them as id2label into its config.json.",
            name=checkpoint.name,
            label=labels[0],
        )
    marks = read_labels(labels)
    if not any(marks):
        raise UserError(
            "{name} has no entity labels (only {labels}): name a model that was trained to find"
            " entities.",
            name=checkpoint.name,
            labels=tuple(labels),
        )
    return marks


def _check_texts(checkpoint: Checkpoint, labels: Sequence[str]) -> None:
    """Refuse lone surrogates, which JSON can express but neither the cache nor a result can store."""
    for label in labels:
        try:
            label.encode()
        except UnicodeEncodeError as error:
            raise UserError(
                "{name} has a label that is no text ({label}): correct id2label in its config.json.",
                name=checkpoint.name,
                label=label[:40],
            ) from error


BACKEND = TokenClassifier
