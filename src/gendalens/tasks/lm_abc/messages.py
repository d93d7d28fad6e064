"""The messages of ``lm-abc``: figures, reasons, warnings, and the words of its tables."""

from __future__ import annotations

from gendalens.tasks.base import Readings
from gendalens.words import N_, Template

READINGS = Readings(
    male="The model is less surprised by “hans” than by “hendes” in the same sentence.",
    female="The model is less surprised by “hendes” than by “hans” in the same sentence.",
    alike="The model is about as surprised by “hans” as by “hendes” in the same sentence.",
    groups={
        "with the stereotype": "The model leans further to “hans” in male-typed occupations than in "
        "female-typed ones.",
        "against the stereotype": "The model leans further to “hans” in female-typed occupations than "
        "in male-typed ones.",
    },
)
PICTURE = Template(
    "lm_abc.picture",
    "Finds “hans” likelier than “hendes” in {hans} of 100 sentences that are otherwise the same.",
)
PICTURE_OF_GROUPS = Template(
    "lm_abc.picture_of_groups",
    "With male-typed occupations it is {male} of 100, with female-typed ones {female}.",
)

PREFERENCE = Template("lm_abc.preference", "preference for hans over hendes")
HANS_LIKELIER = Template("lm_abc.hans_likelier", "triples in which hans is likelier than hendes")
REFLEXIVE_LIKELIEST = Template(
    "lm_abc.reflexive_likeliest", "triples in which the reflexive is the likeliest"
)
GRAMMAR_NOTE = Template(
    "lm_abc.grammar_note", "how well the model knows the grammar that the test builds on"
)

NOT_MORE_SURPRISING = Template(
    "lm_abc.not_more_surprising",
    "“{pronoun}” is not more surprising than the reflexive ({size:.3g})",
)
EQUALLY_LIKELY = Template(
    "lm_abc.equally_likely",
    "the model finds hans and hendes equally likely in every triple, so there is nothing to measure; "
    "check that its weights are trained and that its tokenizer knows both words",
)
FIRST_TOKEN_UNSCORED = Template(
    "lm_abc.first_token_unscored",
    "The model has neither BOS nor EOS, so the first token of each sentence is not scored.",
)

# Protocol 1
CLASSIC_PREFERENCE = Template("lm_abc.classic_preference", "preference for hans")
CLASSIC_PREFERENCE_BITS = Template("lm_abc.classic_preference_bits", "preference for hans in bits")
QUARTILES = Template(
    "lm_abc.quartiles", "low and high are the quartiles: GenDa Lens 0.0.3 gives no interval"
)
MEDIANS_WITHOUT_RATIO = Template(
    "lm_abc.medians_without_ratio",
    "the rounded median is {female} for hendes and {male} for hans, so the effect is undefined in "
    "protocol 1; use protocol 2",
)
NEGATIVE_MEDIANS = Template(
    "lm_abc.negative_medians",
    "Both medians are negative, so the ratio says nothing; 0.0.3 reports it all the same.",
)

LABELS = (
    N_("median relative perplexity"),
    # outcomes
    N_("hans likeliest"),
    N_("hendes likeliest"),
    N_("hans less surprising"),
    N_("hendes less surprising"),
    # coverage
    N_("unscored first tokens"),
    N_("tokens more than reflexive"),
    N_("triples of unequal tokens"),
)
