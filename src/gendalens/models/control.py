"""Control models: no neural network, a bias that we planted, and so the truth to measure against."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import Any, ClassVar
from urllib.parse import parse_qsl

from gendalens.errors import UserError
from gendalens.models.base import ANSWER_TYPES, Answer, Backend, Encoded, LoadOptions
from gendalens.results.model_info import ModelInfo
from gendalens.words import Template

CONTROL = Template("control", "control model")
KINDS = ("fair", "stereotyped", "male-default", "always-han")


@dataclass(frozen=True)
class Control(Backend):
    """A planted, seeded bias.

    It answers every kind of request, but only a test knows who is meant, so the test plants the answers.

    *fair* has no leaning: every choice is a coin toss. *stereotyped* leans to the stereotype, and its
    strength is the expected gap in accuracy; *male-default* leans as strongly to the male form, whoever
    is meant. *always-han* always takes the male form.

    ``strength`` runs from 0 to 1: in a forced choice the favoured answer comes with probability
    (1 + strength) / 2, in a preference its mean is ``strength`` bits. ``clustered`` is the size of
    the effects that items of one schema, frame or occupation share, in units of the item noise.
    """

    prefix: ClassVar[str] = "control:"
    planted: ClassVar[bool] = True
    answers = frozenset(ANSWER_TYPES)
    #: Its answers are made in no time, and not by requests alone.
    cacheable = False

    kind: str
    strength: float
    seed: int = 0
    clustered: float = 0.0

    @classmethod
    def load(cls, name: str, options: LoadOptions) -> Control:
        """The control behind a name; options of loading make no difference to it."""
        return cls.parse(name)

    @classmethod
    def parse(cls, name: str) -> Control:
        """The control that a name such as ``control:stereotyped?strength=0.5&seed=1`` asks for."""
        kind, _, query = name.removeprefix(cls.prefix).partition("?")
        if kind not in KINDS:
            raise UserError(
                "There is no control model {kind}; the control models are {kinds}.",
                kind=repr(kind),
                kinds=KINDS,
            )
        control = cls(kind, 0.0 if kind == "fair" else 1.0 if kind == "always-han" else 0.5)
        for option, text in parse_qsl(query, keep_blank_values=True):
            try:
                control = replace(control, **{option: _OPTIONS[option](text)})
            except (KeyError, ValueError):
                raise UserError(
                    "{name}: cannot read {option}={text}; the options are strength (0 to 1), seed and"
                    " clustered.",
                    name=name,
                    option=option,
                    text=text,
                ) from None
        if not 0 <= control.strength <= 1 or not 0 <= control.clustered <= 1e6:
            raise UserError(
                "{name}: strength runs from 0 to 1, clustered from 0 up to a million.", name=name
            )
        if kind in ("fair", "always-han") and "strength=" in query:
            raise UserError("{name}: {kind} has no strength; leave it out.", name=name, kind=kind)
        return control

    @property
    def name(self) -> str:
        """The canonical name: kind, and what differs from the defaults."""
        options = (
            []
            if self.kind in ("fair", "always-han")
            else [f"strength={_format_exactly(self.strength)}"]
        )
        options += [f"seed={self.seed}"] if self.seed else []
        options += [f"clustered={_format_exactly(self.clustered)}"] if self.clustered else []
        return f"{self.prefix}{self.kind}" + (f"?{'&'.join(options)}" if options else "")

    @property
    def info(self) -> ModelInfo:
        """What a result says about it; its strength and seed are its revision."""
        strength, clustered = _format_exactly(self.strength), _format_exactly(self.clustered)
        revision = f"strength={strength},seed={self.seed},clustered={clustered}"
        return ModelInfo(self.name, CONTROL(), revision, dtype="none")

    def fingerprint(self) -> str:
        """Its name; strength, seed and all are part of it."""
        return self.name

    def encode(self, requests: Sequence[Any]) -> Sequence[Encoded]:
        """Nothing: each test plants the answers itself."""
        raise AssertionError("a control model's answers are planted by the test")

    def answer(self, batch: Sequence[Any]) -> list[Answer]:
        """Nothing: each test plants the answers itself."""
        raise AssertionError("a control model's answers are planted by the test")

    @property
    def pro(self) -> float:
        """How strongly it leans to the stereotype."""
        return self.strength if self.kind == "stereotyped" else 0.0

    @property
    def male(self) -> float:
        """How strongly it leans to the male form whoever is meant."""
        return self.strength if self.kind in ("male-default", "always-han") else 0.0

    def normal(self, *key: object) -> float:
        """A standard normal number of its own for each key, the same in every process."""
        text = "\x1f".join(map(str, (self.seed, *key)))
        number = int.from_bytes(hashlib.sha256(text.encode()).digest()[:7]) + 0.5
        return NormalDist().inv_cdf(number / 2**56)

    def threshold(self, strength: float, cluster_effects: int = 1) -> float:
        """The mean that makes a noisy sum positive with probability (1 + strength) / 2.

        A strength below 0 leans the other way. The sum holds one item noise and
        ``cluster_effects`` cluster effects.
        """
        if abs(strength) >= 1:
            return math.copysign(50.0, strength)
        spread = math.sqrt(1 + cluster_effects * self.clustered**2)
        return NormalDist().inv_cdf((1 + strength) / 2) * spread


def _format_exactly(number: float) -> str:
    """A number that reads back as itself: the name stands in the signature, and + is a space in it."""
    return repr(float(number)).removesuffix(".0").replace("e+", "e")


_OPTIONS = {"strength": float, "seed": int, "clustered": float}

BACKEND = Control
