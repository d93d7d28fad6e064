"""From a chat model's replies to the answer of a request.

A request counts as *answered* if at least one of its trials is. If none is, the answer says so in its
trials, and holds what favours nobody: equal log-probabilities, no cluster, no entity.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from gendalens.models.chat.asking import Asked, Asking
from gendalens.models.chat.entities import Aligned, align_names, parse_names
from gendalens.models.chat.reading import is_refusal, read_choice
from gendalens.models.chat.respondent import Reply
from gendalens.models.chat.thoughts import split_thoughts
from gendalens.models.requests import (
    ANSWERED,
    CUT_OFF,
    REFUSED,
    UNPARSABLE,
    Answer,
    Choose,
    ChooseAnswer,
    Fill,
    FillAnswer,
    Resolve,
    ResolveAnswer,
    Tag,
    TagAnswer,
    Trial,
    link_best,
)
from gendalens.models.trials import average_trials

# A probability that is smaller is written as this one, so that files need no infinite numbers.
_LEAST_LOG_PROB = -100.0


def make_answer(request: Asked, askings: Sequence[Asking], replies: Sequence[Reply]) -> Answer:
    """The answer to a request whose questions got these replies."""
    if isinstance(request, Tag):
        return _list_entities(request, askings, replies)
    trials = tuple(
        read_trial(asking, reply) for asking, reply in zip(askings, replies, strict=True)
    )
    log_probs = average_trials(trials, len(askings[0].question.options))
    if isinstance(request, Fill):
        # A chat model's words are not cut into pieces here; each counts as one.
        return FillAnswer(log_probs, (1,) * len(log_probs), None, trials=trials)
    if isinstance(request, Choose):
        return ChooseAnswer(log_probs, trials)
    assert isinstance(request, Resolve)
    answered = any(trial.outcome == ANSWERED for trial in trials)
    clusters = link_best(request, log_probs) if answered else ()
    return ResolveAnswer(clusters, log_probs, log_probs, trials=trials)


def read_trial(asking: Asking, reply: Reply) -> Trial:
    """One asking and what came of it, with the options in the order of the request.

    Options are named in the prompt's order. Of sentences, the names keep their order and the sentences
    rotate, which comes to the same: what stands at ``place`` is candidate ``place + order``.
    """
    options, order = asking.question.options, asking.order
    # A whole first line is an answer, even if the explanation after it was cut off.
    has_answer = reply.outcome == CUT_OFF and "\n" in reply.text.strip()
    if reply.outcome != ANSWERED and not has_answer:
        return Trial(asking.paraphrase, order, reply.outcome)
    if reply.log_probs:
        shift = len(options) - order
        log_probs = tuple(
            max(reply.log_probs[(index + shift) % len(options)], _LEAST_LOG_PROB)
            for index in range(len(options))
        )
        best = max(range(len(options)), key=log_probs.__getitem__)
        return Trial(asking.paraphrase, order, ANSWERED, best, log_probs)
    read = read_choice(reply.text, options)
    if has_answer and read.outcome != ANSWERED:
        return Trial(asking.paraphrase, order, CUT_OFF)
    chosen = -1 if read.chosen < 0 else (read.chosen + order) % len(options)
    return Trial(asking.paraphrase, order, read.outcome, chosen)


def _list_entities(request: Tag, askings: Sequence[Asking], replies: Sequence[Reply]) -> TagAnswer:
    """The entities that at least half of the answered lists name."""
    trials = []
    lists: list[Aligned] = []
    for asking, reply in zip(askings, replies, strict=True):
        outcome = reply.outcome
        if outcome == ANSWERED:
            answer, _, finished = split_thoughts(reply.text)
            names = parse_names(answer)
            if names is not None:
                lists.append(align_names(request.text, names))
            else:
                outcome = REFUSED if is_refusal(answer) else UNPARSABLE if finished else CUT_OFF
        trials.append(Trial(asking.paraphrase, asking.order, outcome))
    votes = Counter(entity for aligned in lists for entity in aligned.entities)
    entities = sorted(entity for entity, count in votes.items() if 2 * count >= len(lists))
    # Lists of half the votes each may overlap; the earlier one stays.
    kept: list[tuple[int, int, str]] = []
    for entity in entities:
        if not kept or entity[0] >= kept[-1][1]:
            kept.append(entity)
    invented = sum(aligned.invented for aligned in lists)
    return TagAnswer(tuple(kept), 0, tuple(trials), invented)
