"""The rules for answers from a file or the cache: the fields of each kind, and their valid values.

In a file, a field may be left out only if the answer has a default for it (``models/base.py``);
``first``, which causal models do not have, may be left out too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, replace
from typing import Any

from gendalens.models.answer_fields import (
    LOWEST,
    ROUNDING,
    WRONG,
    AnswerError,
    Fields,
    check_count,
    check_log,
    check_number,
    check_span,
    check_text,
    check_word,
    quote_value,
)
from gendalens.models.requests import (
    ANSWER_TYPES,
    ANSWERED,
    CUT_OFF,
    REFUSED,
    UNPARSABLE,
    Answer,
    Choose,
    ChooseAnswer,
    Fill,
    FillAnswer,
    Reconstruct,
    ReconstructAnswer,
    Request,
    Resolve,
    ResolveAnswer,
    Score,
    ScoreAnswer,
    Tag,
    TagAnswer,
    TopToken,
    TopTokenAnswer,
    Trial,
)
from gendalens.words import phrase

# No model gives a token a higher loss; more extreme values would overflow later.
_HIGHEST_LOSS = 500.0
_OUTCOMES = (ANSWERED, REFUSED, UNPARSABLE, CUT_OFF)
_TRIAL_FIELDS = 5


def read_answer(request: Request, plain: Mapping[str, Any]) -> Answer:
    """The answer to a request, from the fields of its line without the id."""
    given = Fields(plain)
    answer = _READERS[request.kind](request, given)
    given.refuse_rest()
    return answer


def read_stored_answer(request: Request, values: Sequence[Any]) -> Answer:
    """The answer to a request, from the values of all its fields in order, as the cache stores them."""
    names = _FIELD_NAMES[request.kind]
    # Rows from before chat models lack their fields, which take their defaults.
    if not len(names) - _CHAT_FIELDS[request.kind] <= len(values) <= len(names):
        raise AnswerError(WRONG, phrase("{name} is missing", name=names[-1]))
    plain = dict(zip(names, values, strict=False))
    if not isinstance(request, Resolve):
        return read_answer(request, plain)
    # Only resolvers of ours give these; a file of answers cannot hold them.
    scores, uncorrected, unknown = (
        plain.pop(name) for name in ("scores", "uncorrected", "unknown")
    )
    answer = read_answer(request, plain)
    assert isinstance(answer, ResolveAnswer)
    return replace(
        answer,
        scores=_check_scores("scores", scores, request),
        uncorrected=_check_scores("uncorrected", uncorrected, request),
        unknown=check_count("unknown", unknown, 0),
    )


def _read_fill(request: Fill, given: Fields) -> Answer:
    log_probs = given.take_list("log_probs")
    pieces = given.take_list("pieces")
    wanted = len(request.candidates)
    for name, values in (("log_probs", log_probs), ("pieces", pieces)):
        if len(values) != wanted:
            raise AnswerError(
                WRONG,
                phrase(
                    "{name} has {found} numbers for {wanted} candidates",
                    name=name,
                    found=len(values),
                    wanted=wanted,
                ),
            )
    first = given.take("first", None)
    return FillAnswer(
        tuple(check_log("log_probs", value) for value in log_probs),
        tuple(check_count("pieces", value, 1) for value in pieces),
        None if first is None else check_word("first", first),
        given.take_count("unknown", 0, 0),
        _read_trials(given, wanted),
    )


def _read_choose(request: Choose, given: Fields) -> Answer:
    log_probs = given.take_list("log_probs")
    wanted = len(request.candidates)
    if len(log_probs) != wanted:
        raise AnswerError(
            WRONG,
            phrase(
                "{name} has {found} numbers for {wanted} candidates",
                name="log_probs",
                found=len(log_probs),
                wanted=wanted,
            ),
        )
    return ChooseAnswer(
        tuple(check_log("log_probs", value) for value in log_probs), _read_trials(given, wanted)
    )


def _read_score(request: Score, given: Fields) -> Answer:
    answer = ScoreAnswer(
        check_log("log_likelihood", given.take("log_likelihood")),
        given.take_count("tokens", 1),
        given.take_count("unscored", 0, 0),
        given.take_count("unknown", 0, 0),
    )
    if answer.unscored > 1:
        raise AnswerError(
            WRONG,
            phrase(
                "unscored is {value}, and only a first token can be unscored", value=answer.unscored
            ),
        )
    return answer


def _read_top_token(request: TopToken, given: Fields) -> Answer:
    return TopTokenAnswer(check_text("token", given.take("token")))


def _read_reconstruct(request: Reconstruct, given: Fields) -> Answer:
    value = given.take("loss")
    loss = check_number("loss", value)
    if not -ROUNDING <= loss <= _HIGHEST_LOSS:
        raise AnswerError(
            WRONG,
            phrase(
                "loss is {value}, which is out of range: give nats, 0 or more",
                value=quote_value(value),
            ),
        )
    return ReconstructAnswer(loss)


def _read_tag(request: Tag, given: Fields) -> Answer:
    entities: list[tuple[int, int, str]] = []
    for entity in given.take_list("entities"):
        if not isinstance(entity, list) or len(entity) != 3:
            raise AnswerError(
                WRONG,
                phrase("{value} is not an entity [start, end, label]", value=quote_value(entity)),
            )
        entities.append((*check_span(entity[:2], request.text), check_word("label", entity[2])))
    if len(set(entities)) < len(entities):
        raise AnswerError(WRONG, phrase("the same entity occurs twice"))
    tokens = given.take_count("tokens", 0, 0)
    trials = _read_trials(given, 0)
    return TagAnswer(tuple(entities), tokens, trials, given.take_count("invented", 0, 0))


def _read_resolve(request: Resolve, given: Fields) -> Answer:
    clusters = []
    for cluster in given.take_list("clusters"):
        if not isinstance(cluster, list) or not cluster:
            raise AnswerError(
                WRONG,
                phrase("{value} is not a cluster [[start, end], …]", value=quote_value(cluster)),
            )
        clusters.append(tuple(check_span(mention, request.text) for mention in cluster))
    # A lone candidate is chosen or rejected in favour of "somebody else".
    return ResolveAnswer(
        tuple(clusters), trials=_read_trials(given, max(2, len(request.candidates)))
    )


def _read_trials(given: Fields, candidates: int) -> tuple[Trial, ...]:
    """The askings of a chat model: [paraphrase, order, outcome, chosen, log_probs] each."""
    trials = given.take("trials", [])
    if not isinstance(trials, list):
        raise AnswerError(
            WRONG,
            phrase(
                "{name} is {value}, which is not a list", name="trials", value=quote_value(trials)
            ),
        )
    return tuple(_read_trial(trial, candidates) for trial in trials)


def _read_trial(plain: Any, candidates: int) -> Trial:
    if isinstance(plain, list) and len(plain) == _TRIAL_FIELDS:
        paraphrase, order, outcome, chosen, log_probs = plain
        if (
            outcome in _OUTCOMES
            and isinstance(log_probs, list)
            and len(log_probs) in (0, candidates)
            and check_count("chosen", chosen, -1) < max(1, candidates)
            and (outcome != ANSWERED or chosen >= 0 or not candidates)
        ):
            return Trial(
                check_count("paraphrase", paraphrase, 0),
                check_count("order", order, 0),
                outcome,
                chosen,
                tuple(check_log("log_probs", value) for value in log_probs),
            )
    raise AnswerError(
        WRONG,
        phrase(
            "{value} is not a trial [paraphrase, order, outcome, chosen, log_probs]",
            value=quote_value(plain),
        ),
    )


_READERS: dict[str, Callable[[Any, Fields], Answer]] = {
    Fill.kind: _read_fill,
    Score.kind: _read_score,
    Choose.kind: _read_choose,
    TopToken.kind: _read_top_token,
    Reconstruct.kind: _read_reconstruct,
    Tag.kind: _read_tag,
    Resolve.kind: _read_resolve,
}
KINDS = frozenset(_READERS)
_FIELD_NAMES = {
    kind: tuple(field.name for field in fields(answer)) for kind, answer in ANSWER_TYPES.items()
}
_CHAT_FIELDS = {
    kind: len({"trials", "invented"} & set(names)) for kind, names in _FIELD_NAMES.items()
}


def _check_scores(name: str, values: Any, request: Resolve) -> tuple[float, ...]:
    """The scores of the candidates, of which a lone one is followed by "somebody else"; or none."""
    wanted = max(2, len(request.candidates))
    if not isinstance(values, list) or len(values) not in (0, wanted):
        raise AnswerError(
            WRONG,
            phrase("{name} is {value}, which is not a list", name=name, value=quote_value(values)),
        )
    numbers = tuple(check_number(name, value) for value in values)
    if not all(LOWEST <= number <= -LOWEST for number in numbers):
        raise AnswerError(WRONG, phrase("{name} is not finite", name=name))
    return numbers
