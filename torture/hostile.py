"""Files that an attacker prepared: models, run folders, caches, predictions, names, scripts, a hub.

Every attack runs in a forked process with a scratch folder of its own. It *held* if the command gave
the right result or one clear sentence, in time and within its memory, and if nothing else happened:
the letter beside the folder is unchanged, and no planted code has run.
"""

from __future__ import annotations

import os
import resource
import shutil
import signal
import time
import traceback
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from gendalens.errors import UserError

LONGEST = 60.0  # seconds, on a busy machine
MEMORY = 1024**3  # bytes above those of the warm process
LETTER = "kære Ida"


@dataclass(frozen=True, slots=True)
class Scene:
    """The scratch folder of one attack."""

    folder: Path

    @property
    def letter(self) -> Path:
        """A file of the user, which nothing may change."""
        return self.folder / "letter.txt"

    @property
    def marker(self) -> Path:
        """What planted code would write."""
        return self.folder / "has-run"

    @property
    def code(self) -> str:
        """Code that shows that it ran."""
        return f"open({str(self.marker)!r}, 'w').close()\n"


#: Prepares the files and uses them; returns what is wrong with the result, or None.
Act = Callable[[Scene], str | None]


@dataclass(frozen=True, slots=True)
class Attack:
    """One attack: its kind, what tells it from others of its kind, and how it is done."""

    kind: str
    name: str
    act: Act


@dataclass(frozen=True, slots=True)
class Tried:
    """The outcome of one attack; ``note`` says why it failed, or the sentence."""

    attack: Attack
    outcome: Literal["held", "failed"]
    note: str


def try_attacks(attacks: Iterable[Attack], work: Path) -> Iterator[Tried]:
    """Try each attack in a fork."""
    for number, attack in enumerate(attacks):
        scene = Scene(work / f"attack-{number}")
        scene.folder.mkdir(parents=True)
        scene.letter.write_text(LETTER, encoding="utf-8")
        fault, note = _try_in_fork(attack, scene)
        if scene.marker.exists():
            fault = "planted code has run"
        elif scene.letter.read_text(encoding="utf-8") != LETTER:
            fault = "another file was overwritten"
        shutil.rmtree(scene.folder, ignore_errors=True)
        yield Tried(attack, "failed" if fault else "held", fault or note)


def _try_in_fork(attack: Attack, scene: Scene) -> tuple[str | None, str]:
    """What is wrong, and the sentence that was said."""
    said = scene.folder / "said"
    pid = os.fork()
    if pid == 0:
        _act(attack, scene, said)
    end = time.monotonic() + LONGEST
    while True:
        ended, status, usage = os.wait4(pid, os.WNOHANG)
        if ended:
            break
        if time.monotonic() > end:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
            return f"still running after {LONGEST:.0f} s", ""
        time.sleep(0.01)
    words = said.read_text(encoding="utf-8") if said.exists() else ""
    grown = usage.ru_maxrss * 1024 - _peak()
    if grown > MEMORY:
        return f"took {grown // 1024**2} MiB", words
    code = os.waitstatus_to_exitcode(status)
    return (None, words) if code == 0 else (words or f"exit code {code}", words)


def _peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def _act(attack: Attack, scene: Scene, said: Path) -> None:
    """Do it, write down what was said, and leave the process."""
    code, words = 1, ""
    try:
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 1)
        os.dup2(null, 2)
        # More than the limit would endanger the machine before it is noticed.
        size = _address_space() + 4 * MEMORY
        resource.setrlimit(resource.RLIMIT_AS, (size, size))
        os.environ["GENDALENS_HOME"] = str(scene.folder / "home")
        os.chdir(scene.folder)
        words = attack.act(scene) or ""
        code = 1 if words else 0
    except UserError as error:
        words = str(error)
        code = 1 if "\n" in words or not words.isprintable() else 0
    except BaseException:
        words = "a traceback: " + traceback.format_exc()[-1500:]
    finally:
        said.write_text(words, encoding="utf-8", errors="backslashreplace")
        os._exit(code)


def _address_space() -> int:
    pages = Path("/proc/self/statm").read_text(encoding="utf-8").split()[0]
    return int(pages) * os.sysconf("SC_PAGE_SIZE")
