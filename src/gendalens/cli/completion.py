"""What the shell offers when a choice is completed: cheap, because it runs at every press of Tab.

What a choice may be is read where it is declared; no model, no data set and no torch is touched.
"""

import io
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from pathlib import Path

#: Set by the shell while it completes.
VARIABLE = "_GENDALENS_COMPLETE"
#: A word that bash has split: it takes these signs for words of their own.
_SPLIT_BY_BASH = re.compile(r" ?([:=]) ?")
_PREFIXES = ("chat:", "lm-coref:", "openai:")

Complete = Callable[[str], list[str]]


def is_completing() -> bool:
    """Whether the shell asks for completions, so that nothing else may be printed."""
    return VARIABLE in os.environ


def offer(choices: Iterable[str]) -> Complete:
    """Completion of one of these choices."""
    known = tuple(choices)

    def complete(incomplete: str) -> list[str]:
        return _match(known, incomplete)

    return complete


def offer_targets(targets: Iterable[str]) -> Complete:
    """Completion of comma-separated pairs such as ``GPE=LOC``: of what stands right of the last =."""
    known = tuple(targets)

    def complete(incomplete: str) -> list[str]:
        before, equals, last = incomplete.rpartition("=")
        return [f"{before}{equals}{one}" for one in _match(known, last)] if equals else []

    return complete


def _match(choices: Iterable[str], incomplete: str) -> list[str]:
    return [one for one in choices if one.startswith(incomplete)]


@contextmanager
def cope_with_bash() -> Iterator[None]:
    """Undo what bash does to ``control:fair`` and ``abc=builtin``: it splits them into words.

    The words are put together, and what it does not replace is taken off the completions.
    """
    words, place = os.environ.get("COMP_WORDS"), os.environ.get("COMP_CWORD", "")
    if os.environ.get(VARIABLE) != "complete_bash" or words is None or not place.isdigit():
        yield
        return
    typed = _SPLIT_BY_BASH.sub(r"\1", " ".join(words.split(" ")[: int(place) + 1]))
    os.environ["COMP_WORDS"] = typed
    os.environ["COMP_CWORD"] = str(typed.count(" "))
    word = typed.rpartition(" ")[2]
    kept = word[: max(word.rfind(sign) for sign in ":=") + 1]
    found = io.StringIO()
    try:
        with redirect_stdout(found):
            yield
    finally:
        for line in found.getvalue().splitlines():
            sys.stdout.write(f"{line.removeprefix(kept)}\n")


def complete_languages(incomplete: str) -> list[str]:
    """The languages of messages."""
    from gendalens.words import languages

    return _match(languages(), incomplete)


def complete_protocols(incomplete: str) -> list[str]:
    """The protocols that tests have."""
    from gendalens.tasks import all_tasks

    return _match(sorted({str(protocol) for _, protocol in all_tasks()}), incomplete)


def complete_task(incomplete: str) -> list[str]:
    """The tests by name."""
    return _match(_list_tests(), incomplete)


def complete_task_card(incomplete: str) -> list[str]:
    """The tests by name, or with their protocol."""
    from gendalens.tasks import all_tasks

    cards = sorted(task.card.id for task in all_tasks().values())
    return _match([*_list_tests(), *cards], incomplete)


def complete_tasks(incomplete: str) -> list[str]:
    """Comma-separated tests: the last of them, which is none of those before it."""
    before, comma, last = incomplete.rpartition(",")
    given = before.split(",")
    return [f"{before}{comma}{name}" for name in _match(_list_tests(), last) if name not in given]


def complete_bands(incomplete: str) -> list[str]:
    """The tests, each with the sign that its limit follows."""
    return _match([f"{name}=" for name in _list_tests()], incomplete)


def _list_tests() -> list[str]:
    from gendalens.tasks import all_tasks

    return sorted({name for name, _ in all_tasks()})


def complete_data(incomplete: str) -> list[str]:
    """``builtin``, or a data set and then ``builtin`` or a path."""
    from gendalens.data.builtin import catalogue

    name, equals, path = incomplete.partition("=")
    if not equals:
        return _match(["builtin", *(f"{one}=" for one in catalogue.SETS)], incomplete)
    found = ["builtin", *_list_paths(path)]
    return _match([f"{name}={one}" for one in found], incomplete)


def complete_model(incomplete: str) -> list[str]:
    """Control and demo models, prefixes of other kinds, and local folders and ``.gguf`` files."""
    from gendalens.models import control, demo

    known = [f"control:{kind}" for kind in control.KINDS]
    local = [*demo.MODELS, *_list_paths(incomplete.rpartition(":")[2], suffixes=(".gguf",))]
    prefix = incomplete.rpartition(":")[0]
    if f"{prefix}:" in _PREFIXES[:2]:
        local = [f"{prefix}:{one}" for one in local]
    return _match([*known, *_PREFIXES, *local], incomplete)


def _list_paths(start: str, suffixes: Sequence[str] = ("",)) -> list[str]:
    """The folders, and files of these kinds, whose path begins so."""
    place = Path(start).expanduser()
    folder = place if start.endswith(os.sep) or not start else place.parent
    head = start[: start.rfind(os.sep) + 1]
    found = []
    try:
        for one in sorted(folder.iterdir()):
            if one.name.startswith(".") and not start.rpartition(os.sep)[2].startswith("."):
                continue
            if one.is_dir():
                found.append(f"{head}{one.name}{os.sep}")
            elif one.name.endswith(tuple(suffixes)):
                found.append(f"{head}{one.name}")
    except OSError:
        return []
    return found


def complete_rungs(incomplete: str) -> list[str]:
    """The ways in which an endpoint answers."""
    from gendalens.models.chat.respondent import Rung

    return _match([rung.value for rung in Rung], incomplete)


def complete_severities(incomplete: str) -> list[str]:
    """How much a defect of a data set matters."""
    from gendalens.data.errata import SEVERITIES

    return _match(SEVERITIES, incomplete)


def complete_sets(incomplete: str) -> list[str]:
    """The official data sets."""
    from gendalens.data.registry import SETS

    return _match(SETS, incomplete)


def complete_names(incomplete: str) -> list[str]:
    """The ways to choose names for ``ner-dane``."""
    from gendalens.data.names import HOWS

    return _match(HOWS, incomplete)


def complete_stores(incomplete: str) -> list[str]:
    """What is stored on this machine."""
    from gendalens.cli.cache import list_names

    return _match(list_names(), incomplete)
