"""How both coreference tests read the clusters of a system."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from gendalens.data.text import Span
from gendalens.models.requests import Offsets, Resolve, ResolveAnswer
from gendalens.models.word_spans import split_words


@lru_cache(maxsize=50_000)
def make_request(text: str, pronoun: Span, candidates: tuple[Span, ...]) -> Resolve:
    """The request for one sentence, with words and candidates in the order of the text.

    It is cached, because a test needs it twice: to ask, and to look up the answer.
    """
    return Resolve(
        text,
        tuple(split_words(text)),
        (pronoun.start, pronoun.end),
        tuple(sorted((span.start, span.end) for span in candidates)),
    )


def are_linked(
    answer: ResolveAnswer,
    pronoun: Span,
    occupation: Span,
    *,
    others: Sequence[Span] = (),
    genitive: bool = False,
) -> bool:
    """Whether one cluster holds both the pronoun and the occupation.

    ``others`` are further targets that a mention of the occupation must not contain. If the occupation
    is a ``genitive``, its mention must end with it (*lægens kone* is not the doctor).
    """
    foreign = (pronoun, *others)
    return any(
        any(mention == (pronoun.start, pronoun.end) for mention in cluster)
        and any(_is_mention_of(mention, occupation, foreign, genitive) for mention in cluster)
        for cluster in answer.clusters
    )


def _is_mention_of(mention: Offsets, target: Span, others: Sequence[Span], genitive: bool) -> bool:
    """Whether a mention contains the target and no other, and ends with it if it is a genitive."""
    start, end = mention
    if not start <= target.start < target.end <= end:
        return False
    if any(start < other.end and other.start < end for other in others):
        return False
    return not genitive or end == target.end


def stands_in_longer_mention(answer: ResolveAnswer, pronoun: Span) -> bool:
    """Whether the pronoun is only part of a longer mention (*hans kreditkort*)."""
    mentions = [mention for cluster in answer.clusters for mention in cluster]
    own = (pronoun.start, pronoun.end)
    return own not in mentions and any(
        start <= pronoun.start and pronoun.end <= end for start, end in mentions
    )


def list_clusters(answer: ResolveAnswer) -> list[list[list[int]]]:
    """The clusters as plain lists, for a record."""
    return [[list(mention) for mention in cluster] for cluster in answer.clusters]
