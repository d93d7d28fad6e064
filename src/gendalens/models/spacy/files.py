"""The files of a spaCy pipeline: its location, its version and its components.

No pipeline is loaded here, and finding one does not even import spaCy.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import re
from collections.abc import Iterator
from functools import cached_property
from importlib import metadata
from pathlib import Path
from typing import Any

from gendalens.errors import UserError
from gendalens.models.huggingface.checkpoint import Checkpoint
from gendalens.models.library_errors import describe_error
from gendalens.models.spacy.components import find_idle, find_setters
from gendalens.system.file_reading import check_ordinary, open_ordinary, read_ordinary
from gendalens.words import Message, phrase

# Packages of this version only reserve spaCy's names on package indexes.
_PLACEHOLDER = "999.9.9"
_PACKAGE = re.compile(r"[a-z][\w-]*", re.IGNORECASE)
_NAMED_LIKE_A_PIPELINE = re.compile(r"[a-z]{2,3}_(core|dacy|dep|ent|sent)_\w+")

# The registries whose functions spaCy may call while it loads a pipeline, because they only describe a
# model. Readers open files, loggers write them, callbacks import packages.
_REGISTRIES = frozenset(
    """annotation_setters architectures initializers layers losses misc optimizers schedules scorers
    span_getters tokenizers vectors""".split()  # noqa: SIM905
)
_CALLBACKS = ("before_creation", "after_creation", "after_pipeline_creation")
_NO_CONTENT = frozenset({"README.md", "LICENSE", "LICENSES_SOURCES", "accuracy.json"})


def find_pipeline(checkpoint: Checkpoint) -> Path | None:
    """The data folder of the pipeline named by the user; None if it is not a spaCy pipeline."""
    if checkpoint.path is not None:
        return _find_data_folder(checkpoint.path)
    name = checkpoint.name.replace("-", "_")
    if not _PACKAGE.fullmatch(checkpoint.name):
        return None
    if _find_version(name) == _PLACEHOLDER:
        raise UserError(
            "{name} is installed as version {version}, a placeholder without a pipeline in it:"
            " uninstall it and install the real one from spaCy or DaCy.",
            name=checkpoint.name,
            version=_PLACEHOLDER,
        )
    for folder in _find_package_folders(name):
        if found := _find_data_folder(folder):
            return found
    if _NAMED_LIKE_A_PIPELINE.fullmatch(name):
        raise UserError(
            "{name} is named like a spaCy pipeline and is not installed: install it"
            " (`python -m spacy download {package}`), or name its folder.",
            name=checkpoint.name,
            package=name,
        )
    return None


class PipelineFiles:
    """The folder of a pipeline, read without loading it."""

    def __init__(self, name: str, folder: Path) -> None:
        self.name = name
        self.folder = folder

    @cached_property
    def meta(self) -> dict[str, Any]:
        """The content of meta.json: language, name, version, labels of each component."""
        try:
            self._check_ordinary()
            found = json.loads(read_ordinary(self.folder / "meta.json"))
            # JSON can express lone surrogates, which neither the cache nor a result can store.
            json.dumps(found, ensure_ascii=False).encode()
        except (OSError, ValueError) as error:
            raise self._explain_broken("meta.json", describe_error(error)) from error
        if not isinstance(found, dict):
            raise self._explain_broken("meta.json", phrase("it holds no object"))
        labels = found.get("labels") or {}
        if not isinstance(labels, dict) or not all(
            isinstance(some, list) for some in labels.values()
        ):
            raise self._explain_broken("meta.json", phrase("labels are no lists by component"))
        if not isinstance(found.get("requirements") or [], list):
            raise self._explain_broken("meta.json", phrase("requirements are no list"))
        return found

    @cached_property
    def config(self) -> dict[str, Any]:
        """The content of config.cfg, unresolved; reading it needs spaCy."""
        from spacy.util import load_config

        try:
            self._check_ordinary()
            config = load_config(self.folder / "config.cfg", interpolate=False)
            for component in config["nlp"]["pipeline"]:
                str(config["components"][component]["factory"])
            # spaCy calls what [nlp] names without resolving variables, and what components name after
            # resolving them.
            acting = next(_find_acting_sections(config), None) or next(
                _find_acting_sections(config.interpolate()), None
            )
        except Exception as error:
            raise self._explain_broken("config.cfg", describe_error(error)) from error
        if acting is not None and not self._is_installed:
            raise UserError(
                "The spaCy pipeline {name} asks for code that acts while it is loaded ([{section}] in"
                " its config.cfg), which could read and write files elsewhere: take that section out,"
                " or install the pipeline as a package if you trust it.",
                name=self.name,
                section=acting,
            )
        for component in config["nlp"]["pipeline"]:
            if "/" in component or "\\" in component:
                raise self._explain_elsewhere(component)
        return dict(config)

    @cached_property
    def factories(self) -> dict[str, str]:
        """The enabled components in their order, each with the name of its factory."""
        nlp, components = self.config["nlp"], self.config["components"]
        disabled = set(nlp.get("disabled") or ())
        return {
            name: str(components[name]["factory"])
            for name in nlp["pipeline"]
            if name not in disabled
        }

    @cached_property
    def setters(self) -> tuple[str, ...]:
        """The components that set ``doc.ents``."""
        return find_setters(self.factories, self.config["components"])

    @property
    def idle(self) -> list[str]:
        """The components that do not affect ``doc.ents`` and need not be loaded."""
        return find_idle(self.factories, self.setters)

    @cached_property
    def digest(self) -> str:
        """A digest of all files that determine what the pipeline does."""
        total = hashlib.sha256()
        try:
            for file in self._list_content():
                with open_ordinary(file) as stream:
                    content = hashlib.file_digest(stream, "sha256").hexdigest()
                total.update(f"{file.relative_to(self.folder).as_posix()} {content}\n".encode())
        except OSError as error:
            raise self._explain_broken(phrase("its files"), describe_error(error)) from error
        return total.hexdigest()

    def _check_ordinary(self) -> None:
        """Raise if spaCy could block on a file, or never come to its end."""
        for path in self.folder.rglob("*"):
            if path.exists() and not path.is_dir():
                check_ordinary(path)

    def _list_content(self) -> Iterator[Path]:
        """The files that determine what the pipeline does, in order."""
        # A component may be named like one of _NO_CONTENT; some add a suffix to their name.
        read = {*self.config["nlp"]["pipeline"], "tokenizer", "vocab"}
        for path in sorted(self.folder.rglob("*")):
            parts = path.relative_to(self.folder).parts
            aside = path.name in _NO_CONTENT or any(part[0] in "._" for part in parts)
            if aside and Path(parts[0]).stem not in read:
                continue
            if path.is_file():
                yield path
            elif path.is_symlink() and path.is_dir():
                raise self._explain_elsewhere("/".join(parts))

    @property
    def _is_installed(self) -> bool:
        """Whether the pipeline is an installed package, whose code is trusted anyway."""
        if not _PACKAGE.fullmatch(self.name):
            return False
        places = _find_package_folders(self.name.replace("-", "_"))
        return any(self.folder.is_relative_to(place) for place in places)

    def _explain_elsewhere(self, component: str) -> UserError:
        return UserError(
            "The spaCy pipeline {name} has a part in another folder ({part}), so its version"
            " cannot be recorded: put its files beside config.cfg.",
            name=self.name,
            part=component[:80],
        )

    def _explain_broken(self, file: str | Message, reason: str | Message) -> UserError:
        return UserError(
            "The spaCy pipeline {name} cannot be read ({file}: {reason}): copy or install it again.",
            name=self.name,
            file=file,
            reason=reason,
        )


def _find_acting_sections(config: Any) -> Iterator[str]:
    """The sections called while loading that do more than describe a model."""
    for name in _CALLBACKS:
        if config["nlp"].get(name) is not None:
            yield f"nlp.{name}"
    for section in ("nlp", "components"):
        yield from _find_calls(config[section], section)


def _find_calls(value: Any, section: str) -> Iterator[str]:
    """The subsections that call a function outside the harmless registries."""
    if isinstance(value, dict):
        if any(str(key)[:1] == "@" and key[1:] not in _REGISTRIES for key in value):
            yield section
        for key, inner in value.items():
            yield from _find_calls(inner, f"{section}.{key}")
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _find_calls(inner, section)


def _find_data_folder(path: Path) -> Path | None:
    """The folder that spaCy would load: the given one, or the one inside a package's folder."""
    if not path.is_dir() or (path / "config.json").exists():
        return None
    if (path / "config.cfg").is_file():
        return path
    if not (path / "meta.json").is_file():
        return None
    inner = [folder for folder in path.iterdir() if (folder / "config.cfg").is_file()]
    if len(inner) == 1:
        return inner[0]
    # A pipeline without its config.cfg is still recognised, and then refused.
    try:
        return path if "spacy_version" in read_ordinary(path / "meta.json").decode() else None
    except (OSError, ValueError):
        return None


def _find_version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def _find_package_folders(name: str) -> list[Path]:
    """The folders of an installed package, found without importing it."""
    try:
        spec = importlib.util.find_spec(name)
    except (ImportError, ValueError):
        return []
    return [Path(place) for place in (spec and spec.submodule_search_locations) or ()]
