"""What masked and causal language models from Hugging Face have in common."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, ClassVar

from gendalens.errors import UserError
from gendalens.models.base import AskedRow, Batching
from gendalens.models.huggingface.encoding import Tokens, tokenise
from gendalens.models.huggingface.forward import Network
from gendalens.models.huggingface.prepared import (
    Prepared,
    Reading,
    Row,
    Site,
    add_sites,
    collect_reading,
)
from gendalens.models.huggingface.tokenizer_check import TokenizerCheck, explain_unknown_word
from gendalens.models.huggingface.transformer import Transformer, explain_failures
from gendalens.models.requests import Answer, Choose, Fill, Request, Score, TopToken
from gendalens.words import Message

# Part of every fingerprint: raise it when the same weights would answer differently than before.
ANSWERS_VERSION = 2

# The number of logits per pass. On a CPU several passes run in parallel, and small ones are as fast;
# but a vocabulary of 262,000 tokens must leave room for more than a few positions.
_ON_PROCESSOR, _ON_CARD = 64 * 1024 * 1024, 512 * 1024 * 1024
_LEAST_POSITIONS = 128


class LanguageModel(Transformer):
    """A language model on transformers; its weights are loaded on the first request."""

    #: Part of the fingerprint, because a checkpoint can be loaded as either kind.
    reading: ClassVar[str]
    auto_class: ClassVar[str]
    network_class: ClassVar[type[Network]] = Network
    loaded: ClassVar[tuple[str, ...]] = ("network",)

    def check_tokenizer(self, check: TokenizerCheck) -> list[Message]:
        """The same, and refuses a tokenizer that loses what language models are asked about."""
        warnings = super().check_tokenizer(check)
        check.refuse_without_letters()
        check.refuse_confused_pronouns()
        return [*warnings, *check.list_special_words()]

    @property
    def max_positions(self) -> int:
        """How many head positions fit into memory at once."""
        size = _ON_PROCESSOR if self.on_processor else _ON_CARD
        return max(_LEAST_POSITIONS, size // (4 * self.vocabulary_size))

    def fingerprint(self) -> str:
        """A digest of everything that determines the answers."""
        return self.digest_answers(ANSWERS_VERSION, self.reading)

    @explain_failures
    def encode(self, requests: Sequence[Request]) -> list[Prepared]:
        """The requests (all of one kind), tokenised and checked against the model's limits."""
        texts = [self._texts(request) for request in requests]
        # All texts in one call, so that the tokenizer works in parallel.
        tokens = iter(
            tokenise(
                self.tokenizer, [text for some in texts for text in some], specials=self.specials
            )
        )
        return [
            self._check_size(self._prepare(request, [next(tokens) for _ in some]))
            for request, some in zip(requests, texts, strict=True)
        ]

    @explain_failures
    def answer(self, batch: Sequence[Prepared]) -> list[Answer]:
        """The answers to one batch of encoded requests, in order."""
        readings = self.network.read(batch, self._sets)
        return [self._answer(item, reading) for item, reading in zip(batch, readings, strict=True)]

    @explain_failures
    def read_rows(self, rows: Sequence[AskedRow]) -> list[dict[int, Site]]:
        """What all requests ask of each row."""
        wanted: dict[Row, dict[int, Site]] = {one.row: {} for one in rows}
        # By identity, because two requests are never the same and comparing them is slow.
        for item in {id(item): item for one in rows for item in one.askers}.values():
            add_sites(item, wanted)
        self.network.fill(wanted, self._sets)
        return list(wanted.values())

    @explain_failures
    def conclude(self, item: Prepared, readings: Mapping[Row, Mapping[int, Site]]) -> Answer:
        """The answer to an encoded request, from the readings of its rows."""
        return self._answer(item, collect_reading(item, readings))

    @cached_property
    def network(self) -> Network:
        """The model itself, loaded and verified on first use."""
        model = self._find_part(self.checkpoint.load_model(self.auto_class))
        rows = self.make_trial_rows(specials=self.specials)
        with self.explain_first_reading():
            network = self.network_class(
                model, self.checkpoint.name, self.padding, self.max_positions
            )
            self._verify(network)
            network.try_batches(rows, self.window)
        return network

    @property
    def tried_batching(self) -> Batching:
        """Which rows the loaded model can read together."""
        return self.network.batching

    def count_unknown(self, tokens: Tokens, apart_from: range = range(0)) -> int:
        """The number of unknown tokens in a text outside the gap."""
        unknown = self.tokenizer.unk_token_id
        return sum(
            id_ == unknown and start >= 0 and index not in apart_from
            for index, (id_, start) in enumerate(zip(tokens.ids, tokens.starts, strict=True))
        )

    def find_pieces(self, left: str, word: str, tokens: Tokens) -> range:
        """The tokens that ``word`` becomes after ``left``."""
        found = tokens.within(len(left), len(left) + len(word))
        if not found:
            raise UserError(
                "“{text}…” cannot be filled by {name}: its tokenizer has no token that starts at the"
                " gap; put a space before the gap.",
                text=left + word,
                name=self.checkpoint.name,
            )
        return found

    def can_write(self, tokens: Tokens, pieces: range) -> bool:
        """Whether the tokenizer can represent the word of these pieces (none is unknown)."""
        return self.tokenizer.unk_token_id not in tokens.ids[pieces.start : pieces.stop]

    def check_candidate(self, word: str, tokens: Tokens, pieces: range) -> None:
        """Refuse a candidate that the tokenizer turns into the unknown token."""
        if not self.can_write(tokens, pieces):
            raise explain_unknown_word(self.checkpoint.name, word)

    def score_words(self, item: Prepared, reading: Reading) -> tuple[float, ...]:
        """The log-probability of each word of a fill; -inf for a rival that cannot be represented."""
        values = iter(reading.log_probs)
        return tuple(
            math.fsum(next(values) for _ in range(count)) if count else -math.inf
            for count in item.groups
        )

    def _find_part(self, model: Any) -> Any:
        """The part of the loaded model that answers."""
        return model

    def _verify(self, network: Network) -> None:
        """Refuse weights that load but do not behave like this kind of model."""

    @property
    def _sets(self) -> Mapping[str, Sequence[int]]:
        """The named sets of tokens to choose from."""
        return {}

    @abstractmethod
    def _texts(self, request: Request) -> list[str]:
        """The texts to tokenise for a request."""

    @abstractmethod
    def _prepare(self, request: Request, tokens: Sequence[Tokens]) -> Prepared:
        """A request as rows of token ids, from the tokens of its texts."""

    @abstractmethod
    def _answer(self, item: Prepared, reading: Reading) -> Answer:
        """The answer to a request, from its reading."""

    def _check_size(self, item: Prepared) -> Prepared:
        """The request, checked to fit the model's window and its vocabulary."""
        if self.window and item.length > self.window:
            raise UserError(
                "A text of {length} tokens does not fit {name}, which reads {window}: shorten"
                " “{text}”.",
                length=item.length,
                name=self.checkpoint.name,
                window=self.window,
                text=_excerpt(item.request),
            )
        self.check_tokens(item.inputs)
        return item


def _excerpt(request: Request) -> str:
    """The beginning of a request's text, for messages."""
    match request:
        case Score():
            text = request.given + request.text
        case Fill() | TopToken():
            text = request.left
        case Choose():
            text = request.candidates[0]
        case _:
            text = request.text
    return text if len(text) <= 60 else f"{text[:59]}…"
