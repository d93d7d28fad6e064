"""Causal language models (GPT, Llama, Gemma, …), `.gguf` files included."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import ClassVar

from gendalens.errors import UserError
from gendalens.models.base import Answer, Fill, FillAnswer, Request, Score, ScoreAnswer
from gendalens.models.huggingface.checkpoint import Checkpoint
from gendalens.models.huggingface.encoding import Tokens
from gendalens.models.huggingface.forward import Network, Prepared, Reading, Row, Rows
from gendalens.models.huggingface.language_model import LanguageModel
from gendalens.models.huggingface.prefixes import PrefixNetwork


class CausalLM(LanguageModel):
    """A causal language model: scores left to right, fills by the likelihood of whole sentences."""

    kind: ClassVar[str] = "causal"
    label: ClassVar[str] = "causal language models"
    auto_class: ClassVar[str] = "AutoModelForCausalLM"
    # BOS is put in front here, exactly once: of one model, some folders add it and others do not.
    specials: ClassVar[bool] = False
    answers: ClassVar[frozenset[str]] = frozenset({Fill.kind, Score.kind})
    network_class: ClassVar[type[Network]] = PrefixNetwork

    @staticmethod
    def claims(checkpoint: Checkpoint) -> bool:
        """Whether the weights were saved from a causal language model."""
        config = checkpoint.config
        if getattr(config, "is_encoder_decoder", False):
            return False
        if checkpoint.architecture.endswith(("ForCausalLM", "LMHeadModel")):
            # XLM's and XLNet's heads are called the same and do not predict from left to right.
            return config.model_type not in ("flaubert", "xlm", "xlnet")
        if checkpoint.gguf or checkpoint.architecture.endswith("ForConditionalGeneration"):
            from transformers.models.auto.modeling_auto import MODEL_FOR_CAUSAL_LM_MAPPING_NAMES

            return config.model_type in MODEL_FOR_CAUSAL_LM_MAPPING_NAMES
        return False

    def __init__(self, checkpoint: Checkpoint) -> None:
        super().__init__(checkpoint)
        bos, eos = self.tokenizer.bos_token_id, self.tokenizer.eos_token_id
        front = bos if bos is not None else eos
        self._front: Row = () if front is None else (front,)

    def _texts(self, request: Request) -> list[str]:
        if isinstance(request, Score):
            return [request.given + request.text]
        if isinstance(request, Fill):
            if not request.candidates:
                raise ValueError("a fill needs candidates")
            return [request.left + word + request.right for word in request.candidates]
        raise UserError(
            f"Protocol 1 needs a masked language model and {self.checkpoint.name} is a causal one:"
            " use protocol 2."
        )

    def _prepare(self, request: Request, tokens: Sequence[Tokens]) -> Prepared:
        if isinstance(request, Score):
            row, asked, unscored = self._left_to_right(tokens[0], len(request.given))
            return Prepared(
                request,
                (row,) if asked else (),
                tuple((0, at, token) for at, token in asked),
                unscored=unscored,
                unknown=self.unknown(tokens[0]),
            )
        assert isinstance(request, Fill)
        rows = Rows()
        gaps, groups = [], []
        for word, cut in zip(request.candidates, tokens, strict=True):
            gaps.append(self.pieces(request.left, word, cut))
            self.must_write(word, cut, gaps[-1])
            row, asked, _ = self._left_to_right(cut)
            for at, token in asked:
                rows.ask(row, at, token)
            groups.append(len(asked))
        return Prepared(
            request,
            tuple(rows.inputs),
            tuple(rows.asked),
            groups=tuple(groups),
            pieces=tuple(map(len, gaps)),
            unknown=self.unknown(tokens[0], apart_from=gaps[0]),
        )

    def _left_to_right(
        self, tokens: Tokens, given: int = 0
    ) -> tuple[Row, list[tuple[int, int]], int]:
        """The row, (position, next token) for each scored token, and how many are unscored."""
        ids, starts = tokens.ids, tokens.starts
        while self._front and ids[:1] == self._front:
            ids, starts = ids[1:], starts[1:]
        row = self._front + ids
        shift = len(self._front)
        wanted = [index for index, start in enumerate(starts) if start >= given]
        scored = [index for index in wanted if index + shift > 0]
        # The last token is only predicted, never read.
        return (
            row[:-1],
            [(index + shift - 1, ids[index]) for index in scored],
            len(wanted) - len(scored),
        )

    def _answer(self, item: Prepared, reading: Reading) -> Answer:
        if isinstance(item.request, Score):
            return ScoreAnswer(
                math.fsum(reading.log_probs), len(reading.log_probs), item.unscored, item.unknown
            )
        return FillAnswer(self.word_scores(item, reading), item.pieces, None, item.unknown)

    def _verify(self, network: Network) -> None:
        """Refuse a model that looks ahead.

        An encoder loads as a causal model with nothing missing, and then reads both sides.
        """
        # Two rows that differ in their last token must agree on what comes before it.
        begin = self._front or (0,)
        probe = Prepared(
            Score(""), ((*begin, 0), (*begin, 1)), tuple((row, 0, 0) for row in range(2))
        )
        here, there = network.read([probe])[0].log_probs
        if abs(here - there) > 1e-4:
            raise UserError(
                f"{self.checkpoint.name} is no causal language model: its predictions depend on"
                " later words; set is_decoder in its config.json, or name another model."
            )


BACKEND = CausalLM
