"""The commands that measure a run's results again."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from gendalens.report.escape import one_line
from gendalens.report.provenance import find_owner
from gendalens.results.result import Result
from gendalens.results.signature import parse_signature
from gendalens.tasks import all_tasks


def list_commands(results: Sequence[Result]) -> list[str]:
    """A command for all results that one run has measured; the user's own files are left to fill in."""
    return list(dict.fromkeys(_write_command(result, results) for result in results))


def _write_command(result: Result, results: Sequence[Result]) -> str:
    signed = parse_signature(result.signature)
    words = ["gendalens", "run", one_line(result.model.name, None)]
    words += ["--tasks", signed["tests"].replace("+", ",")]
    words += ["--protocol", "1"] if result.protocol == 1 else []
    together = [one for one in results if _is_of_same_run(one, result)]
    words += _list_data(together)
    words += [] if signed["sample"] == "all" else ["--sample", signed["sample"]]
    words += ["--seed", signed["seed"], *_list_options(together), *_list_bands(together)]
    return " ".join(shlex.quote(one_line(word, None)) for word in words)


def _is_of_same_run(one: Result, other: Result) -> bool:
    signed = [parse_signature(result.signature) for result in (one, other)]
    names = ("tests", "seed", "sample")
    first, second = ([fields.get(name) for name in names] for fields in signed)
    return one.protocol == other.protocol and first == second


def _list_data(results: Sequence[Result]) -> list[str]:
    owners = {name: find_owner(result, name) for result in results for name in result.data}
    if owners and set(owners.values()) <= {"builtin", "test"}:
        return ["--data", "builtin"]
    places = {"builtin": "builtin", "own": "PATH"}
    return [
        word
        for name, owner in sorted(owners.items())
        if owner in places
        for word in ("--data", f"{name}={places[owner]}")
    ]


def _list_bands(results: Sequence[Result]) -> list[str]:
    """The limits of what is too small to matter that the user has set."""
    words: list[str] = []
    for result in results:
        own = parse_signature(result.signature).get("negligible", "")
        for part in filter(None, own.split("+")):
            value, _, unit = part.partition("_")
            words += ["--negligible", f"{result.task}:{unit}={value}"]
    return words


def _list_options(results: Sequence[Result]) -> list[str]:
    """The options of the tests that differ from their defaults."""
    words: dict[str, str] = {}
    for result in results:
        signed = parse_signature(result.signature)
        task = all_tasks().get((result.task, result.protocol))
        for option in task.options if task else ():
            value = signed.get(option.name)
            if value is None or value == str(option.default):
                continue
            words[option.flag] = "" if isinstance(option.default, bool) else value
    return [word for flag, value in sorted(words.items()) for word in (flag, value) if word]
