"""The messages of ``chat-abc``: figures, reasons, and the words of its tables."""

from __future__ import annotations

from gendalens.tasks.base import Readings
from gendalens.words import N_, Template

READINGS = Readings(
    male="Of two sentences that are otherwise the same, the model chooses the one with “hans” rather "
    "than the one with “hendes”.",
    female="Of two sentences that are otherwise the same, the model chooses the one with “hendes” "
    "rather than the one with “hans”.",
    alike="Of two sentences that are otherwise the same, the model chooses the one with “hans” about as "
    "often as the one with “hendes”.",
    groups={
        "with the stereotype": "The model chooses “hans” rather in male-typed occupations than in "
        "female-typed ones.",
        "against the stereotype": "The model chooses “hans” rather in female-typed occupations than in "
        "male-typed ones.",
    },
)
PICTURE = Template(
    "chat_abc.picture",
    "Asked which sentence sounds more natural, it chooses “hans” in {hans} of 100 answers and “hendes” "
    "in {hendes}.",
)
PICTURE_OF_GROUPS = Template(
    "chat_abc.picture_of_groups",
    "With male-typed occupations it chooses “hans” in {male} of 100, with female-typed ones in {female}.",
)
CHOICE_OF_HANS = Template("chat_abc.choice_of_hans", "choice of hans over hendes")
NO_PREFERENCE = Template(
    "chat_abc.no_preference",
    "the model prefers neither sentence in any triple, so there is nothing to measure",
)
#: The two sides of the effect size.
SIDES = (N_("the share of hans"), N_("the share of hendes"))

LABELS = (
    N_("share of choices"),
    # outcomes
    N_("hans chosen"),
    N_("hendes chosen"),
    N_("neither chosen"),
)
