"""Weights replaced during a run: a result must come from the weights it names, or not exist."""

from __future__ import annotations

import json
import random
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from gendalens.models import demo
from torture.place import Place, wait_for_end
from torture.sameness import runs_differ
from torture.trial import Trial

FILE = "model.safetensors"


def make_models(work: Path) -> tuple[Path, Path]:
    """Two models that differ only in their weights, stored in the number format that they run in."""
    import torch
    import transformers

    folders = work / "weights-a", work / "weights-b"
    for change, folder in enumerate(folders):
        shutil.copytree(demo.FOLDER / "demo-lm", folder)
        model = transformers.AutoModelForMaskedLM.from_pretrained(folder, dtype=torch.float32)
        with torch.no_grad():
            for weight in model.parameters():
                weight.mul_(1 + 0.1 * change)
        model.save_pretrained(folder)
    return folders


def move_over(new: Path, old: Path) -> None:
    """Replace a file atomically, as a careful program does."""
    beside = old.with_suffix(".new")
    shutil.copy(new, beside)
    beside.replace(old)


def write_over(new: Path, old: Path) -> None:
    """Overwrite a file in place, as a careless program does."""
    with old.open("r+b") as file:
        file.write(new.read_bytes())


def copy_over(new: Path, old: Path) -> None:
    """Truncate a file and rewrite it, as ``cp`` does."""
    old.write_bytes(b"")
    time.sleep(0.05)
    old.write_bytes(new.read_bytes())


Way = Callable[[Path, Path], None]
WAYS: Sequence[Way] = (move_over, write_over, copy_over)


def run_replaced(arguments: Sequence[str], *, count: int, seed: int, work: Path) -> Iterator[Trial]:
    """``count`` runs whose weights are replaced at a random moment, in one of three ways."""
    what = "weights replaced during a run"
    models = make_models(work)
    named: dict[str, Path] = {}
    for model in models:
        place = Place(work / f"whole-{model.name}", work / "pages")
        shutil.copytree(model, place.folder / "model")
        end = place.run([str(place.folder / "model"), *arguments])
        assert end.code == 0, end.errors
        named[_read_revision(place.out)] = place.out
    wholes = list(named.values())
    dice = random.Random(seed)
    for trial in range(count):
        way = WAYS[trial % len(WAYS)]
        place = Place(work / f"weights-{trial}", work / "pages")
        own = place.folder / "model"
        shutil.copytree(models[0], own)
        asked = [str(own), *arguments]
        process = place.fork(asked)
        _wait_for_model(process.pid, own, dice)
        way(models[1] / FILE, own / FILE)
        end = wait_for_end(process)
        note = end.fault
        if not note and end.code == 0:
            whole = named.get(_read_revision(place.out))
            note = runs_differ(whole, place.out) if whole else "a result of weights nobody has"
        # The cache must hold no answer of one model under the name of the other.
        for model, whole in zip(reversed(models), reversed(wholes), strict=True):
            shutil.rmtree(own)
            shutil.copytree(model, own)
            shutil.rmtree(place.out, ignore_errors=True)
            again = place.run(asked)
            note = note or again.fault or runs_differ(whole, place.out)
        outcome = "lost" if note else "same" if end.code == 0 else "sentence"
        told = end.sentences[0] if end.sentences else ""
        yield Trial(what, seed, outcome, note or told)  # type: ignore[arg-type]


def _wait_for_model(process: int, model: Path, dice: random.Random) -> None:
    """Wait until the run opens the model, and a little longer; or for a random time."""
    if dice.random() < 0.3:
        time.sleep(dice.uniform(0, 3))
        return
    before = (model / "config.json").stat().st_atime_ns
    began = time.monotonic()
    maps = Path(f"/proc/{process}/maps")
    while time.monotonic() - began < 20:
        try:
            if str(model) in maps.read_text():
                break
        except OSError:
            return
        if (model / "config.json").stat().st_atime_ns != before:
            break
        time.sleep(0.002)
    time.sleep(dice.uniform(0, 0.7))


def _read_revision(out: Path) -> str:
    path = next(out.rglob("result.json"))
    return str(json.loads(path.read_text("utf-8"))["model"]["revision"])
