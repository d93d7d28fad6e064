"""How a run uses a Ray cluster."""

from __future__ import annotations

import os
from dataclasses import dataclass
from importlib import metadata

from gendalens.errors import UserError
from gendalens.system.extras import write_install_command

_NAME = "ray"


@dataclass(frozen=True, slots=True, kw_only=True)
class RayOptions:
    """A Ray cluster and the workers on it, each of which holds one model.

    Without an ``address`` a local cluster is started, and stopped after the run. ``workers`` None means
    as many as the cluster has room for. ``cpus_per_worker`` and ``gpus_per_worker`` are Ray's own
    resources, fractions included; CPUs None means as many as the model would use for a batch at home.
    ``environment`` names the environment variables that the workers get from this process.
    """

    address: str | None = None
    workers: int | None = None
    cpus_per_worker: float | None = None
    gpus_per_worker: float = 0
    environment: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.workers is not None and self.workers < 1:
            raise UserError(
                "{count} workers cannot answer anything: use at least 1.", count=self.workers
            )
        for what, value in (("CPUs", self.cpus_per_worker), ("GPUs", self.gpus_per_worker)):
            if value is not None and (value < 0 or (value > 1 and value != int(value))):
                raise UserError(
                    "A worker cannot have {value} {what}: Ray gives a fraction of one or a whole number.",
                    value=value,
                    what=what,
                )
        if missing := [name for name in self.environment if name not in os.environ]:
            raise UserError(
                "The environment variable {name} is to be passed to the workers, but is not set:"
                " set it, or leave it out.",
                name=missing[0],
            )
        if not is_installed():
            raise UserError(
                "Ray is not installed: run `{command}`, here and on the cluster.",
                command=write_install_command("ray"),
            )


def is_installed() -> bool:
    """Whether Ray is there; it is not imported for this."""
    try:
        metadata.version(_NAME)
    except metadata.PackageNotFoundError:
        return False
    return True


def read_executor(text: str) -> str | None:
    """The address in ``ray`` or ``ray:ADDRESS``; None for a local cluster.

    >>> read_executor("ray"), read_executor("ray:10.0.0.1:6379"), read_executor("ray://head:10001")
    (None, '10.0.0.1:6379', 'ray://head:10001')
    """
    name, _, address = text.partition(":")
    if name != _NAME or text == f"{_NAME}:":
        raise UserError(
            "There is no executor {text}: choose ray (a cluster on this computer) or ray:ADDRESS.",
            text=repr(text),
        )
    return text if address.startswith("//") else address or None


def as_ray_options(executor: str | RayOptions | None) -> RayOptions | None:
    """The options that ``ray`` or ``ray:ADDRESS`` stands for; options as they are."""
    if isinstance(executor, str):
        return RayOptions(address=read_executor(executor))
    return executor
