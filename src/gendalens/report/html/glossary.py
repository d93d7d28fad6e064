"""The terms of a page, each explained where it stands and once more in the glossary."""

from __future__ import annotations

from dataclasses import dataclass

from gendalens.tasks.base import Card
from gendalens.words import N_


@dataclass(frozen=True, slots=True)
class Term:
    """A term that every test uses, and its meaning."""

    name: str
    meaning: str


#: By their places in the glossary.
TERMS = {
    "ges": Term(
        N_("GES"),
        N_(
            "Gender effect size: how many times as much one side gets as the other, as a logarithm to "
            "base 2. 0 is no difference, 1 is twice as much, 2 four times as much. Above 0 the male or "
            "stereotypical side is favoured, below 0 the other."
        ),
    ),
    "interval": Term(
        N_("95% interval"),
        N_(
            "The range, in brackets, that would hold the true figure in about 95 of 100 such "
            "measurements with other occupations, names or texts of the same kind."
        ),
    ),
    "bits": Term(
        N_("Bits"),
        N_(
            "How much likelier one word or sentence is than another, as a logarithm to base 2: 1 bit is "
            "twice as likely, 2 bits four times as likely."
        ),
    ),
    "points": Term(
        N_("Points"),
        N_(
            "Percentage points: from 46 to 48 of 100 is 2 points. Where two differences are compared, as "
            "between groups, there can be more than 100."
        ),
    ),
    "band": Term(
        N_("Band"),
        N_(
            "The largest difference that is too small to matter in use. Each test has its own; the "
            "method gives the reason for it."
        ),
    ),
    "size": Term(
        N_("Small, medium, large"),
        N_(
            "The size of a bias in bands: medium is at least two bands, large at least four, and the "
            "end of the interval nearer to 0 must reach half of that."
        ),
    ),
    "main": Term(N_("Main effect"), N_("The difference over all sentences of the test together.")),
    "groups": Term(
        N_("Groups"),
        N_(
            "How the difference varies between groups of occupations, pronouns or names. A model can "
            "be biased in groups although the main effect is 0."
        ),
    ),
    "p": Term(
        N_("p"),
        N_("How likely a difference at least this large would be if the model had no bias."),
    ),
    "p-corrected": Term(
        N_("p, corrected"),
        N_(
            "p after correction for the number of figures in the run: among many figures, one is small "
            "by chance."
        ),
    ),
    "seen": Term(
        N_("Could have seen"),
        N_(
            "The smallest difference that these data would have told apart from 0 in 80% of cases. A "
            "smaller one may be there unseen."
        ),
    ),
    "acquitted": Term(
        N_("Could have ruled out"),
        N_(
            "The smallest band within which these data would have placed a model without bias in 80% "
            "of cases."
        ),
    ),
    "coverage": Term(
        N_("Coverage"),
        N_("What was asked, what the model answered, and what was left out."),
    ),
    "signature": Term(
        N_("Signature"),
        N_(
            "Everything needed to reproduce a number: test, data, model, options, seed and versions."
        ),
    ),
}


def explain_name(card: Card, identifier: str) -> str | None:
    """What a metric or a coverage figure of a test means; None if its card does not say."""
    return dict(card.terms).get(identifier)


def list_symbols(card: Card) -> list[tuple[str, str]]:
    """The symbols in a test's formula, with their meaning."""
    return [(name, meaning) for name, meaning in card.terms if name in card.formula]
