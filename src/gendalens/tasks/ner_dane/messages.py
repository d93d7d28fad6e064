"""The messages of ``ner-dane``: figures, reasons, warnings, and the words of its tables."""

from __future__ import annotations

from gendalens.tasks.base import Readings
from gendalens.tasks.shared.variants import Variant
from gendalens.words import N_, Template

READINGS = Readings(
    male="The model finds men’s names better than women’s.",
    female="The model finds women’s names better than men’s.",
    alike="The model finds women’s and men’s names about equally well.",
    groups={
        "minority men": "Minority names shift the model’s balance towards men, compared with "
        "majority names.",
        "minority women": "Minority names shift the model’s balance towards women, compared with "
        "majority names.",
        "majority names": "The model finds majority names better than minority names.",
        "minority names": "The model finds minority names better than majority names.",
    },
)
PICTURE = Template(
    "ner_dane.picture",
    "Finds {male} of 100 men and {female} of 100 women with majority names.",
)
PICTURE_OF_GROUPS = Template(
    "ner_dane.picture_of_groups",
    "With minority names it finds {male} of 100 men and {female} of 100 women.",
)

AGREEING = Variant(
    "agreeing",
    Template("ner_dane.agreeing", "without sentences whose pronouns or titles may clash")(),
)

GAP_NAME = Template("ner_dane.gap", "F1_male - F1_female, majority names")
ORIGIN_CONTRAST = Template(
    "ner_dane.origin_contrast", "(F1_male - F1_female) of minority names - of majority names"
)
PERSON_RECALL_GAP = Template(
    "ner_dane.person_recall_gap", "PER recall, men - women, majority names"
)
PERSON_RECALL_CONTRAST = Template(
    "ner_dane.person_recall_contrast",
    "PER recall, (men - women) of minority names - of majority names",
)
PERSON_RECALL_ORIGIN_GAP = Template(
    "ner_dane.person_recall_origin_gap", "PER recall, majority names - minority names"
)
THESE_NAMES = Template(
    "ner_dane.these_names", "PER recall, men - women, majority names, for these names only"
)
THESE_NAMES_NOTE = Template(
    "ner_dane.these_names_note",
    "over documents alone: it says nothing of names that were not drawn",
)
ORIGIN_GAP = Template("ner_dane.origin_gap", "F1, majority - minority names")
ORIGIN_GAP_NOTE = Template("ner_dane.origin_gap_note", "mean over both genders")
F1 = Template("ner_dane.f1", "F1")
LABEL_F1 = Template("ner_dane.label_f1", "{label} F1")
LABEL_F1_NOTE = Template("ner_dane.label_f1_note", "a control: only persons were renamed")
PERSON_RECALL = Template("ner_dane.person_recall", "PER recall")
PERSON_RECALL_RATIO = Template("ner_dane.person_recall_ratio", "log2 ratio of PER recall")
#: The two sides of that ratio.
RECALL_SIDES = (N_("PER recall of men"), N_("PER recall of women"))
PERSON_PRECISION = Template("ner_dane.person_precision", "PER precision")
SPREAD = Template("ner_dane.spread", "F1 spread over name draws")

SPREAD_APART = Template(
    "ner_dane.spread_apart", "a spread, shown apart from the uncertainty over documents and names"
)
ONE_DRAW = Template("ner_dane.one_draw", "one draw has no spread")
NO_PERSON = Template(
    "ner_dane.no_person", "no sentence with a person is among those tested; take a larger sample"
)
NOTHING_FOUND = Template(
    "ner_dane.nothing_found",
    "the model finds not one person, place or organisation; check that it is a Danish NER model, and "
    "its labels with --labels",
)
NO_PERSON_FOUND = Template(
    "ner_dane.no_person_found",
    "the model finds not one person, so their names make no difference; check its labels with "
    "--labels",
)
CLASHING_PRONOUNS_DECIDE = Template(
    "ner_dane.clashing_pronouns_decide",
    "Without the sentences whose gendered pronouns or titles may clash with the new names, the "
    "verdict is '{finding}'.",
)
UNKNOWN_LABEL = Template("ner_dane.unknown_label", "{label} (in {texts:,} texts)")
UNKNOWN_LABELS = Template(
    "ner_dane.unknown_labels",
    "Labels that GenDa Lens does not know were left out: {labels}; map them with --labels "
    "NAME=PER|LOC|ORG|MISC.",
)

# Protocol 1
SPREAD_OVER_DRAWS = Template("ner_dane.spread_over_draws", "spread over name draws: SD {sd}")
NOTHING_IN_ONE_GROUP = Template(
    "ner_dane.nothing_in_one_group",
    "the model finds nothing under one group's names, so the effect is undefined",
)

#: The two sides of the effect size.
SIDES = (N_("F1 with men's names"), N_("F1 with women's names"))
#: The sides that the figures by origin lean to, for values above and below 0.
MINORITY_SIDES = (N_("minority men"), N_("minority women"))
ORIGIN_SIDES = (N_("majority names"), N_("minority names"))

LABELS = (
    # groups
    N_("majority names"),
    N_("minority names"),
    N_("unisex names"),
    N_("majority female names"),
    N_("majority male names"),
    N_("minority female names"),
    N_("minority male names"),
    N_("majority unisex names"),
    N_("majority female"),
    N_("majority male"),
    N_("minority female"),
    N_("minority male"),
    N_("majority unisex"),
    # units
    N_("recall"),
    N_("SD"),
    # coverage
    N_("sentences with a person"),
    N_("sentences whose words may clash"),
    N_("documents"),
    N_("documents from"),
    N_("sentences per block"),
    N_("repeats"),
    N_("texts scored"),
    N_("distinct texts"),
    N_("labels"),
    N_("pieces per renamed sentence"),
)
