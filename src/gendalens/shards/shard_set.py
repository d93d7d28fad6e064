"""All shards of one run, found in folders and checked to be complete and to belong together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gendalens.errors import UserError
from gendalens.models.division import Shard
from gendalens.shards.shard_file import PATTERN
from gendalens.shards.shard_header import ShardHeader
from gendalens.shards.shard_reading import read_shard_header
from gendalens.shards.whole_run import WholeRun
from gendalens.version import __version__
from gendalens.words import Message, Template, phrase, say

DOUBLE = Template(
    "shards.double",
    "Shard {shard} of {test} is there twice with the same answers; {path} was not read.",
)
#: How many missing shards a message names.
_SHOWN = 8


@dataclass(frozen=True, slots=True)
class ShardFile:
    """A shard's file and what its header says."""

    path: Path
    header: ShardHeader


@dataclass(frozen=True, slots=True)
class ShardSet:
    """The complete shards of a run: those of each test, by number."""

    run: WholeRun
    tests: dict[str, list[ShardFile]]
    notes: tuple[Message, ...]

    @property
    def circumstances(self) -> dict[str, Any]:
        """Each shard with when, where and how fast it ran, for ``run.json``."""
        return {
            "shards": [
                {
                    "shard": str(file.header.shard),
                    "test": test,
                    "answers": sum(file.header.answers),
                    **file.header.circumstances,
                }
                for test, files in self.tests.items()
                for file in files
            ]
        }


def find_shards(places: Sequence[Path]) -> ShardSet:
    """The shards in folders (and those below) or files.

    Refuses shards of different runs, missing ones, and two with different answers. A shard that is
    there twice with the same answers, as when a job ran again, is used once and noted.
    """
    files = [ShardFile(path, read_shard_header(path)) for path in _list_files(places)]
    run = files[0].header.run
    for file in files[1:]:
        _check_same_run(files[0], file)
    if run.gendalens != __version__:
        raise UserError(
            "The shards were made by GenDa Lens {theirs} and this is {ours}: merge them with the version "
            "that made them.",
            theirs=run.gendalens,
            ours=__version__,
        )
    notes: list[Message] = []
    tests: dict[str, dict[int, ShardFile]] = {name: {} for name in run.tests}
    for file in files:
        its = tests[file.header.test.task]
        first = its.setdefault(file.header.number, file)
        if first is not file:
            notes.append(_note_double(first, file))
    for some in tests.values():
        _check_same_test(list(some.values()))
    _check_complete(run, tests)
    in_order = {name: [some[number] for number in sorted(some)] for name, some in tests.items()}
    return ShardSet(run, in_order, tuple(notes))


def _list_files(places: Sequence[Path]) -> list[Path]:
    """The files in the order of their paths, each once."""
    found: dict[Path, Path] = {}
    for place in places:
        its = list(_look_into(place))
        if not its:
            raise UserError(
                "There is no shard in {path}: name folders that `gendalens run --shard` wrote.",
                path=str(place),
            )
        for path in its:
            found.setdefault(path.resolve(), path)
    if not found:
        raise UserError("No shards are named: name folders that `gendalens run --shard` wrote.")
    return sorted(found.values())


def _look_into(place: Path) -> Iterable[Path]:
    if not place.exists():
        raise UserError(
            "There is no {path}: name folders that `gendalens run --shard` wrote.", path=str(place)
        )
    return sorted(place.rglob(PATTERN)) if place.is_dir() else [place]


def _check_same_run(one: ShardFile, other: ShardFile) -> None:
    difference = one.header.run.find_difference(other.header.run)
    if difference is None:
        return
    what, here, there = difference
    if here == there:
        raise UserError(
            "{one} and {other} are not shards of the same run ({what:t} differs): merge those of one "
            "run.",
            one=str(one.path),
            other=str(other.path),
            what=what,
        )
    raise UserError(
        "{one} and {other} are not shards of the same run ({what:t}: {here} and {there}): merge those of "
        "one run.",
        one=str(one.path),
        other=str(other.path),
        what=what,
        here=here,
        there=there,
    )


def _check_same_test(files: Sequence[ShardFile]) -> None:
    """Refuse shards of a test that asked other things, or divided them otherwise."""
    for file in files[1:]:
        one, other = files[0].header.test, file.header.test
        changed = [
            name
            for name in sorted({*one.data, *other.data})
            if one.data.get(name, {}).get("sha256") != other.data.get(name, {}).get("sha256")
        ]
        if changed:
            reason = phrase("other data: {names}", names=tuple(changed))
        elif (one.asked, one.requests) != (other.asked, other.requests):
            reason = phrase("other requests")
        elif (one.batches, len(files[0].header.answers)) != (
            other.batches,
            len(file.header.answers),
        ):
            raise UserError(
                "{one} and {other} planned their batches differently, so their requests overlap: run all "
                "shards on the same kind of device with the same number of cores (OMP_NUM_THREADS), and "
                "merge again.",
                one=str(files[0].path),
                other=str(file.path),
            )
        else:
            continue
        raise UserError(
            "{one} and {other} are not shards of the same run ({reason}): merge those of one run.",
            one=str(files[0].path),
            other=str(file.path),
            reason=reason,
        )


def _check_complete(run: WholeRun, tests: dict[str, dict[int, ShardFile]]) -> None:
    missing = list(_list_missing(run, tests))
    if missing:
        shown = (*missing[:_SHOWN], *(["…"] if len(missing) > _SHOWN else []))
        raise UserError(
            "Of {count} shards of {model}, {missing} are missing: run these, and merge again.",
            count=run.shards,
            model=run.model.name,
            missing=shown,
        )


def _list_missing(run: WholeRun, tests: dict[str, dict[int, ShardFile]]) -> Iterator[str]:
    for number in range(1, run.shards + 1):
        lacking = [name for name, some in tests.items() if number not in some]
        shard = str(Shard(number, run.shards))
        if len(lacking) == len(tests):
            yield shard
        elif lacking:
            yield say("{shard} of {tests}", shard=shard, tests=" + ".join(lacking))


def _note_double(first: ShardFile, second: ShardFile) -> Message:
    one, other = first.header, second.header
    if (one.sha256, one.answers) != (other.sha256, other.answers):
        raise UserError(
            "{one} and {other} are both shard {shard} of {test} and hold different answers: remove "
            "one of them.",
            one=str(first.path),
            other=str(second.path),
            shard=str(one.shard),
            test=one.test.task,
        )
    return DOUBLE(shard=str(one.shard), test=one.test.task, path=str(second.path))
