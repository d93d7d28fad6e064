"""Control models: no neural network but a planted bias, so that the true value is known."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import Any, ClassVar
from urllib.parse import parse_qsl

from gendalens.errors import UserError
from gendalens.models.base import Backend, Encoded, LoadOptions
from gendalens.models.requests import ANSWER_TYPES, Answer, Choose
from gendalens.results.model_info import ModelInfo
from gendalens.words import Template

CONTROL = Template("control", "control model")
KINDS = ("fair", "stereotyped", "male-default", "always-han")


@dataclass(frozen=True)
class Control(Backend):
    """A planted, seeded bias.

    It can take every test, but only the test knows who is meant, so the test plants the answers.

    *fair* has no bias: every choice is a coin toss. *stereotyped* favours the stereotype, and its
    strength is the expected gap in accuracy; *male-default* favours the male form with the same
    strength, regardless of who is meant. *always-han* always takes the male form.

    ``strength`` runs from 0 to 1: in a forced choice the favoured answer is taken with probability
    (1 + strength) / 2, a preference for it has a mean of ``strength`` bits. ``clustered`` is the size of
    the effects that items of one schema, frame or occupation share, in units of the item noise.
    """

    prefix: ClassVar[str] = "control:"
    planted: ClassVar[bool] = True
    holds_weights: ClassVar[bool] = False
    answers = frozenset(ANSWER_TYPES)
    #: It is no chat model, and takes the tests of those only if they are named.
    usual_answers = answers - {Choose.kind}
    #: Its answers cost nothing to compute and depend on more than the request.
    cacheable = False

    kind: str
    strength: float
    seed: int = 0
    clustered: float = 0.0

    @classmethod
    def load(cls, name: str, options: LoadOptions) -> Control:
        """The control model of a name; the load options have no effect on it."""
        return cls.parse(name)

    @classmethod
    def parse(cls, name: str) -> Control:
        """The control model that a name such as ``control:stereotyped?strength=0.5&seed=1`` describes."""
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
                "{name}: strength must be between 0 and 1, clustered between 0 and a million.",
                name=name,
            )
        if kind in ("fair", "always-han") and "strength=" in query:
            raise UserError("{name}: {kind} has no strength; leave it out.", name=name, kind=kind)
        return control

    @property
    def name(self) -> str:
        """The canonical name: the kind and the options that differ from their defaults."""
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
        """What a result says about it; strength and seed stand for a revision."""
        strength, clustered = _format_exactly(self.strength), _format_exactly(self.clustered)
        revision = f"strength={strength},seed={self.seed},clustered={clustered}"
        return ModelInfo(self.name, CONTROL(), revision, dtype="none")

    def fingerprint(self) -> str:
        """Its name, which includes the strength, the seed and all other options."""
        return self.name

    def encode(self, requests: Sequence[Any]) -> Sequence[Encoded]:
        """Nothing: each test plants the answers itself."""
        raise AssertionError("a control model's answers are planted by the test")

    def answer(self, batch: Sequence[Any]) -> list[Answer]:
        """Nothing: each test plants the answers itself."""
        raise AssertionError("a control model's answers are planted by the test")

    @property
    def pro(self) -> float:
        """How strongly it favours the stereotype."""
        return self.strength if self.kind == "stereotyped" else 0.0

    @property
    def male(self) -> float:
        """How strongly it favours the male form, regardless of who is meant."""
        return self.strength if self.kind in ("male-default", "always-han") else 0.0

    def normal(self, *key: object) -> float:
        """A standard normal number that depends on the key and the seed alone."""
        text = "\x1f".join(map(str, (self.seed, *key)))
        number = int.from_bytes(hashlib.sha256(text.encode()).digest()[:7]) + 0.5
        return NormalDist().inv_cdf(number / 2**56)

    def threshold(self, strength: float, cluster_effects: int = 1) -> float:
        """The mean at which a noisy sum is positive with probability (1 + strength) / 2.

        A negative strength favours the opposite answer. The sum consists of one item noise and
        ``cluster_effects`` cluster effects.
        """
        if abs(strength) >= 1:
            return math.copysign(50.0, strength)
        spread = math.sqrt(1 + cluster_effects * self.clustered**2)
        return NormalDist().inv_cdf((1 + strength) / 2) * spread


def _format_exactly(number: float) -> str:
    """A number that parses back to itself, without the + that URL parsing reads as a space."""
    return repr(float(number)).removesuffix(".0").replace("e+", "e")


_OPTIONS = {"strength": float, "seed": int, "clustered": float}

BACKEND = Control
