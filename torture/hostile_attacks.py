"""The attacks: small tables of places and of what is put there."""

from __future__ import annotations

import io
import json
import shutil
import sqlite3
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, redirect_stderr, redirect_stdout
from functools import cache
from pathlib import Path
from typing import Any

import gendalens
from gendalens.engine.cache import Cache, checksum, request_key
from gendalens.errors import UserError
from gendalens.models import demo
from gendalens.models.detect import load_model
from gendalens.models.requests import Fill, Reconstruct, Request, Resolve, Score, Tag
from torture.hostile import Attack, Scene
from torture.hostile_files import WAYS, Way

ASKED: dict[str, Any] = {"tasks": "lm-dawinobias", "data": "builtin", "sample": 4, "cache": False}
SENTENCE = Score("Hun sejler.")
BAD_NAMES = (
    "model\x1b[2J", "model\u202efdp", "model\nnext: 1", "=HYPERLINK(1)", "<script>alert(1)</script>",
    "a|b & $x_1 % # \\input{x}", "[x](http://y)", "\u2066x\u0000",
)  # fmt: skip


@cache
def make_run(work: Path) -> Path:
    """A sound run folder, which attacks copy."""
    out = work / "sound-run"
    gendalens.run("control:fair", tasks=["lm-dawinobias"], data="builtin", sample=8, out=out)
    return out


@cache
def ask_sound_model() -> Any:
    """What the model answers when nobody has touched it."""
    return ask(demo.FOLDER / "demo-lm")


def ask(folder: Path) -> Any:
    """One answer of the model in a folder."""
    backend = load_model(str(folder))
    backend.fingerprint()
    return backend.answer(backend.encode([SENTENCE]))


def command(*arguments: object) -> tuple[int, str, str]:
    """A command of GenDa Lens in this process: its exit code and its output."""
    from gendalens.cli.app import main

    sys.argv = ["gendalens", *map(str, arguments)]
    out, errors = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(errors):
        try:
            main()
            code = 0
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else 0
    return code, out.getvalue(), errors.getvalue()


def judge(ended: tuple[int, str, str]) -> str | None:
    """What is wrong with the end of a command: 1 and 3 are verdicts of a gate, 2 is one sentence."""
    code, _, errors = ended
    if "Traceback" in errors or code not in (0, 1, 2, 3):
        return f"exit code {code}: {errors[-600:]}"
    lines = [line for line in errors.splitlines() if line.startswith("gendalens: ")]
    if code == 2 and len(lines) != 1:
        return f"{len(lines)} sentences: {errors[-300:]}"
    return None


def attacks(work: Path) -> Iterator[Attack]:
    """All attacks."""
    ask_sound_model()
    run = make_run(work)
    for part in (models, settings, codes, answers, databases, names, scripts):
        yield from part(run)
    yield from run_folders(run)
    yield from predictions(run)


# Models


def models(_: Path) -> Iterator[Attack]:
    """Something else in the place of each file of a model."""
    files = ["config.json", "tokenizer_config.json", "tokenizer.json", "model.safetensors"]
    files += ("special_tokens_map.json", "added_tokens.json", "generation_config.json")
    for name in files:
        for what, way in WAYS.items():
            yield Attack(f"model: {what} for a file", name, _replaced(name, way))


def copy_model(scene: Scene) -> Path:
    """A sound model, to be changed."""
    return Path(shutil.copytree(demo.FOLDER / "demo-lm", scene.folder / "model"))


def _same_answer(folder: Path) -> str | None:
    return None if ask(folder) == ask_sound_model() else "another answer than the sound model's"


def _replaced(name: str, way: Way) -> Callable[[Scene], str | None]:
    def act(scene: Scene) -> str | None:
        folder = copy_model(scene)
        way(folder / name, scene)
        return _same_answer(folder)

    return act


def _edited(file: str, values: dict[str, Any]) -> Callable[[Scene], str | None]:
    def act(scene: Scene) -> str | None:
        folder = copy_model(scene)
        path = folder / file
        path.write_text(json.dumps(json.loads(path.read_text("utf-8")) | values), "utf-8")
        # Settings can change what a model is, so any answer counts, but no crash.
        ask(folder)
        return None

    return act


def settings(_: Path) -> Iterator[Attack]:
    """Wrong values in the settings of a model and its tokenizer."""
    wrong: tuple[Any, ...] = (-1, 0, 10**9, 10**30, 1.5, "x", None, [], {}, True)
    for name in ("num_hidden_layers", "hidden_size", "vocab_size", "model_type", "architectures"):
        for value in wrong:
            yield Attack(
                "model: wrong value in config.json", f"{name} {value!r}",
                _edited("config.json", {name: value}),
            )  # fmt: skip
    for name in ("tokenizer_class", "mask_token", "model_max_length", "added_tokens_decoder"):
        for value in wrong:
            yield Attack(
                "model: wrong value in tokenizer_config.json", f"{name} {value!r}",
                _edited("tokenizer_config.json", {name: value}),
            )  # fmt: skip


def codes(_: Path) -> Iterator[Attack]:
    """Code in a model's folder, and in the working directory."""
    files = ("pip", "torch", "json", "zipfile", "sitecustomize", "own", "__init__", "tokenizers")
    for name in files:
        for place in ("model", "."):
            yield Attack("model: code files", f"{place}/{name}.py", _with_code(name, place))


def _with_code(name: str, place: str) -> Callable[[Scene], str | None]:
    def act(scene: Scene) -> str | None:
        from gendalens.data import fetch

        folder = copy_model(scene)
        (scene.folder / place / f"{name}.py").write_text(scene.code, "utf-8")
        config = folder / "config.json"
        own = {"auto_map": {"AutoConfig": "own.Own", "AutoModelForMaskedLM": "own.Own"}}
        config.write_text(json.dumps(json.loads(config.read_text("utf-8")) | own), "utf-8")
        if problem := _same_answer(folder):
            return problem
        import os

        os.environ["PIP_NO_INDEX"] = "1"
        (scene.folder / "to").mkdir()
        try:
            fetch.download("genda-lens==0.0.3", "0" * 64, scene.folder / "to")
        except UserError:
            return None
        return "something was fetched"

    return act


# The cache

_FILL = Fill("Det er ", " båd.", ("hans", "hendes"))
_TAG = Tag("Åse bor i Ribe.")
_RESOLVE = Resolve("Bo ved, at han sover.", (), (11, 14), ((0, 2),))
_RECONSTRUCT = Reconstruct("Hun maler sit hus.", ("sit",), "hans")
_HUGE = "1" + "0" * 400
ANSWERS: dict[Request, tuple[str, ...]] = {
    SENTENCE: (
        "[-3.5, 0, 0, 0]", "[-3.5, -5, 0, 0]", '["-3.5", 4, 0, 0]', "[-3.5, 4.5, 0, 0]",
        "[-3.5, true, 0, 0]", "[NaN, 4, 0, 0]", "[-Infinity, 4, 0, 0]", f"[-{_HUGE}, 4, 0, 0]",
        f"[-3.5, {_HUGE}, 0, 0]", "[-1e999, 4, 0, 0]", "[0.5, 4, 0, 0]", "[-3.5, 4, 2, 0]",
        "[-3.5, 4, 0, -1]", "[-3.5, 4]", "{}", "null", "7", "", "[" * 100_000, '["hans"]',
        "[" + "9" * 5_000 + ", 4, 0, 0]",
    ),
    _FILL: (
        '[[-1.0], [1], "hans", 0]', '[[-1.0, 0.5], [1, 1], "hans", 0]',
        '[[-1.0, null], [1, 1], "hans", 0]', '[[-1.0, -2.0], [0, 1], "hans", 0]',
        "[[-1.0, -2.0], [1, 1], 7, 0]", "[null, null, null, null]", "[-3.5, 4, 0, 0]",
    ),
    _TAG: (
        '[[[0, 99, "PER"]], 7]', '[[[-3, 3, "PER"]], 7]', '[[["0", 3, "PER"]], 7]',
        "[[[0, 3, 5]], 7]", "[[[0, 3]], 7]", "[[], -1]", "[7, 7]",
    ),
    _RESOLVE: (
        "[[[[0, 2], [11, 99]]], [], [], 0]", "[[[0, 2]], [], [], 0]", "[[], [NaN, -1.0], [], 0]",
        '[[], ["a", "b"], [], 0]',
    ),
    _RECONSTRUCT: ("[-3.0]", "[1e300]", '["x"]', "[NaN]"),
}  # fmt: skip


def answers(_: Path) -> Iterator[Attack]:
    """Answers that no model can have given, with a right checksum."""
    for request, texts in ANSWERS.items():
        for text in texts:
            name = f"{request.kind} {text[:40]}"
            yield Attack("cache: impossible answer", name, _planted(request, text))


def _planted(request: Request, text: str) -> Callable[[Scene], str | None]:
    def act(scene: Scene) -> str | None:
        path = scene.folder / "home" / "cache.sqlite"
        with Cache(path):
            pass
        key, kind = request_key("m", request), request.kind
        row = (key, kind, text, checksum(key, kind.encode(), text.encode()))
        with closing(sqlite3.connect(path, isolation_level=None)) as db:
            db.execute("INSERT INTO answers VALUES (?, ?, ?, ?)", row)
        with Cache(path) as found:
            if found.lookup("m", [request]) or found.damaged != 1:
                return "the answer was believed"
        return None

    return act


STATEMENTS = (
    "CREATE TRIGGER t AFTER INSERT ON answers BEGIN SELECT 1; END",
    "CREATE TRIGGER t BEFORE INSERT ON answers BEGIN DELETE FROM answers; END",
    "CREATE VIEW v AS SELECT 1",
    "CREATE VIRTUAL TABLE f USING fts5(x)",
    "CREATE TABLE other (x)",
    "CREATE INDEX i ON answers (kind)",
    "CREATE INDEX i ON answers (abs(checksum))",
    "ALTER TABLE answers ADD COLUMN x AS (abs(checksum))",
    "ALTER TABLE answers RENAME COLUMN kind TO sort",
    "DROP TABLE answers; CREATE VIEW answers AS SELECT x'00' AS key",
    "DROP TABLE answers; CREATE TABLE answers (key BLOB PRIMARY KEY, kind, answer, checksum)",
    "DROP TABLE answers; CREATE VIEW answers AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL "
    "SELECT i + 1 FROM n) SELECT x'00' AS key, '' AS kind, count(*) AS answer, 0 AS checksum FROM n",
    "PRAGMA user_version=3",
    "PRAGMA user_version=-1",
    "PRAGMA user_version=2147483647",
)


def databases(_: Path) -> Iterator[Attack]:
    """A cache with anything but answers, and something else in its place."""
    for statement in STATEMENTS:
        yield Attack("cache: foreign schema", statement[:50], _database(statement))
    for what, way in WAYS.items():
        yield Attack("cache: another file in its place", what, _cache_replaced(way))


def _database(statement: str) -> Callable[[Scene], str | None]:
    def act(scene: Scene) -> str | None:
        path = scene.folder / "home" / "cache.sqlite"
        with Cache(path):
            pass
        with closing(sqlite3.connect(path)) as db:
            db.executescript(statement)
        before = path.read_bytes()
        try:
            Cache(path)
        except UserError:
            if path.read_bytes() != before:
                return "a refused cache was changed"
            raise
        return "the cache was used"

    return act


def _cache_replaced(way: Way) -> Callable[[Scene], str | None]:
    def act(scene: Scene) -> str | None:
        path = scene.folder / "home" / "cache.sqlite"
        way(path, scene)
        with Cache(path) as found:
            found.lookup("m", [SENTENCE])
        return None

    return act


# Run folders


def run_folders(run: Path) -> Iterator[Attack]:
    """Something else in the place of each file of a run, for every command that reads runs."""
    for shown in ("report", "show", "compare", "gate", "load"):
        for name in ("result.json", "records.jsonl", "run.json", "report.html"):
            for what, way in WAYS.items():
                yield Attack(
                    f"run folder: {what} for a file", f"{shown} {name}",
                    _shown(run, shown, name, way),
                )  # fmt: skip


def copy_run(run: Path, scene: Scene) -> Path:
    """A sound run folder, to be changed."""
    return Path(shutil.copytree(run, scene.folder / "run"))


def _show(folder: Path, shown: str) -> str | None:
    if shown == "load":
        for one in gendalens.load(folder):
            list(getattr(one, "records", lambda: ())())
        return None
    options: dict[str, list[object]] = {"compare": [folder], "gate": ["--max-effect", "1"]}
    return judge(command(shown, folder, *options.get(shown, [])))


def _shown(run: Path, shown: str, name: str, way: Way) -> Callable[[Scene], str | None]:
    def act(scene: Scene) -> str | None:
        folder = copy_run(run, scene)
        file = next(iter(folder.rglob(name)), folder / name)
        way(file, scene)
        return _show(folder, shown)

    return act


# Names, predictions, scripts


def names(run: Path) -> Iterator[Attack]:
    """Names of models through every exporter."""
    formats = ("json", "csv", "markdown", "latex", "model-card", "hub-yaml", "every-eval-ever")
    for name in BAD_NAMES:
        for kind in (*formats, "html"):
            yield Attack("names through the exporters", f"{kind} {name!r}", _named(run, kind, name))


def _named(run: Path, kind: str, name: str) -> Callable[[Scene], str | None]:
    def act(scene: Scene) -> str | None:
        folder = copy_run(run, scene)
        for file in folder.rglob("result.json"):
            plain = json.loads(file.read_text("utf-8"))
            plain["model"]["name"] = name
            file.write_text(json.dumps(plain), "utf-8")
        if kind == "html":
            ended = command("report", folder)
            text = (folder / "report.html").read_text("utf-8") if ended[0] == 0 else ""
            bad = "<script>alert(1)" in text
            bad = bad or any(sign in text for sign in "\x1b\u202e\u2066\x00")
        else:
            ended = command("show", folder, f"--{kind}")
            text = ended[1]
            bad = kind == "csv" and any(line.startswith("=") for line in text.splitlines())
            bad = bad or any(sign in text for sign in "\x1b\u202e\u2066\x00")
        return judge(ended) or ("the name is not escaped" if bad else None)

    return act


def predictions(_: Path) -> Iterator[Attack]:
    """Files of answers that are none."""
    lines = (
        "{}", "[]", "7", '{"id": null}', '{"id": {}}', '{"gendalens": 1e999}', "\x00", "[" * 50_000,
        '{"a": ' + "9" * 5_000 + "}", "\ufeff{}", '{"id": "\\ud800"}', "NaN",
    )  # fmt: skip
    for number, line in enumerate(lines):
        yield Attack("file of answers: wrong shape", f"{number}", _scored(line))
    for what, way in WAYS.items():
        if what not in ("pipe", "terabyte"):  # the user named the path: a pipe is waited for
            yield Attack("file of answers: another file", what, _scored_file(way))


def _score(file: Path) -> str | None:
    return judge(
        command("score", "lm-abc", file, "--model-name", "x", "--data", "builtin", "--sample", "4")
    )


def _scored(line: str) -> Callable[[Scene], str | None]:
    def act(scene: Scene) -> str | None:
        file = scene.folder / "answers.jsonl"
        file.write_text(line + "\n", "utf-8")
        return _score(file)

    return act


def _scored_file(way: Way) -> Callable[[Scene], str | None]:
    def act(scene: Scene) -> str | None:
        way(scene.folder / "answers.jsonl", scene)
        return _score(scene.folder / "answers.jsonl")

    return act


def scripts(run: Path) -> Iterator[Attack]:
    """Scripts planted beside the cache."""
    from importlib.metadata import version

    made_by = f"{version('vl-convert-python')}-{version('altair')}"
    for name in (f"charts-{made_by}.js", "charts.js"):
        for what in ("text", "link", "pipe", "device"):
            yield Attack("planted page script", f"{name} {what}", _scripted(run, name, what))


def _scripted(run: Path, name: str, what: str) -> Callable[[Scene], str | None]:
    def act(scene: Scene) -> str | None:
        from gendalens.report.charts import library
        from gendalens.report.html import page

        planted = scene.folder / "home" / "pages" / name
        planted.parent.mkdir(parents=True)
        if what == "text":
            planted.write_text("alert('planted')", "utf-8")
        else:
            WAYS[what](planted, scene)
        # Making it takes seconds, and is tested elsewhere.
        library.bundle_scripts = lambda snippet: "the library"
        page._read_bundle.cache_clear()
        folder = copy_run(run, scene)
        problem = judge(command("report", folder))
        text = (folder / "report.html").read_text("utf-8")
        return problem or ("a planted script" if "planted" in text or "kære" in text else None)

    return act
