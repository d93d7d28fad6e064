"""A request in words: the questions that a chat model is asked instead of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from gendalens.errors import UserError
from gendalens.models.chat.entities import SCHEMA
from gendalens.models.chat.prompts import Prompts, get_prompts, list_options, quote
from gendalens.models.chat.respondent import Question, Rung
from gendalens.models.lm_coref.resolver import fit_into_prompt
from gendalens.models.requests import Choose, Fill, Resolve, Tag

Asked = Fill | Resolve | Choose | Tag

#: The samples of one request at temperature 1 on rungs that give no probabilities.
SAMPLES = 3
# An option is a few words; a list of names grows with its text, in which a token has some three letters.
_CHOICE_TOKENS, _LIST_TOKENS, _MOST_LIST_TOKENS = 32, 128, 1024
# Probabilities are read at the first tokens; the rest shows whether the model refuses.
_SCORED_TOKENS = 16
_POSSESSIVES = frozenset({"hans", "hendes", "sin", "sit", "sine", "dens", "dets", "deres"})


class Asking(NamedTuple):
    """A question, and which paraphrase and rotation of the options it is."""

    paraphrase: int
    order: int
    question: Question


@dataclass(frozen=True, slots=True)
class Interview:
    """How requests become questions.

    Every choice is asked with each paraphrase and in each rotation of the options, so that each option
    stands in every place. On a rung without probabilities, the questions at temperature 0 are followed
    by ``samples`` at temperature 1, each in all rotations; the samples take turns with the paraphrases.
    A list of names has no order and is long, so only ``lists`` of the paraphrases ask for it.
    ``with_system`` puts the system message in front.
    """

    rung: Rung
    samples: int = SAMPLES
    lists: int = 1
    with_system: bool = False

    @property
    def prompts(self) -> Prompts:
        """The texts."""
        return get_prompts()

    @property
    def settings(self) -> str:
        """What of this decides the answers beside the prompts, for fingerprints and signatures."""
        parts = [self.rung.value]
        if self.rung is not Rung.OPTIONS:
            parts.append(f"{self.samples}-samples")
        if self.lists != 1:
            parts.append(f"{self.lists}-lists")
        if self.with_system:
            parts.append("system")
        return "+".join(parts)

    def ask(self, request: Asked, name: str) -> tuple[Asking, ...]:
        """The questions of a request; ``name`` is the model's, for messages."""
        if isinstance(request, Tag):
            return tuple(self._ask_for_names(request))
        return tuple(self._ask_to_choose(request, name))

    def _ask_for_names(self, request: Tag) -> Iterator[Asking]:
        tokens = min(_LIST_TOKENS + len(request.text), _MOST_LIST_TOKENS)
        for paraphrase, form in enumerate(self.prompts.tag[: self.lists]):
            turns = self.prompts.make_turns(
                form.format(text=request.text), with_system=self.with_system
            )
            yield Asking(paraphrase, 0, Question(turns, schema=SCHEMA, max_tokens=tokens))

    def _ask_to_choose(self, request: Fill | Resolve | Choose, name: str) -> Iterator[Asking]:
        forms = self._find_forms(request)
        options = list_answers(request, self.prompts, name)
        sampled = 0 if self.rung is Rung.OPTIONS else self.samples
        limit = _SCORED_TOKENS if self.rung is Rung.OPTIONS else _CHOICE_TOKENS
        repetitions = [(paraphrase, 0) for paraphrase in range(len(forms))]
        repetitions += [(each % len(forms), each + 1) for each in range(sampled)]
        for paraphrase, sample in repetitions:
            for order in range(len(options)):
                text = self._write(request, forms[paraphrase], rotate(options, order), order)
                # The sentences change places, and their names do not.
                named = options if isinstance(request, Choose) else rotate(options, order)
                yield Asking(
                    paraphrase,
                    order,
                    Question(
                        self.prompts.make_turns(text, with_system=self.with_system),
                        options=named,
                        max_tokens=limit,
                        sample=sample,
                    ),
                )

    def _find_forms(self, request: Fill | Resolve | Choose) -> tuple[str, ...]:
        if isinstance(request, Fill):
            return self.prompts.fill
        if isinstance(request, Choose):
            return self.prompts.choose
        return self.prompts.whose if _is_about_possession(request) else self.prompts.whom

    def _write(
        self, request: Fill | Resolve | Choose, form: str, options: tuple[str, ...], order: int
    ) -> str:
        if isinstance(request, Fill):
            text = f"{request.left}{self.prompts.gap}{request.right}"
            return form.format(text=text.strip(), options=list_options(options))
        if isinstance(request, Choose):
            places = self.prompts.places[: len(request.candidates)]
            lines = (
                f"{place.capitalize()}: {sentence}"
                for place, sentence in zip(places, rotate(request.candidates, order), strict=True)
            )
            return form.format(sentences="\n".join(lines), options=list_options(places))
        return form.format(
            text=request.text,
            pronoun=quote(_read_pronoun(request)),
            options=list_options(options),
        )


def rotate(options: Sequence[str], order: int) -> tuple[str, ...]:
    """The options from the one at ``order`` on, and then those before it."""
    return (*options[order:], *options[:order])


def list_answers(request: Fill | Resolve | Choose, prompts: Prompts, name: str) -> tuple[str, ...]:
    """The possible answers as a model would write them, in the order of the request.

    A lone candidate of a ``Resolve`` is followed by "somebody else". Sentences are named by their places.
    """
    if isinstance(request, Resolve):
        if request.pronoun is None or not request.candidates:
            raise UserError(
                "{name} chooses between candidates and cannot search for mentions: it needs a pronoun"
                " and candidates, which protocol 1 does not give; use protocol 2.",
                name=name,
            )
        words = tuple(fit_into_prompt(request.text, place) for place in request.candidates)
        if len(words) > 1:
            return words
        if _is_about_possession(request):
            return make_genitive(words[0]), prompts.someone_elses
        return words[0], prompts.someone_else
    count = len(request.candidates)
    if isinstance(request, Fill):
        if count < 2:
            raise ValueError("a choice needs two candidates")
        return request.candidates
    if not 2 <= count <= len(prompts.places):
        raise ValueError(f"cannot choose between {count} sentences")
    return prompts.places[:count]


def make_genitive(word: str) -> str:
    """The genitive of a Danish word.

    >>> make_genitive("advokaten"), make_genitive("chefens boss")
    ('advokatens', "chefens boss'")
    """
    return f"{word}'" if word[-1:].casefold() in ("s", "x", "z") else f"{word}s"


def _is_about_possession(request: Resolve) -> bool:
    """Whether there is one candidate, and the pronoun says whose something is."""
    return len(request.candidates) == 1 and _read_pronoun(request) in _POSSESSIVES


def _read_pronoun(request: Resolve) -> str:
    assert request.pronoun is not None  # checked by list_answers
    start, end = request.pronoun
    return request.text[start:end].lower()
