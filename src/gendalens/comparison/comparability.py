"""What two results must share before their figures may stand in one table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

from gendalens.results.result import Result
from gendalens.results.signature import parts
from gendalens.words import Message, Template

#: A model's own labels may need words of their own: they belong to the model, not to the test.
OF_THE_MODEL = frozenset({"labels"})

STANDS_APART = Template(
    "compare.stands_apart",
    "Not lined up with other results of {test}, and no difference is taken: {reasons}.",
)
DIFFERS_HERE = Template("compare.differs_here", "{name} {here:t} here, {elsewhere} elsewhere")
DATA_SET = Template("compare.data_set", "data {name}")
FURTHER_REASON = Template("compare.further_reason", "{first}; {last}")
OTHER_VALUE = Template("compare.other_value", "{first} or {last}")
ONE_VALUE = Template("compare.one_value", "{value:t}")


@dataclass(frozen=True, slots=True, order=True)
class Comparability:
    """A test, and everything but the model that decides its figures."""

    task: str
    protocol: int
    data: tuple[tuple[str, str], ...]
    options: tuple[tuple[str, str], ...]
    version: str

    def to_dict(self) -> dict[str, Any]:
        """Data by name, options by name, and the version."""
        return {
            "data": dict(self.data),
            "options": dict(self.options),
            "gendalens": self.version,
        }

    def apart_from(self, others: Sequence[Comparability]) -> Message | None:
        """Why results of the same test stand in other tables, in one sentence."""
        rest = [other for other in others if other != self and other.task == self.task]
        if not rest:
            return None
        reasons = reduce(_join_reasons, self._differences(rest))
        return STANDS_APART(test=self.task, reasons=reasons)

    def _differences(self, rest: Sequence[Comparability]) -> Iterator[Message]:
        """What is another value here than elsewhere."""
        mine = self._facts()
        for name in dict.fromkeys(name for one in (self, *rest) for name in one._facts()):
            absent = "any" if name == "seed" else "none"
            here = mine.get(name, absent)
            values = dict.fromkeys(other._facts().get(name, absent) for other in rest)
            elsewhere = [ONE_VALUE(value=value) for value in values if value != here]
            if elsewhere:
                yield DIFFERS_HERE(name=name, here=here, elsewhere=reduce(_join_values, elsewhere))

    def _facts(self) -> dict[str | Message, str]:
        facts: dict[str | Message, str] = {"protocol": str(self.protocol)}
        facts |= {DATA_SET(name=name): checksum[:12] for name, checksum in self.data}
        facts |= dict(self.options)
        return {**facts, "gendalens": self.version}


def _join_reasons(first: Message, last: Message) -> Message:
    return FURTHER_REASON(first=first, last=last)


def _join_values(first: Message, last: Message) -> Message:
    return OTHER_VALUE(first=first, last=last)


def comparability_of(result: Result) -> Comparability:
    """What of a result must be the same in another one."""
    fields = parts(result.signature)
    names = list(fields)
    own = names[names.index("sample") + 1 : names.index("tests")]
    options = {"sample": fields["sample"]}
    options |= {name: fields[name] for name in own if name not in OF_THE_MODEL}
    # The seed decides which items there are only where something is drawn; elsewhere it moves
    # nothing but the last digit of an interval.
    if fields["sample"] != "all" or "repeats" in own:
        options["seed"] = fields["seed"]
    return Comparability(
        result.task,
        result.protocol,
        tuple((name, str(one["sha256"])) for name, one in sorted(result.data.items())),
        tuple(options.items()),
        fields["gendalens"],
    )


def seed_of(result: Result) -> int:
    """The seed that the result was resampled with."""
    return int(parts(result.signature)["seed"])
