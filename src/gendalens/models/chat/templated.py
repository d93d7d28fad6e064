"""A causal language model that reads conversations through its chat template."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from gendalens.models.chat.respondent import Reply, Turn
from gendalens.models.chat.template import ChatTemplate
from gendalens.models.huggingface.causal import CausalLM
from gendalens.models.huggingface.checkpoint import Checkpoint
from gendalens.models.huggingface.encoding import Tokens, tokenise
from gendalens.models.huggingface.prepared import Prepared, Row
from gendalens.models.huggingface.transformer import explain_failures
from gendalens.models.requests import ANSWERED, CUT_OFF, Request, Score, Tag
from gendalens.words import Message


class TemplatedLM(CausalLM):
    """A causal model that reads conversations: BOS stands in front only if its template says so."""

    reading: ClassVar[str] = "chat"

    def __init__(self, checkpoint: Checkpoint) -> None:
        super().__init__(checkpoint)
        self.template = ChatTemplate(self.tokenizer, checkpoint.name)
        text = self.template.render((Turn("user", "Hej"),))
        ids = self.tokenizer(text, add_special_tokens=False)["input_ids"]
        if tuple(ids[:1]) != self._front:
            self._front = ()

    @property
    def notices(self) -> tuple[Message, ...]:
        """The same, without the advice to ask it as a chat model."""
        return self._notices

    def read_prompt(self, turns: Sequence[Turn]) -> Row:
        """The tokens of a conversation, up to where the model's answer begins."""
        (prompt,) = tokenise(self.tokenizer, [self.template.render(turns)], specials=self.specials)
        ids = prompt.ids
        while self._front and ids[:1] == self._front:
            ids = ids[1:]
        row = self._front + ids
        self._check_size(Prepared(Tag(turns[-1].text), (row,), ()))
        return row

    @explain_failures
    def write(self, row: Row, max_tokens: int) -> Reply:
        """The answer to a conversation, by the likeliest token each time."""
        room = self.window - len(row) if self.window else max_tokens
        ends = {self.tokenizer.eos_token_id, *self._find_ends()}
        ids, is_finished = self.network.write(row, most=min(max_tokens, room), ends=ends)
        return Reply(
            outcome=ANSWERED if is_finished else CUT_OFF,
            text=self.tokenizer.decode(ids, skip_special_tokens=True),
        )

    def _find_ends(self) -> Sequence[int]:
        after = self.template.after
        return self.tokenizer.convert_tokens_to_ids([after]) if after else ()

    def _texts(self, request: Request) -> list[str]:
        assert isinstance(request, Score)
        return [request.given + request.text, request.given]

    def _prepare(self, request: Request, tokens: Sequence[Tokens]) -> Prepared:
        """The continuation after the tokens of the prompt, which are fixed before the model writes.

        A line break at the end of a prompt belongs to it, and a tokenizer that would join the end of the
        prompt and the beginning of the answer is given them apart.
        """
        assert isinstance(request, Score)
        whole, prompt = tokens
        ids, begin = whole.ids, len(prompt.ids)
        if ids[:begin] != prompt.ids:
            (text,) = tokenise(self.tokenizer, [request.text], specials=self.specials)
            ids = prompt.ids + text.ids
        while self._front and ids[:1] == self._front:
            ids, begin = ids[1:], begin - 1
        row = self._front + ids
        first = begin + len(self._front)
        return Prepared(
            request,
            (row[:-1],),
            tuple((0, at - 1, row[at]) for at in range(first, len(row))),
            unknown=self.count_unknown(whole),
        )
