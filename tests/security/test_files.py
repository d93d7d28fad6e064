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

import gendalens
from gendalens.data import fetch
from gendalens.data.home import find_home
from gendalens.errors import UserError
from gendalens.models.detect import load_model
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
def test_a_tokenizer_outside_the_folder_is_refused(
    model: Path, monkeypatch: pytest.MonkeyPatch, settings: dict[str, object], relative: bool
) -> None:
    outside = model.parent / "outside.txt"
    outside.write_text("[UNK]\nhan\nhun\n")
    monkeypatch.chdir(model.parent)
    name = "outside.txt" if relative else str(outside)
    (model / "tokenizer.json").unlink()
    written = json.loads(json.dumps(settings).replace("{file}", name))
    config = json.loads((model / "tokenizer_config.json").read_text())
    (model / "tokenizer_config.json").write_text(json.dumps(config | written))
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
    assert "asks for 1,000,000,000 layers" in refuse(model)


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
    "system/file_writing.py": {"os.open", "os.replace", "os.unlink", "open"},
    "system/file_reading.py": {"os.open"},
    "system/python_process.py": {"subprocess.run", "tempfile.TemporaryDirectory"},
    # A lease is taken on a handle of its own, without waiting.
    "system/file_lease.py": {"os.open"},
    # Files without a name, or in a new folder that only the user can enter.
    "engine/record_store.py": {"tempfile.TemporaryFile"},
    "results/run_folder.py": {"tempfile.TemporaryFile"},
    "models/huggingface/stored_checkpoint.py": {"tempfile.mkdtemp", "shutil.rmtree"},
    "integrations/logged_results.py": {"tempfile.TemporaryDirectory"},
    # Files that were checked there are moved into place.
    "data/registry.py": {"tempfile.TemporaryDirectory", "replace"},
    # Paths that the user typed, and files that were fetched and checked, are only read.
    "data/fetch.py": {"open"},
    "predictions/answer_file.py": {"open"},
    "words/catalogues.py": {"open"},
    # A method of the vocabulary, which turns tokens into text.
    "models/huggingface/tokenizer_check.py": {"write_text"},
    # The stream that takes the place of a closed one.
    "cli/exits.py": {"open"},
}
MODULES = {"os", "subprocess", "tempfile", "shutil"}
METHODS = {"open", "write_text", "write_bytes", "symlink_to", "touch", "rename"}
FUNCTIONS = {
    "os": {"open", "replace", "rename", "unlink", "remove", "system", "popen", "link", "symlink"},
}


def list_file_calls(tree: ast.AST) -> set[str]:
    """The calls of a module that open, write, move or delete files, or start processes."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module in MODULES - {"os"}:
            found |= {f"{node.module}.{one.name}" for one in node.names}
        if not isinstance(node, ast.Call):
            continue
        match node.func:
            case ast.Attribute(value=ast.Name(id=module), attr=name) if module in MODULES:
                if name in FUNCTIONS.get(module, {name}):
                    found.add(f"{module}.{name}")
            case ast.Attribute(attr="replace") if len(node.args) == 1 and not node.keywords:
                found.add("replace")  # of a path: that of a text takes two
            case ast.Attribute(attr=name) if name in METHODS:
                found.add(name)
            case ast.Name(id="open"):
                found.add("open")
    return found - {"tempfile.gettempdir", "subprocess.CompletedProcess"}


def test_files_and_processes_are_opened_in_few_places_only() -> None:
    root = Path(gendalens.__file__).parent
    found = {}
    for file in sorted(root.rglob("*.py")):
        name = file.relative_to(root).as_posix()
        # Their methods named open and write_text open and write no file.
        if name.startswith("models/objects/") or name == "report/charts/worker.py":
            continue
        calls = list_file_calls(ast.parse(file.read_text(encoding="utf-8")))
        if extra := calls - ALLOWED.get(name, set()):
            found[name] = extra
    assert not found


@pytest.mark.parametrize(
    "code",
    ["open('a', 'w')", "Path('a').write_text('')", "os.replace(a, b)", "subprocess.run([])"],
)
def test_the_rule_sees_what_it_forbids(code: str) -> None:
    assert list_file_calls(ast.parse(code))
