"""The chat template of a model: how a conversation looks to it, and where its answer ends."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any

from gendalens.errors import UserError
from gendalens.models.chat.respondent import Turn
from gendalens.models.chat.thoughts import close_thought
from gendalens.models.library_errors import describe_error
from gendalens.system.time_limit import limit_time
from gendalens.words import say

#: Some templates tell the model today's date; it is told this one, so that a run can be repeated.
TODAY = datetime(2026, 1, 1)
_DATE_FORMAT = re.compile(r"""strftime_now\(\s*["']([^"']{1,40})["']""")
# A template's own function goes before the one that transformers offers, and transformers takes none.
_FIXED_DATE = "{%- macro strftime_now(format) %}{{ fixed_dates[format] }}{%- endmacro %}"
_SAMPLE = Turn("user", "Ja eller nej?")
_REPLY = "Ja"
_LONGEST = 10.0  # seconds that a template may take; a millisecond is typical
_MOST = 1_000_000  # characters that it may write
_COMPILED = "<template>"  # what Jinja calls the code that it makes of a template


def has_template(tokenizer: Any) -> bool:
    """Whether a tokenizer comes with a chat template."""
    return bool(getattr(tokenizer, "chat_template", None))


@dataclass(frozen=True)
class ChatTemplate:
    """The chat template of a tokenizer; ``name`` is the model's, for messages."""

    tokenizer: Any
    name: str

    @property
    def digest(self) -> str:
        """A digest of the template."""
        return hashlib.sha256(str(self.tokenizer.chat_template).encode()).hexdigest()

    def render(self, turns: Sequence[Turn]) -> str:
        """The conversation as the model reads it, up to where its answer begins."""
        return close_thought(self._apply(turns, add_generation_prompt=True))

    @cached_property
    def opens_thought(self) -> bool:
        """Whether it begins a thought for the model, which :meth:`render` ends at once."""
        prompt = self._apply([_SAMPLE], add_generation_prompt=True)
        return close_thought(prompt) != prompt

    @cached_property
    def before(self) -> str:
        """What stands between the prompt and an answer: a space in some templates."""
        return self._surroundings[0]

    @cached_property
    def after(self) -> str:
        """The token that ends an answer; empty if the template does not show it."""
        return self._surroundings[1]

    @cached_property
    def _surroundings(self) -> tuple[str, str]:
        prompt = self.render([_SAMPLE])
        whole = self._apply([_SAMPLE, Turn("assistant", _REPLY)])
        at = whole.rfind(_REPLY)
        if at < 0:
            return "", ""
        # A prompt that is no beginning of the conversation, such as one that ends in an empty thought,
        # says all that stands before the answer.
        gap = whole[len(prompt) : at] if whole.startswith(prompt) else ""
        rest = whole[at + len(_REPLY) :].lstrip()
        tokens = self.tokenizer.all_special_tokens + list(self.tokenizer.get_added_vocab())
        ends = [token for token in tokens if token and rest.startswith(token)]
        return ("" if gap.strip() else gap), max(ends, key=len, default="")

    @cached_property
    def _dated_template(self) -> str:
        text = str(self.tokenizer.get_chat_template())
        return _FIXED_DATE + text if self._dates else text

    @cached_property
    def _dates(self) -> dict[str, str]:
        """The date in each form that the template asks for."""
        found = _DATE_FORMAT.findall(str(self.tokenizer.get_chat_template()))
        return {form: TODAY.strftime(form) for form in found}

    def _apply(self, turns: Sequence[Turn], **options: Any) -> str:
        try:
            with limit_time(_LONGEST, _COMPILED):
                text = self.tokenizer.apply_chat_template(
                    [{"role": turn.role, "content": turn.text} for turn in turns],
                    chat_template=self._dated_template,
                    tokenize=False,
                    enable_thinking=False,
                    date_string=TODAY.strftime("%d %b %Y"),
                    fixed_dates=self._dates,
                    **options,
                )
            if len(text) > _MOST:
                raise ValueError(say("it writes more than {count:,} characters", count=_MOST))
        except MemoryError:
            raise
        except Exception as error:  # a template is a program of the model's
            raise UserError(
                "The chat template of {name} cannot write the question ({reason}): use the template that"
                " the model was published with, or run it without chat:.",
                name=self.name,
                reason=describe_error(error),
            ) from error
        return str(text)
