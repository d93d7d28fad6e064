"""``ner-dane``: does a model find women's names as well as men's, and minority names as well?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, Self

from gendalens.data import dane, names, sets
from gendalens.data.names import GROUPS, UNISEX, Group, How, NamePool
from gendalens.data.registry import Source
from gendalens.errors import UserError
from gendalens.models.base import Answer, Request, Tag, TagAnswer
from gendalens.models.control import Control
from gendalens.models.entity_labels import TARGETS, LabelMap, map_labels, parse_labels
from gendalens.results.result import Measures, Result
from gendalens.stats.paired import Clusters
from gendalens.stats.spans import GoldSpan, span_counts
from gendalens.tasks.base import BINARY, Card, Effect, Record, Table, Task, stratified
from gendalens.tasks.ner_dane import measures, views
from gendalens.tasks.ner_dane.classic_tables import ner_tables
from gendalens.tasks.ner_dane.tally import LABELS
from gendalens.tasks.ner_dane.versions import Version, Versions, has_person
from gendalens.tasks.shared.views import Example, NameTally

OWN_LABELS = LabelMap(tuple((target, target) for target in TARGETS))
RECALL = 0.8  # of persons, by a control tagger without bias
PORTION = 4096  # versions: enough for batches of like length


@dataclass(frozen=True)
class NERDane(Task[Version]):
    """Exact-span F1 with every person renamed, the same slots and patterns in every group."""

    repeats: int = 20
    names: How = "top"
    unisex: bool = False
    labels: str = ""
    seed: int = 0
    label_map: LabelMap = OWN_LABELS

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
                "top: the 500 most common first names and surnames against all minority names (the "
                "specification's); matched: first names matched on bearers and length, to see "
                "whether a gap is about gender and origin or about rare, long names",
            ),
            (
                "interval and p",
                "bootstrap over sentences, all draws of a sentence together; p by exchanging women "
                "and men sentence by sentence. The spread over name draws is shown apart",
            ),
            (
                "pronouns",
                "sentences with han, hun and the like may clash with the new names: they are marked, "
                "and the result is shown without them as well",
            ),
            ("limit", BINARY),
            (
                "minority",
                "names of Muslim origin in Denmark, as listed by DaCy after Meldgaard (2005): one "
                "minority of many, and a name is not a person's origin",
            ),
        ),
        citation="DaNE: Hvingelby et al. (2020); names: Statistics Denmark (2023), Enevoldsen et al. "
        "(2021); method: Lassen et al. (2023), Detecting intersectionality in NER models",
        supersedes="ner-dane@1",
    )

    def configured(self, options: Mapping[str, Any]) -> Self:
        """The test with --repeats, --names, --unisex and --labels."""
        known = ("repeats", "names", "unisex", "labels", "seed")
        chosen = {name: options[name] for name in known if options.get(name) is not None}
        if chosen.get("names", "top") not in names.HOWS:
            raise UserError(f"--names {chosen['names']}: choose {' or '.join(names.HOWS)}.")
        if not isinstance(chosen.get("repeats", 1), int) or chosen.get("repeats", 1) < 1:
            raise UserError(f"--repeats {chosen['repeats']}: give a whole number, 1 or more.")
        if isinstance(chosen.get("labels"), Mapping):
            chosen["labels"] = ",".join(f"{own}={to}" for own, to in chosen["labels"].items())
        if chosen.get("labels"):
            parse_labels(chosen["labels"])  # a mistake is told before anything is loaded
        return replace(self, **chosen)

    def fitted(self, model: object) -> Self:
        """The test with the map from this model's labels to DaNE's."""
        own = getattr(model, "labels", None)
        if own is None:
            return self
        overrides = parse_labels(self.labels) if self.labels else None
        name = str(getattr(getattr(model, "info", None), "name", "the model"))
        return replace(self, label_map=map_labels(name, own, overrides))

    def settings(self) -> dict[str, str]:
        """Draws, names and labels."""
        found = {"repeats": str(self.repeats), "names": self.names}
        if self.unisex:
            found["extra"] = "unisex"
        if self.labels:
            found["labels"] = self.labels.replace("|", "_")
        return found

    def notes(self, data: Mapping[str, Source]) -> list[str]:
        """The label map, and how many names each group has to draw from."""
        pools = self._pools(data)
        sizes = "; ".join(
            f"{group} {len(pool.first):,} first, {len(pool.last):,} last"
            for group, pool in pools.items()
        )
        return [f"labels: {self.label_map}", f"names ({self.names}): {sizes}"]

    def items(self, data: Mapping[str, Source]) -> Versions:
        """Every version of every sentence."""
        return Versions(sets.sentences(data["dane"]), self._pools(data), self.repeats, self.seed)

    def _pools(self, data: Mapping[str, Source]) -> dict[Group, NamePool]:
        pools = sets.name_pools(data["names"], data["minority-names"], self.names)
        groups = (*GROUPS, UNISEX) if self.unisex else GROUPS
        if self.unisex and UNISEX not in pools:
            raise UserError("The name lists hold no unisex names; leave out --unisex.")
        return {group: pools[group] for group in groups}

    def requests(self, items: Sequence[Version]) -> list[Request]:
        """One per sentence, group and draw; a sentence without a person is the same in all."""
        times = self.repeats * (len(GROUPS) + self.unisex)
        return [
            request
            for item in items
            for request in [Tag(item.renamed.text)] * (times if item.group is None else 1)
        ]

    def portions(self, items: Sequence[Version]) -> Iterator[Sequence[Version]]:
        """So many versions at a time: what memory holds does not grow with the draws."""
        versions = iter(items)
        while portion := list(islice(versions, PORTION)):
            yield portion

    def records(self, items: Sequence[Version], answers: Mapping[Request, Answer]) -> list[Record]:
        """A row per version: the names, what was found, how it counted."""
        return [record(item, answers[Tag(item.renamed.text)], self.label_map) for item in items]

    def measure(self, records: Sequence[Record], *, seed: int, resamples: int = 2000) -> Measures:
        """Intervals over sentences, the spread over draws beside them."""
        return measures.measure(records, seed=seed, resamples=resamples)

    def sample(self, items: Sequence[Version], size: int, seed: int) -> Sequence[Version]:
        """All versions of ``size`` sentences, with and without persons by their share."""
        assert isinstance(items, Versions)
        kinds = {sentence.id: has_person(sentence) for sentence in items.sentences}
        return items.only(set(stratified(list(kinds), size, seed, lambda name: kinds[name])))

    def plant(self, items: Sequence[Version], control: Control) -> dict[Request, Answer]:
        """Finds men's names more often (male-default), or majority names (stereotyped)."""
        return {Tag(item.renamed.text): _planted(item, control) for item in items}

    def paired(self, records: Sequence[Record]) -> Clusters:
        """Sentences, all draws together."""
        return measures.clusters(records)

    def examples(self, records: Sequence[Record]) -> Iterable[Example]:
        """Each renamed sentence, its names found or missed."""
        return views.examples(records)

    def names_found(self, records: Sequence[Record]) -> Sequence[NameTally]:
        """Every first name of every group."""
        return views.tallies(records)

    def tables(self, result: Result) -> tuple[Table, Table]:
        """The classic layout, with intervals where 0.0.3 has a spread over draws."""
        return ner_tables(result, "Micro F1 (95% interval)")


def record(item: Version, answer: Answer, label_map: LabelMap) -> Record:
    """What became of one version of a sentence."""
    assert isinstance(answer, TagAnswer)
    predicted = label_map.spans(answer.entities)
    gold = [
        GoldSpan(
            entity.span.start,
            entity.span.end,
            entity.label,
            tuple(other.end for other in entity.alternatives),
        )
        for entity in item.renamed.gold
    ]
    counts = span_counts(predicted, gold, LABELS)
    found = set(predicted)

    def is_found(span: GoldSpan) -> bool:
        ends = (span.end, *span.other_ends)
        return any((span.start, end, span.label) in found for end in ends)

    return {
        "sentence": item.sentence.id,
        "repeat": item.repeat,
        "origin": item.group.origin if item.group else None,
        "gender": item.group.gender if item.group else None,
        "gendered_pronoun": item.clashes,
        "text": item.renamed.text,
        "gold": [[span.start, span.end, span.label] for span in gold],
        "predicted": [list(span) for span in predicted],
        "names": [
            {
                "name": " ".join(given.parts),
                "ending": given.ending,
                "bearers": given.bearers,
                "found": is_found(gold[given.entity]),
            }
            for given in item.renamed.names
        ],
        "labels": dict(label_map.mapped),
        "unmapped_labels": sorted(
            {own for _, _, own in answer.entities if own in label_map.unknown}
        ),
        "tokens": answer.tokens,
        "counts": {label: counts[i].tolist() for i, label in enumerate(LABELS)},
    }


def _planted(item: Version, control: Control) -> TagAnswer:
    """Every entity found with the recall of its group; persons of the favoured one more often."""
    group, sentence = item.group, item.sentence.id
    found = []
    for place, entity in enumerate(item.renamed.gold):
        recall = RECALL
        if entity.label == dane.PERSON and group is not None:
            side = 1 if group.gender == "male" else -1 if group.gender == "female" else 0
            origin = 1 if group.origin == "majority" else -1
            recall += (side * control.male + origin * control.pro) / 2
        # The threshold takes a strength: (1 + strength) / 2 is the chance of a positive sum.
        threshold = control.threshold(2 * min(max(recall, 0.0), 1.0) - 1)
        shared = control.normal("sentence", sentence, group)
        noise = control.normal("entity", sentence, place, group, item.repeat)
        if threshold + control.clustered * shared + noise > 0:
            found.append((entity.span.start, entity.span.end, entity.label))
    return TagAnswer(tuple(found))


TASK = NERDane()
