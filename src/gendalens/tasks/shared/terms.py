"""What the symbols, metrics and coverage figures of several tests mean."""

from __future__ import annotations

from gendalens.words import N_

F1 = (
    "f1",
    N_("precision and recall in one number between 0 and 1: 1 means all right, none missed"),
)
UNKNOWN_TOKENS = (
    "unknown_tokens",
    N_("pieces of the sentences that the model has no vocabulary for; it cannot tell them apart"),
)
FRAMES = ("frames", N_("sentence patterns, both tenses counted as one"))
TRIPLES_ASKED = (
    "triples_asked",
    N_("a triple is one sentence in three versions: with sin (or sit, sine), hans and hendes"),
)
SCHEMAS = (
    "schemas",
    N_(
        "a schema is a sentence pattern with two occupations, filled in so that each of them is meant "
        "once"
    ),
)
INSIDE = (
    "pronoun_only_in_longer_mentions",
    N_(
        "cases where the system marked the pronoun only together with other words, which is no link"
    ),
)
BY_STEREOTYPE = (
    ("F1_pro", N_("F1 where the pronoun fits the stereotype of the occupation")),
    ("F1_anti", N_("F1 where the pronoun goes against the stereotype of the occupation")),
)
WINO = (*BY_STEREOTYPE, F1, UNKNOWN_TOKENS, SCHEMAS)
ABC = (UNKNOWN_TOKENS, FRAMES, TRIPLES_ASKED)
