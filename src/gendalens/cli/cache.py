"""``gendalens cache``: what is stored on this machine, how large it is, and how to be rid of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rich import box
from rich.table import Table
from rich.text import Text

from gendalens.data.home import find_home
from gendalens.errors import UserError
from gendalens.models.huggingface import kept_weights
from gendalens.report.terminal.console import PlainConsole
from gendalens.system.file_writing import remove_path
from gendalens.words import N_, say, translate

ALL = "all"


@dataclass(frozen=True, slots=True)
class Kind:
    """Something that is stored: its name, what it is, its files, and whether it costs only time."""

    name: str
    holds: str
    patterns: tuple[str, ...]
    is_made_here: bool = False

    def find_files(self) -> list[Path]:
        """The files and folders of this kind; nothing else is ever touched."""
        home = find_home()
        return [path for pattern in self.patterns for path in sorted(home.glob(pattern))]

    def measure(self) -> int:
        """The bytes that they take."""
        return sum(_measure(path) for path in self.find_files())

    def remove(self) -> None:
        """Remove them; a link is removed, and what it points to stays."""
        for path in self.find_files():
            remove_path(path)


KINDS = (
    Kind(
        "answers", N_("answers of models, so that no question is asked twice"), ("cache.sqlite*",)
    ),
    Kind(
        "responses",
        N_("responses of endpoints, and what their servers can do"),
        ("responses.sqlite*", "endpoints"),
    ),
    Kind("data", N_("the official data sets"), ("data",)),
    Kind("weights", N_("converted weights of .gguf files"), (kept_weights.FOLDER,), True),
    Kind("pages", N_("the chart library of reports"), ("pages",), True),
)


def list_names() -> list[str]:
    """What ``gendalens cache clean`` takes."""
    return [*(kind.name for kind in KINDS), ALL]


def list_kinds() -> None:
    """Print one line per kind, and where they are."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for heading in (say("kind"), say("holds"), say("place")):
        table.add_column(heading, overflow="fold")
    table.add_column(say("size"), justify="right")
    for kind in KINDS:
        places = ", ".join(path.name for path in kind.find_files())
        table.add_row(kind.name, translate(kind.holds), Text(places), _format_size(kind.measure()))
    total = sum(kind.measure() for kind in KINDS)
    table.add_row(say("total"), "", "", _format_size(total))
    console = PlainConsole()
    console.print(table)
    for copy in kept_weights.list_copies():
        size = _format_size(kept_weights.measure_folder(copy.folder))
        line = say("weights of {model}: {size}", model=copy.model, size=size)
        console.print(Text(line, style="dim"), soft_wrap=True)
    notes = (
        say("stored in {folder}", folder=str(find_home())),
        say(
            "Weights may take {limit}; {variable} sets another limit in gigabytes, and 0 keeps none.",
            limit=_format_size(int(kept_weights.read_limit())),
            variable=kept_weights.LIMIT,
        ),
        say("`gendalens cache clean KIND` removes one kind."),
    )
    for note in notes:
        console.print(Text(note, style="dim"), soft_wrap=True)


def clean_kinds(names: Sequence[str]) -> None:
    """Remove the kinds named; by default those that this machine makes again by itself."""
    known = {kind.name: kind for kind in KINDS}
    if unknown := [name for name in names if name not in {*known, ALL}]:
        raise UserError(
            "There is no kind {kind} in the cache; choose from {known}.",
            kind=unknown[0],
            known=(*known, ALL),
        )
    if ALL in names:
        names = tuple(known)
    chosen = [kind for kind in KINDS if (kind.name in names if names else kind.is_made_here)]
    console = PlainConsole()
    freed = 0
    for kind in chosen:
        before = kind.measure()
        kind.remove()
        freed += before
        line = say("{kind}: {size} removed", kind=kind.name, size=_format_size(before))
        console.print(Text(line), soft_wrap=True)
    console.print(Text(say("{size} freed", size=_format_size(freed))), soft_wrap=True)
    if not names:
        left = [kind for kind in KINDS if kind not in chosen and kind.measure()]
        for kind in left:
            line = say(
                "{kind} stay ({size}): name them to remove them.",
                kind=kind.name,
                size=_format_size(kind.measure()),
            )
            console.print(Text(line, style="dim"), soft_wrap=True)


def _measure(path: Path) -> int:
    if path.is_dir() and not path.is_symlink():
        return kept_weights.measure_folder(path)
    return path.lstat().st_size


def _format_size(size: int) -> str:
    if size >= kept_weights.GIGABYTE:
        return say("{size:,.1f} GB", size=size / kept_weights.GIGABYTE)
    return say("{size:,.1f} MB", size=size / 10**6)
