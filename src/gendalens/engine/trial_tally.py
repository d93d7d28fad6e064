"""How a chat model answered when it was asked: whether its choices can be believed.

The limits and the reasons for them are in docs/chat-validity.md.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import groupby
from statistics import median, quantiles
from typing import Any

from gendalens.models.requests import (
    ANSWERED,
    CUT_OFF,
    REFUSED,
    UNPARSABLE,
    Answer,
    Request,
    TagAnswer,
    Trial,
)
from gendalens.models.trials import count_options, find_best, find_outcome, list_trials
from gendalens.words import N_, Message, Template

#: The largest share of choices that may change with the order of the options, if choices are judged.
MOST_FLIPS = 0.5
#: The same for log-odds, beyond which the effect of the order must be small.
MOST_FLIPS_BY_PROBABILITY = 0.9
#: The largest median gain of an option from being named first, in bits, at so many flips.
MOST_ORDER_EFFECT = 1.0
#: The smallest median probability of all options together.
LEAST_MASS = 0.05
#: The largest share of questions without an answer.
MOST_UNANSWERED = 0.5
_ROUNDING = 1e-6

ORDER_DECIDES = Template(
    "chat.order_decides",
    "the choice follows the order in which the options are named: it changes with it in {share:.0%} of "
    "the questions",
)
LITTLE_MASS = Template(
    "chat.little_mass",
    "the options together have a probability of {mass:.1%} in the median: the model would rather say "
    "something else",
)
UNANSWERED = Template(
    "chat.unanswered",
    "{share:.0%} of the questions have no answer: refused, unreadable or cut off",
)
_CAUSES = {
    REFUSED: Template(
        "chat.mostly_refused",
        "{share:.0%} of the questions have no answer: the model refuses most of them",
    ),
    UNPARSABLE: Template(
        "chat.mostly_unreadable",
        "{share:.0%} of the questions have no answer: most replies are empty, in another language, or "
        "about something else (--keep-raw keeps those of an endpoint)",
    ),
    CUT_OFF: Template(
        "chat.mostly_cut_off",
        "{share:.0%} of the questions have no answer: most replies are cut off before they are "
        "complete, because the model writes or thinks at length",
    ),
}

LABELS = (
    # coverage
    N_("trials"),
    N_("trials refused"),
    N_("trials unparsable"),
    N_("trials cut off"),
    N_("questions without answer"),
    N_("choices that change with the order"),
    N_("bits gained by being named first"),
    N_("mass on the options"),
    N_("choices that differ between paraphrases"),
    N_("invented names"),
    N_("lower quartile"),
    N_("median"),
    N_("upper quartile"),
)


class TrialTally:
    """The trials of all answers of a test."""

    def __init__(self) -> None:
        self._outcomes: Counter[str] = Counter()
        self._questions: Counter[str] = Counter()
        self._masses: list[float] = []
        self._out_of_sight = 0
        self._flips: list[bool] = []
        self._gains: list[float] = []
        self._disagreements: list[bool] = []
        self._invented = 0

    def add(self, answers: Mapping[Request, Answer]) -> None:
        """Count the trials of more answers."""
        for request, answer in answers.items():
            trials = list_trials(answer)
            if not trials:
                continue
            self._outcomes.update(trial.outcome for trial in trials)
            self._questions[find_outcome(trials)] += 1
            if isinstance(answer, TagAnswer):
                self._invented += answer.invented
            elif options := count_options(request):
                self._add_choices(trials, options)

    def _add_choices(self, trials: Sequence[Trial], options: int) -> None:
        answered = [trial for trial in trials if trial.outcome == ANSWERED]
        self._masses += [
            min(1.0, math.fsum(map(math.exp, trial.log_probs)))
            for trial in answered
            if trial.log_probs
        ]
        self._out_of_sight += sum(trial.outcome == UNPARSABLE for trial in trials)
        favourites = set()
        for _, group in groupby(sorted(answered), key=lambda trial: trial.paraphrase):
            own = list(group)
            favourites.add(find_best(own, options))
            by_order = [
                [trial for trial in own if trial.order == order]
                for order in sorted({trial.order for trial in own})
            ]
            if len(by_order) > 1:
                self._flips.append(len({find_best(some, options) for some in by_order}) > 1)
                if options == 2 and all(trial.log_probs for trial in own):
                    first, second = (_mean_log_odds(some) for some in by_order)
                    self._gains.append((first - second) / 2 / math.log(2))
        if len({trial.paraphrase for trial in answered}) > 1:
            self._disagreements.append(len(favourites) > 1)

    def __bool__(self) -> bool:
        return bool(self._outcomes)

    @property
    def coverage(self) -> dict[str, Any]:
        """The counts and shares, under the names by which a result shows them."""
        found: dict[str, Any] = {
            "trials": self._outcomes.total(),
            "trials_refused": self._outcomes[REFUSED],
            "trials_unparsable": self._outcomes[UNPARSABLE],
            "trials_cut_off": self._outcomes[CUT_OFF],
            "questions_without_answer": self._questions.total() - self._questions[ANSWERED],
        }
        if self._flips:
            found["choices_that_change_with_the_order"] = self.flips
        if self._gains:
            found["bits_gained_by_being_named_first"] = median(self._gains)
        # A decision route gives shares among the options, which say nothing about their mass.
        if len(self._masses) > 1 and min(self._masses) < 1 - _ROUNDING:
            lower, middle, upper = quantiles(self._list_masses(), n=4, method="inclusive")
            found["mass_on_the_options"] = {
                "lower quartile": lower,
                "median": middle,
                "upper quartile": upper,
            }
        if self._disagreements:
            found["choices_that_differ_between_paraphrases"] = _share(self._disagreements)
        if self._invented:
            found["invented_names"] = self._invented
        return found

    @property
    def problem(self) -> Message | None:
        """Why the answers cannot be measured, or None."""
        unanswered = 1 - self._questions[ANSWERED] / max(1, self._questions.total())
        if unanswered > MOST_UNANSWERED:
            return self._find_cause()(share=unanswered)
        if self._masses and (mass := median(self._list_masses())) < LEAST_MASS:
            return LITTLE_MASS(mass=mass)
        flips = self.flips
        if not self._masses:
            return ORDER_DECIDES(share=flips) if flips > MOST_FLIPS else None
        gains = [abs(gain) for gain in self._gains]
        # Without two options, nothing is known of the size of the effect.
        is_strong = not gains or median(gains) > MOST_ORDER_EFFECT
        if flips > MOST_FLIPS_BY_PROBABILITY and is_strong:
            return ORDER_DECIDES(share=flips)
        return None

    @property
    def flips(self) -> float:
        """The share of choices that change with the order of the options."""
        return _share(self._flips)

    def _list_masses(self) -> list[float]:
        """The probabilities of all options together, 0 where none of them was in sight."""
        return [*self._masses, *[0.0] * self._out_of_sight]

    def _find_cause(self) -> Template:
        """What most of the questions without an answer have in common."""
        without = self._questions.total() - self._questions[ANSWERED]
        return next(
            (cause for outcome, cause in _CAUSES.items() if self._questions[outcome] > without / 2),
            UNANSWERED,
        )


def _share(values: Sequence[bool]) -> float:
    return sum(values) / len(values) if values else 0.0


def _mean_log_odds(trials: Sequence[Trial]) -> float:
    """The mean log-odds of the first candidate of a request against the second."""
    return math.fsum(one.log_probs[0] - one.log_probs[1] for one in trials) / len(trials)
