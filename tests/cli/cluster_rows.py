"""What the options of many models and of Ray clusters do, without a cluster."""

from __future__ import annotations

from typing import Any

from command_line import CommandLine, Table

from gendalens.engine import ray_options
from gendalens.engine.ray_options import RayOptions

TABLE = Table()
row = TABLE.row

ABC = ("--tasks", "lm-abc", "--data", "builtin", "--sample", "12")


def read_executor(line: CommandLine, *arguments: str) -> RayOptions | None:
    """The cluster that a run is asked to use; nothing is run."""
    taken: list[Any] = []
    line.patch.setattr(ray_options, "is_installed", lambda: True)
    line.patch.setattr(
        "gendalens.cli.run.run_models", lambda models, tests, options, **more: taken.append(options)
    )
    line("run", "demo-lm", *ABC, *arguments)
    (options,) = taken
    cluster = options.executor
    assert cluster is None or isinstance(cluster, RayOptions)
    return cluster


@row("run --models-from")
def _(line: CommandLine, command: str) -> None:
    line.skip_pages()
    file = line.folder / "models.txt"
    file.write_text("# two\ncontrol:fair\ncontrol:always-han  # extreme\n", encoding="utf-8")
    done = line("run", "--models-from", file, *ABC, "--json")
    names = [result["model"]["name"] for result in done.plain]
    assert names == ["control:fair", "control:always-han"]
    assert "cannot be read" in line("run", "--models-from", "gone.txt", *ABC, fails=True).err


@row("run --executor")
def _(line: CommandLine, command: str) -> None:
    assert "There is no executor" in line("run", "demo-lm", "--executor", "dask", fails=True).err
    assert read_executor(line) is None
    assert read_executor(line, "--executor", "ray") == RayOptions()
    assert read_executor(line, "--executor", "ray:a:6379") == RayOptions(address="a:6379")


@row("run --workers", "run --cpus-per-worker", "run --gpus-per-worker", "run --worker-env")
def _(line: CommandLine, command: str) -> None:
    line.patch.setenv("CHOSEN", "1")
    line.patch.setattr(ray_options, "is_installed", lambda: True)
    given = {
        "--workers": ("3", RayOptions(workers=3)),
        "--cpus-per-worker": ("0.5", RayOptions(cpus_per_worker=0.5)),
        "--gpus-per-worker": ("2", RayOptions(gpus_per_worker=2)),
        "--worker-env": ("CHOSEN", RayOptions(environment=("CHOSEN",))),
    }
    for option, (value, _) in given.items():
        assert "--executor ray" in line("run", "demo-lm", option, value, fails=True).err
    for option, (value, expected) in given.items():
        assert read_executor(line, "--executor", "ray", option, value) == expected
