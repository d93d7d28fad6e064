"""Build the demo models: ``python -m training.build`` writes them into the package.

``--planted none`` builds their counterparts without a bias, ``--out`` writes the models elsewhere.
"""

from __future__ import annotations

import argparse
import csv
import time
from collections import defaultdict
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import torch

from gendalens.data.builtin import abc, schemas
from gendalens.data.builtin.catalogue import FOLDER
from gendalens.models.demo import FOLDER as PACKAGE
from training import card, corpus, entities, lm, ner
from training.grammar import Gender, Occupation
from training.tokens import word_tokenizer

LINES = 160_000
SENTENCES = 64_000
NAMES = 500  # the most common ones of the majority, as the test draws them


def main() -> None:
    """Parse the command line and build the models."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("models", nargs="*", default=["demo-lm", "demo-ner"])
    parser.add_argument("--planted", choices=("bias", "none"), default="bias")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=PACKAGE)
    chosen = parser.parse_args()
    makers: dict[str, Callable[..., tuple[Any, Any]]] = {"demo-lm": make_lm, "demo-ner": make_ner}
    # One thread keeps the order of summation, so that the weights are reproducible on the same kind of
    # machine.
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    for name in chosen.models:
        begun = time.perf_counter()
        model, tokenizer = makers[name](planted=chosen.planted == "bias", seed=chosen.seed)
        save(model, tokenizer, chosen.out / name)
        (chosen.out / name / "README.md").write_text(card.CARDS[name], encoding="utf-8")
        print(f"{name}: {time.perf_counter() - begun:.0f} s, in {chosen.out / name}")


def make_lm(*, planted: bool, seed: int) -> tuple[Any, Any]:
    """The masked language model and its tokenizer."""
    lines = corpus.build_corpus(occupations(), size=LINES, planted=planted, seed=seed)
    refuse_leaks(line.text for line in lines)
    # The vocabulary includes the words of its tests (whose sentences are not in the text), so that a
    # word the model never saw is one unfamiliar token, not a row of letters.
    tokenizer = word_tokenizer(
        [*(line.text for line in lines), *sentences_of_lm_tests()], lowercase=True
    )
    return lm.train(lines, tokenizer, seed=seed, twins=not planted), tokenizer


def make_ner(*, planted: bool, seed: int) -> tuple[Any, Any]:
    """The token classifier and its tokenizer."""
    sentences = entities.build_corpus(names(), size=SENTENCES, planted=planted, seed=seed)
    refuse_leaks(sentence.text for sentence in sentences)
    tokenizer = word_tokenizer((sentence.text for sentence in sentences), lowercase=False)
    return ner.train(sentences, tokenizer, seed=seed), tokenizer


def save(model: Any, tokenizer: Any, folder: Path) -> None:
    """Save the model's folder: half precision on disk, loaded as float32 by GenDa Lens."""
    model.half().save_pretrained(folder)
    tokenizer.save_pretrained(folder)


def occupations() -> list[Occupation]:
    """The occupations of the built-in sets."""
    return [
        Occupation(row["definite"], _parse_gender(row["class"]))
        for row in _read_table("occupations.csv")
    ]


def names() -> entities.Names:
    """The names of the built-in lists that the test draws from."""
    first: dict[tuple[str, Gender], list[str]] = defaultdict(list)
    last: dict[str, list[str]] = defaultdict(list)
    for row in sorted(
        _read_table("names.csv"), key=lambda row: (-int(row["bearers"] or 0), row["name"])
    ):
        if row["part"] == "last":
            last[row["origin"]].append(row["name"])
        elif row["gender"] != "unisex":
            first[row["origin"], _parse_gender(row["gender"])].append(row["name"])
    return entities.Names(
        {group: found[:NAMES] for group, found in first.items()},
        {origin: found[:NAMES] for origin, found in last.items()},
    )


def sentences_of_tests() -> list[str]:
    """Every sentence of the built-in test sets."""
    marked = (FOLDER / "ner.conllu").read_text(encoding="utf-8").splitlines()
    texts = [line.removeprefix("# text = ") for line in marked if line.startswith("# text = ")]
    return texts + sentences_of_lm_tests()


def sentences_of_lm_tests() -> list[str]:
    """The sentences of the schemas and the triples."""
    texts = [line.text for line in schemas.read()]
    for triple in abc.read():
        texts += [triple.reflexive, triple.male, triple.female]
    return texts


def refuse_leaks(text: Iterable[str], tests: Iterable[str] | None = None) -> None:
    """Exit with an error if a sentence of a test set is in the training text."""
    found = corpus.find_leaks(text, sentences_of_tests() if tests is None else tests)
    if found:
        raise SystemExit(f"{len(found)} test sentences in the training text, such as: {found[0]}")


def _read_table(name: str) -> list[dict[str, str]]:
    with (FOLDER / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def _parse_gender(text: str) -> Gender:
    return "female" if text == "female" else "male"


if __name__ == "__main__":
    main()
