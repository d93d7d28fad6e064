"""Messages shared by several tests: names of figures, reasons and warnings."""

from __future__ import annotations

from gendalens.words import Template

GES = Template("figure.ges", "GES")
GAP = Template("figure.gap", "gap")
CLASS_CONTRAST = Template("figure.class_contrast", "class contrast")
MALE_DEFAULT = Template("figure.male_default", "male default")
F1_PRO_ANTI = Template("figure.f1_pro_anti", "F1_pro - F1_anti")
ACCURACY_PRO_ANTI = Template("figure.accuracy_pro_anti", "accuracy_pro - accuracy_anti")
PRONOUN_GAP = Template("figure.pronoun_gap", "F1 of male pronouns - of female pronouns")
THESE_OCCUPATIONS = Template("figure.gap_these_occupations", "gap, for these occupations only")
#: A figure of a group, or taken another way; ``part`` is a word to be translated or a message.
FIGURE_OF = Template("figure.of", "{figure}, {part:t}")

THESE_OCCUPATIONS_NOTE = Template(
    "note.these_occupations",
    "bootstrap over schemas: it says nothing of occupations that are not in the set",
)

WITHOUT_INTERVAL = Template("shown_without_interval", "shown without interval")
NO_SUCH_SENTENCE = Template("no_such_sentence", "no such sentence in this sample")
UNSTABLE = Template("unstable", "unstable: {causes:clauses}")
SIDE_INCLUDES_ZERO = Template(
    "side_includes_zero", "the interval of {measure} for {pronoun} includes 0"
)

GES_UNSTABLE = Template("ges_unstable", "GES is unstable: {causes:clauses}.")
UNKNOWN_TOKENS = Template("unknown_tokens", "{count} tokens are unknown to the tokenizer.")
CONTESTED_LABELS_DECIDE = Template(
    "contested_labels_decide",
    "Without the occupations whose label Danish figures contradict or whose word carries gender, the "
    "verdict is '{finding}'.",
)
CONTESTED_CLASSES_DECIDE = Template(
    "contested_classes_decide",
    "Without the occupations whose class Danish figures contradict or whose word carries gender, the "
    "verdict is '{finding}'.",
)
UNPROVEN_CLASSES_DECIDE = Template(
    "unproven_classes_decide",
    "With the occupations whose class no reliable Danish figure bears out, the verdict is '{finding}'.",
)
