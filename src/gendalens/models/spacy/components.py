"""The components of a spaCy pipeline: which set entities, and which can be left out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

# Components that set entities; not all of them declare it when they register.
_TAGGERS = frozenset({"ner", "beam_ner"})
_OTHER_SETTERS = frozenset(
    {"entity_ruler", "future_entity_ruler", "token_classification_transformer"}
)
# Components that do not affect an entity recogniser. Parsers and sentence splitters do: no entity
# crosses a sentence boundary that they have set.
_IDLE = frozenset(
    """attribute_ruler entity_linker lemmatizer morphologizer span_finder spancat
    spancat_singlelabel tagger textcat textcat_multilabel trainable_lemmatizer""".split()  # noqa: SIM905
)


def find_setters(
    factories: Mapping[str, str], settings: Mapping[str, Mapping[str, Any]]
) -> tuple[str, ...]:
    """The components that set ``doc.ents``; ``settings`` are those of each in the configuration."""
    return tuple(
        name
        for name, factory in factories.items()
        if _sets_entities(factory, settings.get(name, {}))
    )


def find_idle(factories: Mapping[str, str], setters: Sequence[str]) -> list[str]:
    """The components that do not affect ``doc.ents`` and need not run."""
    names = list(factories)
    after = names[names.index(setters[-1]) + 1 :]
    # The patterns of rulers may use the output of any earlier component, so with a ruler all are
    # kept.
    if any(factories[name] not in _TAGGERS for name in setters):
        return after
    return after + [name for name in names if name not in after and factories[name] in _IDLE]


def read_entities(doc: Any) -> Iterator[tuple[int, int, str]]:
    """A document's entities, trimmed of white space."""
    for entity in doc.ents:
        text = entity.text
        begin = entity.start_char + len(text) - len(text.lstrip())
        end = entity.start_char + len(text.rstrip())
        if begin < end and entity.label_:
            yield begin, end, entity.label_


def _sets_entities(factory: str, settings: Mapping[str, Any]) -> bool:
    from spacy.language import Language
    from spacy.util import registry

    if factory == "span_ruler":
        return bool(settings.get("annotate_ents"))
    if factory in _TAGGERS | _OTHER_SETTERS:
        return True
    try:
        registry.factories.get(factory)  # imports the package that registers it
        return "doc.ents" in Language.get_factory_meta(factory).assigns
    except Exception:  # if it is not installed and is needed, loading reports it
        return False
