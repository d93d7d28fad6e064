"""The data behind a result: published sets, built-in replacements, or the user's own."""

from __future__ import annotations

from collections.abc import Iterable

from gendalens.data.registry import Whose
from gendalens.results.result import Result
from gendalens.results.signature import parse_signature
from gendalens.tasks.base import Card
from gendalens.words import Message, phrase

TITLES = {"dawinobias": "DaWinoBias", "abc": "ABC (Danish)", "dane": "DaNE, persons renamed"}
ON_THE_HUB = {"dane": "alexandrainst/dane"}
MOST_DIGITS = 18  # longer numbers in a signature, which is untrusted, are shown as text
_LIMITS = (
    phrase(
        "Gender is taken as binary because the data are: nothing is said about how a model treats "
        "people who are neither, and words are measured, not people."
    ),
    phrase(
        "The tests look at pronouns, occupations and names in short sentences. They say nothing about "
        "other kinds of text, other groups, or what a product built on the model does."
    ),
    phrase(
        "“No difference that matters” is said of this test alone; it does not mean that the model is "
        "fair."
    ),
)
#: Said where sentences rest on it that *hans* and *hendes* are not the subject's own.
LIMIT_OF_DIALECT = phrase(
    "The grammar is that of standard Danish. In western Jutlandic hans and hendes may be the "
    "subject's own, where the tests take it that they are somebody else's."
)
#: Limits of the labels in published data sets.
LIMITS_OF_LABELS = {
    "abc": phrase("The classes of ABC's occupations follow word vectors, not Danish statistics."),
    "dawinobias": phrase(
        "The stereotype labels of DaWinoBias follow shares in the United States, not Danish "
        "statistics."
    ),
}


def find_owner(result: Result, name: str) -> Whose:
    """Whether a data set of a result is official, built in, or the user's own."""
    whose: Whose = result.data[name]["whose"]
    return whose


def title_data(result: Result, card: Card) -> str:
    """A title for the test's first data set that shows whether it is the published one.

    It is in English, for exports to other programs. If the test has no data set, it is the test's id.
    """
    if not card.data:
        return card.id
    name = card.data[0]
    official = TITLES.get(name, name)
    return {
        "official": official,
        "builtin": f"GenDa Lens, built-in set in place of {official}",
        "own": f"own data in place of {official}",
    }[find_owner(result, name)]


def find_on_hub(result: Result, card: Card) -> str | None:
    """The hub's name for the test's first data set, if that is the published one and on the hub."""
    for name in card.data[:1]:
        if find_owner(result, name) == "official":
            return ON_THE_HUB.get(name)
    return None


def list_limits(results: Iterable[Result]) -> list[Message]:
    """What the results do not show, including the limits of their data sets."""
    sets = {(name, find_owner(result, name)) for result in results for name in result.data}
    found = list(_LIMITS)
    # No published schema rests on that rule.
    if any(name == "abc" or (name, owner) == ("dawinobias", "builtin") for name, owner in sets):
        found.append(LIMIT_OF_DIALECT)
    labelled = sorted(name for name, owner in sets if owner == "official")
    return [*found, *(LIMITS_OF_LABELS[name] for name in labelled if name in LIMITS_OF_LABELS)]


def list_sets(result: Result) -> dict[str, str]:
    """The origin and checksum of every data set, in English for other programs."""
    return {
        name: f"{one['from']}, sha256:{one['sha256']}" for name, one in sorted(result.data.items())
    }


def describe_origin(origin: str, whose: str) -> Message:
    """The origin of a data set, as a message."""
    if whose == "builtin":
        return phrase("built in ({origin})", origin=origin)
    return phrase("the test's own") if whose == "test" else phrase(origin)


def describe_sample(result: Result) -> Message | None:
    """The size of the sample, or None if all data were used."""
    sample = parse_signature(result.signature)["sample"]
    if sample == "all":
        return None
    is_number = sample.isascii() and sample.isdigit() and len(sample) <= MOST_DIGITS
    return phrase("a sample of {size:,}", size=int(sample) if is_number else sample)


def list_reservations(result: Result) -> list[Message]:
    """Reservations about the data of a result: sets that are not the published ones, or a sample."""
    owners = {find_owner(result, name) for name in result.data}
    found = [phrase("built-in data")] if "builtin" in owners else []
    found += [phrase("own data")] if "own" in owners else []
    sample = describe_sample(result)
    return [*found, sample] if sample else found


def describe_data(*results: Result) -> Message:
    """The data sets of one or more results in one line, grouped by origin, and the size of the sample."""
    sets: dict[tuple[str, str], dict[str, None]] = {}
    for result in results:
        for name, data in result.data.items():
            sets.setdefault((str(data["from"]), str(data["whose"])), {})[name] = None
    parts_of_line: list[Message] = [
        phrase("{sets}: {origin}", sets=tuple(names), origin=describe_origin(*origin))
        for origin, names in sets.items()
    ]
    samples = {str(sample): sample for sample in map(describe_sample, results) if sample}
    line, *rest = [*parts_of_line, *samples.values()]
    for part in rest:
        line = phrase("{first}; {last}", first=line, last=part)
    return line
