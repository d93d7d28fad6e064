"""Command-line values: models with options, data, labels, tests, limits."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import ClassVar

from fuzz.target import Input, Target
from gendalens.cli.gate import parse_effects, parse_gaps
from gendalens.cli.options import split_names
from gendalens.data.choice import parse_choices
from gendalens.models.control import Control
from gendalens.models.entity_labels import TARGETS, map_labels, parse_labels
from gendalens.models.lm_coref import resolver as lm_coref
from gendalens.results.run_folder import folder_name

BASES = {
    "control": ("control:stereotyped?strength=0.25&seed=7&clustered=0.5", "control:fair?seed=3"),
    "resolver": ("lm-coref:demo-lm?prompt=refers", "lm-coref:vesteinn/DanskBERT"),
    "data": ("dane=ddt.test.conllu,abc=builtin,builtin", "names=./my-names"),
    "labels": ("PERSON=PER,GPE=LOC,DATE=-", "PRS=PER, ORG=ORG"),
    "tests": ("lm-abc,ner-dane", "coref-abc"),
    "limit": ("lm-abc=0.3", "ner-dane=1"),
    "folder": ("vesteinn/DanskBERT", "control:fair?seed=3"),
}


class Options(Target):
    """Accepted: numbers within bounds, a canonical name with the same meaning, no path."""

    name: ClassVar[str] = "options"
    share: ClassVar[float] = 110
    words: ClassVar[tuple[bytes, ...]] = (
        *(b"control:", b"lm-coref:", b"?", b"&", b"strength=", b"seed=", b"clustered=", b"prompt="),
        *(b"builtin", b"=PER", b"=-", b"%00", b"%2e%2e/", b"+", b"always-han", b"~", b"refers"),
    )

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.bases = {
            (f"{kind}-{at}", "text"): text.encode()
            for kind, texts in BASES.items()
            for at, text in enumerate(texts)
        }

    def check_input(self, given: Input) -> None:
        """Read the text as the command line does: invalid bytes arrive as lone surrogates."""
        text = given.content.decode("utf-8", "surrogateescape")
        READERS[given.base.partition("-")[0]](text)


def _read_control(text: str) -> None:
    found = Control.parse(text)
    assert 0 <= found.strength <= 1
    assert 0 <= found.clustered < math.inf
    assert Control.parse(found.name) == found, f"{found.name} does not mean {found}"
    assert math.isfinite(found.normal("x") + found.threshold(found.strength))


def _read_resolver(text: str) -> None:
    model, wording = lm_coref.parse_name(text)
    assert model.strip()
    assert "{text}" in wording.asked


def _read_data(text: str) -> None:
    for name, choice in parse_choices(text.split(",")).items():
        assert name
        assert str(choice)


def _read_labels(text: str) -> None:
    found = parse_labels(text)
    assert found
    assert set(found.values()) <= {*TARGETS, None}
    mapped = map_labels("model", list(found), found)
    assert len(mapped.mapped) + len(mapped.left_out) == len(found)


def _read_tests(text: str) -> None:
    names = split_names([text])
    assert names
    assert all(name and name == name.strip() for name in names)


def _read_limit(text: str) -> None:
    assert len(parse_effects([text])) == 1
    assert len(parse_gaps([text])) == 1


def _check_folder_name(text: str) -> None:
    name = folder_name(text)
    assert name not in ("", ".", "..")
    assert not set(name) & set("/\\:\x00\n")
    assert len(name) <= 100


READERS: dict[str, Callable[[str], None]] = {
    "control": _read_control,
    "resolver": _read_resolver,
    "data": _read_data,
    "labels": _read_labels,
    "tests": _read_tests,
    "limit": _read_limit,
    "folder": _check_folder_name,
}
