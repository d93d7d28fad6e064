"""A model whose weights are in workers: requests are encoded here and answered there."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from gendalens.engine.cluster.crew import DEPTH, Crew
from gendalens.engine.cluster.staff import Staff
from gendalens.engine.cluster.worker import Call, Opening, identify, without_endpoint
from gendalens.errors import UserError
from gendalens.models.base import AskedRow, Backend, Batching, Encoded, LoadOptions, Row, RowReader
from gendalens.models.parallel_batches import count_sharers
from gendalens.models.requests import Answer
from gendalens.results.model_info import ModelInfo
from gendalens.words import Message


@dataclass(frozen=True, slots=True)
class Threads:
    """Threads for torch in a worker: as many as the same batch would have at home, unless fixed."""

    at_home: int
    fixed: int | None = None

    def share(self) -> int:
        """The threads of the batch that is being asked."""
        return self.fixed or max(1, self.at_home // count_sharers())


class RemoteBackend(Backend):
    """The stand-in for a backend that never loads its weights here."""

    def __init__(
        self, local: Backend, crew: Crew, threads: Threads, *, exact: bool = False
    ) -> None:
        self.local = local
        self._crew = crew
        self._threads = threads
        self._is_exact = exact

    @property
    def info(self) -> ModelInfo:
        """Name, kind and revision."""
        return self.local.info

    @property
    def answers(self) -> frozenset[str]:
        """The kinds of request it can answer."""
        return self.local.answers

    @property
    def usual_answers(self) -> frozenset[str]:
        """The kinds of request whose tests it takes unless the user names others."""
        return self.local.usual_answers

    def fingerprint(self) -> str:
        """The digest of the model here; the workers' is compared with it."""
        return self.local.fingerprint()

    def encode(self, requests: Sequence[Any]) -> Sequence[Encoded]:
        """The requests, tokenised here, while workers load the weights."""
        self._crew.start()
        return self.local.encode(requests)

    def answer(self, batch: Sequence[Any]) -> list[Answer]:
        """The answers of a worker to one batch."""
        found: list[Answer] = self._ask("answer", batch)
        return found

    @property
    def max_positions(self) -> int:
        """How many predictions fit into a worker's memory at once."""
        return self._crew.opened.max_positions

    @property
    def batch_tokens(self) -> int:
        """The number of tokens per batch that runs fastest where the workers are."""
        return self._crew.opened.batch_tokens if self._crew.has_started else self.local.batch_tokens

    @cached_property
    def batching(self) -> Batching:
        """Which rows a worker can read together."""
        found: Batching = self._ask("batching")
        return found

    def plan(self, encoded: Sequence[Any], batch_tokens: int) -> list[list[int]] | None:
        """The batches that a worker plans, which may depend on its weights."""
        found: list[list[int]] | None = self._ask("plan", encoded, batch_tokens)
        return found

    def count_tokens(self, batch: Sequence[Any]) -> int:
        """The number of tokens that a worker runs for a batch."""
        found: int = self._ask("count_tokens", batch)
        return found

    @property
    def workers(self) -> int:
        """How many batches would be answered at once at home, by which they are planned."""
        return self._crew.opened.workers

    @property
    def hosts(self) -> int:
        """How many batches are on their way at once."""
        return DEPTH * self._crew.most

    @property
    def cacheable(self) -> bool:
        """Whether its fingerprint identifies it permanently."""
        return self.local.cacheable

    @property
    def labels(self) -> tuple[str, ...] | None:
        """The entity types that a tagger can find."""
        return self.local.labels

    def explain_refusal(self, needs: frozenset[str]) -> Message | None:
        """Why it cannot answer these kinds of request."""
        return self.local.explain_refusal(needs)

    @property
    def notices(self) -> tuple[Message, ...]:
        """The notices of a worker, if there are any workers."""
        if not self._crew.has_started:
            return self.local.notices
        found: tuple[Message, ...] = self._ask("notices")
        return found

    @property
    def remarks(self) -> tuple[Message, ...]:
        """What the user should know before the run."""
        return self.local.remarks

    @cached_property
    def exact(self) -> RemoteBackend | None:
        """The same model in float32, in the same workers."""
        if self.local.exact is None:
            return None
        return stand_in(self.local.exact, self._crew, self._threads, exact=True)

    def _ask(self, what: str, *arguments: Any) -> Any:
        call = Call(what, arguments, self._threads.share(), self._is_exact)
        return self._crew.call(call, arguments[0] if arguments else ())


class RemoteRowReader(RemoteBackend, RowReader):
    """The stand-in for a backend that reads rows."""

    def read_rows(self, rows: Sequence[AskedRow]) -> list[Any]:
        """What a worker reads in each row."""
        found: list[Any] = self._ask("read_rows", rows)
        return found

    def conclude(self, item: Any, readings: Mapping[Row, Any]) -> Answer:
        """The answer to an encoded request, concluded here."""
        assert isinstance(self.local, RowReader)
        return self.local.conclude(item, readings)


def stand_in(local: Backend, crew: Crew, threads: Threads, *, exact: bool = False) -> RemoteBackend:
    """The stand-in for a backend, by what it can do."""
    kind = RemoteRowReader if isinstance(local, RowReader) else RemoteBackend
    return kind(local, crew, threads, exact=exact)


@contextmanager
def host_model(local: Backend, model: Any, options: LoadOptions, staff: Staff) -> Iterator[Backend]:
    """The stand-in for a model on the workers of a cluster, which are dismissed in the end.

    ``model`` is what the user named. A model without weights, such as one behind an endpoint, stays
    here, and only one of those runs at a time.
    """
    with ExitStack() as stack:

        def send(name: str, local: Backend) -> Backend:
            if not isinstance(model, str | Path):
                raise UserError(
                    "{name} is in the memory of this process and cannot be sent to the workers of a"
                    " cluster: give the model's name or folder, or leave the executor out.",
                    name=local.info.name,
                )
            asked, at_home = staff.cluster.options.cpus_per_worker, count_threads(local)
            cpus = asked if asked is not None else max(1, at_home // max(1, local.workers))
            threads = Threads(at_home, max(1, int(asked)) if asked is not None else None)
            opening = Opening(name, without_endpoint(options), at_home, os.getcwd())  # noqa: PTH109
            crew = Crew(staff, opening, identify(local), cpus)
            staff.add_crew(crew)
            stack.callback(crew.close)
            return stand_in(local, crew, threads)

        hosted = local.host(str(model), send)
        if hosted is local:
            stack.enter_context(staff.at_home)
        yield hosted


def count_threads(local: Backend) -> int:
    """The threads that torch uses in this process for one batch alone."""
    _ = local.workers  # imports torch if the model needs it
    torch = sys.modules.get("torch")
    if torch is not None:
        found: int = torch.get_num_threads()
        return found
    return int(os.environ.get("OMP_NUM_THREADS") or os.cpu_count() or 1)
