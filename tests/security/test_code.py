"""Code that lies in a model's folder is not run unless that was asked for."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import pytest
from families import opened

from gendalens.errors import UserError
from gendalens.models.base import LoadOptions
from gendalens.models.chat import template as chat_template
from gendalens.models.detect import load_model
from gendalens.models.huggingface.refusals import check_attention
from gendalens.models.huggingface.stored_checkpoint import StoredCheckpoint
from gendalens.models.requests import Fill, Score, Tag

SENTENCE = Score("Hun sejler.")


@pytest.fixture
def marker(tmp_path: Path) -> Path:
    """What the code of every model here would write."""
    return tmp_path / "has-run"


def code(marker: Path) -> str:
    return f"import pathlib\npathlib.Path({str(marker)!r}).touch()\n"


def model_with_code(tmp_path: Path, marker: Path, family: str = "wordpiece cased") -> Path:
    folder = shutil.copytree(opened(family).folder, tmp_path / "model")
    for name in ("own", "custom_generate/generate", "configuration_own", "__init__", "handler"):
        file = folder / f"{name}.py"
        file.parent.mkdir(exist_ok=True)
        file.write_text(code(marker))
    return folder


def edit(file: Path, **values: Any) -> None:
    file.write_text(json.dumps(json.loads(file.read_text()) | values))


def answered(folder: Path, **options: Any) -> Any:
    backend = load_model(str(folder), LoadOptions(**options))
    return backend.answer(backend.encode([SENTENCE]))


def test_the_code_of_an_unknown_kind_of_model_is_refused(tmp_path: Path, marker: Path) -> None:
    folder = model_with_code(tmp_path, marker)
    edit(folder / "config.json", model_type="own", auto_map={"AutoConfig": "own.OwnConfig"})
    with pytest.raises(UserError, match=r"brings its own code.*--trust-remote-code"):
        answered(folder)
    assert not marker.exists()


def test_it_runs_when_it_is_trusted(tmp_path: Path, marker: Path) -> None:
    """So that the other tests here can fail."""
    folder = model_with_code(tmp_path, marker)
    edit(folder / "config.json", model_type="own", auto_map={"AutoConfig": "own.OwnConfig"})
    with pytest.raises(UserError):
        answered(folder, trust_remote_code=True)
    assert marker.exists()


@pytest.mark.parametrize("family", ["wordpiece cased", "gpt2"])
def test_a_known_kind_of_model_runs_on_the_librarys_code_whatever_it_brings(
    family: str, tmp_path: Path, marker: Path
) -> None:
    folder = model_with_code(tmp_path, marker, family)
    names = ("AutoConfig", "AutoModel", "AutoModelForMaskedLM", "AutoModelForCausalLM")
    edit(folder / "config.json", auto_map=dict.fromkeys(names, "own.Own"))
    edit(
        folder / "tokenizer_config.json",
        auto_map={"AutoTokenizer": ["own.Own", "own.OwnFast"]},
    )
    backend = opened(family).backend
    assert answered(folder) == backend.answer(backend.encode([SENTENCE]))
    assert not marker.exists()


def test_code_of_the_hub_that_a_configuration_names_is_refused(tmp_path: Path) -> None:
    """transformers fetches and runs it where the package kernels is installed."""
    folder = shutil.copytree(opened("gpt2").folder, tmp_path / "model")
    edit(folder / "config.json", _attn_implementation="kernels-community/flash-attn")
    with pytest.raises(UserError, match=r"asks for code from the hub \(kernels-community"):
        answered(folder)
    trusting = StoredCheckpoint(str(folder), LoadOptions(trust_remote_code=True))
    assert trusting.config._attn_implementation == "kernels-community/flash-attn"


@pytest.mark.parametrize("key", ["attn_implementation", "_attn_implementation"])
@pytest.mark.parametrize("named", ["flash_attention_2", "paged|eager", "no such thing"])
def test_an_attention_that_others_trained_with_is_not_taken_from_the_configuration(
    key: str, named: str, tmp_path: Path
) -> None:
    """transformers would take a kernel of the hub for a flash attention that is not installed."""
    folder = shutil.copytree(opened("gpt2").folder, tmp_path / "model")
    edit(folder / "config.json", **{key: named})
    backend = opened("gpt2").backend
    assert answered(folder) == backend.answer(backend.encode([SENTENCE]))


def test_an_attention_is_judged_in_every_part_of_a_configuration() -> None:
    from transformers import LlavaConfig

    config = LlavaConfig()
    config.text_config._attn_implementation = "flash_attention_2"
    config.vision_config._attn_implementation = "eager"
    check_attention("a/b", config)
    assert config.text_config._attn_implementation is None
    assert config.vision_config._attn_implementation == "eager"
    config.text_config._attn_implementation = "kernels-community/flash-attn"
    with pytest.raises(UserError, match=r"asks for code from the hub \(kernels-community"):
        check_attention("a/b", config)


@pytest.mark.slow
def test_transformers_is_told_to_fetch_no_kernels() -> None:
    """It reads the environment once, so this is asked of a fresh process."""
    asked = (
        "from gendalens.models.huggingface.libraries import import_transformers as i; i()\n"
        "from transformers.integrations import hub_kernels as h; print(h._TRANSFORMERS_USE_HUB_KERNELS)"
    )
    clean = {name: value for name, value in os.environ.items() if name != "USE_HUB_KERNELS"}
    for theirs, used in (({}, "0"), ({"USE_HUB_KERNELS": "YES"}, "YES")):
        said = subprocess.check_output([sys.executable, "-c", asked], env=clean | theirs, text=True)
        assert said.strip() == used


def test_an_adapter_is_not_put_onto_another_model(tmp_path: Path) -> None:
    """Where peft is installed, transformers would load the model that the adapter names."""
    folder = shutil.copytree(opened("gpt2").folder, tmp_path / "model")
    (folder / "adapter_config.json").write_text('{"base_model_name_or_path": "somebody/base"}')
    with pytest.raises(UserError, match="holds a full model and an adapter"):
        load_model(str(folder))


def test_an_adapter_of_the_hub_is_not_put_onto_another_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from huggingface_hub import constants

    place = tmp_path / "models--somebody--small"
    folder = shutil.copytree(opened("gpt2").folder, place / "snapshots" / ("a" * 40))
    (folder / "adapter_config.json").write_text('{"base_model_name_or_path": "somebody/base"}')
    (place / "refs").mkdir()
    (place / "refs" / "main").write_text("a" * 40)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path))
    with pytest.raises(UserError, match="somebody/small holds a full model and an adapter"):
        load_model("somebody/small", LoadOptions(offline=True))


@pytest.mark.parametrize(
    "name",
    [
        "../tokenizer.1.0.json",
        "/tokenizer.1.0.json",
        "sub/tokenizer.1.0.json",
        "tokenizer.1.0.json.gz",
    ],
)
def test_a_tokenizer_that_the_digest_does_not_cover_is_refused(name: str, tmp_path: Path) -> None:
    folder = shutil.copytree(opened("wordpiece cased").folder, tmp_path / "model")
    (folder / "sub").mkdir()
    if not name.startswith("/"):
        (folder / "tokenizer.json").rename(folder / name)
    edit(folder / "tokenizer_config.json", fast_tokenizer_files=[name])
    with pytest.raises(UserError, match=rf"not a \.json file in its folder \({name}\)"):
        answered(folder)


def test_a_tokenizer_for_a_version_of_transformers_is_part_of_the_digest(tmp_path: Path) -> None:
    folder = shutil.copytree(opened("wordpiece cased").folder, tmp_path / "model")
    file = (folder / "tokenizer.json").rename(folder / "tokenizer.1.0.json")
    edit(folder / "tokenizer_config.json", fast_tokenizer_files=[file.name])
    backend = opened("wordpiece cased").backend
    assert answered(folder) == backend.answer(backend.encode([SENTENCE]))
    first = load_model(str(folder)).fingerprint()
    file.write_text(file.read_text() + "\n")
    assert load_model(str(folder)).fingerprint() != first


def test_shards_of_torch_distributed_that_do_not_fit_are_told(tmp_path: Path) -> None:
    """Its error is no Exception."""
    folder = shutil.copytree(opened("wordpiece cased").folder, tmp_path / "model")
    name = "shard-00001-model-00001-of-00001.safetensors"
    (folder / "model.safetensors").rename(folder / name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(UserError, match=r"weights of .* cannot be read"):
            answered(folder)


def test_a_chat_template_is_never_rendered(tmp_path: Path, marker: Path) -> None:
    folder = model_with_code(tmp_path, marker, "gpt2")
    (folder / "chat_template.jinja").write_text("{{ raise_exception('rendered') }}")
    edit(folder / "tokenizer_config.json", chat_template="{{ raise_exception('rendered') }}")
    backend = opened("gpt2").backend
    assert answered(folder) == backend.answer(backend.encode([SENTENCE]))


@pytest.mark.parametrize(
    "template",
    [
        "{{ cycler.__init__.__globals__.os.system('touch MARKER') }}",
        "{{ messages.__class__.__mro__[-1].__subclasses__() }}",
        "{% import 'os' as os %}",
        "{% for i in range(1000000000) %}{% endfor %}",
    ],
)
def test_a_chat_template_cannot_reach_python(tmp_path: Path, marker: Path, template: str) -> None:
    folder = model_with_code(tmp_path, marker, "gpt2")
    text = template.replace("MARKER", str(marker))
    (folder / "chat_template.jinja").write_text(text)
    edit(folder / "tokenizer_config.json", chat_template=text)
    with pytest.raises(UserError, match=r"chat template of .* cannot write the question"):
        load_model(f"chat:{folder}").encode([Fill("Hun ser ", " hund.", ("hans", "hendes"))])
    assert not marker.exists()


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    ("template", "reason"),
    [
        (
            "{% for i in range(99999) %}{% for j in range(99999) %}{% endfor %}{% endfor %}",
            "longer",
        ),
        ("{{ 'x' * 2000000 }}", "writes more than 1,000,000 characters"),
    ],
)
def test_a_chat_template_that_never_ends_is_stopped(
    tmp_path: Path, template: str, reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chat_template, "_LONGEST", 0.3)
    folder = shutil.copytree(opened("gpt2").folder, tmp_path / "model")
    (folder / "chat_template.jinja").write_text(template)
    with pytest.raises(UserError, match=f"cannot write the question.*{reason}"):
        load_model(f"chat:{folder}").encode([Fill("Hun ser ", " hund.", ("hans", "hendes"))])


@pytest.fixture(scope="session")
def pipeline(tmp_path_factory: pytest.TempPathFactory) -> Path:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import spacy
    folder = tmp_path_factory.mktemp("spacy") / "regler"
    nlp = spacy.blank("da")
    nlp.add_pipe("entity_ruler").add_patterns([{"label": "PER", "pattern": "Bo"}])
    nlp.to_disk(folder)
    return folder


def test_python_files_in_a_spacy_folder_are_not_run(
    pipeline: Path, tmp_path: Path, marker: Path
) -> None:
    folder = shutil.copytree(pipeline, tmp_path / "regler")
    for place in (folder, folder / "entity_ruler"):
        for name in ("__init__", "functions", "code", "sitecustomize"):
            (place / f"{name}.py").write_text(code(marker))
    backend = load_model(str(folder))
    assert backend.answer(backend.encode([Tag("Bo")]))
    assert not marker.exists()


@pytest.mark.parametrize("named", ["os.system", "functions.v1", "builtins.exec", "spacy.util.run"])
def test_a_spacy_configuration_can_only_name_what_is_registered(
    named: str, pipeline: Path, tmp_path: Path, marker: Path
) -> None:
    folder = shutil.copytree(pipeline, tmp_path / "regler")
    (folder / "functions.py").write_text(code(marker))
    call = f'[components.entity_ruler.scorer]\n@misc = "{named}"\ncommand = "touch {marker}"\n'
    configured(
        folder, '[components.entity_ruler.scorer]\n@scorers = "spacy.entity_ruler_scorer.v1"', call
    )
    backend = load_model(str(folder))
    encoded = backend.encode([Tag("Bo")])
    with pytest.raises(UserError, match="cannot be loaded"):
        backend.answer(encoded)
    assert not marker.exists()


def configured(folder: Path, old: str, new: str, more: str = "") -> None:
    """Have a pipeline's configuration say something else, and more."""
    file = folder / "config.cfg"
    assert old in file.read_text()
    file.write_text(file.read_text().replace(old, new) + "\n" + more)


CALLBACKS = ["before_creation", "after_creation", "after_pipeline_creation"]


@pytest.mark.parametrize("when", CALLBACKS)
def test_a_logger_of_a_spacy_configuration_makes_no_files(
    when: str, pipeline: Path, tmp_path: Path, marker: Path
) -> None:
    folder = shutil.copytree(pipeline, tmp_path / "regler")
    call = f'[nlp.{when}]\n@loggers = "spacy.ConsoleLogger.v3"\noutput_file = "{marker}/file"\n'
    configured(folder, f"{when} = null\n", "", call)
    with pytest.raises(UserError, match=rf"asks for code that acts .*\[nlp\.{when}\]"):
        load_model(str(folder))
    assert not marker.exists()


@pytest.mark.parametrize("section", [*CALLBACKS, "vectors"])
def test_a_callback_of_a_spacy_configuration_imports_no_package(
    section: str,
    pipeline: Path,
    tmp_path: Path,
    marker: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    package = tmp_path / "site" / "da_fremmed"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(code(marker))
    monkeypatch.syspath_prepend(tmp_path / "site")
    folder = shutil.copytree(pipeline, tmp_path / "regler")
    call = '@callbacks = "spacy.copy_from_base_model.v1"\nvocab = "da_fremmed"\n'
    if section == "vectors":
        configured(folder, '@vectors = "spacy.Vectors.v1"', call)
    else:
        configured(folder, f"{section} = null\n", "", f"[nlp.{section}]\n{call}")
    with pytest.raises(UserError, match=rf"\[nlp\.{section}\]"):
        load_model(str(folder))
    assert not marker.exists()


@pytest.mark.parametrize(
    ("value", "more"),
    [
        ("", "[components.entity_ruler.phrase_matcher_attr]\n"),
        ("phrase_matcher_attr = ${elsewhere}\n", "[elsewhere]\n"),
    ],
)
def test_a_spacy_configuration_reads_no_file_outside_its_folder(
    value: str, more: str, pipeline: Path, tmp_path: Path
) -> None:
    """No digest of the folder would tell when that file changes; variables can lead there, too."""
    folder = shutil.copytree(pipeline, tmp_path / "regler")
    (tmp_path / "outside.json").write_text('"LOWER"')
    call = f'@readers = "srsly.read_json.v1"\npath = "{tmp_path}/outside.json"\n'
    configured(folder, "phrase_matcher_attr = null\n", value, more + call)
    with pytest.raises(UserError, match=r"\[components\.entity_ruler\.phrase_matcher_attr\]"):
        load_model(str(folder))


def test_readers_and_loggers_for_training_are_left_alone(pipeline: Path) -> None:
    """Every trained pipeline has them; loading calls none of them."""
    config = (pipeline / "config.cfg").read_text()
    assert '@readers = "spacy.Corpus.v1"' in config
    assert '@loggers = "spacy.ConsoleLogger.v1"' in config
    backend = load_model(str(pipeline))
    assert backend.answer(backend.encode([Tag("Bo")]))


def test_an_installed_package_may_have_callbacks(
    pipeline: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its code is trusted; the same pipeline named by its folder is refused."""
    package = tmp_path / "site" / "da_ent_kald"
    folder = shutil.copytree(pipeline, package / "da_kald-1.0")
    shutil.copy(pipeline / "meta.json", package)
    (package / "__init__.py").write_text(
        "import spacy\n"
        "@spacy.registry.callbacks('da_kald.v1')\n"
        "def kald():\n"
        "    return lambda nlp: nlp\n"
    )
    configured(
        folder, "after_creation = null\n", "", '[nlp.after_creation]\n@callbacks = "da_kald.v1"\n'
    )
    monkeypatch.syspath_prepend(tmp_path / "site")
    backend = load_model("da_ent_kald")
    assert backend.answer(backend.encode([Tag("Bo")]))
    with pytest.raises(UserError, match=r"\[nlp\.after_creation\]"):
        load_model(str(package))


@pytest.mark.slow
@pytest.mark.parametrize("start", [["-m", "gendalens"], ["-P", "-m", "gendalens"]])
def test_packages_in_the_working_directory_are_not_imported(
    start: list[str], tmp_path: Path, marker: Path
) -> None:
    """The directory may be a model's folder; `-m` has Python look there before anywhere else."""
    for name in ("rich", "torch", "transformers", "spacy", "typer"):
        (tmp_path / "model" / name).mkdir(parents=True)
        (tmp_path / "model" / name / "__init__.py").write_text(code(marker))
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    ran = subprocess.run(
        [sys.executable, *start, "run", ".", "--offline"],
        cwd=tmp_path / "model",
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert not marker.exists()
    assert ran.returncode == 2
    assert "no config.json" in ran.stderr


def test_python_without_docstrings_is_named_as_the_reason() -> None:
    """transformers reads its own docstrings and would say that the weights cannot be read."""
    code = (
        "from gendalens.errors import UserError\n"
        "from gendalens.models.huggingface.libraries import import_transformers\n"
        "try:\n    import_transformers()\nexcept UserError as error:\n    print(error)"
    )
    said = subprocess.check_output([sys.executable, "-OO", "-P", "-c", code], text=True)
    assert "run without -OO" in said
