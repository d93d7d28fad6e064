"""What the options of tasks, data and names do, and those of the program itself."""

from __future__ import annotations

import csv
from pathlib import Path

import small_dane
import small_names
from command_line import PULLED, CommandLine, Table, files_in

from gendalens.data import registry
from gendalens.version import __version__

TABLE = Table()
row = TABLE.row


@row("--language")
def _(line: CommandLine, command: str) -> None:
    assert "Vis" not in line("tasks").out
    assert "beskriver" in line("--language", "da", "tasks").out
    assert "describes one in full" in line("--language", "en", "tasks").out
    assert "There is no language 'xx'" in line("--language", "xx", "tasks", fails=True).err


@row("--version")
def _(line: CommandLine, command: str) -> None:
    assert line("--version").out == f"{__version__}\n"


@row("tasks NAME")
def _(line: CommandLine, command: str) -> None:
    listed, described = line("tasks").out, line("tasks", "coref-abc").out
    assert listed.count("lm-abc") == 2  # in both protocols
    assert described.lstrip().startswith("coref-abc@2 · ")
    assert "lm-abc" not in described


@row("tasks --protocol")
def _(line: CommandLine, command: str) -> None:
    assert "lm-abc@2 · " in line("tasks", "lm-abc").out
    assert "lm-abc@1 · " in line("tasks", "lm-abc", "--protocol", "1").out


@row("tasks --language", "data list --language", "data errata --language")
def _(line: CommandLine, command: str) -> None:
    words = {
        "tasks": ("describes one in full", "beskriver"),
        "data list": ("stored in", "gemt i"),
        "data errata": ("Applied in protocol 2", "Anvendes i protokol 2"),
    }
    english, danish = words[command]
    en, da = (line(*command.split(), *more).words for more in ((), ("--language", "da")))
    assert (english in en, danish in en) == (True, False)
    assert (english in da, danish in da) == (False, True)


@row("data pull NAMES", "data pull --language")
def _(line: CommandLine, command: str) -> None:
    pulled: list[str] = []

    def pull(name: str) -> Path:
        pulled.append(name)
        return line.folder / name

    line.patch.setattr(registry, "pull", pull)
    assert str(line.folder / "abc") in line("data", "pull", "abc", "dane").out
    assert pulled == ["abc", "dane"]
    pulled.clear()
    line("data", "pull")
    assert pulled == list(registry.SETS)
    line.patch.undo()
    english, danish = (
        line("data", "pull", "nothing", *more, fails=True).err
        for more in ((), ("--language", "da"))
    )
    assert "There is no data set 'nothing'" in english
    assert "nothing" in danish
    assert english != danish


@row("data errata NAME")
def _(line: CommandLine, command: str) -> None:
    every, one = line("data", "errata").out, line("data", "errata", "abc").out
    assert "dawinobias" in every
    assert "abc" in one
    assert "dawinobias" not in one


@row("data errata --severity", "data errata --csv")
def _(line: CommandLine, command: str) -> None:
    every, wrong = (
        list(csv.DictReader(line("data", "errata", "dawinobias", "--csv", *more).out.splitlines()))
        for more in ((), ("--severity", "wrong"))
    )
    assert {one["severity"] for one in every} == {"wrong", "weak", "polish"}
    assert wrong == [one for one in every if one["severity"] == "wrong"]
    (spaces,) = [one for one in every if one["reason"].startswith("two spaces")]
    assert (spaces["lines"], spaces["old"], spaces["new"]) == ("412", "forbi  ", "forbi ")
    assert "because" in line("data", "errata", "--severity", "wrong").words
    assert "choose one of" in line("data", "errata", "--severity", "bad", fails=True).err


@row("names preview --names")
def _(line: CommandLine, command: str) -> None:
    top, matched = (_preview(line, "--names", how) for how in ("top", "matched"))
    assert top == _preview(line)
    assert top != matched
    assert "choose one of" in line("names", "preview", "--names", "x", fails=True).err


@row("names preview --data")
def _(line: CommandLine, command: str) -> None:
    line.forbid_fetching()
    assert PULLED in line("names", "preview", fails=True).err
    register, minority = small_names.write(line.folder / "lists")
    own = small_dane.write(line.folder / "own.conllu")
    chosen = {"dane": own, "names": register, "minority-names": minority}
    given = [part for name, path in chosen.items() for part in ("--data", f"{name}={path}")]
    shown = line("names", "preview", *given).out
    assert "har en hund." in shown  # of the small set
    assert "har en hund." not in _preview(line)


@row("names preview --seed")
def _(line: CommandLine, command: str) -> None:
    assert _preview(line) == _preview(line, "--seed", "0") != _preview(line, "--seed", "7")


@row("names preview --count")
def _(line: CommandLine, command: str) -> None:
    shown = [_preview(line, *more) for more in ((), ("--count", "0"), ("--count", "5"))]
    groups = [out.count("majority female") + out.count("female majority") for out in shown]
    assert [count - groups[1] for count in groups] == [3, 0, 5]  # one line more for each sentence


@row("names preview --offline")
def _(line: CommandLine, command: str) -> None:
    line.forbid_fetching()
    assert PULLED in line("names", "preview", fails=True).err
    assert "may not be fetched offline" in line("names", "preview", "--offline", fails=True).err


@row("names preview --language")
def _(line: CommandLine, command: str) -> None:
    english, danish = (_preview(line, "--language", language) for language in ("en", "da"))
    assert english == _preview(line)
    assert "majority female" in english
    assert "…" not in english + danish  # in 80 columns
    assert "majoritet, kvinder" in danish


def _preview(line: CommandLine, *arguments: str) -> str:
    return line("names", "preview", "--data", "builtin", *arguments).out


@row("cache --language", "cache clean --language")
def _(line: CommandLine, command: str) -> None:
    words = {"cache": ("stored in", "gemt i"), "cache clean": ("freed", "frigjort")}
    english, danish = words[command]
    en, da = (line(*command.split(), *more).words for more in ((), ("--language", "da")))
    assert (english in en, danish in en) == (True, False)
    assert (english in da, danish in da) == (False, True)


@row("cache clean [KIND]...")
def _(line: CommandLine, command: str) -> None:
    home = line.folder / "home"
    line.patch.setenv("GENDALENS_HOME", str(home))
    sizes = {
        "cache.sqlite": 10,
        "cache.sqlite-wal": 1,
        "responses.sqlite": 2,
        "endpoints/a.json": 1,
        "data/abc/abc.tsv": 4,
        "weights/copy/model.safetensors": 1500,
        "pages/charts.js": 5,
    }

    def fill() -> None:
        for name, megabytes in sizes.items():
            (home / name).parent.mkdir(parents=True, exist_ok=True)
            with (home / name).open("wb") as file:
                file.truncate(megabytes * 10**6)

    def measure() -> dict[str, str]:
        rows = [text.split() for text in line("cache").out.splitlines()]
        return {row[0]: " ".join(row[-2:]) for row in rows if row and row[-1] in ("MB", "GB")}

    fill()
    (home / "mine.txt").write_text("mine")
    outside = line.folder / "letter.txt"
    outside.write_text("kære Ida")
    (home / "pages/link.js").symlink_to(outside)
    full = {
        "answers": "11.0 MB",
        "responses": "3.0 MB",
        "data": "4.0 MB",
        "weights": "1.5 GB",
        "pages": "5.0 MB",
        "total": "1.5 GB",
    }
    assert measure() == full
    done = line("cache", "clean")
    assert "weights: 1.5 GB removed" in done.words
    assert "answers stay (11.0 MB): name them" in done.words
    gone = full | {"weights": "0.0 MB", "pages": "0.0 MB", "total": "18.0 MB"}
    assert measure() == gone
    assert line("cache", "clean", "answers", "data").words.endswith("15.0 MB freed")
    assert measure() == gone | {"answers": "0.0 MB", "data": "0.0 MB", "total": "3.0 MB"}
    assert "There is no kind rubbish" in line("cache", "clean", "rubbish", fails=True).err
    fill()
    assert "stay" not in line("cache", "clean", "all").words
    assert set(measure().values()) == {"0.0 MB"}
    assert files_in(home) == {"mine.txt"}
    assert outside.read_text() == "kære Ida"
