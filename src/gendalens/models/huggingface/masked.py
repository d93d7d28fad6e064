"""Masked language models (BERT, RoBERTa, …)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import ClassVar

from gendalens.errors import UserError
from gendalens.models.base import RowReader
from gendalens.models.huggingface.checkpoint import Checkpoint
from gendalens.models.huggingface.encoding import Tokens
from gendalens.models.huggingface.forward import Network
from gendalens.models.huggingface.language_model import LanguageModel
from gendalens.models.huggingface.last_layer import LastLayerNetwork
from gendalens.models.huggingface.prepared import Choice, Prepared, Reading, Row, Rows
from gendalens.models.huggingface.tokenizer_check import TokenizerCheck
from gendalens.models.huggingface.vocabulary import Vocabulary
from gendalens.models.requests import (
    Answer,
    Fill,
    FillAnswer,
    Reconstruct,
    ReconstructAnswer,
    Request,
    Score,
    ScoreAnswer,
    TopToken,
    TopTokenAnswer,
)
from gendalens.results.model_info import FILL_MASK
from gendalens.words import N_, Message, Template

# The token sets for a first choice, by how words begin: bare or with a space mark; "" is all tokens.
_BARE, _MARKED, _ANY = "bare", "marked", ""


class MaskedLM(LanguageModel, RowReader):
    """A masked language model: fills by masks, scores by pseudo-log-likelihood."""

    label: ClassVar[str] = N_("masked language models")
    kind: ClassVar[Template] = Template("masked_lm", "masked language model")
    hub_task: ClassVar[str] = FILL_MASK
    reading: ClassVar[str] = "masked"
    auto_class: ClassVar[str] = "AutoModelForMaskedLM"
    answers = frozenset({Fill.kind, Score.kind, TopToken.kind, Reconstruct.kind})
    network_class: ClassVar[type[Network]] = LastLayerNetwork

    @classmethod
    def recognises(cls, checkpoint: Checkpoint) -> bool:
        """Whether the weights were saved from a masked language model.

        A pre-training checkpoint usually holds one; where it does not (Electra's discriminators),
        loading finds keys missing.
        """
        if checkpoint.gguf:
            return False
        return checkpoint.architecture.endswith(("ForMaskedLM", "ForPreTraining"))

    def __init__(self, checkpoint: Checkpoint) -> None:
        super().__init__(checkpoint)
        if self.tokenizer.mask_token_id is None:
            raise UserError(
                "The tokenizer of {name} has no mask token, without which a masked language model"
                " cannot be asked: use the model's own tokenizer.",
                name=checkpoint.name,
            )
        self._mask: int = self.tokenizer.mask_token_id
        # GenDa Lens 0.0.3 treats one model, by name, differently: its mask must not follow a space.
        self._glued = (checkpoint.name, self.tokenizer.mask_token) == (
            "vesteinn/DanskBert",
            "<mask>",
        )

    def check_tokenizer(self, check: TokenizerCheck) -> list[Message]:
        """The same, and refuses a mask that ordinary text contains."""
        check.refuse_mask_in_text()
        return super().check_tokenizer(check)

    def fingerprint(self) -> str:
        """A digest of everything that determines the answers."""
        return self.checkpoint.digest(super().fingerprint(), self._glued)

    def _texts(self, request: Request) -> list[str]:
        if isinstance(request, Score):
            return [request.given + request.text]
        if isinstance(request, Reconstruct):
            return []  # tokenised by 0.0.3's own rule
        if isinstance(request, TopToken):
            left = request.left
            if self._glued:
                left = left.removesuffix(" ")
            return [left + self.tokenizer.mask_token + request.right]
        assert isinstance(request, Fill)
        if not request.candidates:
            raise ValueError("a fill needs candidates")
        return [request.left + word + request.right for word in _list_words(request)]

    def _prepare(self, request: Request, tokens: Sequence[Tokens]) -> Prepared:
        if isinstance(request, Score):
            return self._prepare_score(request, tokens[0])
        if isinstance(request, Reconstruct):
            return self._prepare_reconstruct(request)
        if isinstance(request, TopToken):
            return self._prepare_top_token(request, tokens[0])
        assert isinstance(request, Fill)
        return self._prepare_fill(request, tokens)

    def _prepare_fill(self, request: Fill, tokens: Sequence[Tokens]) -> Prepared:
        """Each word as k masks: piece j is predicted with the pieces before it filled in."""
        rows = Rows()
        gaps, groups = [], []
        for word, cut in zip(_list_words(request), tokens, strict=True):
            gap = self.find_pieces(request.left, word, cut)
            if word in request.candidates:
                self.check_candidate(word, cut, gap)
            gaps.append(gap)
            # A rival that the tokenizer cannot represent is not scored and cannot be chosen.
            groups.append(len(gap) if self.can_write(cut, gap) else 0)
            for at in gap[: groups[-1]]:
                rows.ask(self._mask_places(cut, range(at, gap.stop)), at, cut.ids[at])
        # The first candidate shows how words begin in the gap: with a space mark or without.
        gap, ids = gaps[0], tokens[0].ids
        whole_words = _MARKED if self._vocabulary.has_space_mark(ids[gap.start]) else _BARE
        choice = None
        if self._sets[whole_words]:
            one_mask = (*ids[: gap.start], self._mask, *ids[gap.stop :])
            choice = Choice(rows.index(one_mask), gap.start, whole_words)
        return Prepared(
            request,
            tuple(rows.inputs),
            tuple(rows.asked),
            choice,
            groups=tuple(groups),
            pieces=tuple(map(len, gaps[: len(request.candidates)])),
            unknown=self.count_unknown(tokens[0], apart_from=gap),
        )

    def _prepare_top_token(self, request: TopToken, tokens: Tokens) -> Prepared:
        """As in the fill-mask pipeline: the text unchanged, any token of the vocabulary."""
        if self._mask not in tokens.ids:
            raise UserError(
                "The tokenizer of {name} does not recognise its own mask token in a text: protocol 1"
                " cannot be computed with it; use protocol 2.",
                name=self.checkpoint.name,
            )
        at = tokens.ids.index(self._mask)
        return Prepared(request, (tokens.ids,), (), choice=Choice(0, at, _ANY))

    def _prepare_score(self, request: Score, tokens: Tokens) -> Prepared:
        """PLL-word-l2r: the token and the later pieces of its word masked (Kauf & Ivanova 2023)."""
        rows = Rows()
        for at, start in enumerate(tokens.starts):
            if start < len(request.given):  # special tokens are below every start
                continue
            end = at + 1
            while end < len(tokens.words) and tokens.words[end] == tokens.words[at]:
                end += 1
            rows.ask(self._mask_places(tokens, range(at, end)), at, tokens.ids[at])
        return Prepared(
            request, tuple(rows.inputs), tuple(rows.asked), unknown=self.count_unknown(tokens)
        )

    def _prepare_reconstruct(self, request: Reconstruct) -> Prepared:
        """As in 0.0.3: nothing masked, one token replaced, and the loss against the original."""
        tokenizer = self.tokenizer
        pieces: list[str] = tokenizer.tokenize(
            f"{tokenizer.cls_token} {request.text} {tokenizer.sep_token}"
        )
        targets = {*request.words, *(f"▁{word}" for word in request.words)}
        place = next((at for at, piece in enumerate(pieces) if piece in targets), None)
        if place is None or None in (tokenizer.cls_token, tokenizer.sep_token):
            raise UserError(
                "Protocol 1 cannot be computed with the tokenizer of {name}: none of {words} is one"
                " token in “{text}”; use protocol 2.",
                name=self.checkpoint.name,
                words=request.words,
                text=request.text,
            )
        original: list[int] = tokenizer.convert_tokens_to_ids(pieces)
        if request.replacement is not None:
            pieces[place] = request.replacement
        # A replacement outside the vocabulary becomes the unknown token, as it does in 0.0.3.
        row: Row = tuple(tokenizer.convert_tokens_to_ids(pieces))
        return Prepared(request, (row,), tuple((0, at, id_) for at, id_ in enumerate(original)))

    def _answer(self, item: Prepared, reading: Reading) -> Answer:
        request = item.request
        if isinstance(request, Score):
            return ScoreAnswer(
                math.fsum(reading.log_probs), len(reading.log_probs), unknown=item.unknown
            )
        if isinstance(request, Reconstruct):
            return ReconstructAnswer(-math.fsum(reading.log_probs) / len(reading.log_probs))
        if isinstance(request, TopToken):
            assert reading.choice is not None
            return TopTokenAnswer(self.tokenizer.decode([reading.choice.token]))
        assert isinstance(request, Fill)
        scores = self.score_words(item, reading)
        best = max(range(len(scores)), key=scores.__getitem__)
        first: str | None = _list_words(request)[best] if scores[best] > -math.inf else None
        # If a requested word is also the best single piece, it keeps its requested spelling.
        if reading.choice and reading.choice.log_prob > scores[best]:
            first = self._vocabulary.write_word(reading.choice.token)
        return FillAnswer(scores[: len(item.pieces)], item.pieces, first, item.unknown)

    def _mask_places(self, tokens: Tokens, places: range) -> Row:
        ids = tokens.ids
        return (*ids[: places.start], *(self._mask,) * len(places), *ids[places.stop :])

    @cached_property
    def _vocabulary(self) -> Vocabulary:
        return Vocabulary(self.tokenizer, self.vocabulary_size)

    @cached_property
    def _sets(self) -> Mapping[str, Sequence[int]]:
        found = self._vocabulary.find_whole_words()
        return {_BARE: found.bare, _MARKED: found.marked}


def _list_words(request: Fill) -> tuple[str, ...]:
    """The candidates, then the rivals that are not among them."""
    rivals = (word for word in request.rivals if word not in request.candidates)
    return (*request.candidates, *rivals)


BACKEND = MaskedLM
