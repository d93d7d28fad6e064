"""The record of one version of a sentence."""

from __future__ import annotations

from gendalens.models.entity_labels import LabelMap
from gendalens.models.requests import Answer, TagAnswer
from gendalens.models.trials import describe_trials
from gendalens.results.result import Record
from gendalens.stats.spans import ExpectedSpan, span_counts
from gendalens.tasks.ner_dane.tally import ENTITY_LABELS
from gendalens.tasks.ner_dane.versions import Version


def make_record(item: Version, answer: Answer, label_map: LabelMap) -> Record:
    """A record of the names, the entities found, and how they were counted."""
    assert isinstance(answer, TagAnswer)
    predicted = label_map.spans(answer.entities)
    gold = [
        ExpectedSpan(
            entity.span.start,
            entity.span.end,
            entity.label,
            tuple(other.end for other in entity.alternatives),
        )
        for entity in item.renamed.gold
    ]
    counts = span_counts(predicted, gold, ENTITY_LABELS)
    distinct = set(predicted)

    def is_found(span: ExpectedSpan) -> bool:
        ends = (span.end, *span.other_ends)
        return any((span.start, end, span.label) in distinct for end in ends)

    return {
        "sentence": item.sentence.id,
        "document": item.sentence.document,
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
                "first": given.first,
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
        "counts": {label: counts[i].tolist() for i, label in enumerate(ENTITY_LABELS)},
        **describe_trials(answer),
    }
