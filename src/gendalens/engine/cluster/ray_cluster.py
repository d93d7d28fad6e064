"""A Ray cluster as the driver sees it: connected when first needed, left or stopped at the end."""

from __future__ import annotations

import logging
import math
import os
import secrets
import shutil
import socket
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

from gendalens.engine.cluster.environment import reduced_environment
from gendalens.engine.cluster.worker import Worker
from gendalens.engine.ray_options import RayOptions
from gendalens.errors import UserError
from gendalens.models.library_errors import describe_error
from gendalens.system.steps import tell_step
from gendalens.words import Template

STARTING = Template("starting_ray", "starting Ray")
CONNECTING = Template("connecting_to_ray", "connecting to the Ray cluster {address}")
#: Batches and answers are small, and are in the object store only for a moment.
_STORE_BYTES = 256 * 1024**2
#: How often a wait for a worker looks whether the run has been stopped.
_LOOK = 1.0
#: How long the head of a cluster may take to accept a connection.
_PATIENCE = 20.0
_LONGEST_FOLDER = 24
_TRIES = 5


class DeadWorkerError(Exception):
    """A worker's process has ended before it answered."""

    def __init__(self, reason: str, *, no_memory: bool = False) -> None:
        super().__init__(reason)
        self.no_memory = no_memory


class StoppedError(UserError):
    """The run has ended while a worker was asked."""

    def __init__(self) -> None:
        super().__init__("Stopped; run the same command again to resume.")


class RayCluster:
    """The cluster of a run; nothing is started or imported before a worker is needed.

    Ray is started and stopped by a thread that lives as long as the cluster: the system ends a
    process that was started by a thread when that thread ends, and outside the main thread Ray leaves
    the handlers of signals alone.
    """

    def __init__(self, options: RayOptions) -> None:
        self.options = options
        self.changed = threading.Condition(threading.RLock())
        self._keeper = ThreadPoolExecutor(1, "ray")
        self._ray: Any = None
        self._worker: Any = None
        self._has_begun = False
        self._folder: str | None = None
        self._room = 0
        self._head = ""
        self._next_check = 0.0
        self.is_closed = False

    @property
    def is_local(self) -> bool:
        """Whether the cluster is started here."""
        return self.options.address is None

    def connect(self, cpus: float) -> int:
        """Start or find the cluster, on first use; how many workers of ``cpus`` CPUs it has room for."""
        with self.changed:
            if self.is_closed:
                raise StoppedError
            if self._ray is None:
                address = self.options.address
                tell_step(STARTING() if address is None else CONNECTING(address=address))
                self._has_begun = True
                self._ray = self._keeper.submit(self._start, cpus).result()
                # Once: Ray sends the class of its workers to the cluster anew for each that it makes.
                self._worker = self._ray.remote(Worker)
                self._head = self._ray.get_runtime_context().gcs_address
            if not self._room:
                self._room = self._find_room(cpus)
            return self._room

    def estimate_room(self) -> int:
        """About how many workers there will be; a local cluster is not started for this."""
        cpus = self.options.cpus_per_worker or 1
        if self.options.workers:
            return self.options.workers
        return max(1, int((os.cpu_count() or 1) // cpus)) if self.is_local else self.connect(cpus)

    def close(self) -> None:
        """Stop a local cluster, or leave the one that was found."""
        with self.changed:
            if self.is_closed:
                return
            self.is_closed = True
            self._ray = None
            self.changed.notify_all()
        # After a start that was interrupted, too, as soon as it is done.
        if self._has_begun:
            self._keeper.submit(_shut_down)
        self._keeper.shutdown()
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)

    def hire(self, cpus: float) -> Any:
        """A new worker, which will run as soon as the cluster has room for it."""
        self._get_ray()
        options = self.options
        passed = {name: os.environ[name] for name in options.environment}
        actor = self._worker.options(
            num_cpus=cpus, num_gpus=options.gpus_per_worker, max_restarts=0, max_task_retries=0
        )
        return actor.remote(passed)

    def dismiss(self, actor: Any) -> None:
        """End a worker, whatever it is doing."""
        with self.changed:
            if self._ray is not None:
                self._ray.kill(actor)

    def wait_for(self, reference: Any, is_stopped: Callable[[], bool]) -> Any:
        """What a worker answers; raises :class:`DeadWorkerError` if its process ends before."""
        ray = self._get_ray()
        failures = ray.exceptions
        while True:
            try:
                return ray.get(reference, timeout=_LOOK)
            except failures.GetTimeoutError:
                if is_stopped() or self.is_closed:
                    raise StoppedError from None
                self._check_now_and_then()
            except failures.OutOfMemoryError as error:
                reason = describe_error(error).partition(". ")[0]
                raise DeadWorkerError(reason, no_memory=True) from None
            except (failures.RayActorError, failures.WorkerCrashedError) as error:
                if is_stopped() or self.is_closed:
                    raise StoppedError from None
                self._check_alive()
                raise DeadWorkerError(_find_reason(error)) from None
            except failures.RayTaskError as error:
                raise _explain_import(error) from None
            except failures.RayError as error:
                raise _explain_loss(describe_error(error)) from None

    def _get_ray(self) -> Any:
        with self.changed:
            if self._ray is None:
                raise StoppedError
            return self._ray

    def _start(self, cpus: float) -> Any:
        import ray

        options = self.options
        logging.getLogger("ray").setLevel(logging.CRITICAL)
        quiet: dict[str, Any] = {"configure_logging": False, "log_to_driver": False}
        try:
            if options.address is not None:
                _knock(options.address)
                ray.init(address=options.address, **quiet)
            else:
                self._start_here(ray, (options.workers or 0) * cpus, quiet)
        except Exception as error:
            raise self._explain_start(error) from error
        return ray

    def _start_here(self, ray: Any, wanted: float, quiet: Mapping[str, Any]) -> None:
        self._folder = tempfile.mkdtemp(prefix="gl-", dir=_find_short_folder())
        token = Path(self._folder) / "token"
        token.write_text(secrets.token_hex(32), encoding="utf-8")  # in a private folder
        # Ray lets in who shows a token. Without this one it would leave its own in the user's home.
        with reduced_environment({"RAY_AUTH_TOKEN_PATH": str(token)}):
            _forget_token()
            for left in reversed(range(_TRIES)):
                try:
                    ray.init(
                        num_cpus=max(os.cpu_count() or 1, math.ceil(wanted)),
                        include_dashboard=False,
                        object_store_memory=_STORE_BYTES,
                        _temp_dir=self._folder,
                        _node_ip_address="127.0.0.1",
                        **quiet,
                    )
                except Exception as error:
                    # On a busy computer, starting takes longer than the half minute that Ray allows; and
                    # what has been killed meanwhile does not come.
                    if not left or "timed out" not in str(error).lower():
                        raise
                else:
                    return

    def _explain_start(self, error: Exception) -> UserError:
        if self.options.address is None:
            return UserError(
                "Ray cannot be started on this computer ({reason}): leave --executor out, or give the"
                " address of a cluster.",
                reason=describe_error(error),
            )
        return UserError(
            "The Ray cluster {address} cannot be used ({reason}): check its address, and that Ray and"
            " Python have the same versions there as here.",
            address=self.options.address,
            reason=describe_error(error),
        )

    def _find_room(self, cpus: float) -> int:
        options = self.options
        room = count_room(self._ray.nodes(), cpus, options.gpus_per_worker)
        if room or not (options.workers is None or self.is_local):
            # A cluster may add computers for the workers that it is asked for.
            return options.workers or room
        raise UserError(
            "No computer of the Ray cluster has room for a worker (CPUs: {cpus}, GPUs: {gpus}): change"
            " --cpus-per-worker or --gpus-per-worker.",
            cpus=f"{cpus:g}",
            gpus=f"{options.gpus_per_worker:g}",
        )

    def _check_alive(self) -> None:
        """Raise if the cluster has gone; Ray would end the whole process after a minute."""
        host, _, port = self._head.rpartition(":")
        try:
            socket.create_connection((host, int(port)), timeout=_PATIENCE).close()
        except (OSError, ValueError) as error:
            raise _explain_loss(describe_error(error)) from None

    def _check_now_and_then(self) -> None:
        """The same, at most once a second for all threads together."""
        with self.changed:
            if time.monotonic() < self._next_check:
                return
            self._next_check = time.monotonic() + _LOOK
        self._check_alive()


def count_room(nodes: Sequence[Mapping[str, Any]], cpus: float, gpus: float) -> int:
    """How many workers the computers of a cluster, as Ray describes them, have room for."""
    wanted = {kind: share for kind, share in (("CPU", cpus), ("GPU", gpus)) if share}
    return sum(
        min(
            (int(node["Resources"].get(kind, 0) // share) for kind, share in wanted.items()),
            default=1,
        )
        for node in nodes
        if node["Alive"]
    )


def _knock(address: str) -> None:
    """Raise if nobody is at home; Ray itself would wait for minutes."""
    host, _, port = address.rpartition(":")
    if host and port.isdigit() and "/" not in host:
        socket.create_connection((host.strip("[]"), int(port)), timeout=_PATIENCE).close()


def _find_short_folder() -> str:
    """Where Ray's sockets can be, whose paths may have about a hundred characters, 70 of them Ray's."""
    folder = tempfile.gettempdir()
    return folder if len(folder) < _LONGEST_FOLDER or os.name == "nt" else "/tmp"  # noqa: S108


def _shut_down() -> None:
    import ray

    if ray.is_initialized():
        ray.shutdown()
    _forget_token()


def _forget_token() -> None:
    """Have Ray read its token again: it remembers that of the last cluster."""
    with suppress(ImportError, AttributeError):
        from ray._raylet import AuthenticationTokenLoader

        AuthenticationTokenLoader.instance().reset_cache()


def _find_reason(error: Exception) -> str:
    """The part of Ray's report that says how a worker ended."""
    text = " ".join(str(error).split()).rpartition("Worker exit detail: ")[2]
    return text.partition(". Some common causes")[0][:160] or type(error).__name__


def _explain_import(error: Exception) -> UserError:
    return UserError(
        "The workers fail before they have a model ({reason}): install GenDa Lens and what the model"
        " needs on every node of the cluster, in the same versions as here.",
        reason=describe_error(getattr(error, "cause", None) or error),
    )


def _explain_loss(reason: str) -> UserError:
    return UserError(
        "The Ray cluster was lost ({reason}); run the same command again to resume.", reason=reason
    )
