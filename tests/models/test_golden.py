"""The numbers of other software on the shared models (see golden/README.md)."""

from __future__ import annotations

import csv
import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from span_scores import SpanScores, micro_scores

from gendalens.models.detect import load_model
from gendalens.models.requests import Reconstruct, Score, Tag, TopToken
from gendalens.models.word_spans import split_words
from gendalens.stats.spans import ExpectedSpan, span_counts

torch.set_num_threads(1)  # the models are tiny

GOLDEN = Path(__file__).resolve().parents[3] / "shared" / "golden"
DANE = GOLDEN.parent / "data" / "dane" / "ddt.test.conllu"
LABELS = ("PER", "LOC", "ORG")

pytestmark = [
    pytest.mark.shared,
    pytest.mark.skipif(not GOLDEN.is_dir(), reason=f"no golden outputs in {GOLDEN}"),
]


def rows(name: str) -> list[dict[str, str]]:
    with (GOLDEN / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def answers(model: str, requests: list[Any], batch: int = 64) -> list[Any]:
    backend = load_model(str(GOLDEN / "models" / model))
    encoded = backend.encode(requests)
    return [
        answer
        for begin in range(0, len(encoded), batch)
        for answer in backend.answer(encoded[begin : begin + batch])
    ]


@pytest.mark.parametrize("model", ["bert-tiny", "bert-splits"])
def test_pseudo_log_likelihoods_equal_those_of_minicons(model: str) -> None:
    """minicons 0.3.39, `within_word_l2r`, 300 sentences; measured difference 2e-7."""
    expected = rows(f"pll.{model}.csv")
    assert len(expected) == 300
    found = answers(model, [Score(row["sentence"]) for row in expected], batch=16)
    for row, answer in zip(expected, found, strict=True):
        assert answer.log_likelihood == pytest.approx(float(row["log_likelihood"]), rel=1e-4)
        assert answer.tokens == int(row["tokens"])


@pytest.mark.parametrize("every", [10, pytest.param(1, marks=pytest.mark.slow)])
@pytest.mark.parametrize("occupations", ["female", "male"])
def test_unmasked_perplexities_equal_those_of_genda_lens_0_0_3(
    occupations: str, every: int
) -> None:
    """2,280 triples a file, or every tenth of them; measured difference 2e-6."""
    expected = rows(f"lm-abc.bert-tiny/raw_{occupations}_occ.csv")
    assert len(expected) == 2280
    expected = expected[::every]
    columns = {"male": "hans", "female": "hendes", "reflexive": None}
    for column, replacement in columns.items():
        found = answers(
            "bert-tiny",
            [Reconstruct(row["sent"], ("sin", "sit", "sine"), replacement) for row in expected],
        )
        for row, answer in zip(expected, found, strict=True):
            assert math.exp(answer.loss) == pytest.approx(
                float(row[f"perplexity_{column}"]), rel=1e-3
            )


@pytest.mark.parametrize("condition", ["pro", "anti"])
def test_first_tokens_equal_those_of_genda_lens_0_0_3(condition: str) -> None:
    """Lines of plain words, commas and full stops; the task's own tests ask all of them."""
    expected, requests = [], []
    for row in rows(f"lm-dawinobias.bert-tiny/raw_{condition}.csv"):
        left, _, right = row["line"].rpartition(f"[{row['label']}]")
        words = [
            side.replace("[", "").replace("]", "").replace(",", " ,").replace(".", " .").lower()
            for side in (left, right)
        ]
        pronouns = {"han", "hun", "hans", "hendes", "ham", "hende"}
        plain = "".join(words).replace(" ", "").replace(",", "").replace(".", "").isalpha()
        if plain and not pronouns & set(" ".join(words).split()):
            expected.append(row["pred"])
            requests.append(TopToken(words[0], words[1]))
    assert len(requests) > 500
    assert [answer.token for answer in answers("bert-tiny", requests)] == expected


def dane() -> list[tuple[str, list[ExpectedSpan]]]:
    """The DaNE test set as texts and their entities; the product's own reader is tested elsewhere."""
    found: list[tuple[str, list[ExpectedSpan]]] = []
    end = 0
    for line in DANE.read_text(encoding="utf-8").splitlines():
        if line.startswith("# text = "):
            found.append((line.removeprefix("# text = "), []))
            end = 0
        elif line[:1].isdigit():
            text, spans = found[-1]
            word = line.split("\t")[1]
            begin = text.index(word, end)
            end = begin + len(word)
            if tag := re.search(r"name=([BI])-(\w+)", line):
                first = begin if tag[1] == "B" else spans.pop().start
                spans.append(ExpectedSpan(first, end, tag[2]))
    return found


def ner_scores(*, averaged: bool) -> tuple[SpanScores, SpanScores]:
    """The scores of ner-tiny over persons, places and organisations, and over persons alone."""
    sentences = dane()
    assert len(sentences) == 565
    found = answers("ner-tiny", [Tag(text, averaged) for text, _ in sentences])
    counts = np.stack(
        [
            span_counts(answer.entities, gold, LABELS)
            for (_, gold), answer in zip(sentences, found, strict=True)
        ]
    ).sum(axis=0)
    return micro_scores(counts), micro_scores(counts[:1])


def test_entities_score_as_those_of_genda_lens_0_0_3() -> None:
    """P .6024 R .4645 F1 .5245, persons .5754 .5722 .5738; 0.0.3 cut words by spaCy's Danish rules."""
    for scores, expected in zip(
        ner_scores(averaged=True), [(0.6024, 0.4645, 0.5245), (0.5754, 0.5722, 0.5738)], strict=True
    ):
        assert (scores.precision, scores.recall, scores.f1) == pytest.approx(expected, abs=0.01)


def test_entities_by_first_pieces_score_as_a_plain_loop_found() -> None:
    """Measured once by a loop over DaNE's own tokens; ner-tiny was trained on all pieces."""
    every, persons = ner_scores(averaged=False)
    assert (every.precision, every.recall, every.f1) == pytest.approx(
        (0.4508, 0.524, 0.4847), abs=1e-3
    )
    assert float(persons.f1) == pytest.approx(0.4709, abs=1e-3)


def test_words_begin_and_end_where_danes_entities_do() -> None:
    """All but one, *Vilh.*, an abbreviation that nothing tells from the end of a sentence."""
    missed = []
    for text, gold in dane():
        begins, ends = map(set, zip(*split_words(text), strict=True))
        missed += [
            text[s.start : s.end] for s in gold if s.start not in begins or s.end not in ends
        ]
    assert len(missed) <= 1
