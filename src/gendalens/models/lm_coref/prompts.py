"""The Danish prompts that ask a language model whom a pronoun refers to.

They are data (``prompts.json``): a different wording is a different measurement, so the version and
digest are part of the model's signature.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import astuple, dataclass
from functools import cache
from importlib import resources
from itertools import permutations
from typing import Any

from gendalens.errors import UserError
from gendalens.models.requests import Score


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt's wording, with placeholders for ``{text}``, ``{pronoun}`` and perhaps both candidates.

    ``neutral`` is the same prompt without the sentence and without the pronoun. ``continuation`` is how
    a candidate follows either of them; ``someone_else`` is the alternative to a lone candidate.
    """

    version: int
    name: str
    asked: str
    neutral: str
    continuation: str
    someone_else: str

    @property
    def key(self) -> str:
        """What a user calls it: its name, with the version if there is a later one."""
        own = f"{self.name}-{self.version}"
        return own if own in _read_prompts()["prompts"] else self.name

    @property
    def names_candidates(self) -> bool:
        """Whether the prompt itself names the candidates, so that their order may matter."""
        return "{first}" in self.asked

    @property
    def digest(self) -> str:
        """A digest of the wording."""
        text = json.dumps(astuple(self), ensure_ascii=False)
        return hashlib.sha256(text.encode()).hexdigest()

    def questions(self, text: str, pronoun: str, words: tuple[str, ...], word: str) -> list[Score]:
        """The requests that score ``word`` as the answer, one for each order of the candidates."""
        return self._scores(self.asked, words, word, text=text, pronoun=pronoun)

    def corrections(self, words: tuple[str, ...], word: str) -> list[Score]:
        """The requests that score ``word`` after the same prompts without sentence and pronoun."""
        return self._scores(self.neutral, words, word)

    def _scores(self, form: str, words: tuple[str, ...], word: str, **parts: str) -> list[Score]:
        continuation = self.continuation.format(candidate=word)
        if not self.names_candidates:
            return [Score(continuation, given=form.format(**parts))]
        if len(words) != 2:
            raise UserError(
                "The prompt {prompt} names two candidates and cannot ask about {count}; use"
                " prompt=refers.",
                prompt=repr(self.name),
                count=len(words),
            )
        return [
            Score(continuation, given=form.format(first=first, second=second, **parts))
            for first, second in permutations(words)
        ]


def get_prompt(name: str | None = None) -> Prompt:
    """The prompt of a given name, or the default one."""
    data = _read_prompts()
    name = data["default"] if name is None else name
    if name not in data["prompts"]:
        raise UserError(
            "There is no prompt {prompt} for language models as resolvers; the prompts are"
            " {prompts}.",
            prompt=repr(name),
            prompts=tuple(data["prompts"]),
        )
    # An earlier version of a prompt keeps the name under which its results were made.
    return Prompt(
        **{"name": name, **data["prompts"][name]},
        continuation=data["continuation"],
        someone_else=data["someone_else"],
    )


@cache
def _read_prompts() -> dict[str, Any]:
    file = resources.files(__package__).joinpath("prompts.json")
    found: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return found
