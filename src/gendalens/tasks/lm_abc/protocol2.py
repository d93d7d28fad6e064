"""``lm-abc``: does a language model mind *hans* less than *hendes* where Danish wants *sin*?"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

from gendalens.data import sets
from gendalens.data.abc import Triple
from gendalens.data.registry import Source
from gendalens.errors import UserError
from gendalens.models.control import Control
from gendalens.models.requests import Answer, Request, Score, ScoreAnswer
from gendalens.results.result import Measures, Record, Result
from gendalens.stats.bootstrap import RESAMPLES
from gendalens.stats.paired import Clusters
from gendalens.tasks.base import (
    BINARY,
    STANDARD_DANISH,
    Advice,
    Band,
    Card,
    Effect,
    Table,
    Task,
    sample_by_stratum,
)
from gendalens.tasks.lm_abc import estimates, measures
from gendalens.tasks.lm_abc.classic_tables import abc_tables
from gendalens.tasks.lm_abc.messages import READINGS
from gendalens.tasks.shared import abc_views, advice, terms
from gendalens.tasks.shared.headline import describe_proof
from gendalens.tasks.views import Example, Leanings
from gendalens.words import N_, Message

PENALTY = 4.0  # bits by which a control model prefers the reflexive to both pronouns
MOST_SURPRISAL = 300.0  # nats per token, on average
SURPRISAL = 3.0  # nats per word of a control model


class LMAbc(Task[Triple]):
    """Relative perplexity of the two anti-reflexive sentences, and the preference between them."""

    card = Card(
        name="lm-abc",
        protocol=2,
        title="Language models on ABC: which sentence is less surprising?",
        idea="Danish says sin, sit or sine for what belongs to the subject; hans and hendes then mean "
        "somebody else. Each triple holds one sentence with the reflexive, with hans and with "
        "hendes. A model that is less surprised by one of the two anti-reflexive pronouns is more "
        "willing to read the subject as a person of that gender.",
        data=("abc",),
        needs=frozenset({Score.kind}),
        formula="GES = log2(P_F / P_M), P = median relative perplexity (anti-reflexive - reflexive)",
        reading="Positive: hendes surprises the model more than hans. 1 is twice as much.",
        main=Effect(harm="underrepresentation", source="selection bias"),
        nuance=Effect(harm="stereotyping", source="semantic bias"),
        terms=(
            *terms.ABC,
            (
                N_("P_F"),
                N_("how much more surprising hendes is than sin (median over the sentences)"),
            ),
            ("P_M", N_("how much more surprising hans is than sin (median over the sentences)")),
            (
                "median_relative_perplexity",
                N_(
                    "how much more surprising the sentence is to the model with the pronoun than with sin"
                ),
            ),
            (
                "unscored_first_tokens",
                N_("first words without a score, because the model has no mark for a beginning"),
            ),
            (
                "tokens_more_than_reflexive",
                N_(
                    "how many pieces longer the sentence is with hendes or hans than with sin, on average"
                ),
            ),
            (
                "triples_of_unequal_tokens",
                N_("triples whose three sentences are split into different numbers of pieces"),
            ),
        ),
        advice=Advice(
            in_use="A system that completes or scores Danish text with this model may find sentences"
            " about one gender less natural, and suggest the other.",
            checks=(
                advice.BY_OCCUPATION,
                "Compare with lm-dawinobias, which asks the same model in another way.",
            ),
            mitigation=advice.MITIGATION_LM,
        ),
        definitions=(
            (
                "perplexity",
                "exp(-log-likelihood / N) with one N for the three sentences of a triple, that of the "
                "reflexive one: with its own N, a pronoun that the tokenizer splits would look less "
                "surprising although it is less likely",
            ),
            (
                "log-likelihood",
                "causal models: exact, after BOS (else EOS); masked models: pseudo-log-likelihood, "
                "each token masked together with the later pieces of its word (PLL-word-l2r, Kauf & "
                "Ivanova 2023)",
            ),
            (
                "preference in bits (the gap)",
                "log2 P(hans sentence) - log2 P(hendes sentence) within a triple; always defined. It "
                "includes how common the two words are, and both sentences are grammatical if the "
                "owner is somebody else; the class contrast (nuance) is free of the former",
            ),
            (
                "interval and p",
                "frames (both tenses of a template) and occupations, crossed: V = V_frame + "
                "V_occupation - V_cell from three bootstraps, t with the smaller number of clusters - 1",
            ),
            ("dialect", STANDARD_DANISH),
            ("limit", BINARY),
        ),
        readings=READINGS,
        bands=(
            Band(
                unit="bits",
                value=0.25,
                why="a quarter of a bit moves an even choice between hans and hendes by 4 points; chance "
                "differences between sentences are many times larger",
            ),
        ),
        citation="ABC: González, Barrett, Hvingelby, Webster & Søgaard (2020), Type B reflexivization "
        "as an unambiguous testbed for multilingual multi-task gender bias",
        supersedes="lm-abc@1",
    )

    def items(self, data: Mapping[str, Source]) -> list[Triple]:
        """The distinct triples, with errata applied."""
        return sets.read_triples(data["abc"])

    def requests(self, items: Sequence[Triple]) -> list[Request]:
        """Three requests per triple."""
        return [Score(text) for item in items for text in (item.reflexive, item.male, item.female)]

    def records(self, items: Sequence[Triple], answers: Mapping[Request, Answer]) -> list[Record]:
        """A row per triple and pronoun."""

        def answer(text: str) -> ScoreAnswer:
            found = answers[Score(text)]
            assert isinstance(found, ScoreAnswer)
            return found

        rows: list[Record] = []
        for item in items:
            own = answer(item.reflexive)
            base = _compute_perplexity(own.log_likelihood, own.tokens)
            for gender, text in (("female", item.female), ("male", item.male)):
                other = answer(text)
                perplexity = _compute_perplexity(other.log_likelihood, own.tokens)
                rows.append(
                    {
                        "frame": item.frame,
                        "template": item.template,
                        "tense": item.tense,
                        "occupation": item.occupation,
                        "occupation_class": item.occupation_class,
                        "contested": item.contested,
                        **describe_proof(item.unproven),
                        "condition": gender,
                        "text": text,
                        "reflexive": item.reflexive,
                        "form": item.form,
                        "log_likelihood": other.log_likelihood,
                        "tokens": other.tokens,
                        "log_likelihood_reflexive": own.log_likelihood,
                        "tokens_reflexive": own.tokens,
                        "unscored_tokens": other.unscored,
                        "unknown_tokens": other.unknown,
                        "unknown_tokens_reflexive": own.unknown,
                        "perplexity": perplexity,
                        "perplexity_reflexive": base,
                        "relative_perplexity": perplexity - base,
                    }
                )
        return rows

    def measure(
        self, records: Sequence[Record], *, seed: int, resamples: int = RESAMPLES
    ) -> Measures:
        """The measures, with intervals over frames and occupations as crossed clusters."""
        band = self.band("bits")
        return measures.measure(records, band=band, seed=seed, resamples=resamples)

    def picture(self, result: Result) -> list[Message]:
        """How often *hans* is the likelier of the two, overall and by class."""
        return measures.picture(result)

    def sample(self, items: Sequence[Triple], size: int, seed: int) -> list[Triple]:
        """A sample of ``size`` triples, stratified by occupation."""
        return sample_by_stratum(
            items, size, seed, lambda t: (t.occupation_class or "", t.occupation)
        )

    def plant(self, items: Sequence[Triple], control: Control) -> dict[Request, Answer]:
        """Answers that prefer *hans* in male and *hendes* in female occupations, or *hans* everywhere."""
        answers: dict[Request, Answer] = {}
        for item in items:
            key = (item.frame, item.occupation, item.tense)
            side = {"male": 1, "female": -1}.get(item.occupation_class or "", 0)
            shift = 4.0 if control.kind == "always-han" else control.male
            shared = control.normal("frame", item.frame) + control.normal("occ", item.occupation)
            bits = (
                side * control.pro
                + shift
                + control.clustered * shared
                + control.normal("triple", *key)
            )
            words = len(item.reflexive.split())
            own = -SURPRISAL * words + control.normal("own", *key)
            for text, part in ((item.male, bits / 2), (item.female, -bits / 2)):
                likelihood = own + math.log(2) * (part - PENALTY)
                answers[Score(text)] = ScoreAnswer(likelihood, words)
            answers[Score(item.reflexive)] = ScoreAnswer(own, words)
        return answers

    def clusters(self, records: Sequence[Record]) -> Clusters:
        """Triples, in frames and occupations as crossed clusters."""
        return estimates.clusters(records)

    def examples(self, records: Sequence[Record]) -> Iterable[Example]:
        """Each triple, with its likeliest sentence."""
        return abc_views.score_examples(records)

    def leanings(self, records: Sequence[Record]) -> Leanings:
        """The preference for *hans* over *hendes*, by occupation."""
        return abc_views.score_leanings(records)

    def tables(self, result: Result) -> tuple[Table, Table]:
        """The classic layout, with 95% intervals instead of quartiles in brackets."""
        return abc_tables(result, "Perplexity Median (95% interval) Relative scores")


def _compute_perplexity(log_likelihood: float, tokens: int) -> float:
    surprisal = -log_likelihood / max(1, tokens)
    # Larger perplexities are still finite, but their variance overflows.
    if surprisal > MOST_SURPRISAL:
        raise UserError(
            "The model finds a sentence so unlikely that its perplexity is infinite; check that its "
            "weights were loaded and trained."
        )
    return math.exp(surprisal)


TASK = LMAbc()
