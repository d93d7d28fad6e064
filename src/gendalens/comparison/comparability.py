"""What two results must have in common to be compared."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

from gendalens.results.result import Result
from gendalens.results.signature import parse_signature
from gendalens.words import N_, Message, Template

#: Options that describe the model, not the test: models with different label maps are comparable.
MODEL_OPTIONS = frozenset({"labels"})

STANDS_APART = Template(
    "compare.stands_apart",
    "Not compared with other results of {test}: {reasons}.",
)
DIFFERS_HERE = Template("compare.differs_here", "{name} {here:t} here, {elsewhere} elsewhere")
DATA_SET = Template("compare.data_set", "data {name}")
BANDS = Template("compare.bands", "band of negligible effects")
FURTHER_REASON = Template("compare.further_reason", "{first}; {last}")
OTHER_VALUE = Template("compare.other_value", "{first} or {last}")
ONE_VALUE = Template("compare.one_value", "{value:t}")
#: What a result has whose signature does not name a value, if not none.
_ABSENT: dict[str | Message, str] = {"seed": N_("any"), BANDS(): N_("as on the card")}


@dataclass(frozen=True, slots=True, order=True)
class Comparability:
    """A test and everything that determines its figures except the model."""

    task: str
    protocol: int
    data: tuple[tuple[str, str], ...]
    options: tuple[tuple[str, str], ...]
    version: str

    def to_dict(self) -> dict[str, Any]:
        """Data sets, options and version as plain data."""
        return {
            "data": dict(self.data),
            "options": dict(self.options),
            "gendalens": self.version,
        }

    def explain_separation(self, others: Sequence[Comparability]) -> Message | None:
        """Why other results of the same test cannot be compared with these; None if all can."""
        rest = [other for other in others if other != self and other.task == self.task]
        if not rest:
            return None
        reasons = reduce(_join_reasons, self._differences(rest))
        return STANDS_APART(test=self.task, reasons=reasons)

    def _differences(self, rest: Sequence[Comparability]) -> Iterator[Message]:
        """A reason for each value that differs from those of other results."""
        mine = self._facts()
        for name in dict.fromkeys(name for one in (self, *rest) for name in one._facts()):
            absent = _ABSENT.get(name, "none")
            here = mine.get(name, absent)
            values = dict.fromkeys(other._facts().get(name, absent) for other in rest)
            elsewhere = [ONE_VALUE(value=value) for value in values if value != here]
            if elsewhere:
                yield DIFFERS_HERE(name=name, here=here, elsewhere=reduce(_join_values, elsewhere))

    def _facts(self) -> dict[str | Message, str]:
        facts: dict[str | Message, str] = {"protocol": str(self.protocol)}
        facts |= {DATA_SET(name=name): checksum[:12] for name, checksum in self.data}
        options: dict[str | Message, str] = dict(self.options)
        if bands := options.pop("negligible", ""):
            facts[BANDS()] = bands.replace("_", " ").replace("+", " + ")
        return {**facts, **options, "gendalens": self.version}


def _join_reasons(first: Message, last: Message) -> Message:
    return FURTHER_REASON(first=first, last=last)


def _join_values(first: Message, last: Message) -> Message:
    return OTHER_VALUE(first=first, last=last)


def get_comparability(result: Result) -> Comparability:
    """What another result must share with this one to be comparable."""
    fields = parse_signature(result.signature)
    names = list(fields)
    own = names[names.index("sample") + 1 : names.index("tests")]
    options = {"sample": fields["sample"]}
    options |= {name: fields[name] for name in own if name not in MODEL_OPTIONS}
    # The seed determines the items only if they are sampled or names are drawn; otherwise it affects
    # no more than the last digit of an interval.
    if fields["sample"] != "all" or "repeats" in own:
        options["seed"] = fields["seed"]
    return Comparability(
        result.task,
        result.protocol,
        tuple((name, str(one["sha256"])) for name, one in sorted(result.data.items())),
        tuple(options.items()),
        fields["gendalens"],
    )


def get_seed(result: Result) -> int:
    """The seed with which the result was resampled."""
    return int(parse_signature(result.signature)["seed"])
