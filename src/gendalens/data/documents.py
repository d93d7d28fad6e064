"""The documents of a CoNLL-U file: sentences of one text are alike, so intervals treat it as a cluster.

Where a document begins is known from one of three sources, the first that gives enough documents:

``newdoc``
    The file's ``# newdoc`` comments. Sentences before the first comment are one document. An id that
    occurs again is the same document, also if it is not next to the first.
``sent_id``
    The sentences' ids, if each is a prefix, a separator and a number (``nyhed17-3``) and the sentences
    with the same prefix stand together.
``blocks``
    Blocks of consecutive sentences in place of documents, for a file like DaNE's that has no comments and
    numbers its sentences throughout (``test-0``, ``test-1``, …).

A document's id begins with its source, so that an id of one source is never mistaken for one of another:
``newdoc id = X``, ``sent_id nyhed17``, ``sentences 1-32``. The source of the documents in saved records
is read from their ids by `find_document_source`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Literal

from gendalens.data.conllu import Sentence
from gendalens.words import N_

Kind = Literal["newdoc", "sent_id", "blocks"]

#: Fewer documents than this say little about the variation between documents.
MIN_DOCUMENTS = 10
#: The sentences of a block. The lengths of the texts are unknown in a file without documents. This length
#: was chosen by simulation on DaNE's test split (565 sentences), with texts of 12 to 30 sentences that
#: share an effect: shorter blocks cut more of them in two, which makes intervals too narrow (blocks of 16
#: cover 85 to 91%, of 24 88 to 94%, of 32 92 to 94%), and longer ones leave too few blocks. Shorter sets
#: have shorter blocks.
BLOCK = 32

NUMBERED = re.compile(r"(.+)[-_.:/][0-9]+")
BLOCK_ID = re.compile(r"sentences ([0-9]+)-([0-9]+)")


_NAMES = {
    "newdoc": N_("newdoc comments"),
    "sent_id": N_("prefixes of sent_id"),
    "blocks": N_("blocks of consecutive sentences"),
}


@dataclass(frozen=True, slots=True)
class DocumentSource:
    """How documents were found; ``block`` is the number of sentences of a block, or None."""

    kind: Kind
    block: int | None = None

    @property
    def name(self) -> str:
        """The source in words."""
        return _NAMES[self.kind]


def assign_documents(sentences: Sequence[Sentence]) -> list[Sentence]:
    """The sentences of a whole file, in order, each with the id of its document.

    Assigning documents again changes nothing.
    """
    marked = [sentence.document or "newdoc 0" for sentence in sentences]
    for ids in (marked, _use_sentence_ids(sentences)):
        if len(set(ids)) >= MIN_DOCUMENTS:
            break
    else:
        ids = _make_blocks(len(sentences))
    return [replace(s, document=document) for s, document in zip(sentences, ids, strict=True)]


def find_document_source(ids: Iterable[str]) -> DocumentSource:
    """How the documents with these ids were found; the ids come from one file, or from a sample of it.

    >>> find_document_source(["sentences 1-24", "sentences 25-38"]).block
    24
    >>> find_document_source(["sent_id nyhed1", "sent_id nyhed2"]).kind
    'sent_id'
    """
    known = sorted(set(ids))
    if not known:
        raise ValueError("no documents")
    if all(one.startswith("newdoc ") for one in known):
        return DocumentSource("newdoc")
    if all(one.startswith("sent_id ") for one in known):
        return DocumentSource("sent_id")
    found = [BLOCK_ID.fullmatch(one) for one in known]
    bounds = [(int(match[1]), int(match[2])) for match in found if match]
    if len(bounds) < len(known):
        raise ValueError(f"not the ids of documents: {known[:3]}")
    # Only the last block may be shorter or longer than the others.
    start, end = min(bounds)
    return DocumentSource("blocks", end - start + 1)


def _use_sentence_ids(sentences: Sequence[Sentence]) -> list[str]:
    """The prefixes of the sentences' ids, or none if they do not look like documents."""
    found = [NUMBERED.fullmatch(sentence.id) for sentence in sentences]
    ids = [f"sent_id {match[1]}" for match in found if match]
    together = len(list(groupby(ids))) == len(set(ids)) < len(ids)
    return ids if together and len(ids) == len(sentences) else []


def _make_blocks(count: int) -> list[str]:
    """The block of each of so many sentences: at least ten blocks if there are at least ten sentences.

    A rest shorter than half a block is part of the block before it.
    """
    length = max(1, min(BLOCK, count // MIN_DOCUMENTS))
    starts = list(range(0, count, length))
    if starts and 2 * (count - starts[-1]) < length:
        starts.pop()
    ends = [*starts, count][1:]
    return [
        f"sentences {start + 1}-{end}"
        for start, end in zip(starts, ends, strict=True)
        for _ in range(start, end)
    ]
