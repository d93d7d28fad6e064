"""The cache file damaged at random places, or used by another process at the same time."""

from __future__ import annotations

import json
import os
import random
import shutil
import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import gendalens
from gendalens.errors import UserError
from torture.place import Place, wait_for_end
from torture.sameness import differ, runs_differ
from torture.trial import Trial, judge

Damage = Callable[[Path, random.Random], None]
#: The same small run as ``kinds.SHORT``, in this process: one process per flipped bit would take hours.
ASKED: dict[str, Any] = {"tasks": "lm-abc", "data": "builtin", "sample": 20, "batch_tokens": 256}


def truncate(path: Path, dice: random.Random) -> None:
    """Truncate a file at a random place."""
    os.truncate(path, dice.randrange(path.stat().st_size))


def flip_bit(path: Path, dice: random.Random) -> None:
    """Flip one bit at a random place."""
    content = bytearray(path.read_bytes())
    bit = dice.randrange(8 * len(content))
    content[bit // 8] ^= 1 << bit % 8
    path.write_bytes(content)


def flip_log_bit(path: Path, dice: random.Random) -> None:
    """Flip one bit of the write-ahead log, which a killed run leaves behind."""
    flip_bit(path.with_name(f"{path.name}-wal"), dice)


def run_damaged(what: str, damage: Damage, *, count: int, seed: int, work: Path) -> Iterator[Trial]:
    """Runs with ``count`` damaged copies of a full cache."""
    home = os.environ.get("GENDALENS_HOME")
    model = gendalens.load_model("demo-lm")
    try:
        full = work / "full-cache"
        os.environ["GENDALENS_HOME"] = str(full)
        whole = _plain(model)
        keep = work / "full-cache-with-log"
        if not keep.exists():
            _copy_with_log(full, keep)
        for trial in range(count):
            dice = random.Random(seed * 100_003 + trial)
            copy = work / "damaged"
            shutil.rmtree(copy, ignore_errors=True)
            shutil.copytree(keep if damage is flip_log_bit else full, copy)
            os.environ["GENDALENS_HOME"] = str(copy)
            damage(copy / "cache.sqlite", dice)
            yield _try_run(what, seed * 100_003 + trial, model, copy, whole)
    finally:
        os.environ.pop("GENDALENS_HOME")
        if home is not None:
            os.environ["GENDALENS_HOME"] = home


def _try_run(what: str, seed: int, model: Any, home: Path, whole: Any) -> Trial:
    try:
        difference, outcome, note = differ(whole, _plain(model)), "same", ""
    except UserError as error:
        for file in home.glob("cache.sqlite*"):  # as the error message advises
            file.unlink()
        difference, outcome, note = differ(whole, _plain(model)), "sentence", str(error)
    except Exception as error:
        return Trial(what, seed, "lost", f"{type(error).__name__}: {error}")
    if difference:
        return Trial(what, seed, "lost", difference)
    return Trial(what, seed, "same" if outcome == "same" else "sentence", note)


def _plain(model: Any) -> Any:
    return [json.loads(result.to_json()) for result in gendalens.run(model, **ASKED)]


def _copy_with_log(full: Path, keep: Path) -> None:
    """A copy of a cache whose last rows are still in the log, as a killed run leaves it."""
    keep.mkdir()
    with closing(sqlite3.connect(full / "cache.sqlite", isolation_level=None)) as source:
        rows = source.execute("SELECT * FROM answers ORDER BY key").fetchall()
        schema = source.execute("SELECT sql FROM sqlite_schema WHERE type = 'table'").fetchone()[0]
        version = source.execute("PRAGMA user_version").fetchone()[0]
    path = keep / "writing.sqlite"
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute("PRAGMA journal_mode=WAL")
        db.execute(schema)
        db.execute(f"PRAGMA user_version={version}")
        db.execute("PRAGMA wal_checkpoint")
        for row in rows:
            db.execute("INSERT INTO answers VALUES (?, ?, ?, ?)", row)
        for suffix in ("", "-wal"):
            shutil.copy(f"{path}{suffix}", keep / f"cache.sqlite{suffix}")
    path.unlink()


def run_locked(
    arguments: Sequence[str], *, seconds: Sequence[float], seed: int, work: Path, whole: Path
) -> Iterator[Trial]:
    """Runs while another program holds the write lock for some seconds."""
    for length in seconds:
        place = Place(work / f"locked-{length}", work / "pages")
        with closing(sqlite3.connect(place.cache, isolation_level=None)) as db:
            db.execute("PRAGMA journal_mode=WAL")
            db.execute("BEGIN IMMEDIATE")
            # Not a fork: a process must not inherit an SQLite connection.
            process = place.start(arguments)
            began = time.monotonic()
            while process.poll() is None and time.monotonic() - began < length:
                time.sleep(0.05)
            db.execute("ROLLBACK")
        end = wait_for_end(process)
        yield judge(f"cache locked for {length:.0f} s", seed, end, place, arguments, whole)


def run_shared(
    arguments: Sequence[str], *, count: int, seed: int, work: Path, whole: Path
) -> Iterator[Trial]:
    """Two processes that run the same test of one model at once."""
    for trial in range(count):
        place = Place(work / f"shared-{trial}", work / "pages")
        other = Place(work / f"shared-{trial}-other", work / "pages")
        (other.home / "pages").unlink()
        other.home.rmdir()
        other.home.symlink_to(place.home, target_is_directory=True)
        for end, here in [
            (wait_for_end(process), here)
            for process, here in [(p.fork(arguments), p) for p in (place, other)]
        ]:
            note = end.fault or (end.errors if end.code else runs_differ(whole, here.out))
            what = "two processes on one cache"
            yield Trial(what, seed, "lost" if note else "same", note or "")
