"""The options of a test, declared once in the test's file."""

from __future__ import annotations

import operator
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gendalens.errors import UserError

#: Names that the program itself has for options and arguments.
RESERVED = frozenset(
    """allow_pickle answers as_json batch_tokens cache csv data device dtype help json language latex
    markdown max_memory model_name models negligible no_cache offline out protocol revision sample seed
    shard task tasks trust_remote_code version""".split()  # noqa: SIM905
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """One option of a test, for the command line (``--name``) and for ``gendalens.run(name=…)``.

    Its type is that of ``default``: an integer (bounded by ``least`` and ``most``), a text (one of
    ``choices``, if there are any), or a switch.
    """

    name: str
    default: int | str | bool
    help: str
    least: int | None = None
    most: int | None = None
    choices: tuple[str, ...] = ()
    #: For a text such as ``GPE=LOC,FAC=-``: what may stand right of =, offered when it is completed.
    targets: tuple[str, ...] = ()

    @property
    def flag(self) -> str:
        """The option's name on the command line."""
        return f"--{self.name.replace('_', '-')}"

    def check(self, value: Any) -> Any:
        """The value; raises if it is not allowed."""
        if isinstance(self.default, bool):
            if not isinstance(value, bool):
                raise UserError("{name} is {value}; it must be True or False.", **self._say(value))
            return value
        if isinstance(self.default, int):
            return check_number(self.name, value, self.least, self.most)
        if self.choices and value not in self.choices:
            raise UserError(
                "{flag} {value}: choose {choices:or}.",
                **self._say(value) | {"choices": self.choices},
            )
        return value

    def _say(self, value: Any) -> dict[str, str]:
        return {"name": self.name, "flag": self.flag, "value": str(value)}


def check_number(name: str, value: Any, least: int | None = None, most: int | None = None) -> int:
    """The value as an integer; raises if it is none (NumPy's count) or out of bounds."""
    try:
        number = operator.index(value)
    except TypeError:
        raise UserError(
            "{name} is {value}; it must be a whole number.", name=name, value=repr(value)
        ) from None
    if least is not None and number < least:
        raise UserError(
            "{name} is {value}; it must be {least} or more.",
            name=name,
            value=str(number),
            least=least,
        )
    if most is not None and number > most:
        raise UserError(
            "{name} is {value}; it must be {most:,} or less.",
            name=name,
            value=str(number),
            most=most,
        )
    return number


def check_options(declared: tuple[Option, ...], given: Mapping[str, Any]) -> dict[str, Any]:
    """The given options that are declared, checked; None counts as not given."""
    return {
        option.name: option.check(given[option.name])
        for option in declared
        if given.get(option.name) is not None
    }
