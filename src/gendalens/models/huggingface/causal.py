"""Causal language models (GPT, Llama, Gemma, …), `.gguf` files included."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from gendalens.errors import UserError
from gendalens.models.base import Batching
from gendalens.models.batch_run import plan_batches
from gendalens.models.huggingface.checkpoint import Checkpoint
from gendalens.models.huggingface.encoding import Tokens
from gendalens.models.huggingface.forward import Network
from gendalens.models.huggingface.language_model import LanguageModel
from gendalens.models.huggingface.prepared import Prepared, Reading, Row, Rows
from gendalens.models.huggingface.text_model import find_text_model
from gendalens.models.huggingface.trees import TreeNetwork
from gendalens.models.huggingface.trie import count_nodes, plan_trees
from gendalens.models.requests import Answer, Fill, FillAnswer, Request, Score, ScoreAnswer
from gendalens.results.model_info import TEXT_GENERATION
from gendalens.words import N_, Message, Template

if TYPE_CHECKING:
    pass


# What a token may change in the prediction before it, as a share of what it changes in the one after it.
# Measured: 0.007 with 8-bit bitsandbytes, 0.8 in an encoder.
_ROUNDING = 0.05

READ_AS_PLAIN = Template(
    "causal_lm.read_as_plain",
    "The model {name} has a chat template, and the tests read it as a plain language model all the same:"
    " chat:{name} asks it as a chat model.",
)


class LeftToRight(NamedTuple):
    """A text for a causal model: its row of tokens, and (position, next token) of each scored token.

    ``unscored`` is the number of tokens that nothing precedes.
    """

    row: Row
    asked: list[tuple[int, int]]
    unscored: int


class CausalLM(LanguageModel):
    """A causal language model: scores left to right, fills by the likelihood of whole sentences."""

    label: ClassVar[str] = N_("causal language models")
    kind: ClassVar[Template] = Template("causal_lm", "causal language model")
    hub_task: ClassVar[str] = TEXT_GENERATION
    reading: ClassVar[str] = "causal"
    auto_class: ClassVar[str] = "AutoModelForCausalLM"
    # BOS is added here, exactly once: tokenizers of the same model differ in whether they add it.
    specials: ClassVar[bool] = False
    answers = frozenset({Fill.kind, Score.kind})
    network_class: ClassVar[type[Network]] = TreeNetwork

    @classmethod
    def recognises(cls, checkpoint: Checkpoint) -> bool:
        """Whether the weights were saved from a causal language model.

        A model that also reads pictures or sound is one if it is given nothing but text.
        """
        if checkpoint.is_encoder_decoder:
            return False
        kind, architecture = checkpoint.config.model_type, checkpoint.architecture
        if architecture.endswith(("ForCausalLM", "LMHeadModel")):
            # The heads of XLM and XLNet have the same class name but do not predict from left to right.
            return kind not in ("flaubert", "xlm", "xlnet")
        from transformers.models.auto import modeling_auto as known

        wrapper = checkpoint.gguf or architecture.endswith("ForConditionalGeneration")
        if wrapper and kind in known.MODEL_FOR_CAUSAL_LM_MAPPING_NAMES:
            return True
        return bool(known.MODEL_FOR_MULTIMODAL_LM_MAPPING_NAMES.get(kind) == architecture)

    def __init__(self, checkpoint: Checkpoint) -> None:
        super().__init__(checkpoint)
        bos, eos = self.tokenizer.bos_token_id, self.tokenizer.eos_token_id
        front = bos if bos is not None else eos
        self._front: Row = () if front is None else (front,)

    @property
    def notices(self) -> tuple[Message, ...]:
        """The notices that every result made from its answers must show."""
        if not getattr(self.tokenizer, "chat_template", None):
            return self._notices
        return (READ_AS_PLAIN(name=self.checkpoint.title), *self._notices)

    def plan(self, encoded: Sequence[Any], batch_tokens: int) -> list[list[int]] | None:
        """Batches of requests whose texts begin alike, if the model can read them as trees."""
        if self.batching is not Batching.ANY_LENGTH:
            return None
        limit = self._find_tree_limit(encoded)
        if not limit:
            return None
        short = [index for index, item in enumerate(encoded) if item.length <= limit]
        long = [index for index, item in enumerate(encoded) if item.length > limit]
        plain = plan_batches(
            [encoded[index] for index in long],
            batch_tokens=batch_tokens,
            max_positions=self.max_positions,
            batching=self.batching,
        )
        trees = plan_trees([encoded[index].inputs for index in short], batch_tokens=batch_tokens)
        return [
            *([long[i] for i in batch] for batch in plain),
            *([short[i] for i in batch] for batch in trees),
        ]

    def count_tokens(self, batch: Sequence[Any]) -> int:
        """The number of tokens that are run for a batch."""
        if self.reads_trees(batch):
            return count_nodes(row for item in batch for row in item.inputs)
        return super().count_tokens(batch)

    def reads_trees(self, batch: Sequence[Any]) -> bool:
        """Whether encoded requests are read as trees, so that what they share costs nothing."""
        return all(item.length <= self._find_tree_limit(batch) for item in batch)

    def _find_tree_limit(self, batch: Sequence[Any]) -> int:
        """The longest row of the model's trees, if some in the batch are as long."""
        assert isinstance(self.network, TreeNetwork)
        return self.network.find_tree_limit(max(item.length for item in batch))

    def _texts(self, request: Request) -> list[str]:
        if isinstance(request, Score):
            return [request.given + request.text]
        if isinstance(request, Fill):
            if not request.candidates:
                raise ValueError("a fill needs candidates")
            return [request.left + word + request.right for word in request.candidates]
        raise UserError(
            "Protocol 1 needs a masked language model and {name} is a causal one: use protocol 2.",
            name=self.checkpoint.name,
        )

    def _prepare(self, request: Request, tokens: Sequence[Tokens]) -> Prepared:
        if isinstance(request, Score):
            read = self._read_left_to_right(tokens[0], len(request.given))
            return Prepared(
                request,
                (read.row,) if read.asked else (),
                tuple((0, at, token) for at, token in read.asked),
                unscored=read.unscored,
                unknown=self.count_unknown(tokens[0]),
            )
        assert isinstance(request, Fill)
        rows = Rows()
        gaps, groups = [], []
        for word, cut in zip(request.candidates, tokens, strict=True):
            gaps.append(self.find_pieces(request.left, word, cut))
            self.check_candidate(word, cut, gaps[-1])
            read = self._read_left_to_right(cut)
            for at, token in read.asked:
                rows.ask(read.row, at, token)
            groups.append(len(read.asked))
        return Prepared(
            request,
            tuple(rows.inputs),
            tuple(rows.asked),
            groups=tuple(groups),
            pieces=tuple(map(len, gaps)),
            unknown=self.count_unknown(tokens[0], apart_from=gaps[0]),
        )

    def _read_left_to_right(self, tokens: Tokens, given: int = 0) -> LeftToRight:
        """The tokens after BOS; those that start before ``given`` are context and are not scored."""
        ids, starts = tokens.ids, tokens.starts
        while self._front and ids[:1] == self._front:
            ids, starts = ids[1:], starts[1:]
        row = self._front + ids
        shift = len(self._front)
        wanted = [index for index, start in enumerate(starts) if start >= given]
        scored = [index for index in wanted if index + shift > 0]
        return LeftToRight(
            row=row[:-1],  # the last token is only predicted, never read
            asked=[(index + shift - 1, ids[index]) for index in scored],
            unscored=len(wanted) - len(scored),
        )

    def _answer(self, item: Prepared, reading: Reading) -> Answer:
        if isinstance(item.request, Score):
            return ScoreAnswer(
                math.fsum(reading.log_probs), len(reading.log_probs), item.unscored, item.unknown
            )
        return FillAnswer(self.score_words(item, reading), item.pieces, None, item.unknown)

    def _find_part(self, model: Any) -> Any:
        """The part of the loaded model that answers: of several, the one that reads text."""
        return find_text_model(model)

    def _verify(self, network: Network) -> None:
        """Refuse a model that attends to later tokens.

        An encoder can be loaded as a causal model without missing weights and then attends to both sides.
        """
        # Two rows that differ only in their last token must get the same predictions before it. They are
        # rows of real tokens, because CPM-Ant takes token 0 for padding.
        text = next(iter(self.make_trial_rows(specials=False)), (0,))
        begin = (self._front + text)[:4]
        lasts = list(dict.fromkeys((*text, 0, 1)))[:2]
        read = [network.read_alone((*begin, last)).log_softmax(-1) for last in lasts]
        before, own = ((read[0][at] - read[1][at]).nan_to_num().abs().max() for at in (-2, -1))
        # Some packages round quantised inputs together, so that all depend a little on each other.
        if before > max(1e-4, _ROUNDING * own if self.info.quantised else 0):
            raise UserError(
                "{name} is not a causal language model: its predictions depend on later words;"
                " set is_decoder in its config.json, or name another model.",
                name=self.checkpoint.name,
            )


BACKEND = CausalLM
