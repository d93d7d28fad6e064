"""What all shards of a run have in common."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from gendalens.engine.run_options import RunOptions
from gendalens.models.base import Backend
from gendalens.results.model_info import ModelInfo
from gendalens.shards.plain_messages import read_message, write_message
from gendalens.version import __version__
from gendalens.words import N_, Message

#: What to call each part, in the order in which differences are reported.
_NAMES = {
    "shards": N_("the number of shards"),
    "gendalens": N_("the version of GenDa Lens"),
    "name": N_("the model"),
    "revision": N_("the model's revision"),
    "dtype": N_("the number format"),
    "software": N_("the software"),
    "fingerprint": N_("the model's content"),
    "protocol": N_("the protocol"),
    "tests": N_("the list of tests"),
    "seed": N_("the seed"),
    "sample": N_("the sample"),
    "options": N_("the tests' options"),
    "negligible": N_("the negligible effects"),
    "batch_tokens": N_("the number of tokens per batch"),
}
_OTHER = N_("the description of the model")


@dataclass(frozen=True, slots=True, kw_only=True)
class WholeRun:
    """The model and the options of a run that was divided into ``shards``."""

    shards: int
    gendalens: str = __version__
    model: ModelInfo
    fingerprint: str
    planted: bool
    kinds: tuple[str, ...]
    labels: tuple[str, ...] | None
    notices: tuple[Message, ...]
    protocol: int
    tests: tuple[str, ...]
    seed: int
    sample: int | None
    options: Mapping[str, Any]
    negligible: Mapping[str, Mapping[str, float]]
    batch_tokens: int | None

    def to_dict(self) -> dict[str, Any]:
        """The run as plain data for the first line of a shard's file."""
        return {
            "shards": self.shards,
            "gendalens": self.gendalens,
            "model": write_model(self.model),
            "fingerprint": self.fingerprint,
            "planted": self.planted,
            "kinds": list(self.kinds),
            "labels": None if self.labels is None else list(self.labels),
            "notices": [write_message(one) for one in self.notices],
            "protocol": self.protocol,
            "tests": list(self.tests),
            "seed": self.seed,
            "sample": self.sample,
            "options": dict(self.options),
            "negligible": {name: dict(bands) for name, bands in self.negligible.items()},
            "batch_tokens": self.batch_tokens,
        }

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Self:
        """The run that :meth:`to_dict` described; raises if a part is missing or of another type."""
        labels = plain["labels"]
        return cls(
            shards=_check(plain["shards"], int),
            gendalens=_check(plain["gendalens"], str),
            model=read_model(plain["model"]),
            fingerprint=_check(plain["fingerprint"], str),
            planted=_check(plain["planted"], bool),
            kinds=_read_words(plain["kinds"]),
            labels=None if labels is None else _read_words(labels),
            notices=tuple(map(read_message, _check(plain["notices"], list))),
            protocol=_check(plain["protocol"], int),
            tests=_read_words(plain["tests"]),
            seed=_check(plain["seed"], int),
            sample=_check(plain["sample"], int | None),
            options=_check(plain["options"], dict),
            negligible=_check(plain["negligible"], dict),
            batch_tokens=_check(plain["batch_tokens"], int | None),
        )

    @property
    def key(self) -> str:
        """Eight hex digits that tell the run from others in the same folder."""
        text = json.dumps(self.to_dict(), sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:8]

    def find_difference(self, other: Self) -> tuple[str, str, str] | None:
        """The first thing that differs, here and in the other run; None if they are the same."""
        ones, others = self.to_dict(), other.to_dict()
        if ones == others:
            return None
        ones, others = {**ones, **ones["model"]}, {**others, **others["model"]}
        for name, what in _NAMES.items():
            if ones[name] != others[name]:
                return what, _show(ones[name]), _show(others[name])
        return _OTHER, str(self.model.kind), str(other.model.kind)


def describe_run(
    model: Backend, *, shards: int, tests: tuple[str, ...], options: RunOptions
) -> WholeRun:
    """The run of a model through these tests under these options."""
    return WholeRun(
        shards=shards,
        model=model.info,
        fingerprint=model.fingerprint(),
        planted=model.planted,
        kinds=tuple(sorted(model.answers)),
        labels=model.labels,
        notices=model.notices,
        protocol=options.protocol,
        tests=tests,
        seed=options.seed,
        sample=options.sample,
        options=options.task_options,
        negligible=options.negligible,
        batch_tokens=options.batch_tokens,
    )


def write_model(model: ModelInfo) -> dict[str, Any]:
    """A model's info as plain data from which it can be read again, to the letter."""
    return {**model.to_dict(), "kind": write_message(model.kind)}


def read_model(plain: Mapping[str, Any]) -> ModelInfo:
    """The info that :func:`write_model` wrote."""
    texts = {
        name: _check(plain[name], str)
        for name in ("name", "revision", "dtype", "tokenizer", "hub_task")
    }
    return ModelInfo(
        **texts,
        kind=read_message(plain["kind"]),
        software=_read_words(plain["software"]),
        for_danish=_check(plain["for_danish"], bool),
    )


def _read_words(value: Any) -> tuple[str, ...]:
    return tuple(_check(word, str) for word in _check(value, list))


def _check(value: Any, kind: Any) -> Any:
    """The value, which must be of a type; true is no number."""
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        raise TypeError(f"{value!r} is not a {kind}")
    return value


def _show(value: object) -> str:
    """A value in a sentence."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 100 else f"{text[:100]}…"
