"""Exact-span counts equal seqeval's and nervaluate's, and one gold entity is found once."""

from __future__ import annotations

import random
import warnings

import numpy as np
import pytest
from span_scores import micro_scores

from gendalens.models.huggingface.label_schemes import join_entities, read_labels
from gendalens.stats.spans import CountArray, ExpectedSpan, span_counts

LABELS = ("PER", "LOC", "ORG")
TAGS = ["O", *(f"{mark}-{kind}" for kind in LABELS for mark in "BI")]
MARKS = dict(zip(TAGS, read_labels(TAGS), strict=True))


def spans(tags: list[str]) -> list[tuple[int, int, str]]:
    """Entities of tags, counted in words."""
    return join_entities([MARKS[tag] for tag in tags], [(at, at + 1) for at in range(len(tags))])


def random_tags(generator: random.Random, length: int, valid: bool) -> list[str]:
    tags: list[str] = []
    for _ in range(length):
        before = tags[-1] if tags else "O"
        choices = ["O", "O", *(f"B-{kind}" for kind in LABELS)]
        if not valid:
            choices += [f"I-{kind}" for kind in LABELS]
        elif before != "O":
            choices += [f"I-{before[2:]}"] * 2
        tags.append(generator.choice(choices))
    return tags


@pytest.fixture(scope="module")
def sequences() -> list[tuple[list[str], list[str]]]:
    """1,000 pairs of gold tags (valid IOB2) and predictions, half of which share the gold's tags."""
    generator = random.Random(3)
    pairs = []
    for _ in range(1000):
        length = generator.randint(1, 25)
        gold = random_tags(generator, length, valid=True)
        noise = random_tags(generator, length, valid=False)
        share = generator.random()
        predicted = [
            one if generator.random() < share else other
            for one, other in zip(gold, noise, strict=True)
        ]
        pairs.append((gold, predicted))
    return pairs


def total(sequences: list[tuple[list[str], list[str]]]) -> CountArray:
    counts = [
        span_counts(spans(predicted), [ExpectedSpan(*span) for span in spans(gold)], LABELS)
        for gold, predicted in sequences
    ]
    summed: CountArray = np.stack(counts).sum(axis=0)
    return summed


def test_scores_equal_seqevals_default_mode(sequences: list[tuple[list[str], list[str]]]) -> None:
    from seqeval.metrics import classification_report

    gold, predicted = map(list, zip(*sequences, strict=True))
    report = classification_report(gold, predicted, output_dict=True)
    counts = total(sequences)
    scores = micro_scores(counts)
    assert float(scores.precision) == pytest.approx(report["micro avg"]["precision"])
    assert float(scores.recall) == pytest.approx(report["micro avg"]["recall"])
    assert float(scores.f1) == pytest.approx(report["micro avg"]["f1-score"])
    assert 0.2 < float(scores.f1) < 0.9
    for row, label in enumerate(LABELS):
        one = micro_scores(counts[[row]])
        assert float(one.f1) == pytest.approx(report[label]["f1-score"])
        assert counts[row, 0] + counts[row, 2] == report[label]["support"]


def test_counts_equal_nervaluates_strict_mode(
    sequences: list[tuple[list[str], list[str]]],
) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from nervaluate import Evaluator

        gold, predicted = map(list, zip(*sequences, strict=True))
        results = Evaluator(gold, predicted, tags=list(LABELS), loader="list").evaluate()
    strict = results["overall"]["strict"]
    tp, fp, fn = total(sequences).sum(axis=0)
    assert (strict.correct, strict.actual, strict.possible) == (tp, tp + fp, tp + fn)
    scores = micro_scores(total(sequences))
    assert float(scores.f1) == pytest.approx(strict.f1)


def test_a_hand_worked_sentence() -> None:
    """Right person, person with the wrong end, place called an organisation, a missed place."""
    gold = [
        ExpectedSpan(0, 3, "PER"),
        ExpectedSpan(4, 9, "PER"),
        ExpectedSpan(10, 12, "LOC"),
        ExpectedSpan(20, 25, "LOC"),
    ]
    predicted = [(0, 3, "PER"), (4, 8, "PER"), (10, 12, "ORG"), (13, 15, "MISC")]
    counts = span_counts(predicted, gold, LABELS)
    assert counts.tolist() == [[1, 1, 1], [0, 0, 2], [0, 1, 0]]
    scores = micro_scores(counts)
    assert (float(scores.precision), float(scores.recall)) == pytest.approx((1 / 3, 1 / 4))
    assert float(scores.f1) == pytest.approx(2 / 7)


def test_an_alternative_end_is_right_too_and_counts_once() -> None:
    gold = [ExpectedSpan(0, 4, "PER", other_ends=(5,))]
    assert span_counts([(0, 4, "PER")], gold, LABELS)[0].tolist() == [1, 0, 0]
    assert span_counts([(0, 5, "PER")], gold, LABELS)[0].tolist() == [1, 0, 0]
    assert span_counts([(0, 4, "PER"), (0, 5, "PER")], gold, LABELS)[0].tolist() == [1, 1, 0]
    assert span_counts([(0, 6, "PER")], gold, LABELS)[0].tolist() == [0, 1, 1]


def test_labels_that_are_not_asked_for_do_not_count() -> None:
    gold = [ExpectedSpan(0, 1, "MISC"), ExpectedSpan(2, 3, "PER")]
    assert span_counts([(0, 1, "MISC"), (4, 5, "MISC")], gold, ("PER",)).tolist() == [[0, 0, 1]]
