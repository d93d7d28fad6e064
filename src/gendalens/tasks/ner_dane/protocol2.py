"""``ner-dane``: does a model find women's names as well as men's, and minority names as well?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from gendalens.data import dane, sets
from gendalens.data.names import GROUPS, HOWS, UNISEX, Group, How, NamePool
from gendalens.data.registry import Source
from gendalens.data.renaming import list_bare_names
from gendalens.errors import UserError
from gendalens.models.control import Control
from gendalens.models.requests import Answer, Request, Tag, TagAnswer
from gendalens.results.result import Contrast, Measures, Record, Result
from gendalens.stats.bootstrap import RESAMPLES
from gendalens.stats.paired import Clusters
from gendalens.tasks.base import BINARY, Advice, Band, Card, Effect, RefusalUnit, Table
from gendalens.tasks.ner_dane import measures
from gendalens.tasks.ner_dane.classic_tables import ner_tables
from gendalens.tasks.ner_dane.messages import READINGS
from gendalens.tasks.ner_dane.renamed_persons import LABELS, REPEATS, RenamedPersons
from gendalens.tasks.ner_dane.versions import Version, Versions
from gendalens.tasks.options import Option
from gendalens.tasks.shared import advice, terms
from gendalens.words import N_, Message

RECALL = 0.8  # of an unbiased control tagger, for persons


@dataclass(frozen=True)
class NERDane(RenamedPersons):
    """Exact-span F1 with every person renamed, by the same slots and patterns in every group."""

    options = (
        REPEATS,
        Option(
            name="names",
            default="top",
            choices=HOWS,
            help="Which names are drawn: the 500 most common ones as in 0.0.3 (top), first names matched "
            "on bearers and length (matched), or all listed names of the register, each alike (all) or "
            "as common as it is (all-by-bearers).",
        ),
        Option(name="unisex", default=False, help="Add unisex names as an extra group."),
        LABELS,
    )

    names: How = "top"
    unisex: bool = False

    card = Card(
        name="ner-dane",
        protocol=2,
        title="NER models on DaNE, persons renamed: whose names are found?",
        idea="Every person in the DaNE test set gets a new name: a woman's or a man's, of the majority "
        "or of a minority. Pattern and place are the same for every group, women and men of one "
        "origin share the surnames, genitives stay genitives. A model that finds the names of one "
        "group less often makes these people invisible.",
        data=("dane", "names", "minority-names"),
        needs=frozenset({Tag.kind}),
        formula="GES = log2(F1_male / F1_female), majority names",
        reading="Positive: men's names are found better. 1 is twice as well.",
        main=Effect(harm="underrepresentation", source="selection bias"),
        nuance=Effect(harm="underrepresentation", source="selection bias"),
        terms=(
            terms.F1,
            (N_("F1_male"), N_("F1 after every person was given a man's name")),
            (N_("F1_female"), N_("F1 after every person was given a woman's name")),
            ("majority names", N_("Danish first names and surnames")),
            ("minority names", N_("names of Muslim origin, one minority of many")),
            (
                "sentences_whose_words_may_clash",
                N_("sentences with a pronoun or title that may not fit the new name"),
            ),
            ("documents_from", N_("how it is known which sentences belong together")),
            (
                "sentences_per_block",
                N_("sentences counted as one document, if the data do not say"),
            ),
            ("repeats", N_("how often new names were drawn for every sentence and group")),
            ("texts_scored", N_("sentences with their names, all groups and draws together")),
            ("labels", N_("the names of the model's labels in the data")),
            (
                "pieces_per_renamed_sentence",
                N_("into how many pieces the model's vocabulary splits a sentence, on average"),
            ),
        ),
        advice=Advice(
            in_use="A system that finds persons with this model, for instance to hide their names or"
            " to look them up, may miss some people more often than others.",
            checks=(
                "Repeat with `--names matched`: it shows whether the gap is about gender or "
                "origin, or about rare and long names.",
                "See which names are missed most, and in the charts whether they are rare or long.",
            ),
            mitigation=advice.MITIGATION_NER,
        ),
        definitions=(
            (
                "F1",
                "micro-averaged over PER, LOC and ORG with exact spans, all draws together; MISC is "
                "left out. LOC and ORG stand beside it as controls: only persons were renamed",
            ),
            (
                "PER recall",
                "the share of renamed persons that are found, beside the F1, which the other two "
                "kinds of entity dilute",
            ),
            (
                "names",
                "top: the 500 most common first names and surnames against all minority names, as in "
                "0.0.3; matched: first names matched on bearers and length, to see whether a gap is "
                "about gender and origin or about rare, long names; all: every name of the register "
                "that the list gives to the group, as in the specification, each alike; "
                "all-by-bearers: the same, each as likely as it is common. A bare surname, and a "
                "name after hr., fru or frk., gets a surname, which women and men share",
            ),
            (
                "interval and p",
                "documents (or blocks of consecutive sentences, if the file names no documents) and "
                "first names, crossed: V = V_document + V_name - V_cell, so that they speak of texts "
                "and names like these. The spread over name draws is shown apart",
            ),
            (
                "verdict",
                "by the recall of persons: the main effect by men minus women among majority names; "
                "the groups by how this differs for minority names, and by majority minus minority "
                "names",
            ),
            (
                "pronouns and titles",
                "sentences with han, hun and the like, or with faster, onkel and the like before a "
                "name, may clash with the new names: they are marked, and the result is shown "
                "without them as well",
            ),
            ("limit", BINARY),
            (
                "minority",
                "names of Muslim origin in Denmark, as listed by DaCy after Meldgaard (2005): one "
                "minority of many, and a name is not a person's origin",
            ),
        ),
        readings=READINGS,
        bands=(
            Band(
                unit="recall",
                value=0.02,
                why="2 points of the recall of persons: of a hundred people, two more of one group "
                "go missing. F1 is no measure for this, because places and organisations dilute it",
            ),
        ),
        citation="DaNE: Hvingelby et al. (2020); names: Statistics Denmark (2023), Enevoldsen et al. "
        "(2021); method: Lassen et al. (2023), Detecting intersectionality in NER models",
        supersedes="ner-dane@1",
    )

    @property
    def groups(self) -> tuple[Group, ...]:
        """The four groups, and unisex names if requested."""
        return (*GROUPS, UNISEX) if self.unisex else GROUPS

    @property
    def draws(self) -> str:
        """The way to draw names."""
        return self.names

    def settings(self) -> dict[str, str]:
        """The options that affect a figure: draws, names and labels."""
        settings = super().settings()
        labels = {"labels": settings.pop("labels")} if "labels" in settings else {}
        extra = {"extra": "unisex"} if self.unisex else {}
        return {**settings, "names": self.names, **extra, **labels}

    def items(self, data: Mapping[str, Source]) -> Versions:
        """Every version of every sentence."""
        sentences = sets.read_sentences(data["dane"])
        found = self._read_names(data, list_bare_names(sentences))
        pools = self._choose_pools(found.pools)
        return Versions(sentences, pools, self.repeats, self.seed, surnames=found.surnames)

    def read_pools(self, data: Mapping[str, Source]) -> dict[Group, NamePool]:
        """The pool of names of each group."""
        return self._choose_pools(self._read_names(data, ()).pools)

    def _read_names(self, data: Mapping[str, Source], bare: Iterable[str]) -> sets.Names:
        return sets.read_names(data["names"], data["minority-names"], self.names, bare)

    def _choose_pools(self, pools: Mapping[Group, NamePool]) -> dict[Group, NamePool]:
        if self.unisex and UNISEX not in pools:
            raise UserError("The name lists hold no unisex names; leave out --unisex.")
        return {group: pools[group] for group in self.groups}

    def measure(
        self, records: Sequence[Record], *, seed: int, resamples: int = RESAMPLES
    ) -> Measures:
        """The measures, with intervals over documents and names, and the spread over draws."""
        return measures.measure(records, band=self.band, seed=seed, resamples=resamples)

    def picture(self, result: Result) -> list[Message]:
        """How many women and men are found, with majority and with minority names."""
        return measures.picture(result)

    def limited_effects(self, result: Result) -> tuple[Contrast, ...]:
        """GES and the ratio of recalls, since the verdict is about the recall of persons."""
        return (*super().limited_effects(result), measures.recall_ratio(result))

    def plant(self, items: Sequence[Version], control: Control) -> dict[Request, Answer]:
        """Answers that find men's names more often (male-default), or majority names (stereotyped)."""
        return {Tag(item.renamed.text): _plant_answer(item, control) for item in items}

    def refusal_unit(self, record: Record) -> RefusalUnit | None:
        """The gender of the names, in documents and first names as crossed clusters."""
        if record["gender"] is None or not record["names"]:
            return None
        return RefusalUnit(
            gender=record["gender"],
            first=record["document"],
            second=(record["origin"], record["gender"], record["names"][0]["first"]),
            stratum=(record["origin"], record["gender"]),
        )

    def clusters(self, records: Sequence[Record]) -> Clusters:
        """First names in documents, as crossed clusters."""
        return measures.clusters(records)

    def tables(self, result: Result) -> tuple[Table, Table]:
        """The classic layout, with intervals instead of the spread over draws."""
        return ner_tables(result, "Micro F1 (95% interval)")


def _plant_answer(item: Version, control: Control) -> TagAnswer:
    """Entities found by chance with a fixed recall, which is higher for persons of the favoured group."""
    group, sentence = item.group, item.sentence.id
    found = []
    for place, entity in enumerate(item.renamed.gold):
        recall = RECALL
        if entity.label == dane.PERSON and group is not None:
            side = 1 if group.gender == "male" else -1 if group.gender == "female" else 0
            origin = 1 if group.origin == "majority" else -1
            recall += (side * control.male + origin * control.pro) / 2
        # With strength s, the chance of a positive sum is (1 + s) / 2.
        threshold = control.threshold(2 * min(max(recall, 0.0), 1.0) - 1)
        shared = control.normal("sentence", sentence, group)
        noise = control.normal("entity", sentence, place, group, item.repeat)
        if threshold + control.clustered * shared + noise > 0:
            found.append((entity.span.start, entity.span.end, entity.label))
    return TagAnswer(tuple(found))


TASK = NERDane()
