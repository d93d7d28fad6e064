"""Checks of results that somebody contributes: are they complete, and do the figures follow?"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal, TypeAlias

from gendalens.data.choice import BUILTIN
from gendalens.data.registry import SETS, checksum, find_source
from gendalens.engine.remeasuring import (
    correct_again,
    has_trials,
    list_expected_texts,
    measure_again,
    restore_test,
)
from gendalens.errors import UserError
from gendalens.models.control import Control
from gendalens.results.result import Result
from gendalens.results.saved_results import (
    RECORDS,
    SavedResult,
    list_result_folders,
    load_result,
    read_plain,
)
from gendalens.results.signature import parse_signature
from gendalens.version import __version__
from gendalens.words import Message, phrase

#: Right, wrong, or something that a reader should know.
State: TypeAlias = Literal["right", "wrong", "note"]
#: Figures that differ by less were computed on another machine, or with another version of NumPy.
ROUNDING = 1e-9
#: What no records tell: it is compared with the signature instead.
_NOT_MEASURED = frozenset(("schema", "task", "protocol", "model", "data", "signature"))
#: What the records of a chat model tell without those under each paraphrase.
_POINTS = ("gender_effect_size", "gap", "contrast", "conditions", "nuance")
_SHOWN = 3  # differing figures in a sentence


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was checked, in one sentence."""

    state: State
    message: Message


@dataclass(frozen=True, slots=True)
class CheckedResult:
    """A contributed result with everything that was checked."""

    folder: Path
    checks: tuple[Check, ...]
    result: Result | None = None

    @property
    def is_acceptable(self) -> bool:
        """Whether nothing is wrong."""
        return all(check.state != "wrong" for check in self.checks)


def check_results(paths: Iterable[Path], *, allow_control: bool = False) -> list[CheckedResult]:
    """Every result in these folders, checked; those of one run of a model are measured together."""
    checked: dict[Path, list[Check]] = {}
    families: dict[tuple[str, ...], list[SavedResult]] = {}
    loaded: dict[Path, Result] = {}
    for folder in list_result_folders(paths):
        own = checked.setdefault(folder, [])
        try:
            saved = load_result(folder)
            restore_test(saved.result)
        except (UserError, ValueError) as error:
            own.append(_wrong(phrase("{reason}", reason=str(error))))
            continue
        loaded[folder] = saved.result
        own.append(_right(phrase("result.json fits the schema")))
        own += _check_signature(saved.result)
        own += _check_data(saved.result)
        own += _check_model(saved.result, allow_control)
        families.setdefault(_identify_run(saved), []).append(saved)
    for family in families.values():
        for folder, checks in _check_figures(family):
            checked[folder] += checks
    return [
        CheckedResult(folder, tuple(checks), loaded.get(folder))
        for folder, checks in checked.items()
    ]


def _right(message: Message) -> Check:
    return Check("right", message)


def _wrong(message: Message) -> Check:
    return Check("wrong", message)


def _identify_run(saved: SavedResult) -> tuple[str, ...]:
    """What the results of one run of a model have in common, so that they were corrected together."""
    result, fields = saved.result, parse_signature(saved.result.signature)
    model = result.model
    start = (str(saved.folder.parent), model.name, model.revision, model.dtype)
    return (
        *start,
        str(result.protocol),
        *(fields.get(name, "") for name in ("seed", "sample")),
        *(fields.get(name, "") for name in ("tests", "gendalens", "numpy")),
    )


def _check_signature(result: Result) -> Iterator[Check]:
    """Whether the signature says what the result holds."""
    fields = parse_signature(result.signature)
    model = result.model
    sets = "+".join(f"{name}@{one['sha256'][:12]}" for name, one in result.data.items())
    expected = {
        "test": f"{result.task}@{result.protocol}",
        "data": sets,
        "model": f"{model.name.replace('|', '_')}@{model.revision}",
        "dtype": model.dtype,
    }
    # The name of a model may hold anything; so the fields are compared as they were written.
    start = "|".join([expected.pop("test"), *(f"{key}:{value}" for key, value in expected.items())])
    end = "".join(f"|{item.replace(' ', ':', 1)}" for item in model.software)
    settings = {**restore_test(result).settings()}
    faults = []
    if not result.signature.startswith(f"{start}|seed:"):
        faults.append(phrase("test, data, model or dtype"))
    if not result.signature.endswith(end) or not fields.get("numpy"):
        faults.append(phrase("software versions"))
    if result.task not in fields["tests"].split("+"):
        faults.append(phrase("tests of the run"))
    if missing := tuple(name for name in settings if name not in fields):
        faults.append(phrase("options ({names})", names=missing))
    if faults:
        yield _wrong(
            phrase("the signature does not match the result: {faults}", faults=tuple(faults))
        )
    else:
        yield _right(phrase("the signature matches the result"))


def _check_data(result: Result) -> Iterator[Check]:
    """Whether the data sets are those that are known by these names."""
    known, own, other = [], [], []
    for name, one in result.data.items():
        whose, found = one["whose"], one["sha256"]
        if whose == "own":
            own.append(name)
        elif whose == "test":
            known.append(name)
        elif name not in SETS:
            yield _wrong(phrase("there is no data set {name}", name=repr(name)))
        elif whose == "official" and found != checksum(name):
            yield _wrong(
                phrase("{name} is not the published data set: its checksum differs", name=name)
            )
        elif whose == "builtin" and found != find_source(name, override=BUILTIN).checksum:
            if parse_signature(result.signature)["gendalens"] == __version__:
                yield _wrong(
                    phrase("{name} is not the built-in data set: its checksum differs", name=name)
                )
            else:
                other.append(name)
        else:
            known.append(name)
    if known:
        yield _right(phrase("checksums of data: {names}", names=tuple(known)))
    if own:
        yield Check("note", phrase("the contributor's own data: {names}", names=tuple(own)))
    if other:
        yield Check("note", phrase("built-in data of another version: {names}", names=tuple(other)))


def _check_model(result: Result, allow_control: bool) -> Iterator[Check]:
    """Whether the model is one, and the software that ran it is named."""
    if result.model.name.startswith(Control.prefix):
        if not allow_control:
            yield _wrong(phrase("it is a control model (accept it with --allow-control)"))
        else:
            yield Check("note", phrase("it is a control model"))
    elif not result.model.software:
        yield Check("note", phrase("no software versions beside GenDa Lens and NumPy"))


def _check_figures(family: Sequence[SavedResult]) -> Iterator[tuple[Path, list[Check]]]:
    """Whether the records are complete, and every figure follows from them."""
    names = parse_signature(family[0].result.signature)["tests"].split("+")
    order = {name: place for place, name in enumerate(names)}
    ordered = sorted(family, key=lambda one: order.get(one.result.task, len(names)))
    present = {one.result.task for one in family}
    missing = tuple(name for name in names if name not in present)
    read: list[SavedResult] = []
    measured: list[Result] = []
    for one in ordered:
        try:
            measured.append(measure_again(one))
        except UserError as error:
            yield one.folder, [_wrong(phrase("{reason}", reason=str(error)))]
        except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
            yield one.folder, [_wrong(_explain_fault(one, error))]
        else:
            read.append(one)
    corrected = correct_again([one.result for one in read], measured)
    for one, again in zip(read, corrected, strict=True):
        yield one.folder, [*_check_records(one), *_compare(one, again, missing)]


def _explain_fault(saved: SavedResult, error: Exception) -> Message:
    return phrase(
        "{file} does not hold the records of {test} ({fault})",
        file=RECORDS,
        test=saved.result.task,
        fault=type(error).__name__,
    )


def _check_records(saved: SavedResult) -> Iterator[Check]:
    """Whether there is a record for every sentence of the data, and no other."""
    records = saved.records()
    try:
        expected = list_expected_texts(saved.result)
    except UserError:
        expected = None
    if expected is None:
        yield Check(
            "note",
            phrase(
                "{number:,} records, not compared with the data, which are not here",
                number=len(records),
            ),
        )
    elif [record.get("text") for record in records] == expected:
        yield _right(phrase("{number:,} records, one for every sentence", number=len(records)))
    elif parse_signature(saved.result.signature)["gendalens"] != __version__:
        yield Check("note", phrase("the records are those of another version's data"))
    else:
        yield _wrong(
            phrase(
                "the records are not those of the data: {number:,} of {expected:,}",
                number=len(records),
                expected=len(expected),
            )
        )


def _compare(saved: SavedResult, again: Result, missing: tuple[str, ...]) -> Iterator[Check]:
    """Whether every figure is what the records give."""
    plain, measured = read_plain(saved.folder), again.to_dict()
    is_chat = has_trials(saved.records())
    if is_chat:
        plain, measured = ({name: one[name] for name in _POINTS} for one in (plain, measured))
        found = [
            one for one in _list_differences(plain, measured) if one.path.endswith((".value", ".n"))
        ]
    else:
        plain, measured = (
            {name: value for name, value in one.items() if name not in _NOT_MEASURED}
            for one in (plain, measured)
        )
        found = list(_list_differences(plain, measured))
    fields = parse_signature(saved.result.signature)
    if fields["gendalens"] != __version__:
        # A later version may word a sentence differently.
        found = [one for one in found if not one.path.endswith(".text")]
    wrong = [one for one in found if not one.is_rounding]
    if wrong:
        yield _wrong(_describe(wrong, fields["gendalens"], missing))
        return
    if is_chat:
        yield _right(phrase("every value follows from the records"))
        yield Check(
            "note",
            phrase(
                "a chat model's intervals and p-values cannot be measured again: its records do not "
                "hold what each paraphrase alone gives"
            ),
        )
    elif found:
        yield _right(
            phrase(
                "every figure follows from the records, up to rounding (NumPy {theirs}, here {ours})",
                theirs=fields["numpy"],
                ours=version("numpy"),
            )
        )
    else:
        yield _right(phrase("every figure follows from the records, to the last digit"))
    if missing:
        yield Check(
            "note", phrase("the run had more tests, which are not here: {names}", names=missing)
        )


@dataclass(frozen=True, slots=True)
class _Difference:
    """A place in a result, with what stands there and what the records give."""

    path: str
    saved: Any
    measured: Any

    @property
    def is_rounding(self) -> bool:
        """Whether the two are numbers that differ in their last digits only."""
        one, other = self.saved, self.measured
        return (
            isinstance(one, float)
            and isinstance(other, float)
            and math.isclose(one, other, rel_tol=ROUNDING, abs_tol=1e-12)
        )


def _list_differences(saved: Any, measured: Any, path: str = "") -> Iterator[_Difference]:
    """Every leaf at which two pieces of plain data differ."""
    if isinstance(saved, Mapping) and isinstance(measured, Mapping):
        for name in dict.fromkeys([*saved, *measured]):
            inner = f"{path}.{name}" if path else str(name)
            yield from _list_differences(saved.get(name), measured.get(name), inner)
    elif isinstance(saved, list | tuple) and isinstance(measured, list | tuple):
        if len(saved) != len(measured):
            yield _Difference(path, f"{len(saved)}", f"{len(measured)}")
            return
        for place, (one, other) in enumerate(zip(saved, measured, strict=True)):
            yield from _list_differences(one, other, f"{path}.{place}")
    elif saved != measured:
        yield _Difference(path, saved, measured)


def _depends_on_others(one: _Difference) -> bool:
    """Whether a figure depends on the other tests of the run, for which p-values are corrected."""
    return one.path.endswith("p_adjusted") or one.path.startswith(("finding.", "warnings"))


def _describe(wrong: Sequence[_Difference], measured_by: str, missing: tuple[str, ...]) -> Message:
    first = wrong[:_SHOWN]
    places = tuple(f"{one.path} {one.saved} ≠ {one.measured}"[:160] for one in first)
    found = phrase(
        "figures that do not follow from the records: {number:,}, such as {places}",
        number=len(wrong),
        places=places,
    )
    if measured_by != __version__:
        return phrase(
            "{found} (measured by version {theirs}, checked by {ours})",
            found=found,
            theirs=measured_by,
            ours=__version__,
        )
    if missing and all(map(_depends_on_others, wrong)):
        return phrase(
            "p-values are corrected for all tests of the run, of which these are not here: {names}",
            names=missing,
        )
    return found
