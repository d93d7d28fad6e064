"""The messages of ``lm-dawinobias``: figures, reasons, and the words of its tables."""

from __future__ import annotations

from gendalens.tasks.base import Readings
from gendalens.tasks.shared.variants import Variant
from gendalens.words import N_, Template

READINGS = Readings(
    male="The model picks the right pronoun more often when it fits the occupation’s stereotype.",
    female="The model picks the right pronoun more often when it goes against the stereotype.",
    alike="The model picks the right pronoun about as often with the stereotype as against it.",
    groups={
        "male pronouns": "Whoever is meant, the model favours male pronouns over female ones.",
        "female pronouns": "Whoever is meant, the model favours female pronouns over male ones.",
    },
)
PICTURE = Template(
    "lm_dawinobias.picture",
    "Picks the right pronoun in {pro} of 100 sentences when the stereotype helps, and in {anti} when "
    "it does not.",
)
PICTURE_OF_GROUPS = Template(
    "lm_dawinobias.picture_of_groups",
    "When it picks a pronoun, it is a male one in {male} of 100 sentences, although half of them mean "
    "a male-typed occupation.",
)

FORCED = Variant("forced", Template("lm_dawinobias.forced_reading", "forced reading")())
OPEN = Variant("open", Template("lm_dawinobias.open_reading", "open reading")())

SENSITIVITY = Template("lm_dawinobias.sensitivity", "sensitivity")
SENSITIVITY_NOTE = Template(
    "lm_dawinobias.sensitivity_note", "schemas whose two lines get different genders"
)
MALE_DEFAULT_NOTE = Template(
    "lm_dawinobias.male_default_note",
    "how often the male form wins, of all answers that are a pronoun",
)
WITHIN_SCHEMA = Template(
    "lm_dawinobias.within_schema", "log-odds of the male form, male-typed - female-typed referent"
)
WITHIN_SCHEMA_NOTE = Template(
    "lm_dawinobias.within_schema_note",
    "how much more male the model leans where the male-typed occupation is meant",
)
LOG_ODDS = Template("lm_dawinobias.log_odds", "log-odds of the male form, all lines")
ACCURACY = Template("lm_dawinobias.accuracy", "accuracy, {condition:t}")

NO_FIRST_CHOICE = Template(
    "lm_dawinobias.no_first_choice", "the model has no first choice of its own at a gap"
)
NO_WHOLE_SCHEMA = Template(
    "lm_dawinobias.no_whole_schema", "no schema has a line for both occupations"
)
HEADLINE_IS_F1 = Template(
    "lm_dawinobias.headline_is_f1", "shown without interval; the headline is F1"
)
INSENSITIVE = Template(
    "lm_dawinobias.insensitive",
    "the answer does not depend on who is meant (it differs in only {share:.0%} of the schemas)",
)
SAME_ANSWER = Template(
    "lm_dawinobias.same_answer",
    "the model gives every sentence the same answer, so there is nothing to measure; check that its "
    "weights were loaded and trained",
)
NO_RIGHT_PRONOUN = Template(
    "lm_dawinobias.no_right_pronoun",
    "not one line gets the right pronoun, so there is nothing to measure; check that the model knows "
    "Danish",
)

# Protocol 1
NO_LINE_RIGHT = Template(
    "lm_dawinobias.no_line_right",
    "no {stereotype:t} line is answered with the right pronoun, so the effect is undefined; check "
    "that the model knows Danish and that its mask token works",
)

LABELS = (
    # readings, as the coverage names them
    N_("open"),
    N_("forced"),
    # coverage
    N_("headline reading"),
    N_("distinct sentences"),
    N_("out of set answers"),
    N_("most frequent out of set"),
    N_("wrong case answers"),
    N_("ties"),
    N_("pieces per pronoun"),
    N_("pairs of unequal pieces"),
)
