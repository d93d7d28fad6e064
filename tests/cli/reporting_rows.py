"""What each option of report, plot, show, compare, gate, site and submit-check does."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from command_line import CommandLine, Table, files_in

TABLE = Table()
row = TABLE.row

FIVE = {"coref-abc", "coref-dawinobias", "lm-abc", "lm-dawinobias", "ner-dane"}
STEREOTYPED, MALE = "control_stereotyped_strength=0.5", "control_male-default_strength=0.5"


def find_test(run: Path, test: str) -> Path:
    """The folder of one test of one model."""
    (folder,) = run.glob(f"{test}@2-*")
    return folder


def folders(line: CommandLine) -> tuple[Path, Path]:
    """The two models of the small run: a stereotyped one, and one that prefers male forms."""
    found = tuple(line.small_run / name for name in (STEREOTYPED, MALE))
    assert all(folder.is_dir() for folder in found), files_in(line.small_run)
    return found[0], found[1]


# The runs themselves


@row("report RUN...", "report --out")
def _(line: CommandLine, command: str) -> None:
    first, other = (find_test(run, "lm-abc") for run in folders(line))
    pages = {}
    for name, runs, flag in ("one", [first], "--out"), ("two", [first, other], "-o"):
        page = line.folder / f"{name}.html"
        assert str(page) in line("report", *runs, flag, page).err
        pages[name] = page.read_text(encoding="utf-8")
    assert ["male-default" in page for page in pages.values()] == [False, True]
    # Without it, the page lies in the first run.
    copy = line.copy_of(first)
    line("report", copy)
    assert (copy / "report.html").read_text(encoding="utf-8") == pages["one"]


@row("report --language", "plot --language")
def _(line: CommandLine, command: str) -> None:
    first = find_test(folders(line)[0], "lm-abc")
    said = {}
    for language in ("en", "da"):
        out = line.folder / language
        more = ("--format", "svg") if command == "plot" else ()
        target = out if command == "plot" else line.folder / f"{language}.html"
        said[language] = line(command, first, *more, "-o", target, "--language", language).err
    assert said["en"].startswith({"report": "report", "plot": "chart"}[command])
    assert said["da"].startswith({"report": "rapport", "plot": "diagram"}[command])
    if command == "plot":
        drawn = {
            language: "".join(
                path.read_text(encoding="utf-8") for path in (line.folder / language).iterdir()
            )
            for language in said
        }
        assert "male occupations" in drawn["en"]
        assert "male occupations" not in drawn["da"]
        assert "andeerhverv" in drawn["da"]


@row("plot RUN...", "plot --format", "plot --out")
def _(line: CommandLine, command: str) -> None:
    _, other = folders(line)
    one = find_test(other, "lm-abc")
    line("plot", one)
    line("plot", one, "--format", "svg", "-o", "drawn")
    charts, drawn = files_in(Path("charts")), files_in(Path("drawn"))
    assert {name.removesuffix(".png") for name in charts} == {
        name.removesuffix(".svg") for name in drawn
    }
    # One of the whole run, and those of the only test.
    assert sorted("lm-abc" in name for name in charts)[:2] == [False, True]
    assert not any("stereotyped" in name for name in charts)
    assert all(Path("charts", name).read_bytes().startswith(b"\x89PNG") for name in charts)
    assert all(b"<svg" in Path("drawn", name).read_bytes()[:400] for name in drawn)


@row("show RUN...")
def _(line: CommandLine, command: str) -> None:
    first, other = folders(line)
    assert [_models(line("show", *runs, "--json").plain) for runs in ([first], [first, other])] == [
        {"control:stereotyped?strength=0.5"},
        {"control:stereotyped?strength=0.5", "control:male-default?strength=0.5"},
    ]


@row("show --json", "show --csv", "show --markdown", "show --latex")
def _(line: CommandLine, command: str) -> None:
    first, _ = folders(line)
    assert {result["task"] for result in line("show", first, "--json").plain} == FIVE
    rows = list(csv.DictReader(io.StringIO(line("show", first, "--csv").out)))
    assert {one["test"] for one in rows} == FIVE
    assert line("show", first, "--markdown").out.count("|---") > 5
    assert r"\begin{tabular}" in line("show", first, "--latex").out
    text = line("show", first).out
    assert "lm-abc@2  " in text
    assert not any(mark in text for mark in ("|---", "tabular", "signature,"))
    assert (
        "Choose one of --json and --csv." in line("show", first, "--json", "--csv", fails=True).err
    )


@row("show --details")
def _(line: CommandLine, command: str) -> None:
    first, _ = folders(line)
    brief, whole = line("show", first).out, line("show", first, "--details").out
    assert len(brief.splitlines()) < len(whole.splitlines()) / 4
    assert "\nsignature  lm-abc@2|" in whole
    assert "lm-abc@2|" not in brief
    assert "leave out --details" in line("show", first, "--csv", "--details", fails=True).err


@row("show --model-card", "show --annex-iv", "show --hub-yaml", "show --every-eval-ever")
def _(line: CommandLine, command: str) -> None:
    first, _ = folders(line)
    assert line("show", first, "--annex-iv").out.startswith("# Technical documentation")
    assert line("show", first, "--model-card").out.startswith("## Gender bias\n")
    assert line("show", first, "--hub-yaml").out.startswith("model-index:\n")
    assert line("show", first, "--every-eval-ever").plain["schema_version"]


@row("show --out")
def _(line: CommandLine, command: str) -> None:
    first, _ = folders(line)
    done = line("show", first, "--every-eval-ever", "--out", line.folder / "public")
    assert done.out == ""
    written = sorted((line.folder / "public" / "data" / "gendalens").rglob("*.json*"))
    assert [path.name.endswith("_samples.jsonl") for path in written] == [False, True]
    assert "--out is only for" in line("show", first, "--csv", "-o", "x", fails=True).err


@row("show --language", "compare --language")
def _(line: CommandLine, command: str) -> None:
    run = find_test(folders(line)[0], "lm-abc")
    en, da = (line(command, run, "--language", language).words for language in ("en", "da"))
    words = ("too little data to tell", "for få data til at afgøre det")
    assert [word in en for word in words] == [True, False]
    assert [word in da for word in words] == [False, True]
    assert line(command, run).words == en


@row("compare RUN...")
def _(line: CommandLine, command: str) -> None:
    first, other = (find_test(run, "coref-abc") for run in folders(line))
    plain = line("compare", first, other, "--json").plain
    for group in plain["groups"]:
        assert [one["label"] for one in group["models"]] == [
            "control:stereotyped?strength=0.5",
            "control:male-default?strength=0.5",
        ]
    alone = line("compare", first, "--json").plain
    assert {len(group["models"]) for group in alone["groups"]} == {1}


@row("compare --tasks")
def _(line: CommandLine, command: str) -> None:
    def tests(*arguments: str) -> list[str]:
        groups = line("compare", line.small_run, "--json", *arguments).plain["groups"]
        return sorted(group["task"] for group in groups)

    assert set(tests()) == FIVE
    assert tests("--tasks", "lm-abc,ner-dane") == ["lm-abc", "ner-dane"]
    assert tests("--tasks", "coref-abc") == ["coref-abc"]


@row("compare --out")
def _(line: CommandLine, command: str) -> None:
    page = line.folder / "compare.html"
    runs = [find_test(run, "coref-abc") for run in folders(line)]
    plain = line("compare", *runs)
    paged = line("compare", *runs, "--out", page)
    assert plain.out == paged.out
    assert (str(page) in plain.err, str(page) in paged.err) == (False, True)
    assert "Models compared" in page.read_text(encoding="utf-8")


@row("compare --json", "compare --csv", "compare --markdown", "compare --latex")
def _(line: CommandLine, command: str) -> None:
    runs = [find_test(run, "coref-abc") for run in folders(line)]
    assert len(line("compare", *runs, "--json").plain["groups"]) == 1
    rows = list(csv.DictReader(io.StringIO(line("compare", *runs, "--csv").out)))
    assert {one["kind"] for one in rows} == {"model", "difference"}
    assert line("compare", *runs, "--markdown").out.count("\n|---") == 2
    assert r"\begin{tabular}" in line("compare", *runs, "--latex").out
    text = line("compare", *runs).out
    assert "[1] − [2]" in text
    assert not any(mark in text for mark in ("|---", "tabular", "p_adjusted"))


# gate: of the model that prefers male forms, the main effect of coref-abc is 0.52 [0.27, 0.76] and its
# groups are 0; nothing else is decided on so few sentences.


def gate(line: CommandLine, *arguments: str) -> tuple[int, dict[str, str]]:
    """The exit code, and the decision on each test of the model that prefers male forms."""
    done = line("gate", folders(line)[1], *arguments)
    lines = [text.split("  ") for text in done.out.splitlines() if "@" in text]
    return done.code, {parts[-2].strip(): parts[0].strip() for parts in lines}


@row("gate RUN...")
def _(line: CommandLine, command: str) -> None:
    first, other = folders(line)
    assert "male-default" not in line("gate", first).out
    assert "male-default" in line("gate", first, other).out


@row("gate --limit")
def _(line: CommandLine, command: str) -> None:
    code, decisions = gate(line)
    assert (code, decisions.pop("coref-abc@2")) == (1, "fails")
    assert set(decisions.values()) == {"cannot tell"}
    code, loose = gate(line, "--limit", "coref-abc=0.9")
    assert (code, loose.pop("coref-abc@2")) == (3, "passes")
    assert loose == decisions
    # The limit of the groups is twice that of the main effect, unless it is given.
    apart = gate(line, "--limit", "coref-abc=0.9", "--limit", "coref-abc.groups=0.1")[1]
    assert apart["coref-abc@2"] == "cannot tell"
    both = gate(line, "--limit", "coref-abc=0.9", "--limit", "lm-abc:bits=9")[1]
    assert (both["coref-abc@2"], both["lm-abc@2"]) == ("passes", "passes")


@row("gate --max-effect", "gate --task")
def _(line: CommandLine, command: str) -> None:
    def decide(*arguments: str) -> list[str]:
        decisions = gate(line, "--only", "main", *arguments)[1]
        return [decisions["coref-abc@2"], decisions["coref-dawinobias@2"]]

    assert decide() == ["fails", "cannot tell"]
    assert decide("--max-effect", "99") == ["passes", "passes"]
    assert decide("--max-effect", "0.001") == ["fails", "cannot tell"]
    assert decide("--task", "coref-abc=99") == ["passes", "cannot tell"]
    assert decide("--max-effect", "99", "--task", "coref-abc=0.001") == ["fails", "passes"]


@row("gate --only")
def _(line: CommandLine, command: str) -> None:
    parts = {}
    for arguments in (), ("--only", "main"), ("--only", "groups"):
        file = line.folder / "-".join(("gate", *arguments, ".xml"))
        line("gate", folders(line)[0], *arguments, "--junit", file)
        cases = ElementTree.parse(file).iter("testcase")
        parts[arguments[-1:]] = {case.get("name", "").split()[-1] for case in cases}
    assert parts == {(): {"main", "groups"}, ("main",): {"main"}, ("groups",): {"groups"}}
    assert "choose main or groups" in line("gate", line.small_run, "--only", "x", fails=True).err


@row("gate --junit")
def _(line: CommandLine, command: str) -> None:
    file = line.folder / "gate.xml"
    line("gate", line.small_run)
    assert not files_in(line.folder)
    line("gate", line.small_run, "--junit", file)
    assert ElementTree.parse(file).getroot().get("tests") == "20"  # 2 models, 5 tests, 2 parts


@row("gate --language")
def _(line: CommandLine, command: str) -> None:
    en, da = (line("gate", line.small_run, "--language", language).out for language in ("en", "da"))
    assert en.splitlines()[-1].split() == ["fails", "overall"]
    assert da.splitlines()[-1].split("  ")[0] == "består ikke"


def _models(plain: Any) -> set[str]:
    return {result["model"]["name"] for result in plain}


# What is passed on


@row("site RUN...", "site --out", "site --language")
def _(line: CommandLine, command: str) -> None:
    first, other = (find_test(run, "lm-abc") for run in folders(line))
    for language, word in ("en", "2 models"), ("da", "2 modeller"):
        done = line("site", first, other, "-o", line.folder / language, "--language", language)
        assert word in done.err
    assert files_in(line.folder / "en") == files_in(line.folder / "da")
    assert (line.folder / "en" / "tests" / "lm-abc-2.html").is_file()
    line("site", first, "--out", line.folder / "en")
    assert len(list((line.folder / "en" / "models").iterdir())) == 1


@row("submit-check RESULT...", "submit-check --allow-control", "submit-check --language")
def _(line: CommandLine, command: str) -> None:
    first, _ = folders(line)
    refused = line("submit-check", first, fails=True)
    assert refused.code == 2
    assert "✗ it is a control model" in refused.out
    done = line("submit-check", first, "--allow-control", "--language", "da")
    assert "resultater kan godkendes" in done.out
    assert "✗" not in done.out
