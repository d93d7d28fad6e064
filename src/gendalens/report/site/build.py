"""Builds a site in a folder."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from gendalens.errors import UserError
from gendalens.report.gathering import Run
from gendalens.report.site.entries import Conflict, gather_entries
from gendalens.report.site.site import PAGES, SiteContent
from gendalens.system.file_writing import make_folders, replace_file

#: What is in every folder that a site was built in.
SIGN = "data/results.json"
PARQUET = "data/results.parquet"


@dataclass(frozen=True, slots=True)
class BuiltSite:
    """A site on disk: its first page, what it holds, and the results that contradict each other."""

    index: Path
    models: int
    results: int
    merged: int
    files: int
    bytes: int
    conflicts: tuple[Conflict, ...]
    has_parquet: bool


def build_site(runs: Run | Iterable[Run], out: str | Path) -> BuiltSite:
    """Build the site of these results in a folder, which must be new, empty, or hold an older site."""
    folder = Path(out)
    content = SiteContent(gather_entries(runs))
    if not content.entries.results:
        raise UserError(
            "All of these results contradict each other (the same signature, different contents), so "
            "there is nothing to show: keep one of each."
        )
    try:
        _check_folder(folder)
        written: dict[str, int] = {}
        for name, text in content.write_files():
            plain = text.encode() if isinstance(text, str) else text
            make_folders(folder, *Path(name).parent.parts)
            replace_file(folder / name, plain, root=folder)
            written[name] = len(plain)
        _remove_old(folder, written)
    except OSError as error:
        raise UserError(
            "The site cannot be written to {folder} ({reason}); choose another folder.",
            folder=str(folder),
            reason=error.strerror or str(error),
        ) from None
    return BuiltSite(
        index=folder / "index.html",
        models=len(content.model_entries),
        results=len(content.entries.results),
        merged=content.entries.merged,
        files=len(written),
        bytes=sum(written.values()),
        conflicts=content.entries.conflicts,
        has_parquet=PARQUET in written,
    )


def _check_folder(folder: Path) -> None:
    """Refuse a folder with other things in it, which would be published with the site."""
    if folder.is_dir() and any(folder.iterdir()) and not (folder / SIGN).is_file():
        raise UserError(
            "{folder} holds other files, which would be published with the site: name a new folder.",
            folder=str(folder),
        )


def _remove_old(folder: Path, written: Iterable[str]) -> None:
    """Remove the pages of an older site that this one does not have."""
    kept = {folder / name for name in written}
    old = [page for name in PAGES for page in (folder / name).glob("*.html") if page not in kept]
    if folder / PARQUET not in kept:
        old.append(folder / PARQUET)
    for page in old:
        page.unlink(missing_ok=True)
