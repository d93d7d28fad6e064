"""The trials of a chat model: their average, and the answer by some of the paraphrases."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from gendalens.models.requests import (
    ANSWERED,
    Answer,
    Choose,
    ChooseAnswer,
    Fill,
    FillAnswer,
    Request,
    Resolve,
    ResolveAnswer,
    TagAnswer,
    Trial,
    link_best,
)

# What each option counts before anything is chosen (Jeffreys' prior), so that none is impossible.
_PRIOR = 0.5


def list_trials(answer: Answer) -> tuple[Trial, ...]:
    """The askings of a chat model; none for answers of other models."""
    if isinstance(answer, FillAnswer | ResolveAnswer | TagAnswer | ChooseAnswer):
        return answer.trials
    return ()


def average_trials(trials: Sequence[Trial], options: int) -> tuple[float, ...]:
    """The log-probabilities of the options, averaged over orders and paraphrases and normalised.

    With probabilities, the mean of each trial's normalised log-probabilities. With choices, the logarithm
    of each option's share of the answered trials with a paraphrase and in an order, averaged over both:
    an order in which a model refuses more often has no more and no less weight, and all paraphrases
    together are the mean of each alone.
    """
    answered = [trial for trial in trials if trial.outcome == ANSWERED]
    if any(trial.log_probs for trial in answered):
        rows = [normalise(trial.log_probs) for trial in answered if trial.log_probs]
    else:
        rows = []
        for place in sorted({(trial.paraphrase, trial.order) for trial in trials}):
            counts = Counter(
                trial.chosen for trial in answered if (trial.paraphrase, trial.order) == place
            )
            rows.append(normalise([math.log(counts[i] + _PRIOR) for i in range(options)]))
    if not rows:
        return normalise([0.0] * options)
    return normalise([math.fsum(column) / len(rows) for column in zip(*rows, strict=True)])


def normalise(log_probs: Sequence[float]) -> tuple[float, ...]:
    """The log-probabilities, shifted so that the probabilities add up to 1."""
    total = add_log_probs(log_probs)
    return tuple(value - total for value in log_probs)


def add_log_probs(log_probs: Sequence[float]) -> float:
    """The logarithm of the sum of the probabilities."""
    most = max(log_probs)
    return most + math.log(math.fsum(math.exp(value - most) for value in log_probs))


def count_options(request: Request) -> int:
    """How many options a request that is asked as a choice has; 0 for others."""
    if isinstance(request, Fill | Choose):
        return len(request.candidates)
    if isinstance(request, Resolve):
        return max(2, len(request.candidates))
    return 0


def find_best(trials: Sequence[Trial], options: int) -> int | None:
    """The option that the trials favour; None if there is none or it is a tie."""
    averaged = average_trials(trials, options)
    most = max(averaged)
    best = [index for index, value in enumerate(averaged) if value > most - 1e-9]
    return best[0] if len(best) == 1 else None


def select_paraphrases(request: Request, answer: Answer, paraphrases: Collection[int]) -> Answer:
    """The answer to a request as it would be if only these paraphrases had been asked.

    Lists of names are not kept by paraphrase, so a ``TagAnswer`` stays as it is.
    """
    trials = tuple(one for one in list_trials(answer) if one.paraphrase in paraphrases)
    if isinstance(answer, TagAnswer) or not trials:
        return answer
    log_probs = average_trials(trials, count_options(request))
    match request, answer:
        case Fill(), FillAnswer():
            return replace(answer, log_probs=log_probs, trials=trials)
        case Choose(), ChooseAnswer():
            return ChooseAnswer(log_probs, trials)
        case Resolve(), ResolveAnswer():
            has_answer = any(trial.outcome == ANSWERED for trial in trials)
            clusters = link_best(request, log_probs) if has_answer else ()
            return ResolveAnswer(clusters, log_probs, log_probs, answer.unknown, trials)
    return answer


def find_outcome(trials: Sequence[Trial]) -> str:
    """What became of a question: answered if any trial was, else the most frequent outcome."""
    outcomes = [trial.outcome for trial in trials]
    return ANSWERED if ANSWERED in outcomes else Counter(outcomes).most_common(1)[0][0]


def describe_trials(answer: Answer) -> Mapping[str, Any]:
    """What a record says about the askings of a chat model; nothing for other models."""
    trials = list_trials(answer)
    if not trials:
        return {}
    return {
        "reply": find_outcome(trials),
        "trials": [[*trial[:-1], list(trial.log_probs)] for trial in trials],
        **({"invented": answer.invented} if isinstance(answer, TagAnswer) else {}),
    }
