"""What the options of shards do: run --shard, requests --shard, and merge."""

from __future__ import annotations

import json
from pathlib import Path

from command_line import CommandLine, Done, Table
from small_data import small_data

TABLE = Table()
row = TABLE.row

ABC = ("--data", "builtin", "--sample", "12")


def answer(line: CommandLine, *shards: str, model: str = "control:stereotyped") -> list[Path]:
    """The folders of some shards of ``lm-abc`` on a few sentences."""
    line.skip_pages()
    folders = []
    for shard in shards:
        folders.append(line.folder / shard.replace("/", "-of-"))
        done = line("run", model, "--tasks", "lm-abc", *ABC, "--shard", shard, "--out", folders[-1])
        assert str(folders[-1]) in done.out
    return folders


def merge(line: CommandLine, *arguments: str | Path, **more: bool) -> Done:
    return line("merge", *arguments, **more)


@row("run --shard", "merge SHARDS...", "merge --json")
def _(line: CommandLine, command: str) -> None:
    whole = line("run", "control:stereotyped", "--tasks", "lm-abc", *ABC, "--json", "--out", "w")
    parts = answer(line, "1/2", "2/2")
    assert merge(line, *parts, "--json").plain == whole.plain
    assert "lm-abc" in merge(line, *parts).out
    assert "2/2 are missing" in merge(line, parts[0], fails=True).err
    for shard, said in (
        ("0/3", "there is no such part"),
        ("4/3", "there is no such part"),
        ("a/b", "write NUMBER/COUNT"),
    ):
        for name in ("run", "requests"):
            target = ("lm-abc", "-o", "-") if name == "requests" else ("control:fair",)
            assert said in line(name, *target, *ABC, "--shard", shard, fails=True).err
    for more in (("--json",), ("control:fair",)):
        said = line("run", "control:always-han", *ABC, "--shard", "1/2", *more, fails=True).err
        assert said.count("gendalens: ") == 1
    other = answer(line, "2/2", model="control:fair")
    assert "are not shards of the same run" in merge(line, parts[0], *other, fails=True).err


@row("merge --out")
def _(line: CommandLine, command: str) -> None:
    parts = answer(line, "1/2", "2/2")
    for flag in ("--out", "-o"):
        out = line.folder / f"merged{flag}"
        merge(line, *parts, flag, out)
        assert [path.name for path in out.rglob("result.json")] == ["result.json"]
    merge(line, *parts)
    assert list(Path("runs").rglob("result.json"))


@row("merge --data")
def _(line: CommandLine, command: str) -> None:
    line.skip_pages()
    data = small_data(line.folder / "data")["abc"]
    out = line.folder / "shards"
    line(
        "run",
        "control:fair",
        "--tasks",
        "lm-abc",
        "--data",
        f"abc={data}",
        "--shard",
        "1/1",
        "--out",
        out,
    )
    moved = data.rename(line.folder / "moved")
    merge(line, out, fails=True)
    assert "lm-abc" in merge(line, out, "--data", f"abc={moved}").out
    assert "The data set abc here" in merge(line, out, "--data", "builtin", fails=True).err


@row("merge --offline")
def _(line: CommandLine, command: str) -> None:
    (out,) = answer(line, "1/1")
    (path,) = out.rglob("*.jsonl")
    path.write_text(path.read_text().replace('"choices": {"abc": "builtin"}', '"choices": {}'))
    line.forbid_fetching()
    said = [merge(line, out, *more, fails=True).err for more in ((), ("--offline",))]
    assert "no index today" in said[0] or said[0] != said[1]


@row("merge --language")
def _(line: CommandLine, command: str) -> None:
    (out, *_) = answer(line, "1/2")
    said = [
        merge(line, out, *language, fails=True).err
        for language in ((), ("--language", "en"), ("--language", "da"))
    ]
    assert "are missing" in said[0]
    assert said[0] == said[1]
    assert "mangler" in said[2]


@row("requests --shard")
def _(line: CommandLine, command: str) -> None:
    header, *whole = line("requests", "lm-abc", *ABC, "-o", "-").lines
    asked, paths = [], []
    for number in (1, 2, 3):
        shard = f"{number}/3"
        first, *some = line("requests", "lm-abc", *ABC, "-o", "-", "--shard", shard).lines
        assert first == {**header, "requests": len(some), "shard": shard}
        asked += some
        paths.append(line.folder / f"answers-{number}.jsonl")
        lines = [{"format": "gendalens-answers", "version": 1, "shard": shard}]
        lines += [{"id": one["id"], "log_likelihood": -20.5, "tokens": 9} for one in some]
        paths[-1].write_text("".join(f"{json.dumps(one)}\n" for one in lines))
    assert asked == whole
    joined = line.folder / "joined.jsonl"
    assert "36 answers joined" in merge(line, *reversed(paths), "--out", joined).err
    answers = [
        {"format": "gendalens-answers", "version": 1},
        *({"id": one["id"], "log_likelihood": -20.5, "tokens": 9} for one in whole),
    ]
    assert joined.read_text() == "".join(f"{json.dumps(one)}\n" for one in answers)
    score = ("score", "lm-abc", "--model-name", "x", *ABC)
    line(*score, joined, fails=None)
    assert "answers only shard 1/3" in line(*score, paths[0], fails=True).err
    assert "3/3 are missing" in merge(line, *paths[:2], "-o", joined, fails=True).err
    assert "name it with --out" in merge(line, *paths, fails=True).err
