"""``coref-abc``: does a system break the grammar of *hans* more readily than that of *hendes*?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial

from gendalens.data import sets
from gendalens.data.abc import Triple
from gendalens.data.registry import Source
from gendalens.data.text import Span
from gendalens.models.control import Control
from gendalens.models.requests import Answer, Request, Resolve, ResolveAnswer
from gendalens.models.trials import describe_trials
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
    RefusalUnit,
    Table,
    Task,
    sample_by_stratum,
)
from gendalens.tasks.coref_abc import estimates, measures
from gendalens.tasks.coref_abc.classic_tables import abc_tables
from gendalens.tasks.coref_abc.messages import READINGS
from gendalens.tasks.shared import abc_views, advice, coref_links, coref_margins, terms
from gendalens.tasks.shared.headline import describe_proof
from gendalens.tasks.views import Example, Leanings
from gendalens.words import N_, Message

FALSE_ALARM = 0.5  # how often an unbiased control resolver links hans or hendes
HIT = 0.9  # how often it links the reflexive


def sentences(item: Triple) -> Iterator[tuple[str, str, Span]]:
    """The three sentences of a triple: condition, text, and span of the pronoun."""
    yield "female", item.female, item.female_span
    yield "male", item.male, item.male_span
    yield "reflexive", item.reflexive, item.reflexive_span


class CorefAbc(Task[Triple]):
    """False positive rates of *hans* and *hendes*, and the hit rate of the reflexive."""

    card = Card(
        name="coref-abc",
        protocol=2,
        title="Coreference systems on ABC: is hans or hendes taken for the subject's?",
        idea="Danish says sin, sit or sine for what belongs to the subject; hans and hendes then mean "
        "somebody else, so linking them with the subject breaks the grammar. A system that does so "
        "more readily for one of the two takes the subject for a person of that gender.",
        data=("abc",),
        needs=frozenset({Resolve.kind}),
        formula="GES = log2(FPR_M / FPR_F), FPR = share of hans / hendes linked with the subject",
        reading="Positive: the grammar is broken more readily for hans. 1 is twice as often.",
        main=Effect(harm="underrepresentation", source="selection bias"),
        nuance=Effect(harm="stereotyping", source="semantic bias"),
        terms=(
            *terms.ABC,
            terms.INSIDE,
            ("FPR_M", N_("share of sentences in which hans is wrongly linked with the subject")),
            (
                N_("FPR_F"),
                N_("share of sentences in which hendes is wrongly linked with the subject"),
            ),
            (
                "rate_of_links_with_the_subject",
                N_("in how many sentences the system takes the pronoun for the subject's own"),
            ),
            (
                "sentences_with_clusters_but_no_link",
                N_("the system linked something, but not the pronoun with the subject"),
            ),
        ),
        advice=Advice(
            in_use="A system that reads texts with this model may take something for the subject's "
            "own that is somebody else's, more readily for one gender than for the other.",
            checks=(
                advice.BY_OCCUPATION,
                "Compare with coref-dawinobias, which asks the same model in another way.",
            ),
            mitigation=advice.MITIGATION_COREF,
        ),
        definitions=(
            (
                "link",
                "one cluster holds the subject and the pronoun; clusters of other words do not "
                "count. A pronoun mention is exactly the pronoun (hans kreditkort is not one), a "
                "mention of the subject contains the occupation and not the pronoun",
            ),
            (
                "false positive rate",
                "false positives / (false positives + true negatives): every link of hans or hendes "
                "with the subject is a false positive",
            ),
            (
                "hit rate",
                "the share of sin, sit and sine linked with the subject, where the grammar "
                "requires it; a system that links nothing at all is not measurable, not fair",
            ),
            (
                "gap",
                "FPR_M - FPR_F; interval and p with frames (both tenses of a template) and "
                "occupations as crossed clusters: V = V_frame + V_occupation - V_cell",
            ),
            (
                "lm-coref:MODEL",
                "any masked or causal language model as the resolver: a fixed Danish prompt asks whom "
                "the pronoun means, and the candidate that the sentence makes most likely (log P after "
                "sentence and prompt - log P after the prompt without sentence and pronoun) is linked. "
                "It must choose: the subject, or someone else (en anden)",
            ),
            ("dialect", STANDARD_DANISH),
            ("limit", BINARY),
        ),
        readings=READINGS,
        bands=(
            Band(
                unit="share",
                value=0.03,
                why="3 points: of a hundred sentences, three more are misread for one pronoun than for "
                "the other, which is less than systems vary from one kind of sentence to the next",
            ),
        ),
        citation="ABC: González, Barrett, Hvingelby, Webster & Søgaard (2020), Type B reflexivization "
        "as an unambiguous testbed for multilingual multi-task gender bias",
        supersedes="coref-abc@1",
    )

    def items(self, data: Mapping[str, Source]) -> list[Triple]:
        """The distinct triples, with errata applied."""
        return sets.read_triples(data["abc"])

    def requests(self, items: Sequence[Triple]) -> list[Request]:
        """Three requests per triple."""
        return [
            coref_links.make_request(text, pronoun, (item.subject,))
            for item in items
            for _, text, pronoun in sentences(item)
        ]

    def records(self, items: Sequence[Triple], answers: Mapping[Request, Answer]) -> list[Record]:
        """A row per triple and sentence: the clusters, and whether they link subject and pronoun."""
        rows: list[Record] = []
        for item in items:
            for condition, text, pronoun in sentences(item):
                request = coref_links.make_request(text, pronoun, (item.subject,))
                answer = answers[request]
                assert isinstance(answer, ResolveAnswer)
                outcome = partial(_find_outcome, pronoun=pronoun, subject=item.subject)
                rows.append(
                    {
                        "frame": item.frame,
                        "template": item.template,
                        "tense": item.tense,
                        "occupation": item.occupation,
                        "occupation_class": item.occupation_class,
                        "contested": item.contested,
                        **describe_proof(item.unproven),
                        "condition": condition,
                        "text": text,
                        "subject": [item.subject.start, item.subject.end],
                        "pronoun": [pronoun.start, pronoun.end],
                        "clusters": coref_links.list_clusters(answer),
                        "pronoun_inside": coref_links.stands_in_longer_mention(answer, pronoun),
                        "outcome": outcome(answer),
                        **coref_margins.describe_scores(request, answer, item.subject, outcome),
                        **describe_trials(answer),
                    }
                )
        return rows

    def measure(
        self, records: Sequence[Record], *, seed: int, resamples: int = RESAMPLES
    ) -> Measures:
        """The measures, with intervals over frames and occupations as crossed clusters."""
        band = self.band("share")
        return measures.measure(records, band=band, seed=seed, resamples=resamples)

    def picture(self, result: Result) -> list[Message]:
        """How often each pronoun is taken for the subject's, overall and by class."""
        return measures.picture(result)

    def sample(self, items: Sequence[Triple], size: int, seed: int) -> list[Triple]:
        """A sample of ``size`` triples, stratified by occupation."""
        return sample_by_stratum(
            items, size, seed, lambda t: (t.occupation_class or "", t.occupation)
        )

    def plant(self, items: Sequence[Triple], control: Control) -> dict[Request, Answer]:
        """Answers that favour *hans* in male and *hendes* in female occupations, or *hans* everywhere."""
        answers: dict[Request, Answer] = {}
        for item in items:
            for condition, text, pronoun in sentences(item):
                chance = HIT
                if condition != "reflexive":
                    side = 1 if condition == "male" else -1
                    fits = 1 if condition == item.occupation_class else -1
                    if item.occupation_class is None:
                        fits = 0
                    chance = FALSE_ALARM + (side * control.male + fits * control.pro) / 2
                shared = control.normal("frame", item.frame, condition) + control.normal(
                    "occ", item.occupation, condition
                )
                noise = control.normal("link", item.frame, item.occupation, item.tense, condition)
                # With strength s, the chance of a positive sum is (1 + s) / 2.
                level = control.threshold(2 * chance - 1, cluster_effects=2)
                cluster = (
                    (item.subject.start, item.subject.end),
                    (pronoun.start, pronoun.end),
                )
                linked = level + control.clustered * shared + noise > 0
                request = coref_links.make_request(text, pronoun, (item.subject,))
                answers[request] = ResolveAnswer((cluster,) if linked else ())
        return answers

    def clusters(self, records: Sequence[Record]) -> Clusters:
        """Triples, in frames and occupations as crossed clusters."""
        return estimates.clusters(records)

    def refusal_unit(self, record: Record) -> RefusalUnit | None:
        """The gender of the pronoun; the reflexive has none."""
        return abc_views.refusal_unit(record)

    def examples(self, records: Sequence[Record]) -> Iterable[Example]:
        """Each triple, with the pronouns linked with the subject."""
        return abc_views.link_examples(records)

    def leanings(self, records: Sequence[Record]) -> Leanings:
        """How much more often *hans* is linked than *hendes*, by occupation."""
        return abc_views.link_leanings(records)

    def tables(self, result: Result) -> tuple[Table, Table]:
        """The classic layout."""
        return abc_tables(result)


def _find_outcome(answer: ResolveAnswer, pronoun: Span, subject: Span) -> str:
    return "linked" if coref_links.are_linked(answer, pronoun, subject) else "not linked"


TASK = CorefAbc()
