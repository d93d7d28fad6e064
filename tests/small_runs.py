"""Runs of control models on the small sets, and results made by hand for what no control model does."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from small_data import small_data

import gendalens
from gendalens.engine.record_store import as_line
from gendalens.results import run_folder
from gendalens.results.result import Result
from gendalens.results.saved_results import SavedResult, load_result

THREE = ("control:fair", "control:stereotyped?strength=0.5", "control:always-han")
#: What a model's name may hold at the worst.
HOSTILE = (
    "<script>alert(1)</script>",
    '"; DROP TABLE | models & $x_{1}^2 %# ~ \\',
    "ø/æ å\u202eevil\u0000\n= 1 * _ ` [x](http://y)",
    "=HYPERLINK(1)",
    "n" * 10_000,
)


def three_runs(folder: Path, **options: Any) -> Path:
    """Three control models through four tests, and whichever are added."""
    data = small_data(folder / "data")
    gendalens.run(list(THREE), data=data, out=folder / "run", **options)
    return folder / "run"


def renamed(one: SavedResult, out: Path, name: str, **changes: Any) -> SavedResult:
    """The same result and records under another model's name (or revision, or dtype)."""
    old = f"model:{one.result.model.name}@{one.result.model.revision}"
    model = replace(one.result.model, name=name, **changes)
    new = f"model:{name.replace('|', '_')}@{model.revision}"
    signature = one.result.signature.replace(old, new)
    signature = signature.replace("dtype:none", f"dtype:{model.dtype}")
    return resaved(one, out, replace(one.result, model=model, signature=signature))


def resigned(one: SavedResult, out: Path, before: str, after: str) -> SavedResult:
    """The same result with one part of its signature changed."""
    assert before in one.result.signature
    signature = one.result.signature.replace(before, after)
    return resaved(one, out, replace(one.result, signature=signature))


def resaved(one: SavedResult, out: Path, result: Result) -> SavedResult:
    """A result written beside its old records."""
    return load_result(run_folder.write_result(out, result, map(as_line, one.records()), one.run))
