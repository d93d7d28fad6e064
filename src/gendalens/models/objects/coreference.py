"""Coreference systems as Python objects, recognised by their attributes.

Danish coreference systems depend on old, incompatible libraries, so nothing is imported or loaded here:
the user brings a working system, and each kind takes a few lines of adapter code.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib import metadata
from typing import Any, NamedTuple, TypeAlias

from gendalens.errors import UserError
from gendalens.models.base import Answer, Backend, Offsets, Resolve, ResolveAnswer
from gendalens.models.library_errors import is_out_of_memory
from gendalens.models.word_spans import split_words
from gendalens.results.model_info import COREFERENCE, ModelInfo
from gendalens.words import N_, Template, phrase

#: A system's unchecked output for one text: clusters of (start, end) in characters.
Clusters: TypeAlias = Iterable[Iterable[Any]]
EXPECTED = phrase(
    "an object with danlp's interface (predict and predict_clusters), fastcoref's (predict), a spaCy "
    "pipeline with a coreference component, a Stanza pipeline with the coref processor, or a "
    "function from a list of texts to a list of clusters of (start, end) character offsets"
)
COREFERENCE_SYSTEM = Template("coreference_system", "coreference system ({interface:t})")


class Interface(NamedTuple):
    """A kind of system: how to recognise it, and how to query it."""

    name: str
    offers: Callable[[Any], bool]
    ask: Callable[[Any, Sequence[Resolve]], Iterable[Clusters]]


@dataclass(frozen=True, slots=True)
class SizedRequest:
    """A request with its number of words, by which batches are planned."""

    request: Resolve
    length: int
    rows: int = 1
    positions: int = 1


class Resolver(Backend):
    """A backend around a coreference system that the user has loaded."""

    answers = frozenset({Resolve.kind})
    #: A Python object has no digest that identifies it across runs.
    cacheable = False

    def __init__(self, system: Any) -> None:
        self.system = system
        found = next((kind for kind in INTERFACES if kind.offers(system)), None)
        if found is None:
            raise UserError(
                "{name} is not a model that GenDa Lens can use: give a model's name, a folder, a"
                " backend, or {expected}.",
                name=_name_of(system),
                expected=EXPECTED,
            )
        self.interface = found

    @property
    def info(self) -> ModelInfo:
        """What a result says about the system; its package version stands for a revision."""
        return ModelInfo(
            name=_name_of(self.system),
            kind=COREFERENCE_SYSTEM(interface=self.interface.name),
            revision="object",
            dtype="none",
            software=tuple(_find_package(self.system)),
            hub_task=COREFERENCE,
        )

    def fingerprint(self) -> str:
        """The object's id in this process, which is enough because its answers are not cached."""
        return f"object:{id(self.system)}"

    def encode(self, requests: Sequence[Resolve]) -> list[SizedRequest]:
        """The requests with their number of words."""
        return [SizedRequest(one, len(one.tokens) or len(one.text.split())) for one in requests]

    def answer(self, batch: Sequence[SizedRequest]) -> list[Answer]:
        """The clusters of each text, checked."""
        requests = [item.request for item in batch]
        try:
            given = [list(clusters) for clusters in self.interface.ask(self.system, requests)]
        except (MemoryError, UserError):
            raise
        except Exception as error:
            # The engine retries with smaller batches when memory runs out.
            if isinstance(error, RuntimeError) and is_out_of_memory(error):
                raise
            raise UserError(
                "{name} (taken for {interface:t}) fails on a sentence such as “{text}”: {kind}:"
                " {reason}. Expected: {expected}.",
                name=_name_of(self.system),
                interface=self.interface.name,
                text=requests[0].text,
                kind=type(error).__name__,
                reason=str(error),
                expected=EXPECTED,
            ) from error
        if len(given) != len(requests):
            raise UserError(
                "{name} gives {answers} answers to {texts} texts; it must give a list of clusters for"
                " each.",
                name=_name_of(self.system),
                answers=len(given),
                texts=len(requests),
            )
        return [
            ResolveAnswer(tuple(self._check_cluster(request, cluster) for cluster in clusters))
            for request, clusters in zip(requests, given, strict=True)
        ]

    def _check_cluster(self, request: Resolve, cluster: Any) -> tuple[Offsets, ...]:
        """The mentions of a cluster, checked to lie within the text."""
        mentions: list[Offsets] = []
        try:
            for mention in cluster:
                if mention is None:  # fastcoref: a span that matches no characters
                    continue
                start, end = (operator.index(place) for place in mention)
                if not 0 <= start < end <= len(request.text):
                    raise ValueError
                mentions.append((start, end))
        except (TypeError, ValueError):
            raise UserError(
                "{name} answers “{text}” with the cluster {cluster}; a cluster is a list of mentions"
                " (start, end) in characters of the text.",
                name=_name_of(self.system),
                text=request.text,
                cluster=repr(cluster),
            ) from None
        return tuple(mentions)


def _name_of(system: Any) -> str:
    """The system's own name if it has one, else that of its function or class."""
    own = getattr(system, "name", None)
    if isinstance(own, str) and own:
        return own
    meta = getattr(system, "meta", None)
    if isinstance(meta, dict) and meta.get("name"):
        return f"{meta.get('lang', '')}_{meta['name']}-{meta.get('version', '')}"
    return str(getattr(system, "__name__", None) or type(system).__name__)


def _find_package(system: Any) -> Iterator[str]:
    """The installed package that the system comes from, with its version; nothing if there is none."""
    package = str(getattr(system, "__module__", "") or "").partition(".")[0]
    try:
        yield f"{package} {metadata.version(package)}"
    except (metadata.PackageNotFoundError, ValueError):
        return


def _ask_danlp(system: Any, requests: Sequence[Resolve]) -> Iterator[Clusters]:
    """``predict_clusters`` takes a document as sentences of words; mentions are word indices."""
    for request in requests:
        tokens = request.tokens or split_words(request.text)
        document = [[request.text[start:end] for start, end in tokens]]
        yield [
            [(tokens[first][0], tokens[end - 1][1]) for _, first, end in cluster]
            for cluster in system.predict_clusters(document)
        ]


def _ask_fastcoref(system: Any, requests: Sequence[Resolve]) -> Iterator[Clusters]:
    for found in system.predict(texts=[request.text for request in requests]):
        yield found.get_clusters(as_strings=False)


def _ask_spacy(system: Any, requests: Sequence[Resolve]) -> Iterator[Clusters]:
    """spacy-experimental stores clusters in ``doc.spans``, coreferee in its own chains."""
    parts = {*system.pipe_names, *getattr(system, "pipe_factories", {}).values()}
    if not any("coref" in part for part in parts):
        raise UserError(
            "The spaCy pipeline {name} has no coreference component (its components: {parts}): add"
            " one, or give {expected}.",
            name=_name_of(system),
            parts=tuple(system.pipe_names) or phrase("none"),
            expected=EXPECTED,
        )
    for doc in system.pipe([request.text for request in requests]):
        yield _clusters_of_doc(doc)


def _clusters_of_doc(doc: Any) -> Iterator[Iterable[Any]]:
    """All clusters of a document, wherever its component stores them."""
    for key, spans in doc.spans.items():
        if key.startswith("coref_clusters"):
            yield [(span.start_char, span.end_char) for span in spans]
    # Extensions are global in spaCy: another pipeline may have registered them, and they are empty here.
    if doc.has_extension("coref_chains"):
        for chain in doc._.coref_chains or ():
            yield [_span_of_words(doc, mention.token_indexes) for mention in chain]
    if doc.has_extension("coref_clusters"):  # fastcoref as a component
        yield from doc._.coref_clusters or ()


def _span_of_words(doc: Any, places: Sequence[int]) -> Offsets:
    last = doc[max(places)]
    return doc[min(places)].idx, last.idx + len(last)


def _ask_stanza(system: Any, requests: Sequence[Resolve]) -> Iterator[Clusters]:
    """``doc.coref`` holds chains; mentions are word indices within a sentence."""
    for request in requests:
        doc = system(request.text)
        yield [
            [
                _span_of_sentence(doc.sentences[m.sentence], m.start_word, m.end_word)
                for m in chain.mentions
                if isinstance(m.start_word, int)  # a dropped pronoun has no position in the text
            ]
            for chain in doc.coref
        ]


def _span_of_sentence(sentence: Any, first: int, end: int) -> Offsets:
    # Only tokens are sure to have offsets: a word may be one of several in a token.
    begin, last = sentence.words[first].parent, sentence.words[end - 1].parent
    return begin.start_char, last.end_char


def _ask_callable(system: Any, requests: Sequence[Resolve]) -> Iterable[Clusters]:
    found: Iterable[Clusters] = system([request.text for request in requests])
    return found


def _offers(*names: str) -> Callable[[Any], bool]:
    return lambda system: all(hasattr(system, name) for name in names)


#: The more attributes an interface requires, the earlier it is tried.
INTERFACES = (
    Interface(N_("danlp's interface"), _offers("predict", "predict_clusters"), _ask_danlp),
    Interface(N_("a spaCy pipeline"), _offers("pipe", "pipe_names"), _ask_spacy),
    Interface(N_("a Stanza pipeline"), _offers("processors", "__call__"), _ask_stanza),
    Interface(N_("fastcoref's interface"), _offers("predict"), _ask_fastcoref),
    Interface(N_("a function"), callable, _ask_callable),
)
