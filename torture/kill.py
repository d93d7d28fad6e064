"""SIGKILL at random points: a run restarted after each kill must end as if it had not been killed."""

from __future__ import annotations

import random
import sqlite3
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

from torture.place import Place
from torture.sameness import runs_differ
from torture.trial import Trial

KILLS_A_RUN = 7


def kills(
    what: str, arguments: Sequence[str], *, count: int, seed: int, work: Path, whole: Path
) -> Iterator[Trial]:
    """``count`` kills, several per run; ``whole`` is the run folder of the undisturbed run."""
    dice = random.Random(seed)
    left, number = count, 0
    while left:
        place = Place(work / f"kill-{seed}-{number}", work / "pages")
        killed, stored, note = _kill_repeatedly(place, arguments, min(left, KILLS_A_RUN), dice)
        last = place.run(arguments)
        note = note or last.fault or (last.errors if last.code else None)
        if not note and last.cached != stored:
            note = f"{stored} answers stored, {last.cached} taken from the cache"
        note = note or runs_differ(whole, place.out)
        for _ in range(killed):
            yield Trial(what, seed, "lost" if note else "same", note or "")
        left, number = left - killed, number + 1


def _kill_repeatedly(
    place: Place, arguments: Sequence[str], several: int, dice: random.Random
) -> tuple[int, int, str | None]:
    """Start and kill a run repeatedly; returns the kills, the stored answers, and what was lost."""
    stored = 0
    for kill in range(several):
        process = place.fork(arguments)
        began = time.monotonic()
        if dice.random() < 0.75:  # most kills fall while answers come in
            more = dice.randint(1, 12)
            while process.poll() is None and count_answers(place) < stored + more:
                if time.monotonic() - began > 60:
                    break
                time.sleep(0.02)
        time.sleep(dice.uniform(0, 0.3 if count_answers(place) > stored else 2))
        if process.poll() is not None:  # it ended before the kill
            return kill, count_answers(place), None
        process.kill()
        process.wait()
        now = count_answers(place)
        if now < stored:
            return kill + 1, now, f"{stored} answers before a kill, {now} after it"
        stored = now
    return several, stored, None


def count_answers(place: Place) -> int:
    """How many answers the cache of this place holds."""
    if not place.cache.exists():
        return 0
    with closing(sqlite3.connect(place.cache, timeout=30)) as db:
        try:
            return int(db.execute("SELECT count(*) FROM answers").fetchone()[0])
        except sqlite3.OperationalError:  # no table yet
            return 0
