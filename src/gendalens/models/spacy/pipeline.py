"""spaCy pipelines: a folder that ``nlp.to_disk`` wrote, or an installed package (DaCy's included).

Loading a pipeline runs the functions that its ``config.cfg`` names, which must be registered by spaCy
or by an installed package, and, if the pipeline is itself an installed package, that package's own
code, as with every import. Python files in a folder are never run. Weights are msgpack and numpy
arrays; PyTorch weights inside them are read without unpickling other objects.
"""

from __future__ import annotations

import hashlib
import importlib
import json
import os
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from importlib import metadata
from typing import Any, ClassVar

from gendalens.errors import UserError
from gendalens.models.huggingface.checkpoint import Checkpoint
from gendalens.models.huggingface.checkpoint_backend import CheckpointBackend
from gendalens.models.library_errors import DOES_NOT_FIT, describe_error
from gendalens.models.requests import Answer, Tag, TagAnswer
from gendalens.models.spacy.components import read_entities
from gendalens.models.spacy.files import PipelineFiles, find_pipeline
from gendalens.models.word_spans import split_words
from gendalens.results.model_info import TOKEN_CLASSIFICATION, ModelInfo
from gendalens.system.extras import write_install_command
from gendalens.words import N_, Message, Template, phrase

PIPELINE = Template("spacy_pipeline", "spaCy pipeline")
FOREIGN_PIPELINE = Template(
    "foreign_spacy_pipeline", "spaCy pipeline for “{language}”, not for Danish"
)

# Part of every fingerprint: raise it when the same pipeline would tag differently than before.
ANSWERS_VERSION = 1

# spaCy's own limit, which is not known before a pipeline is loaded.
_MAX_CHARACTERS = 1_000_000

# The requirements of a pipeline that names no packages.
_NEEDS_NOTHING = phrase("spaCy alone, it says")
#: The languages of pipelines that suit Danish texts: Danish, multilingual, or unspecified.
FOR_DANISH = ("da", "xx", "mul", "")


@dataclass(frozen=True, slots=True)
class SizedText:
    """A text with its approximate number of words, by which batches are planned."""

    text: str
    length: int
    rows: int = 1
    positions: int = 1


class SpacyPipeline(CheckpointBackend):
    """A spaCy pipeline that finds entities; it is loaded on the first request."""

    label: ClassVar[str] = N_("spaCy pipelines (NER)")
    early: ClassVar[bool] = True
    answers = frozenset({Tag.kind})

    @classmethod
    def recognises(cls, checkpoint: Checkpoint) -> bool:
        """Whether the name refers to a pipeline's folder or an installed pipeline."""
        return find_pipeline(checkpoint) is not None

    def __init__(self, checkpoint: Checkpoint) -> None:
        super().__init__(checkpoint)
        folder = find_pipeline(checkpoint)
        assert folder is not None
        self._spacy = _import_spacy(checkpoint.name)
        if checkpoint.path is None:
            # The package may register components that its config.cfg names.
            with _explain_errors(checkpoint.name, phrase("its package")):
                importlib.import_module(checkpoint.name.replace("-", "_"))
        self._files = PipelineFiles(checkpoint.name, folder)
        if checkpoint.options.dtype not in ("float32", "auto"):
            raise UserError(
                "{name} is a spaCy pipeline, which computes in float32: leave out the number format"
                " {dtype}.",
                name=checkpoint.name,
                dtype=checkpoint.options.dtype,
            )
        self._files.meta  # noqa: B018 - read now, so that a broken file is reported at once
        if not self._files.setters:
            raise UserError(
                "The spaCy pipeline {name} finds no entities (its components: {parts}): name one with"
                " a component such as ner.",
                name=checkpoint.name,
                parts=tuple(self._files.factories) or phrase("none"),
            )

    @cached_property
    def info(self) -> ModelInfo:
        """Name, kind and revision."""
        meta = self._files.meta
        return ModelInfo(
            name=self.checkpoint.title,
            kind=PIPELINE() if self._is_danish else FOREIGN_PIPELINE(language=self.language),
            revision=f"{meta.get('lang', '')}_{meta.get('name', '')} {meta.get('version', '')}"
            f" sha256:{self._files.digest[:12]}",
            dtype="float32",
            tokenizer=f"spaCy ({self.language})",
            software=(f"spacy {self._version}",),
            hub_task=TOKEN_CLASSIFICATION,
            for_danish=self._is_danish,
        )

    @property
    def _is_danish(self) -> bool:
        """Whether the pipeline is for Danish, multilingual or unspecified."""
        return self.language in FOR_DANISH

    @property
    def language(self) -> str:
        """The language that the pipeline says it is for, as a code ("da")."""
        return str(self._files.meta.get("lang", ""))

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """The entity types that the pipeline can find, under its own labels."""
        known = self._files.meta.get("labels") or {}
        with _explain_errors(self.checkpoint.name, _NEEDS_NOTHING):
            if not all(name in known for name in self._files.setters):
                known = self.pipeline.pipe_labels
            names = [str(label) for name in self._files.setters for label in known.get(name, ())]
        return tuple(dict.fromkeys(names))

    def fingerprint(self) -> str:
        """A digest of everything that determines the answers, spaCy's version included."""
        parts = [ANSWERS_VERSION, self._files.digest, self._version]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()

    def encode(self, requests: Sequence[Tag]) -> list[SizedText]:
        """The texts; the pipeline tokenises them itself."""
        for request in requests:
            if len(request.text) > _MAX_CHARACTERS:
                raise UserError(
                    "A text of {length:,} characters is too long for the spaCy pipeline {name}:"
                    " shorten “{text}…”.",
                    length=len(request.text),
                    name=self.checkpoint.name,
                    text=request.text[:59],
                )
        return [SizedText(request.text, len(split_words(request.text))) for request in requests]

    def answer(self, batch: Sequence[SizedText]) -> list[Answer]:
        """The entities of each text, in order."""
        texts = [item.text for item in batch]
        pipeline = self.pipeline
        with silence_version_warnings(), self.checkpoint.explain_failures():
            docs = list(pipeline.pipe(texts, batch_size=max(1, len(texts))))
            found = [TagAnswer(tuple(read_entities(doc))) for doc in docs]
        # Labels are mapped before the run: one that turns up only now would not be scored.
        for label in {label for answer in found for _, _, label in answer.entities}:
            if label not in self.labels:
                raise UserError(
                    "The spaCy pipeline {name} finds “{label}”, a label that its meta.json does not"
                    " name: write it there, under labels.",
                    name=self.checkpoint.name,
                    label=label,
                )
        return [*found]

    @cached_property
    def pipeline(self) -> Any:
        """The pipeline itself, with the components that affect its entities."""
        name = self.checkpoint.name
        self._choose_device()
        needs = tuple(map(str, self._files.meta.get("requirements") or ())) or _NEEDS_NOTHING
        with _explain_errors(name, needs), silence_version_warnings(), forbid_pickles():
            pipeline = self._spacy.load(self._files.folder, exclude=self._files.idle)
        # The digest that identifies the pipeline in results must describe what was loaded.
        if self._files.digest != PipelineFiles(name, self._files.folder).digest:
            raise UserError(
                "The files of {name} changed while they were read, so the tested version is"
                " unknown: run again when they are complete.",
                name=name,
            )
        return pipeline

    @property
    def _version(self) -> str:
        return metadata.version("spacy")

    def _choose_device(self) -> None:
        device = self.checkpoint.options.device
        kind, _, number = (device or "").partition(":")
        if device is None:
            self._spacy.prefer_gpu()
        elif kind == "cpu":  # torch also accepts cpu:0
            self._spacy.require_cpu()
        else:
            try:
                self._spacy.require_gpu(int(number) if number else 0)
            except ValueError as error:
                raise UserError(
                    "The device {device} cannot be used ({reason}): choose cpu, or leave it out.",
                    device=device,
                    reason=describe_error(error),
                ) from error


def _import_spacy(name: str) -> Any:
    try:
        import spacy
    except ImportError as error:
        raise UserError(
            "{name} is a spaCy pipeline, and spaCy is not installed: run `{command}`.",
            name=name,
            command=write_install_command("spacy"),
        ) from error
    return spacy


@contextmanager
def _explain_errors(name: str, needs: tuple[str, ...] | Message) -> Iterator[None]:
    """Turn any error raised while a pipeline is loaded into a user error."""
    try:
        yield
    except UserError:
        raise
    except MemoryError as error:
        raise UserError(
            "{fact}: use a smaller pipeline or a bigger machine.", fact=DOES_NOT_FIT(name=name)
        ) from error
    except Exception as error:
        raise UserError(
            "The spaCy pipeline {name} cannot be loaded ({reason}): check that its files are complete"
            " and that what it needs is installed ({needs}).",
            name=name,
            reason=describe_error(error),
            needs=needs,
        ) from error


@contextmanager
def silence_version_warnings() -> Iterator[None]:
    """Silence W095 (a pipeline for another minor version of spaCy): the signature names both versions."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=r"\[W095\]")
        yield


@contextmanager
def forbid_pickles() -> Iterator[None]:
    """Make PyTorch read plain weights only, the default of its newer versions."""
    switch = "TORCH_FORCE_WEIGHTS_ONLY_LOAD"
    before = os.environ.get(switch)
    os.environ[switch] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ[switch]
        else:
            os.environ[switch] = before


BACKEND = SpacyPipeline
