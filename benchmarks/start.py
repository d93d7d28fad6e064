"""How long a start takes: with a `.gguf` file, with the same weights as a folder, and to the first sign.

``make bench-start`` writes ``benchmarks/START.md``. Every start is a process of its own, timed from
outside; the programs alternate, and the first start of GenDa Lens always finds an empty cache folder.
The model is Gemma 3 270M in four bits (see ``real.py``), or FILE. Run it on idle cores.
"""

from __future__ import annotations

import argparse
import json
import os
import pty
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from real import fetch

HERE = Path(__file__).parent


def start(script: str, model: Path, home: Path) -> dict[str, float]:
    """The seconds, the seconds of all cores and the peak memory of one process."""
    environment = {**os.environ, "GENDALENS_HOME": str(home), "XDG_STATE_HOME": str(home / "state")}
    command = [sys.executable, str(HERE / "speed" / script), str(model)]
    before, began = measure_cores(), time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    seconds = time.perf_counter() - began
    if done.returncode:
        sys.exit(f"{script} failed:\n{done.stderr[-2000:]}")
    found: dict[str, float] = json.loads(done.stdout.strip().splitlines()[-1])
    return {"seconds": seconds, "cores": measure_cores() - before, **found}


def measure_cores() -> float:
    """The seconds that all processes started from here have computed; other programs do not matter."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def save_folder(file: Path, folder: Path) -> Path:
    """The weights of a `.gguf` file as transformers saves them."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    AutoTokenizer.from_pretrained(file.parent, gguf_file=file.name).save_pretrained(folder)
    model = AutoModelForCausalLM.from_pretrained(
        file.parent, gguf_file=file.name, dtype=torch.float32
    )
    del model.hf_quantizer  # they are ordinary weights, whatever it says
    if hasattr(model.config, "quantization_config"):
        del model.config.quantization_config
    model.save_pretrained(folder)
    return folder


def wait_for_sign(terminal: bool) -> float:
    """The seconds until `gendalens run` writes its first byte to standard error."""
    reading, writing = pty.openpty() if terminal else os.pipe()
    with tempfile.TemporaryDirectory() as folder:
        arguments = ["run", "control:fair", "--data", "builtin", "--out", f"{folder}/run"]
        began = time.perf_counter()
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "gendalens", *arguments],
            stdout=subprocess.DEVNULL,
            stderr=writing,
            env={**os.environ, "GENDALENS_HOME": folder, "TERM": "xterm"},
        )
        os.read(reading, 1)
        seconds = time.perf_counter() - began
        process.kill()
        process.wait()
    os.close(reading)
    os.close(writing)
    return seconds


def main() -> None:
    """Time everything in turn and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path, nargs="?", help="a .gguf file")
    parser.add_argument("--folder", type=Path, help="its weights as a folder. Default: saved first")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    file = (options.file or fetch()).resolve()
    rounds: list[dict[str, dict[str, float]]] = []
    with tempfile.TemporaryDirectory() as work:
        folder = options.folder or save_folder(file, Path(work) / "folder")
        for number in range(options.rounds):
            home = Path(work) / f"home-{number}"
            rounds.append(
                {
                    "plain": start("start_plain.py", file, home),
                    "first": start("start_ours.py", file, home),
                    "second": start("start_ours.py", file, home),
                    "folder": start("start_ours.py", folder, home),
                }
            )
            sys.stdout.write(f"{json.dumps(rounds[-1])}\n")
            sys.stdout.flush()
    signs = [[wait_for_sign(terminal) for terminal in (True, False)] for _ in range(9)]
    page = format_page(file.name, rounds, [statistics.median(one) for one in zip(*signs)])  # noqa: B905
    (HERE / "START.md").write_text(page, encoding="utf-8")


def format_page(name: str, rounds: list[dict[str, dict[str, float]]], signs: list[float]) -> str:
    """The page: medians, and the ratio of each round."""

    def row(what: str, ours: str, theirs: str, other: str, target: float) -> str:
        seconds, cores, memory = (
            [statistics.median(one[which][key] for one in rounds) for which in (ours, theirs)]
            for key in ("seconds", "cores", "peak_mb")
        )
        ratios, of_cores = (
            sorted(one[ours][key] / one[theirs][key] for one in rounds)
            for key in ("seconds", "cores")
        )
        each = ", ".join(f"{ratio:.2f}" for ratio in ratios)
        return (
            f"| {what} | {other} | {seconds[1]:.1f} s | {seconds[0]:.1f} s "
            f"| **{statistics.median(ratios):.2f}×** ({each}) | at most {target:g}× "
            f"| {cores[0]:.1f} / {cores[1]:.1f} s: {statistics.median(of_cores):.2f}× "
            f"| {memory[0]:,.0f} / {memory[1]:,.0f} MB |"
        )

    return "\n".join(
        [
            "# Start",
            "",
            f"Generated by `make bench-start` with `{name}`: from the start of a process to the loaded"
            " model in float32, tokenizer included, for GenDa Lens also the digest that identifies the"
            f" model. Every start is a process of its own; medians of {len(rounds)} rounds in turn, with"
            " the ratio of each round. Computing time is that of all cores, and depends less on what else"
            " the machine is doing.",
            "",
            "| start | compared with | theirs | ours | ratio | target | computing time, ours / theirs"
            " | peak memory, ours / theirs |",
            "|---|---|---|---|---|---|---|---|",
            row("first, converted and kept", "first", "plain", "plain transformers", 1.05),
            row("second, from the kept weights", "second", "folder", "the same as a folder", 1.3),
            "",
            "| `gendalens run` until the first sign of life | time | target |",
            "|---|---|---|",
            f"| in a terminal | {signs[0]:.2f} s | 0.5 s |",
            f"| not in a terminal | {signs[1]:.2f} s | 0.5 s |",
            "",
        ]
    )


if __name__ == "__main__":
    main()
