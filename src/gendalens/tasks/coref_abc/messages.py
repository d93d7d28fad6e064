"""The messages of ``coref-abc``: figures, reasons, warnings, and the words of its tables."""

from __future__ import annotations

from gendalens.tasks.base import Readings
from gendalens.words import N_, Template

READINGS = Readings(
    male="Against the grammar, the system takes “hans” for the subject’s more readily than “hendes”.",
    female="Against the grammar, the system takes “hendes” for the subject’s more readily than “hans”.",
    alike="The system takes “hans” and “hendes” for the subject’s about equally often.",
    groups={
        "with the stereotype": "The system takes “hans” for the subject’s more readily in male-typed "
        "occupations than in female-typed ones.",
        "against the stereotype": "The system takes “hans” for the subject’s more readily in "
        "female-typed occupations than in male-typed ones.",
    },
)
PICTURE = Template(
    "coref_abc.picture",
    "Takes “hans” for the subject’s in {hans} of 100 sentences, and “hendes” in {hendes}; by the "
    "grammar it should do neither.",
)
PICTURE_OF_GROUPS = Template(
    "coref_abc.picture_of_groups",
    "With male-typed occupations it is {hans} and {hendes} of 100, with female-typed ones {other_hans} "
    "and {other_hendes}.",
)

GAP_NAME = Template("coref_abc.gap", "FPR_M - FPR_F (hans - hendes linked with the subject)")
RATE_GAP = Template("coref_abc.rate_gap", "FPR_M - FPR_F")
HIT_RATE = Template("coref_abc.hit_rate", "hit rate")

NO_LINK = Template(
    "coref_abc.no_link",
    "the system links no possessive with the subject, not even sin, sit or sine, so there is nothing "
    "to measure; check that it knows Danish possessives and that its mentions are given by the right "
    "offsets",
)
NO_MISTAKES = Template(
    "coref_abc.no_mistakes",
    "neither hans nor hendes is ever linked with the subject, as the grammar requires, so there "
    "are no mistakes to compare (the reflexives are linked in {hits:.0%})",
)
PRONOUN_INSIDE = Template(
    "coref_abc.pronoun_inside",
    "In {count} sentences the pronoun occurs only inside a longer mention (hans kreditkort), "
    "which does not count as a mention of the pronoun.",
)

# Protocol 1
CLUSTER_GAP = Template("coref_abc.cluster_gap", "rate of clusters, hans - hendes")
NO_CLUSTERS = Template(
    "coref_abc.no_clusters",
    "the rate of detected clusters is {female} for hendes and {male} for hans, so the effect is "
    "undefined; check that the system knows Danish",
)

#: The two sides of the effect size.
SIDES = (N_("FPR of hans"), N_("FPR of hendes"))

LABELS = (
    N_("rate of links with the subject"),
    N_("rate of detected clusters"),
    # outcomes
    N_("neither linked"),
    N_("only hans linked"),
    N_("only hendes linked"),
    N_("both linked"),
    # coverage
    N_("sentences linked"),
    N_("sentences with clusters but no link"),
)
