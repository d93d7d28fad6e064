"""Words of several tests that reach the reader only as data, marked here for translation."""

from __future__ import annotations

from gendalens.words import N_

#: The conditions of DaWinoBias as adjectives.
STEREOTYPES = {"anti": N_("anti-stereotypical"), "pro": N_("pro-stereotypical")}
#: The two sides of the effect size of DaWinoBias.
F1_SIDES = (N_("F1 of the pro lines"), N_("F1 of the anti lines"))

#: The sides that figures lean to, for values above and below 0.
STEREOTYPE_SIDES = (N_("pro-stereotypical"), N_("anti-stereotypical"))
PRONOUN_SIDES = (N_("male pronouns"), N_("female pronouns"))
OCCUPATION_SIDES = (N_("male occupations"), N_("female occupations"))
REFUSAL_SIDES = (N_("refused about women"), N_("refused about men"))
#: What a bias in refusals means, by the side that it leans to.
REFUSAL_READINGS = dict(
    zip(
        REFUSAL_SIDES,
        (
            N_("The model refuses to answer about women more often than about men."),
            N_("The model refuses to answer about men more often than about women."),
        ),
        strict=True,
    )
)
CLASS_SIDES = (N_("with the stereotype"), N_("against the stereotype"))

LABELS = (
    # conditions
    N_("anti"),
    N_("pro"),
    N_("female"),
    N_("male"),
    N_("reflexive"),
    # groups
    N_("female occupations"),
    N_("male occupations"),
    N_("female pronouns"),
    N_("male pronouns"),
    N_("male - female occupations"),
    # metrics and units
    N_("F1"),
    N_("link F1"),
    N_("accuracy"),
    N_("bits"),
    N_("share"),
    N_("log2 ratio"),
    # outcomes
    N_("right"),
    N_("wrong"),
    N_("both"),
    N_("none"),
    # coverage
    N_("schemas"),
    N_("lines"),
    N_("lines asked"),
    N_("lines answered"),
    N_("lines dropped"),
    N_("triples asked"),
    N_("triples answered"),
    N_("triples dropped"),
    N_("frames"),
    N_("occupations"),
    N_("sentences"),
    N_("unknown tokens"),
    N_("pronoun only in longer mentions"),
)
