"""Files of models, runs and caches that somebody prepared: nothing hangs, nothing else is touched."""

from __future__ import annotations

import ast
import json
import os
import shutil
from importlib.metadata import version
from pathlib import Path

import pytest
from families import opened
from file_calls import list_file_calls

import gendalens
from gendalens.data import fetch
from gendalens.data.home import find_home
from gendalens.errors import UserError
from gendalens.models.detect import load_model
from gendalens.predictions.answer_file import AnswerFile
from gendalens.report.charts import library
from gendalens.report.exports.every_eval_ever import every_eval_ever
from gendalens.report.html import page
from gendalens.results.saved_results import find_results


@pytest.fixture
def model(tmp_path: Path) -> Path:
    return Path(shutil.copytree(opened("wordpiece cased").folder, tmp_path / "model"))


def refuse(folder: Path) -> str:
    with pytest.raises(UserError) as caught:
        load_model(str(folder)).fingerprint()
    return str(caught.value)


FILES = ["config.json", "tokenizer_config.json", "tokenizer.json", "vocab.txt", "merges.txt"]
FILES += ["special_tokens_map.json", "added_tokens.json", "generation_config.json"]
FILES += ["chat_template.jinja", "model.safetensors", "additional_chat_templates/own.jinja"]


@pytest.mark.timeout(60)
@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("kind", ["pipe", "device"])
def test_a_file_of_a_model_that_never_ends_is_refused_at_once(
    model: Path, name: str, kind: str
) -> None:
    file = model / name
    file.parent.mkdir(exist_ok=True)
    file.unlink(missing_ok=True)
    if kind == "pipe":
        os.mkfifo(file)
    else:
        file.symlink_to("/dev/zero")
    assert f"{file.name}: it is not an ordinary file" in refuse(model)


@pytest.mark.timeout(60)
@pytest.mark.parametrize("name", ["meta.json", "config.cfg", "adapter_config.json", "model.gguf"])
def test_a_pipe_that_says_what_kind_of_model_it_is_does_not_block(
    tmp_path: Path, name: str
) -> None:
    folder = tmp_path / "model"
    folder.mkdir()
    os.mkfifo(folder / name)
    with pytest.raises(UserError):
        load_model(str(folder)).fingerprint()
    with pytest.raises(UserError):
        load_model(str(folder / name)).fingerprint()


def test_a_large_text_file_is_refused_before_it_is_read(model: Path) -> None:
    with (model / "tokenizer_config.json").open("wb") as file:
        file.truncate(2**40)  # sparse: it takes no space
    assert "tokenizer_config.json: it is larger than 512 MB" in refuse(model)


@pytest.mark.parametrize(
    "settings",
    [
        {"vocab": "{file}"},
        {"vocab_file": "{file}"},
        {"tokenizer_file": "{file}"},
        {"merges": "{file}"},
        {"own": {"deep": ["{file}"]}},
    ],
)
@pytest.mark.parametrize("relative", [False, True])
@pytest.mark.parametrize("named_in", ["tokenizer_config.json", "special_tokens_map.json"])
def test_a_tokenizer_outside_the_folder_is_refused(
    model: Path,
    monkeypatch: pytest.MonkeyPatch,
    settings: dict[str, object],
    relative: bool,
    named_in: str,
) -> None:
    outside = model.parent / "outside.txt"
    outside.write_text("[UNK]\nhan\nhun\n")
    monkeypatch.chdir(model.parent)
    name = "outside.txt" if relative else str(outside)
    (model / "tokenizer.json").unlink()
    written = json.loads(json.dumps(settings).replace("{file}", name))
    config = json.loads((model / "tokenizer_config.json").read_text())
    # Without these, transformers takes settings from the other file as well.
    config.pop("added_tokens_decoder", None)
    (model / "tokenizer_config.json").write_text(json.dumps(config))
    file = model / named_in
    known = json.loads(file.read_text()) if file.exists() else {}
    file.write_text(json.dumps(known | written))
    assert "is read from a file outside its folder" in refuse(model)


def test_a_tokenizer_s_former_place_is_no_reason_to_refuse_it(model: Path) -> None:
    outside = model.parent / "outside.json"
    outside.write_text("{}")
    config = json.loads((model / "tokenizer_config.json").read_text())
    old = {"tokenizer_file": str(outside), "special_tokens_map_file": str(outside)}
    (model / "tokenizer_config.json").write_text(json.dumps(config | old))
    assert load_model(str(model)).fingerprint()


@pytest.mark.timeout(60)
@pytest.mark.parametrize("setting", ["num_hidden_layers", "n_layers", "text_config"])
def test_a_configuration_with_countless_layers_is_refused(model: Path, setting: str) -> None:
    config = json.loads((model / "config.json").read_text())
    value = {"num_hidden_layers": 10**9} if setting == "text_config" else 10**9
    (model / "config.json").write_text(json.dumps(config | {setting: value}))
    assert "asks for 1,000,000,000 where no model has more than 10,000" in refuse(model)


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    "settings",
    [
        {"num_labels": 10**9},
        {"num_experts": 10**9},
        {"max_position_embeddings": 10**9},
        {"text_config": {"max_position_embeddings": 10**30}},
    ],
)
def test_a_configuration_with_countless_parts_is_refused(
    model: Path, settings: dict[str, object]
) -> None:
    config = json.loads((model / "config.json").read_text())
    (model / "config.json").write_text(json.dumps(config | settings))
    assert "where no model has more than" in refuse(model)


@pytest.mark.parametrize("value", [7, "x", [], {"a": 1}])
def test_a_part_of_a_configuration_that_is_none_is_told(model: Path, value: object) -> None:
    config = json.loads((model / "config.json").read_text())
    (model / "config.json").write_text(json.dumps(config | {"text_config": value}))
    assert "a part of it is not a configuration" in refuse(model)


@pytest.mark.parametrize("name", ["bpe.codes", "source.spm"])
def test_every_vocabulary_is_part_of_the_digest(model: Path, name: str) -> None:
    (model / name).write_text("a")
    before = load_model(str(model)).fingerprint()
    (model / name).write_text("b")
    assert load_model(str(model)).fingerprint() != before


@pytest.mark.timeout(60)
@pytest.mark.parametrize("name", ["tokenizer.json", "tokenizer_config.json", "added_tokens.json"])
def test_a_pipe_beside_an_adapter_does_not_block(model: Path, name: str) -> None:
    pytest.importorskip("peft")
    folder = model.with_name("adapter")
    folder.mkdir()
    settings = {"peft_type": "LORA", "base_model_name_or_path": str(model), "r": 1}
    (folder / "adapter_config.json").write_text(json.dumps(settings))
    os.mkfifo(folder / name)
    assert f"{name}: it is not an ordinary file" in refuse(folder)


@pytest.mark.timeout(60)
@pytest.mark.parametrize("kind", ["pipe", "device"])
def test_own_data_that_never_end_are_refused(tmp_path: Path, kind: str) -> None:
    (tmp_path / "data").mkdir()
    file = tmp_path / "data" / "own.conllu"
    if kind == "pipe":
        os.mkfifo(file)
    else:
        file.symlink_to("/dev/zero")
    with pytest.raises(UserError, match="not an ordinary file"):
        gendalens.run("control:fair", tasks=["ner-dane"], data={"dane": file.parent}, out=None)


@pytest.mark.slow
@pytest.mark.timeout(60)
def test_a_file_of_answers_that_never_ends_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "answers.jsonl"
    with file.open("wb") as handle:
        handle.truncate(2**40)  # sparse: it takes no space
    for path, reason in ((file, "a line never ends"), (Path("/dev/zero"), "not an ordinary file")):
        with pytest.raises(UserError, match=reason):
            AnswerFile(path, [], name="x")


def test_the_size_of_a_vocabulary_for_each_layer_is_no_number_of_layers(model: Path) -> None:
    """Gemma 3n and 4 have one of 262,144 tokens."""
    config = json.loads((model / "config.json").read_text())
    own = {"vocab_size_per_layer_input": 262_144}
    (model / "config.json").write_text(json.dumps(config | own))
    assert load_model(str(model)).fingerprint()


def test_a_report_does_not_follow_a_link_in_its_run_folder(tmp_path: Path) -> None:
    run, letter = tmp_path / "run", tmp_path / "letter.txt"
    gendalens.run("control:fair", tasks=["lm-dawinobias"], data="builtin", sample=8, out=run)
    letter.write_text("kære Ida")
    (run / "report.html").unlink()
    (run / "report.html").symlink_to(letter)
    (run / f".report.html.{os.getpid()}").symlink_to(letter)  # the name of former versions
    gendalens.report(run)
    assert letter.read_text() == "kære Ida"
    assert not (run / "report.html").is_symlink()


@pytest.mark.parametrize("name", ["model\x1b[2J", "model\u202efdp"])
def test_no_export_prints_raw_control_characters(tmp_path: Path, name: str) -> None:
    run = tmp_path / "run"
    (result,) = gendalens.run(
        "control:fair", tasks=["lm-dawinobias"], data="builtin", sample=8, out=run
    )
    file = next(run.rglob("result.json"))
    file.write_text(file.read_text().replace(f'"{result.model.name}"', json.dumps(name)))
    exported = every_eval_ever(find_results([run]))
    assert name[5] not in exported
    assert json.loads(exported)["model_info"]["name"] == name


def test_a_page_shows_control_characters(tmp_path: Path) -> None:
    run, name = tmp_path / "run", "model\x1b[2J\u202efdp\x9b\u2066"
    (result,) = gendalens.run(
        "control:fair", tasks=["lm-dawinobias"], data="builtin", sample=8, out=run
    )
    file = next(run.rglob("result.json"))
    file.write_text(file.read_text().replace(f'"{result.model.name}"', json.dumps(name)))
    page = gendalens.report(run).read_text()
    assert not set(page) & set("\x1b\u202e\x9b\u2066")
    assert "model\N{REPLACEMENT CHARACTER}[2J\N{REPLACEMENT CHARACTER}fdp" in page


def test_a_package_in_the_working_directory_does_not_stand_in_for_pip(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    marker = tmp_path / "has-run"
    for name in ("pip.py", "zipfile.py", "json.py", "sitecustomize.py"):
        (tmp_path / name).write_text(f"open({str(marker)!r}, 'w')")
    (tmp_path / "to").mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    with pytest.raises(UserError, match="cannot be fetched"):
        fetch.download("genda-lens==0.0.3", "0" * 64, Path("to"))
    assert not marker.exists()


def test_the_chart_library_is_what_these_versions_make() -> None:
    made_by = f"{version('vl-convert-python')}-{version('altair')}"
    made = library.bundle_scripts(page.SNIPPET).replace("</script", r"<\/script")
    digest = page.hashlib.sha256(made.encode()).hexdigest()  # type: ignore[attr-defined]
    assert page._BUNDLES[made_by] == digest


@pytest.mark.parametrize("known", [True, False])
def test_a_script_planted_beside_the_cache_reaches_no_page(
    known: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    made_by = f"{version('vl-convert-python')}-{version('altair')}"
    planted = find_home() / "pages" / f"charts-{made_by}.js"
    planted.parent.mkdir(parents=True, exist_ok=True)
    planted.write_text("alert(1)")
    monkeypatch.setattr(library, "bundle_scripts", lambda snippet: "the library")
    if not known:
        monkeypatch.setattr(page, "_BUNDLES", {})
    page._read_bundle.cache_clear()
    try:
        assert page._read_bundle() == "the library"
        assert (planted.read_text() == "the library") is known
    finally:
        page._read_bundle.cache_clear()
        planted.unlink()


#: What a module may do beside the modules that are there for it, and why.
ALLOWED = {
    "system/file_writing.py": {
        *("os.open", "os.fdopen", "os.replace", "os.unlink"),
        *("open", "mkdir", "unlink", "rename", "shutil", "tempfile"),
    },
    "system/file_reading.py": {"os.open", "os.fdopen"},
    "system/python_process.py": {"subprocess.run", "tempfile"},
    "system/guarded_database.py": {"sqlite3.connect"},
    "system/hub_repository.py": {"huggingface_hub", "unlink"},
    # The endpoints that the user named.
    "models/endpoint/client.py": {"httpx2"},
    # The library's settings, its exceptions, and its cache; nothing is fetched.
    "system/hub_access.py": {"huggingface_hub"},
    "data/hub.py": {"huggingface_hub", "huggingface_hub.errors", "read_table"},
    # A lease is taken on a handle of its own, without waiting.
    "system/file_lease.py": {"os.open"},
    # A fork that dies in our place.
    "system/forbidden_instructions.py": {"os.fork"},
    # Settings of the C library, and what the kernel says of this process.
    "system/memory_limits.py": {"ctypes", "read_text"},
    "models/huggingface/mapped_weights.py": {"ctypes", "read_bytes"},
    # Files without a name, or in a new folder that only the user can enter.
    "engine/record_store.py": {"tempfile"},
    "results/run_folder.py": {"tempfile", "mkdir"},
    "models/huggingface/stored_checkpoint.py": {"tempfile", "shutil", "huggingface_hub"},
    "models/huggingface/hub_model.py": {"huggingface_hub", "huggingface_hub.errors"},
    "integrations/logged_results.py": {"tempfile"},
    # A private folder for the sockets of a cluster on this machine, with its token; its own method.
    "engine/cluster/ray_cluster.py": {"tempfile", "write_text", "shutil", "socket"},
    "engine/cluster/crew.py": {"open"},
    # What goes to a worker and comes back, by Ray, which packs it in the same way.
    "engine/cluster/worker.py": {"pickle"},
    # The classes that write the metadata; nothing is fetched.
    "report/exports/hub_metadata.py": {"huggingface_hub"},
    # Pages of an older site that are replaced; a table.
    "report/site/build.py": {"unlink"},
    "report/site/site.py": {"to_parquet"},
    # Answers that are joined, in a folder of their own; its own method.
    "shards/merging.py": {"tempfile", "open"},
    # The space on the disk, and when a copy was used last.
    "models/huggingface/kept_weights.py": {"shutil", "os.utime"},
    # Files that were checked there are moved into place.
    "data/registry.py": {"tempfile", "replace", "mkdir"},
    # An empty folder that this run has made.
    "engine/session.py": {"rmdir"},
    # Members of an archive whose checksum is pinned.
    "data/fetch.py": {"zipfile", "open"},
    # Read by the restricted unpickler, and only if the user allows it; the module's exceptions.
    "models/huggingface/adapter.py": {"torch.load"},
    "models/huggingface/weights.py": {"pickle"},
    # A mapping of a file that was opened there; its own method of that name.
    "models/huggingface/gguf_header.py": {"mmap", "read_text"},
    # Methods of the vocabulary and of our own kinds of objects.
    "models/huggingface/tokenizer_check.py": {"write_text"},
    "models/objects/choice.py": {"open", "importlib.import_module"},
    # Files of this package, and of the user's plug-ins.
    **{
        name: {"read_text"}
        for name in (
            *("data/errata.py", "data/occupations.py", "data/builtin/occupations.py"),
            *("data/builtin/schemas.py", "models/chat/prompts.py", "models/chat/reading.py"),
            *("models/lm_coref/prompts.py", "report/html/page.py", "results/saved_results.py"),
        )
    },
    "words/catalogues.py": {"open"},
    # Modules of this package, of the user's plug-ins, or of installed libraries that the code names.
    **{
        name: {"importlib.import_module"}
        for name in (
            *("__init__.py", "integrations/__init__.py", "integrations/tracker_libraries.py"),
            *("models/detect.py", "models/huggingface/quantisation.py", "models/spacy/pipeline.py"),
            "tasks/__init__.py",
        )
    },
    # The stream that takes the place of a closed one.
    "cli/exits.py": {"open", "io.FileIO"},
}


def test_files_and_processes_are_opened_in_few_places_only() -> None:
    root = Path(gendalens.__file__).parent
    found = {}
    for file in sorted(root.rglob("*.py")):
        name = file.relative_to(root).as_posix()
        calls = list_file_calls(ast.parse(file.read_text(encoding="utf-8")))
        if extra := calls - ALLOWED.get(name, set()):
            found[name] = extra
    assert not found


def test_nothing_is_allowed_that_is_not_done() -> None:
    root = Path(gendalens.__file__).parent
    for name, allowed in ALLOWED.items():
        calls = list_file_calls(ast.parse((root / name).read_text(encoding="utf-8")))
        assert allowed <= calls, name


@pytest.mark.parametrize(
    "code",
    [
        "open('a', 'w')",
        "f = open",
        "Path('a').write_text('')",
        "Path('a').read_bytes()",
        "write = Path('a').write_text",
        "os.replace(a, b)",
        "import os as system; system.open('a', 1)",
        "from os import open as look; look('a', 1)",
        "from os import path, unlink as drop; drop('a')",
        "remove = os.remove",
        "getattr(os, 'open')('a', 1)",
        "getattr(os, name)('a', 1)",
        "vars(os)",
        "os.__dict__['open']",
        "import builtins; builtins.open('a')",
        "import io; io.open('a')",
        "import codecs; codecs.open('a')",
        "__import__('os')",
        "import importlib; importlib.import_module('os')",
        "from importlib import import_module; import_module('os')",
        "exec('import os')",
        "import subprocess; subprocess.run([])",
        "from subprocess import Popen",
        "from subprocess import Popen as P; P([])",
        "os.execvp('a', [])",
        "os.posix_spawn('a', [], {})",
        "import multiprocessing",
        "import asyncio; asyncio.create_subprocess_exec('a')",
        "import shutil; shutil.copy(a, b)",
        "import tempfile as t; t.mktemp()",
        "import sqlite3; sqlite3.connect('a')",
        "from sqlite3 import connect as c; c('a')",
        "import numpy as np; np.save('a', b)",
        "import torch; torch.load('a')",
        "frame.to_csv('a')",
        "path.rename(b)",
        "path.replace(b)",
        "path.unlink()",
        "path.symlink_to(b)",
        "import urllib.request",
        "from urllib.request import urlopen",
        "import huggingface_hub",
        "from huggingface_hub import hf_hub_download",
        "import pickle",
        "import zipfile",
    ],
)
def test_the_rule_sees_what_it_forbids(code: str) -> None:
    assert list_file_calls(ast.parse(code))


@pytest.mark.parametrize(
    "code", ["'a'.replace('b', 'c')", "os.path.join(a, b)", "getattr(os, 'O_NOFOLLOW', 0)"]
)
def test_the_rule_leaves_other_code_alone(code: str) -> None:
    assert not list_file_calls(ast.parse(code))
