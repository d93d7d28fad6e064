"""One model in shards on a Slurm cluster, from Python, with submitit (``pip install submitit``).

    python examples/submitit_shards.py MODEL --shards 8 --cluster slurm

``--cluster local`` runs the shards as processes of this machine instead. A shard that is killed is
submitted again by submitit and goes on where it was, because its answers are stored as they arrive.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

import submitit

import gendalens


def answer_shard(model: str, shard: str, out: str, options: dict[str, object]) -> str:
    """What each job does; threads decide how requests are batched, so all jobs need the same number."""
    gendalens.run(model, shard=shard, out=out, **options)
    return shard


def parse_arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("model")
    parser.add_argument("--shards", type=int, default=8)
    parser.add_argument(
        "--tasks", help="comma-separated tests; default: all that the model can take"
    )
    parser.add_argument("--data", help="builtin for the built-in sets")
    parser.add_argument("--sample", type=int)
    parser.add_argument("--out", default="runs")
    parser.add_argument("--cluster", choices=("slurm", "local"), default="slurm")
    parser.add_argument("--partition", help="of Slurm")
    parser.add_argument("--cores", type=int, default=8)
    parser.add_argument("--gpus", type=int, default=0)
    parser.add_argument("--hours", type=int, default=4)
    return parser.parse_args()


def main() -> None:
    """Submit the shards, wait for them, and merge their answers."""
    given = parse_arguments()
    out = Path(given.out)
    os.environ["OMP_NUM_THREADS"] = str(given.cores)
    options = {
        "tasks": given.tasks.split(",") if given.tasks else None,
        "data": given.data,
        "sample": given.sample,
    }
    executor = submitit.AutoExecutor(folder=out / "logs", cluster=given.cluster)
    executor.update_parameters(
        name="gendalens",
        cpus_per_task=given.cores,
        gpus_per_node=given.gpus,
        timeout_min=60 * given.hours,
        **({"slurm_partition": given.partition} if given.partition else {}),
    )
    with executor.batch():  # one array job
        jobs = [
            executor.submit(
                answer_shard,
                given.model,
                f"{number}/{given.shards}",
                str(out / "shards"),
                options,
            )
            for number in range(1, given.shards + 1)
        ]
    for job in jobs:
        print("shard", job.result(), "is done")
    for result in gendalens.merge(out / "shards", out=out):
        print(result)


if __name__ == "__main__":
    main()
