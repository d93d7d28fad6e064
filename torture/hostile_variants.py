"""Variants of the attacks, by someone who has read how the first ones were held off."""

from __future__ import annotations

import json
import os
import sqlite3
import struct
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from gendalens.engine.cache import Cache
from gendalens.models.endpoint.findings import read_stored
from gendalens.models.endpoint.journal import Journal
from gendalens.models.requests import ScoreAnswer
from gendalens.system.file_writing import append_text, make_folders, replace_file
from torture.hostile import Attack, Scene
from torture.hostile_attacks import (
    BAD_NAMES,
    SENTENCE,
    ask,
    ask_sound_model,
    command,
    copy_model,
    copy_run,
    judge,
)
from torture.hostile_files import WAYS, Way

Act = Callable[[Scene], str | None]


def attacks(run: Path) -> Iterator[Attack]:
    """All variants; ``run`` is a sound run folder."""
    yield from sizes()
    yield from tokenizers()
    yield from beside_databases()
    yield from findings()
    yield from own_data()
    yield from written(run)
    yield from texts(run)
    yield from templates()


def _edit(file: Path, **values: Any) -> None:
    plain = json.loads(file.read_text("utf-8")) if file.exists() else {}
    file.write_text(json.dumps(plain | values), "utf-8")


# Models

_SIZES = (
    "max_position_embeddings", "intermediate_size", "num_attention_heads", "type_vocab_size",
    "num_labels", "num_experts", "n_layer", "num_hidden_layers", "id2label", "dtype", "hidden_act",
    "quantization_config", "text_config", "transformers_weights", "pad_token_id", "initializer_range",
)  # fmt: skip
_VALUES: tuple[Any, ...] = (-1, 0, 10**9, 10**30, 1e308, "x", None, [], {"a": 1}, "../x")


def sizes() -> Iterator[Attack]:
    """Numbers and types that no model has, in more settings, and in nested ones."""
    for name in _SIZES:
        for value in _VALUES:
            yield Attack(
                "model: wrong value in config.json", f"{name} {value!r}", _sized({name: value})
            )
    for name in ("num_labels", "num_hidden_layers", "max_position_embeddings"):
        yield Attack(
            "model: wrong value in config.json", f"nested {name}",
            _sized({"text_config": {"model_type": "bert", name: 10**9}}),
        )  # fmt: skip


def _sized(values: dict[str, Any]) -> Act:
    def act(scene: Scene) -> str | None:
        folder = copy_model(scene)
        _edit(folder / "config.json", **values)
        ask(folder)
        return None

    return act


def tokenizers() -> Iterator[Attack]:
    """A vocabulary outside the folder, named in each file of settings."""
    for file in ("tokenizer_config.json", "special_tokens_map.json", "added_tokens.json"):
        for name in ("vocab", "vocab_file", "tokenizer_file", "merges", "own"):
            for relative in (False, True):
                where = "relative" if relative else "absolute"
                yield Attack(
                    "model: vocabulary elsewhere", f"{file} {name} {where}",
                    _with_vocabulary(file, name, relative=relative),
                )  # fmt: skip
    for name in ("tokenizer.json", "tokenizer_config.json", "adapter_config.json", "config.json"):
        for what in ("pipe", "device", "terabyte", "loop of links"):
            yield Attack("adapter: another file", f"{name} {what}", _adapter(name, WAYS[what]))


def _with_vocabulary(file: str, name: str, *, relative: bool) -> Act:
    def act(scene: Scene) -> str | None:
        folder = copy_model(scene)
        words = json.loads((folder / "tokenizer.json").read_text("utf-8"))["model"]["vocab"]
        outside = scene.folder / "outside.txt"
        outside.write_text("\n".join(reversed(list(words))), "utf-8")
        (folder / "tokenizer.json").unlink()
        config = json.loads((folder / "tokenizer_config.json").read_text("utf-8"))
        config.pop("added_tokens_decoder", None)  # without it, the other files are read
        (folder / "tokenizer_config.json").write_text(json.dumps(config), "utf-8")
        _edit(folder / file, **{name: "outside.txt" if relative else str(outside)})
        ask(folder)
        return "a vocabulary that no fingerprint covers was read"

    return act


def _adapter(name: str, way: Way) -> Act:
    def act(scene: Scene) -> str | None:
        base = copy_model(scene)
        folder = scene.folder / "adapter"
        folder.mkdir()
        settings = {"peft_type": "LORA", "base_model_name_or_path": str(base), "r": 1}
        (folder / "adapter_config.json").write_text(json.dumps(settings), "utf-8")
        way(folder / name, scene)
        ask(folder)
        return None

    return act


# Databases and findings

_BESIDE = ("", "-wal", "-shm", "-journal")
_MAGIC = bytes.fromhex("d9d505f920a163d7")


def _open_cache(path: Path) -> None:
    with Cache(path) as cache:
        cache.store("m", [(SENTENCE, ScoreAnswer(-3.0, 4))])
        cache.lookup("m", [SENTENCE])


def _open_journal(path: Path) -> None:
    journal = Journal(path)
    journal.keep(b"key", "{}")
    journal.find([b"key"])
    journal.close()


_DATABASES = {"cache.sqlite": _open_cache, "responses.sqlite": _open_journal}


def beside_databases() -> Iterator[Attack]:
    """Links in the place of the files that SQLite keeps, and a journal that names a foreign file."""
    for name in _DATABASES:
        for suffix in _BESIDE:
            for kind in ("link", "second name", "link to nowhere", "pipe", "device", "folder"):
                yield Attack(
                    "database: another file beside it", f"{name}{suffix} {kind}",
                    _beside(name, suffix, kind),
                )  # fmt: skip
        yield Attack("database: another file beside it", f"{name} superior", _superior(name))
        for statement in (
            "CREATE TRIGGER t AFTER INSERT ON {0} BEGIN SELECT 1; END",
            "CREATE VIEW v AS SELECT 1",
            "CREATE TABLE other (x)",
            "DROP TABLE {0}; CREATE VIEW {0} AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1"
            " FROM n) SELECT x'00' AS key, count(*) AS text FROM n",
        ):
            yield Attack(
                "database: foreign schema", f"{name} {statement[:24]}", _schema(name, statement)
            )


def _beside(name: str, suffix: str, kind: str) -> Act:
    def act(scene: Scene) -> str | None:
        path = scene.folder / "home" / name
        path.parent.mkdir()
        nowhere = scene.folder / "created"
        if suffix:
            _DATABASES[name](path)
        file = path.with_name(name + suffix)
        file.unlink(missing_ok=True)
        if kind == "second name":
            os.link(scene.letter, file)
        elif kind == "link to nowhere":
            file.symlink_to(nowhere)
        else:
            WAYS[kind](file, scene)
        try:
            _DATABASES[name](path)
        finally:
            if nowhere.exists():
                scene.letter.write_text("a file was created elsewhere", "utf-8")
        return None

    return act


def _superior(name: str) -> Act:
    """SQLite would roll this journal back, and then delete the file that it names."""

    def act(scene: Scene) -> str | None:
        path = scene.folder / "home" / name
        path.parent.mkdir()
        _DATABASES[name](path)
        named = str(scene.letter).encode()
        total = sum(byte if byte < 128 else byte - 256 for byte in named) & 0xFFFFFFFF
        head = _MAGIC + struct.pack(">IIIII", 0, 0, path.stat().st_size // 4096, 512, 4096)
        tail = struct.pack(">I", 0x40000000 // 4096 + 1) + named
        tail += struct.pack(">II", len(named), total) + _MAGIC
        path.with_name(f"{name}-journal").write_bytes(head.ljust(512, b"\0") + tail)
        try:
            _DATABASES[name](path)
        finally:
            if not scene.letter.exists():
                scene.letter.write_text("it was deleted", "utf-8")
        return None

    return act


def _schema(name: str, statement: str) -> Act:
    table = {"cache.sqlite": "answers", "responses.sqlite": "responses"}[name]

    def act(scene: Scene) -> str | None:
        path = scene.folder / "home" / name
        path.parent.mkdir()
        _DATABASES[name](path)
        with closing(sqlite3.connect(path)) as db:
            db.executescript(statement.format(table))
        _DATABASES[name](path)
        return "the database was used"

    return act


def findings() -> Iterator[Attack]:
    """What was found out about an endpoint, replaced by something else."""
    plain = ('{"chats": "yes"}', '{"top_logprobs": 1e9}', '{"served": 7}', '{"own": 1}', "[]", "7")
    for text in plain:
        yield Attack("endpoint: stored findings", text, _found(text, None))
    for what, way in WAYS.items():
        yield Attack("endpoint: stored findings", what, _found("", way))


def _found(text: str, way: Way | None) -> Act:
    def act(scene: Scene) -> str | None:
        path = scene.folder / "home" / "endpoints" / "x.json"
        path.parent.mkdir(parents=True)
        if way is None:
            path.write_text(text, "utf-8")
        else:
            way(path, scene)
        return "they were believed" if read_stored(path) is not None else None

    return act


# Data


def own_data() -> Iterator[Attack]:
    """Something else in the place of a file of the user's own data, of names, or of answers."""
    for option in ("dawinobias", "dane", "answers"):
        for what, way in WAYS.items():
            if (option, what) != ("answers", "pipe"):  # the user named it, and it is waited for
                yield Attack("data: another file", f"{option} {what}", _data(option, way))


def _data(option: str, way: Way) -> Act:
    def act(scene: Scene) -> str | None:
        folder = scene.folder / "data"
        folder.mkdir()
        if option == "answers":
            way(folder / "answers.jsonl", scene)
            asked: list[object] = ["score", "lm-abc", folder / "answers.jsonl", "--model-name", "x"]
            return judge(command(*asked, "--data", "builtin", "--sample", "4"))
        if option == "dane":
            way(folder / "own.conllu", scene)
            asked = ["run", "control:fair", "--tasks", "ner-dane"]
            asked += ["--data", f"dane={folder / 'own.conllu'}"]
        else:
            for name in ("anti_stereotyped_pronouns.txt.test", "pro_stereotyped_pronouns.txt.test"):
                way(folder / name, scene)
            asked = ["run", "control:fair", "--tasks", "lm-dawinobias"]
            asked += ["--data", f"dawinobias={folder}"]
        asked += ["--sample", "4", "--out", scene.folder / "run", "--no-cache", "--offline"]
        return judge(command(*asked))

    return act


# Writing


def written(run: Path) -> Iterator[Attack]:
    """Links, also in the middle of a path, where a command writes into a folder that it was given."""
    for what in ("link", "second name", "pipe", "device", "folder"):
        for writer in ("append", "replace"):
            yield Attack("writing: another file", f"{writer} {what}", _write(writer, what))
    for depth in ("model", "result"):
        yield Attack("writing: a folder that is a link", f"run {depth}", _link_folder(run, depth))
    yield Attack("writing: a folder that is a link", "in the middle", _exchange)


def _write(writer: str, what: str) -> Act:
    def act(scene: Scene) -> str | None:
        file = scene.folder / "run" / "file"
        file.parent.mkdir()
        if what == "second name":
            os.link(scene.letter, file)
        else:
            WAYS[what](file, scene)
        try:
            if writer == "append":
                append_text(file, "text")
            else:
                replace_file(file, "text")
        except OSError:
            return None
        return None if writer == "replace" and not file.is_symlink() else "it was written to"

    return act


def _link_folder(run: Path, depth: str) -> Act:
    def act(scene: Scene) -> str | None:
        folder = copy_run(run, scene)
        result = next(folder.rglob("result.json")).parent
        place = result if depth == "result" else result.parent
        elsewhere = scene.folder / "elsewhere"
        place.rename(elsewhere)
        place.symlink_to(elsewhere)
        before = {file: file.stat().st_mtime_ns for file in elsewhere.rglob("*")}
        asked = ["run", "control:fair", "--tasks", "lm-dawinobias", "--data", "builtin"]
        ended = command(*asked, "--sample", "8", "--out", folder)
        after = {file: file.stat().st_mtime_ns for file in elsewhere.rglob("*")}
        return judge(ended) or (None if before == after else "a linked folder was written to")

    return act


def _exchange(scene: Scene) -> str | None:
    """A folder of the run becomes a link between the check and the writing."""
    root, elsewhere = scene.folder / "run", scene.folder / "elsewhere"
    elsewhere.mkdir()
    folder = make_folders(root, "model", "test")
    folder.rmdir()
    folder.symlink_to(elsewhere)
    try:
        replace_file(folder / "result.json", "{}", root=root)
    except OSError:
        return "it was written to" if list(elsewhere.iterdir()) else None
    return "it was written to"


# Texts

_PLACES = ("model.revision", "model.dtype", "data", "warnings", "conditions", "metric", "coverage")


def texts(run: Path) -> Iterator[Attack]:
    """Hostile text in other places of a result, through every exporter, the page and the terminal."""
    ways = ("csv", "markdown", "latex", "model-card", "hub-yaml", "every-eval-ever", "json")
    for place in _PLACES:
        for way in (*ways, "terminal", "html", "gate", "compare"):
            yield Attack(
                "texts through the exporters", f"{way} {place}", _exported(run, way, place)
            )


def _exported(run: Path, way: str, place: str) -> Act:
    def act(scene: Scene) -> str | None:
        folder = copy_run(run, scene)
        for name in BAD_NAMES:
            for file in folder.rglob("result.json"):
                plain = json.loads(file.read_text("utf-8"))
                _put(plain, place, name)
                file.write_text(json.dumps(plain), "utf-8")
            if problem := _export(folder, way):
                return f"{name!r}: {problem}"
        return None

    return act


def _put(plain: dict[str, Any], place: str, text: str) -> None:
    if place.startswith("model."):
        plain["model"][place.removeprefix("model.")] = text
    elif place == "data":
        for source in plain["data"].values():
            source["from"] = text
    elif place == "warnings":
        plain["warnings"] = [{"code": "own", "values": {}, "text": text}]
    elif place == "coverage":
        plain["coverage"][text] = text
    else:
        for cell in plain["conditions"]:
            cell["condition" if place == "conditions" else "metric"] = text


def _export(folder: Path, way: str) -> str | None:
    if way == "html":
        ended = command("report", folder)
        text = (folder / "report.html").read_text("utf-8")
    elif way == "gate":
        ended = command("gate", folder, "--max-effect", "1", "--junit", folder / "junit.xml")
        file = folder / "junit.xml"
        text = ended[1] + (file.read_text("utf-8") if file.exists() else "")
    elif way in ("terminal", "compare"):
        ended = command("show", folder) if way == "terminal" else command("compare", folder, folder)
        text = ended[1]
    else:
        ended = command("show", folder, f"--{way}")
        text = ended[1]
    bad = any(sign in text + ended[2] for sign in "\x1b\u202e\u2066\x00")
    bad = bad or (way == "html" and "<script>alert(1)" in text)
    return judge(ended) or ("a text is not escaped" if bad else None)


# Chat templates

TEMPLATES = {
    "reaches Python": "{{ ''.__class__.__mro__[1].__subclasses__() }}",
    "imports": "{% include '/etc/passwd' %}",
    "calls": "{{ cycler.__init__.__globals__.os.system('true') }}",
    "raises": "{{ raise_exception('no') }}",
    "is broken": "{% for %}",
    "never ends": "{% for i in range(99999) %}{% for j in range(99999) %}{% endfor %}{% endfor %}",
    "is endless": "{% for i in range(99999) %}{{ 'x' * 9999 }}{% endfor %}",
    "is large": "{{ 'x' * 99999999 }}",
    "recurses": "{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}",
}


def templates() -> Iterator[Attack]:
    """Chat templates that are programs."""
    for what, text in TEMPLATES.items():
        yield Attack("model: chat template", what, _templated(text))


def _templated(text: str) -> Act:
    def act(scene: Scene) -> str | None:
        from gendalens.models.chat.respondent import Turn
        from gendalens.models.chat.template import ChatTemplate
        from gendalens.models.huggingface.libraries import import_transformers

        folder = copy_model(scene)
        (folder / "chat_template.jinja").write_text(text, "utf-8")
        if ask(folder) != ask_sound_model():
            return "another answer than the sound model's"
        tokenizer = import_transformers().AutoTokenizer.from_pretrained(folder)
        rendered = ChatTemplate(tokenizer, "model").render([Turn("user", "Hej")])
        return f"it was rendered: {rendered[:80]}" if len(rendered) > 10**6 else None

    return act
