"""What two results must share before their figures may stand in one table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from gendalens.results.result import Result
from gendalens.results.signature import parts

#: A model's own labels may need words of their own: they belong to the model, not to the test.
OF_THE_MODEL = frozenset({"labels"})


@dataclass(frozen=True, slots=True, order=True)
class Setting:
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

    def apart_from(self, others: Sequence[Setting]) -> str | None:
        """Why results of the same test stand in other tables, in one sentence."""
        rest = [other for other in others if other != self and other.task == self.task]
        if not rest:
            return None
        mine = self._words()
        reasons = []
        for name in dict.fromkeys(name for one in (self, *rest) for name in one._words()):
            absent = "any" if name == "seed" else "none"
            here = mine.get(name, absent)
            values = dict.fromkeys(other._words().get(name, absent) for other in rest)
            if elsewhere := [value for value in values if value != here]:
                reasons.append(f"{name} {here} here, {' or '.join(elsewhere)} elsewhere")
        return (
            f"Not lined up with other results of {self.task}, and no difference is taken: "
            f"{'; '.join(reasons)}."
        )

    def _words(self) -> dict[str, str]:
        data = {f"data {name}": checksum[:12] for name, checksum in self.data}
        return {
            "protocol": str(self.protocol),
            **data,
            **dict(self.options),
            "gendalens": self.version,
        }


def setting(result: Result) -> Setting:
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
    return Setting(
        result.task,
        result.protocol,
        tuple((name, str(one["sha256"])) for name, one in sorted(result.data.items())),
        tuple(options.items()),
        fields["gendalens"],
    )


def seed(result: Result) -> int:
    """The seed that the result was resampled with."""
    return int(parts(result.signature)["seed"])
