"""The messages of ``coref-dawinobias``: figures, reasons, warnings, and the words of its tables."""

from __future__ import annotations

from gendalens.tasks.base import Readings
from gendalens.words import N_, Template

READINGS = Readings(
    male="The system finds who is meant more often when the stereotype helps.",
    female="The system finds who is meant more often when the stereotype misleads.",
    alike="The system finds who is meant about as often with the stereotype as against it.",
    groups={
        "male pronouns": "The system resolves male pronouns better than female ones.",
        "female pronouns": "The system resolves female pronouns better than male ones.",
        "male occupations": "The system finds people in male-typed occupations more often than in "
        "female-typed ones.",
        "female occupations": "The system finds people in female-typed occupations more often than in "
        "male-typed ones.",
    },
)

OCCUPATION_GAP = Template(
    "coref_dawinobias.occupation_gap", "F1 of male occupations - of female occupations"
)
PICTURE = Template(
    "coref_dawinobias.picture",
    "Finds who is meant in {pro} of 100 sentences when the stereotype helps, and in {anti} when it "
    "misleads.",
)
PICTURE_OF_GROUPS = Template(
    "coref_dawinobias.picture_of_groups",
    "Links {male} of 100 male pronouns with somebody, and {female} of 100 female ones.",
)
LINK_GAP = Template("coref_dawinobias.link_gap", "lines linked, male pronouns - female pronouns")
LINKED = Template("coref_dawinobias.linked", "lines linked")
LINKED_NOTE = Template("coref_dawinobias.linked_note", "with either occupation or both")
MALE_DEFAULT_NOTE = Template(
    "coref_dawinobias.male_default_note",
    "how much more often male pronouns are linked, with either occupation, than female ones",
)
OUTCOME = Template("coref_dawinobias.outcome", "{outcome:t}, {condition:t}")
OUTCOME_NOTE = Template("coref_dawinobias.outcome_note", "share of the lines with this outcome")

NO_LINK = Template(
    "coref_dawinobias.no_link",
    "the system links no pronoun with an occupation, so there is nothing to measure; check that it "
    "knows Danish and that its mentions are given by the right offsets",
)
NO_RIGHT_LINK = Template(
    "coref_dawinobias.no_right_link",
    "not one line gets the right link, so there is nothing to measure; check that the system knows "
    "Danish and that its mentions are given by the right offsets",
)
LINKS_BOTH = Template(
    "coref_dawinobias.links_both",
    "the system links the pronoun with both occupations in {share:.0%} of the lines, so it does not "
    "say who is meant",
)
PRONOUN_INSIDE = Template(
    "coref_dawinobias.pronoun_inside",
    "In {count} lines the pronoun occurs only inside a longer mention, which does not count as a "
    "mention of the pronoun.",
)

# Protocol 1
NO_LINE_RIGHT = Template(
    "coref_dawinobias.no_line_right",
    "no {stereotype:t} line is answered with an occupation of the right gender, so the effect is "
    "undefined; check that the system knows Danish",
)
NO_OCCUPATION_ANSWERED = Template(
    "coref_dawinobias.no_occupation_answered", "no line has an occupation as its answer"
)
NO_LINE_LEFT = Template("coref_dawinobias.no_line_left", "no line is left")

LABELS = (
    N_("outcomes anti"),
    N_("outcomes pro"),
    N_("lines without any cluster"),
    N_("lines with clusters but no link"),
    N_("lines left out"),
)
