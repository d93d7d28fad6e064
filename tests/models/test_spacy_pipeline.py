"""spaCy pipelines tag; what is no NER pipeline is refused with a sentence."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import warnings
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest
from asking import answer_all

from gendalens.errors import UserError
from gendalens.models.base import LoadOptions
from gendalens.models.detect import load_model
from gendalens.models.huggingface.stored_checkpoint import StoredCheckpoint
from gendalens.models.requests import Tag, TagAnswer
from gendalens.models.spacy.files import PipelineFiles

PATTERNS = [
    {"label": "PERSON", "pattern": [{"LOWER": "åse"}, {"IS_TITLE": True}]},
    {"label": "PERSON", "pattern": "Bo"},
    {"label": "GPE", "pattern": "Århus"},
]
TEXTS = ["Åse Lund bor i Århus.", "", "Bo  så Bo", "Ingen her."]
FOUND = [
    ((0, 8, "PERSON"), (15, 20, "GPE")),
    (),
    ((0, 2, "PERSON"), (7, 9, "PERSON")),
    (),
]


@pytest.fixture(scope="session", autouse=True)
def spacy() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import spacy

        return spacy


@pytest.fixture(scope="session")
def good(spacy: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A pipeline of rules, which is as good as a trained one here."""
    folder = tmp_path_factory.mktemp("spacy") / "regler"
    nlp = spacy.blank("da", meta={"name": "regler", "version": "1.2.3"})
    nlp.add_pipe("sentencizer")
    nlp.add_pipe("entity_ruler").add_patterns(PATTERNS)
    nlp.to_disk(folder)
    return folder


@pytest.fixture
def folder(good: Path, tmp_path: Path) -> Path:
    """A copy of it, to be spoilt."""
    return shutil.copytree(good, tmp_path / "regler")


def refused(name: str | Path, **options: Any) -> str:
    def ask_it() -> None:
        backend = load_model(str(name), LoadOptions(**options))
        backend.answer(backend.encode([Tag("Bo")]))

    with pytest.raises(UserError) as caught:
        ask_it()
    sentence = str(caught.value)
    assert "\n" not in sentence
    assert sentence.endswith(".")
    return sentence


def test_entities_are_character_spans_with_the_pipelines_own_labels(good: Path) -> None:
    backend = load_model(str(good))
    encoded = backend.encode([Tag(text) for text in TEXTS])
    assert backend.answer(encoded) == [TagAnswer(found) for found in FOUND]
    answers = answer_all(backend, [Tag(text) for text in TEXTS], batch_tokens=8)
    assert [answers[Tag(text)] for text in TEXTS] == [TagAnswer(some) for some in FOUND]


def test_it_says_what_it_is_without_being_loaded(good: Path) -> None:
    backend: Any = load_model(str(good))
    info = backend.info
    assert (info.name, info.kind.code, info.dtype) == ("regler", "spacy_pipeline", "float32")
    assert info.revision.startswith("da_regler 1.2.3 sha256:")
    assert info.software == (f"spacy {metadata.version('spacy')}",)
    assert (info.hub_task, info.for_danish) == ("token-classification", True)
    assert backend.labels == ("GPE", "PERSON")
    assert backend.language == "da"
    assert backend.answers == {"tag"}
    assert [item.length for item in backend.encode([Tag(text) for text in TEXTS])] == [6, 0, 3, 3]
    assert len(backend.fingerprint()) == 64
    assert "pipeline" not in vars(backend)


@pytest.mark.parametrize(("language", "fits"), [("da", True), ("xx", True), ("en", False)])
def test_a_pipeline_for_another_language_says_so(
    spacy: Any, tmp_path: Path, language: str, fits: bool
) -> None:
    nlp = spacy.blank(language, meta={"name": "regler", "version": "1.0.0"})
    nlp.add_pipe("entity_ruler").add_patterns(PATTERNS)
    nlp.to_disk(tmp_path / "regler")
    info = load_model(str(tmp_path / "regler")).info
    assert info.for_danish == fits
    if fits:
        assert info.kind.code == "spacy_pipeline"
    else:
        assert (info.kind.code, info.kind.values) == ("foreign_spacy_pipeline", {"language": "en"})
        assert str(info.kind) == "spaCy pipeline for “en”, not for Danish"


def test_the_fingerprint_follows_the_content(good: Path, folder: Path) -> None:
    first: Any = load_model(str(good))
    (folder / "README.md").write_text("about it")
    assert load_model(str(folder)).fingerprint() == first.fingerprint()
    file = folder / "entity_ruler" / "patterns.jsonl"
    file.write_text(file.read_text().replace("PERSON", "PER"))
    assert load_model(str(folder)).fingerprint() != first.fingerprint()
    assert load_model(str(folder)).info.revision != first.info.revision


@pytest.mark.parametrize("name", ["_regler", "__pycache__", "LICENSE"])
@pytest.mark.parametrize("place", ["{name}/patterns.jsonl", "{name}.jsonl"])
def test_the_fingerprint_follows_components_whatever_their_name(
    name: str, place: str, spacy: Any, tmp_path: Path
) -> None:
    nlp = spacy.blank("da")
    nlp.add_pipe("entity_ruler", name=name).add_patterns(PATTERNS)
    nlp.to_disk(tmp_path / "p")
    file = tmp_path / "p" / place.format(name=name)
    # An entity ruler also reads this one, which older versions wrote.
    file.write_bytes((tmp_path / "p" / name / "patterns.jsonl").read_bytes())
    first = load_model(str(tmp_path / "p")).fingerprint()
    file.write_text(file.read_text(encoding="utf-8").replace("PERSON", "PER"), encoding="utf-8")
    assert load_model(str(tmp_path / "p")).fingerprint() != first


@pytest.mark.parametrize("part", ["entity_ruler", "vocab", "entity_ruler/more"])
@pytest.mark.parametrize("inside", [True, False])
def test_a_part_that_is_a_link_to_another_folder_is_refused(
    part: str, inside: bool, folder: Path, tmp_path: Path
) -> None:
    """The digest would not tell when the link leads to another one."""
    target = (folder if inside else tmp_path) / ".other"
    if (folder / part).exists():
        (folder / part).rename(target)
    else:
        target.mkdir()
    (folder / part).symlink_to(target, target_is_directory=True)
    assert f"has a part in another folder ({part})" in refused(folder)


def test_files_may_be_links_and_count_by_their_content(good: Path, folder: Path) -> None:
    """The hub's cache keeps the files of a model elsewhere and links to them."""
    file = folder / "entity_ruler" / "patterns.jsonl"
    blob = file.rename(folder.parent / "blob")
    file.symlink_to(blob)
    first: Any = load_model(str(folder))
    assert first.fingerprint() == load_model(str(good)).fingerprint()
    assert first.answer(first.encode([Tag(TEXTS[0])])) == [TagAnswer(FOUND[0])]
    blob.write_text(blob.read_text(encoding="utf-8").replace("PERSON", "PER"), encoding="utf-8")
    assert load_model(str(folder)).fingerprint() != first.fingerprint()


def test_a_component_that_is_named_like_a_path_is_refused(folder: Path, tmp_path: Path) -> None:
    """spaCy would read it from there."""
    outside = (folder / "entity_ruler").rename(tmp_path / "outside")
    config = folder / "config.cfg"
    text = config.read_text(encoding="utf-8")
    text = text.replace('"entity_ruler"]', f'"{outside}"]')
    text = text.replace("[components.entity_ruler", f"[components.{outside}")
    config.write_text(text, encoding="utf-8")
    assert f"has a part in another folder ({str(outside)[:80]})" in refused(folder)


def test_claiming_a_pipeline_asks_neither_the_hub_nor_for_a_configuration(
    good: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        StoredCheckpoint, "config", property(lambda _: pytest.fail("config was read"))
    )
    assert load_model(str(good)).info.kind.code == "spacy_pipeline"


def test_a_pipeline_without_entities_is_refused(spacy: Any, tmp_path: Path) -> None:
    nlp = spacy.blank("da")
    nlp.add_pipe("sentencizer")
    nlp.add_pipe("span_ruler")
    nlp.to_disk(tmp_path / "bare")
    assert "finds no entities (its components: sentencizer, span_ruler)" in refused(
        tmp_path / "bare"
    )


def test_a_disabled_recogniser_finds_nothing(spacy: Any, tmp_path: Path) -> None:
    nlp = spacy.blank("da")
    nlp.add_pipe("entity_ruler").add_patterns(PATTERNS)
    nlp.disable_pipe("entity_ruler")
    nlp.to_disk(tmp_path / "off")
    assert "finds no entities (its components: none)" in refused(tmp_path / "off")


def test_a_span_ruler_that_sets_entities_is_welcome(spacy: Any, tmp_path: Path) -> None:
    nlp = spacy.blank("da")
    nlp.add_pipe("span_ruler", config={"annotate_ents": True}).add_patterns(PATTERNS)
    nlp.to_disk(tmp_path / "spans")
    backend = load_model(str(tmp_path / "spans"))
    assert backend.answer(backend.encode([Tag(TEXTS[0])])) == [TagAnswer(FOUND[0])]


def test_only_components_with_a_say_in_the_entities_are_loaded(spacy: Any, tmp_path: Path) -> None:
    """The parser stays: no entity crosses a sentence's end that it has set."""

    def idle(*components: str) -> list[str]:
        folder = tmp_path / "-".join(components)
        nlp = spacy.blank("da")
        for component in components:
            nlp.add_pipe(component)
        folder.mkdir()
        nlp.config.to_disk(folder / "config.cfg")
        return PipelineFiles("p", folder).idle

    common = ("tok2vec", "tagger", "parser", "attribute_ruler", "lemmatizer")
    assert idle(*common, "ner", "textcat") == ["textcat", "tagger", "attribute_ruler", "lemmatizer"]
    # A pattern can ask for tags and lemmas.
    assert idle(*common, "entity_ruler", "textcat") == ["textcat"]
    assert idle("ner", "tagger", "parser") == ["tagger", "parser"]


@pytest.mark.parametrize("file", ["config.cfg", "meta.json"])
@pytest.mark.parametrize("content", [None, "", "{not json", "[nlp]\nlang = da", "[]"])
def test_a_corrupted_folder_is_refused(folder: Path, file: str, content: str | None) -> None:
    if content is None:
        (folder / file).unlink()
    else:
        (folder / file).write_text(content)
    sentence = refused(folder)
    assert f"The spaCy pipeline {folder} cannot be" in sentence
    assert file in sentence


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"requirements": 7}, "requirements are no list"),
        ({"requirements": "spacy"}, "requirements are no list"),
        ({"labels": {"entity_ruler": "PER"}}, "labels are no lists by component"),
        ({"labels": {"ner": ["PER"], "entity_ruler": "PER"}}, "labels are no lists by component"),
        ({"labels": ["PER"]}, "labels are no lists by component"),
    ],
)
def test_a_meta_file_of_another_shape_is_refused(
    folder: Path, wrong: dict[str, Any], said: str
) -> None:
    meta = json.loads((folder / "meta.json").read_text())
    (folder / "meta.json").write_text(json.dumps(meta | wrong))
    assert f"cannot be read (meta.json: {said})" in refused(folder)


def test_files_that_may_not_be_read(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def forbid(file: Path) -> Any:
        raise PermissionError(13, "Permission denied", str(file))

    backend = load_model(str(folder))
    monkeypatch.setattr("gendalens.models.spacy.files.open_ordinary", forbid)
    with pytest.raises(UserError, match=r"cannot be read \(its files: .*Permission denied"):
        backend.fingerprint()


def test_missing_weights_are_refused(folder: Path) -> None:
    shutil.rmtree(folder / "vocab")
    (folder / "entity_ruler" / "patterns.jsonl").write_text("{")
    assert "cannot be loaded" in refused(folder)


def test_a_label_that_no_file_could_hold_is_refused(folder: Path) -> None:
    meta = json.loads((folder / "meta.json").read_text())
    meta["labels"]["entity_ruler"] = ["PER", "\ud800"]
    (folder / "meta.json").write_text(json.dumps(meta))
    sentence = refused(folder)
    assert "cannot be read (meta.json: " in sentence
    assert r"\ud800" in sentence


def test_a_component_that_is_not_installed_names_what_the_pipeline_needs(folder: Path) -> None:
    config = folder / "config.cfg"
    config.write_text(
        config.read_text().replace('factory = "sentencizer"', 'factory = "hjemmelavet"')
    )
    meta = json.loads((folder / "meta.json").read_text())
    (folder / "meta.json").write_text(json.dumps(meta | {"requirements": ["hjemmelavet>=1.0"]}))
    sentence = refused(folder)
    assert "cannot be loaded" in sentence
    assert "(hjemmelavet>=1.0)" in sentence


def test_python_files_in_the_folder_are_not_run(folder: Path) -> None:
    (folder / "__init__.py").write_text("raise SystemExit('was run')")
    backend = load_model(str(folder))
    assert backend.answer(backend.encode([Tag(TEXTS[0])])) == [TagAnswer(FOUND[0])]


def test_spacy_missing(good: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "spacy", None)
    assert 'run `pip install "spacy>=' in refused(good)


def test_another_number_format_or_device_is_refused(good: Path) -> None:
    assert "computes in float32" in refused(good, dtype="bfloat16")
    assert "The device cuda cannot be used" in refused(good, device="cuda")
    assert load_model(str(good), LoadOptions(dtype="auto", device="cpu")).info.dtype == "float32"


@pytest.mark.parametrize("device", ["cpu", "cpu:0"])
def test_the_processor_may_have_a_number(good: Path, device: str) -> None:
    backend = load_model(str(good), LoadOptions(device=device))
    assert backend.answer(backend.encode([Tag(TEXTS[0])])) == [TagAnswer(FOUND[0])]


def test_a_text_too_long_for_spacy(good: Path) -> None:
    backend = load_model(str(good))
    with pytest.raises(UserError, match="A text of 1,000,001 characters is too long"):
        backend.encode([Tag("a" * 1_000_001)])


def test_a_version_warning_is_not_passed_on(folder: Path) -> None:
    """Warnings are errors here; spaCy warns (W095) of pipelines made for another minor version."""
    meta = json.loads((folder / "meta.json").read_text())
    (folder / "meta.json").write_text(json.dumps(meta | {"spacy_version": ">=3.5.0,<3.6.0"}))
    backend = load_model(str(folder))
    assert backend.answer(backend.encode([Tag(TEXTS[0])])) == [TagAnswer(FOUND[0])]


def install(site: Path, name: str, version: str) -> Path:
    """A package in ``site``, as pip leaves one."""
    (site / name).mkdir(parents=True)
    info = site / f"{name}-{version}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    (site / name / "__init__.py").write_text("")
    return site / name


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A place for installed packages; modules imported from it are forgotten again."""
    before = set(sys.modules)
    monkeypatch.syspath_prepend(tmp_path / "site")
    yield tmp_path / "site"
    for name in set(sys.modules) - before:
        if name.startswith("da_"):
            del sys.modules[name]


def test_an_installed_package_is_known_by_its_name(good: Path, site: Path) -> None:
    package = install(site, "da_ent_regler", "1.2.3")
    shutil.copytree(good, package / "da_regler-1.2.3")
    shutil.copy(good / "meta.json", package)
    for name in ("da_ent_regler", "da-ent-regler", str(package)):
        backend = load_model(name)
        assert backend.info.name == Path(name).name
        assert backend.info.revision == load_model(str(good)).info.revision
        assert backend.answer(backend.encode([Tag(TEXTS[0])])) == [TagAnswer(FOUND[0])]


def test_a_package_may_bring_its_own_components(spacy: Any, good: Path, site: Path) -> None:
    package = install(site, "da_ent_egne", "1.0")
    shutil.copytree(good, package / "da_regler-1.2.3")
    shutil.copy(good / "meta.json", package)
    (package / "__init__.py").write_text(
        "from spacy.language import Language\n"
        "from spacy.tokens import Span\n"
        "@Language.component('da_egen', assigns=['doc.ents'])\n"
        "def egen(doc):\n"
        "    doc.ents = [Span(doc, 0, 1, 'NAVN')]\n"
        "    return doc\n"
    )
    path = package / "da_regler-1.2.3" / "config.cfg"
    config = spacy.util.load_config(path)
    config["components"]["entity_ruler"] = {"factory": "da_egen"}
    config.to_disk(path)
    meta = json.loads((package / "da_regler-1.2.3" / "meta.json").read_text(encoding="utf-8"))
    meta["labels"]["entity_ruler"] = ["NAVN"]
    (package / "da_regler-1.2.3" / "meta.json").write_text(json.dumps(meta), encoding="utf-8")
    backend = load_model("da_ent_egne")
    assert backend.answer(backend.encode([Tag("Bo bor her.")])) == [TagAnswer(((0, 2, "NAVN"),))]


def test_a_placeholder_is_refused(site: Path) -> None:
    install(site, "da_core_news_xx", "999.9.9")
    sentence = refused("da_core_news_xx", offline=True)
    assert "version 999.9.9, a placeholder" in sentence


def test_a_pipeline_that_is_not_installed() -> None:
    sentence = refused("da_core_news_none", offline=True)
    assert "python -m spacy download da_core_news_none" in sentence


def test_other_packages_and_folders_are_no_pipelines(tmp_path: Path) -> None:
    assert "nor in the cache" in refused("json", offline=True)
    assert "nor in the cache" in refused("pytest", offline=True)
    (tmp_path / "meta.json").write_text("{}")
    assert "no config.json" in refused(tmp_path)


def test_a_checkpoint_beside_the_files_of_a_pipeline_is_no_pipeline(folder: Path) -> None:
    (folder / "config.json").write_text('{"model_type": "bert"}')
    assert "has no weights" in refused(folder)


def test_finding_the_backends_does_not_import_spacy() -> None:
    code = (
        "import sys; from gendalens.models import detect; detect.all_backends();"
        "sys.exit('spacy' in sys.modules)"
    )
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    assert (
        subprocess.run([sys.executable, "-c", code], env=environment, check=False).returncode == 0
    )
