"""Control models: no neural network, a bias that we planted, and so the truth to measure against."""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass, replace
from statistics import NormalDist
from urllib.parse import parse_qsl

from gendalens.errors import UserError
from gendalens.models.base import ModelInfo

PREFIX = "control:"
KINDS = {
    "fair": "no leaning: every choice is a coin toss",
    "stereotyped": "leans to the stereotype; strength is the expected gap in accuracy",
    "male-default": "leans to the male form whoever is meant; strength as above",
    "always-han": "always takes the male form",
}


@dataclass(frozen=True, slots=True)
class Control:
    """A planted, seeded bias.

    ``strength`` runs from 0 to 1: in a forced choice the favoured answer comes with probability
    (1 + strength) / 2, in a preference its mean is ``strength`` bits. ``clustered`` is the size of
    the effects that items of one schema, frame or occupation share, in units of the item noise.
    """

    kind: str
    strength: float
    seed: int = 0
    clustered: float = 0.0

    @classmethod
    def parse(cls, name: str) -> Control:
        """The control that a name such as ``control:stereotyped?strength=0.5&seed=1`` asks for."""
        kind, _, query = name.removeprefix(PREFIX).partition("?")
        if kind not in KINDS:
            raise UserError(
                f"There is no control model {kind!r}; the control models are {', '.join(KINDS)}."
            )
        control = cls(kind, 0.0 if kind == "fair" else 1.0 if kind == "always-han" else 0.5)
        for option, text in parse_qsl(query, keep_blank_values=True):
            try:
                control = replace(control, **{option: _OPTIONS[option](text)})
            except (KeyError, ValueError):
                raise UserError(
                    f"{name}: cannot read {option}={text}; "
                    f"the options are strength (0 to 1), seed and clustered."
                ) from None
        if not 0 <= control.strength <= 1 or not 0 <= control.clustered <= 1e6:
            raise UserError(f"{name}: strength runs from 0 to 1, clustered from 0 up to a million.")
        if kind in ("fair", "always-han") and "strength=" in query:
            raise UserError(f"{name}: {kind} has no strength; leave it out.")
        return control

    @property
    def name(self) -> str:
        """The canonical name: kind, and what differs from the defaults."""
        options = (
            [] if self.kind in ("fair", "always-han") else [f"strength={_exact(self.strength)}"]
        )
        options += [f"seed={self.seed}"] if self.seed else []
        options += [f"clustered={_exact(self.clustered)}"] if self.clustered else []
        return f"{PREFIX}{self.kind}" + (f"?{'&'.join(options)}" if options else "")

    @property
    def info(self) -> ModelInfo:
        """What a result says about it; its strength and seed are its revision."""
        revision = (
            f"strength={_exact(self.strength)},seed={self.seed},clustered={_exact(self.clustered)}"
        )
        return ModelInfo(self.name, "control model", revision, dtype="none")

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


def _exact(number: float) -> str:
    """A number that reads back as itself: the name stands in the signature, and + is a space in it."""
    return repr(float(number)).removesuffix(".0").replace("e+", "e")


_OPTIONS = {"strength": float, "seed": int, "clustered": float}
