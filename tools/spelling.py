"""A spelling check of the built-in sets and the Danish pages with hunspell's Danish dictionary.

Run it with ``make spelling`` whenever one of them has changed. A word that is not in the dictionary
must be in words.txt beside this file, the list of reviewed words; words that are no longer needed there
must be removed. Exit code 1 means that a word is missing from both or listed needlessly, and 2 that
hunspell is not installed.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from gendalens.data import registry, sets
from gendalens.data.builtin import abc
from gendalens.data.builtin.catalogue import SETS
from gendalens.data.builtin.occupations import read_occupations
from gendalens.data.choice import BUILTIN
from gendalens.data.registry import Source

REVIEWED = Path(__file__).with_name("words.txt")
DANISH_PAGES = Path(__file__).parents[1] / "docs" / "da"
#: What is no text in a page: code, comments, and the targets of links.
NO_TEXT = re.compile(r"```.*?```|`[^`]*`|<!--.*?-->|\]\([^)]*\)", re.DOTALL)
DICTIONARY = "da_DK"
WORD = re.compile(r"[^\W\d_]+(?:[-'’][^\W\d_]+)*")
JOINT = re.compile(r"[-'’]")
MISSING = (
    "hunspell with a Danish dictionary (da_DK) is needed: on Debian and Ubuntu, "
    "`apt install hunspell hunspell-da`.\n"
)


def read_texts() -> Iterator[tuple[str, str]]:
    """Every text with its set or page, without the names of people, places and the like."""
    for job in read_occupations().values():
        yield "occupations", f"{job.indefinite} {job.definite} {job.genitive}"
    for frame in abc.read_frames():
        yield "frames", frame.definite
    for triple in sets.read_triples(_find_source("abc")):
        yield "abc", triple.reflexive
    for line in sets.read_wino_lines(_find_source("dawinobias")):
        yield "schemas", line.text
    for sentence in sets.read_sentences(_find_source("dane")):
        plain = sentence.text
        for entity in sentence.entities:
            span = entity.span
            plain = plain[: span.start] + " " * (span.end - span.start) + plain[span.end :]
        yield "ner", plain
    for page in sorted(DANISH_PAGES.glob("*.md")):
        text = NO_TEXT.sub(" ", page.read_text(encoding="utf-8"))
        yield from ((page.name, line) for line in text.splitlines())


def _find_source(name: str) -> Source:
    return registry.find_source(name, override=BUILTIN)


def find_unknown(words: Iterable[str]) -> set[str]:
    """The words that are not in the dictionary."""
    done = subprocess.run(
        ["hunspell", "-d", DICTIONARY, "-i", "utf-8", "-l"],
        input="\n".join(words),
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    # Without the dictionary hunspell complains and exits, sometimes with code 0.
    if done.returncode or "Can't open" in done.stderr:
        sys.stderr.write(MISSING)
        sys.exit(2)
    return set(done.stdout.split())


def main() -> None:
    """Print the words that are in neither list, and the listed words that are not needed."""
    if shutil.which("hunspell") is None:
        sys.stderr.write(MISSING)
        sys.exit(2)
    found: dict[str, str] = {}
    for place, text in read_texts():
        for match in WORD.finditer(text):
            found.setdefault(match.group(), f"{place}: {' '.join(text.split())}")
    reviewed = {
        line.split("#")[0].strip() for line in REVIEWED.read_text(encoding="utf-8").splitlines()
    } - {""}
    strange = find_unknown(sorted(found))
    new = sorted(word for word in strange if word.lower() not in reviewed)
    idle = sorted(reviewed - {word.lower() for word in strange})
    for word in new:
        # hunspell may report a part of a hyphenated word.
        where = next(
            place for whole, place in found.items() if word in (whole, *JOINT.split(whole))
        )
        sys.stdout.write(f"not in the dictionary: {word} ({where})\n")
    for word in idle:
        sys.stdout.write(f"in {REVIEWED.name} but not needed: {word}\n")
    sys.stdout.write(
        f"{len(found):,} words of {len(SETS)} sets; {len(strange)} not in the dictionary, "
        f"{len(strange) - len(new)} of them reviewed\n"
    )
    sys.exit(1 if new or idle else 0)


if __name__ == "__main__":
    main()
