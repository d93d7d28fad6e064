"""The numbers of other software on the shared models (see golden/README.md)."""

from __future__ import annotations

import csv
import math
from pathlib import Path
from typing import Any

import pytest
import torch

from gendalens.models.base import Reconstruct, Score, TopToken
from gendalens.models.detect import load_model

torch.set_num_threads(1)  # the models are tiny

GOLDEN = Path(__file__).resolve().parents[3] / "shared" / "golden"

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


@pytest.mark.parametrize("occupations", ["female", "male"])
def test_unmasked_perplexities_equal_those_of_genda_lens_0_0_3(occupations: str) -> None:
    """All 2,280 triples a file; measured difference 2e-6."""
    expected = rows(f"lm-abc.bert-tiny/raw_{occupations}_occ.csv")
    assert len(expected) == 2280
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
