"""The folder of a run on disk, for people and for other programs."""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from gendalens.errors import UserError
from gendalens.results.result import Result
from gendalens.system.file_writing import make_folders, replace_file

MOST_BYTES = 200  # of a folder's name; file systems allow 255


def check_writable(folder: Path) -> None:
    """Create the folder, and check now, not after an hour of work, that it is writable."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise UserError(
            "The output folder {folder} cannot be written ({reason}): choose another with --out.",
            folder=str(folder),
            reason=error.strerror or str(error),
        ) from None


def folder_name(model: str) -> str:
    """A folder name for a model: letters, digits and a few other characters, never a path."""
    name = re.sub(r"[^\w.=+-]+", "_", model).strip("._") or "model"
    return name[:100].encode()[:MOST_BYTES].decode(errors="ignore")


def result_folder(out: Path, result: Result) -> Path:
    """``RUN/<model>/<task>@<protocol>-<8 hex of the signature>``."""
    name = f"{result.task}@{result.protocol}-{result.key}"
    return out / folder_name(result.model.name) / name


def write_result(out: Path, result: Result, lines: Iterable[str], run: Mapping[str, Any]) -> Path:
    """Write one result and the lines of its records; return its folder.

    Each file is written atomically.
    """
    folder = result_folder(out, result)
    try:
        make_folders(out, *folder.relative_to(out).parts)
        replace_file(folder / "records.jsonl", lines, root=out)
        plain = json.dumps(dict(run), ensure_ascii=False, indent=1) + "\n"
        replace_file(folder / "run.json", plain, root=out)
        # Last, so that a folder with a result is complete.
        replace_file(folder / "result.json", result.to_json(), root=out)
    except OSError as error:
        raise UserError(
            "The result cannot be written to {folder} ({reason}): free some space or choose another "
            "folder with --out, and run again.",
            folder=str(folder),
            reason=error.strerror or str(error),
        ) from None
    return folder
