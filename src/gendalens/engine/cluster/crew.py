"""The workers of one model: each batch goes to the least busy, and those that die are replaced."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from gendalens.engine.cluster.ray_cluster import DeadWorkerError, StoppedError
from gendalens.engine.cluster.staff import Staff
from gendalens.engine.cluster.worker import (
    Call,
    Opened,
    Opening,
    Outcome,
    list_versions,
    pack,
    unpack,
)
from gendalens.errors import UserError
from gendalens.models.base import AskedRow
from gendalens.models.library_errors import DOES_NOT_FIT
from gendalens.models.requests import Fill, Reconstruct, Resolve, Score, Tag, TopToken
from gendalens.system.steps import tell_step
from gendalens.words import Template

WAITING = Template("waiting_for_workers", "waiting for workers with {model}")
#: How many workers may die of a batch, or one after the other while they load the model.
MOST_DEATHS = 3
#: Batches per worker: while it answers one, the next is on its way.
DEPTH = 2
_MOST_QUOTED, _LONGEST_QUOTE = 3, 100


@dataclass(slots=True, eq=False)
class Ticket:
    """A call that waits for its answer, and how many workers have died of it."""

    deaths: int = 0


@dataclass(slots=True, eq=False)
class Member:
    """A worker of the crew, and the calls that it has not answered, oldest first."""

    actor: Any
    is_ready: bool = False
    waiting: list[Ticket] = field(default_factory=list)


class Crew:
    """The workers of one model; any thread may call."""

    def __init__(self, staff: Staff, opening: Opening, identity: str, cpus: float) -> None:
        self._staff = staff
        self._cluster = staff.cluster
        self._opening = opening
        self._identity = identity
        self._cpus = cpus
        self._members: list[Member] = []
        self._deaths_at_start = 0
        self._failure: Exception | None = None
        self._opened: Opened | None = None
        self._has_begun = False
        self._is_closed = False

    @property
    def has_started(self) -> bool:
        """Whether workers have been asked for."""
        return self._has_begun

    @property
    def most(self) -> int:
        """How many workers it may have at most, now or when other models are done."""
        return self._cluster.connect(self._cpus)

    def start(self) -> None:
        """Begin to load the model, in as many workers as there is room for."""
        room = self._cluster.connect(self._cpus)
        self._has_begun = True
        with self._cluster.changed:
            while self._failure is None and self._staff.may_hire(self, len(self._members), room):
                self._hire()

    @property
    def opened(self) -> Opened:
        """What the first worker says about the model; waits until it has loaded it."""
        if self._opened is None:
            tell_step(WAITING(model=self._opening.name))
        with self._cluster.changed:
            while self._opened is None:
                self.start()
                self._wait()
            return self._opened

    def call(self, call: Call, what: Sequence[Any] = ()) -> Any:
        """The outcome of a call, made again if a worker dies; ``what`` is named if several do."""
        packed, ticket = pack(call), Ticket()
        while True:
            member = self._take(ticket)
            try:
                reference = member.actor.call.remote(packed)
                outcome: Outcome = unpack(self._cluster.wait_for(reference, self._has_ended))
            except DeadWorkerError as error:
                self._bury(member, ticket)
                if ticket.deaths >= MOST_DEATHS:
                    raise self._explain_deaths(error, what) from None
                continue
            finally:
                with self._cluster.changed:
                    if ticket in member.waiting:
                        member.waiting.remove(ticket)
                    self._cluster.changed.notify_all()
            return outcome.unwrap()

    def close(self) -> None:
        """End all workers; calls under way fail."""
        with self._cluster.changed:
            self._is_closed = True
            members, self._members = self._members, []
            self._staff.remove_crew(self)
            self._cluster.changed.notify_all()
        for member in members:
            self._cluster.dismiss(member.actor)

    def _take(self, ticket: Ticket) -> Member:
        """The least busy worker, as soon as one has room."""
        with self._cluster.changed:
            while True:
                self._check()
                self.start()
                free = [one for one in self._members if one.is_ready and len(one.waiting) < DEPTH]
                if free:
                    member = min(free, key=lambda one: len(one.waiting))
                    member.waiting.append(ticket)
                    return member
                self._wait()

    def _wait(self) -> None:
        self._check()
        self._cluster.changed.wait()
        self._check()

    def _check(self) -> None:
        if self._has_ended():
            raise StoppedError
        if self._failure is not None:
            raise self._failure

    def _has_ended(self) -> bool:
        return self._is_closed or self._cluster.is_closed

    def _hire(self) -> None:
        member = Member(self._cluster.hire(self._cpus))
        self._members.append(member)
        self._staff.add_worker(self)
        threading.Thread(target=self._open, args=(member,), daemon=True).start()

    def _open(self, member: Member) -> None:
        """Have a new worker load the model; runs in a thread of its own."""
        try:
            self._check_versions(self._ask(member.actor.list_versions.remote()))
            opened = unpack(self._ask(member.actor.open.remote(pack(self._opening)))).unwrap()
            self._check_identity(opened)
        except DeadWorkerError as error:
            with self._cluster.changed:
                self._deaths_at_start += 1
                if self._deaths_at_start >= MOST_DEATHS:
                    self._failure = self._explain_start(error)
            self._bury(member)
        except Exception as error:
            does_not_fit = isinstance(error, MemoryError)
            # Whoever waits for the worker raises it.
            with self._cluster.changed:
                self._failure = self._explain_no_memory(str(error)) if does_not_fit else error
                self._cluster.changed.notify_all()
        else:
            with self._cluster.changed:
                self._deaths_at_start = 0
                self._opened = self._opened or opened
                member.is_ready = True
                self._cluster.changed.notify_all()

    def _ask(self, reference: Any) -> Any:
        return self._cluster.wait_for(reference, self._has_ended)

    def _bury(self, member: Member, ticket: Ticket | None = None) -> None:
        """Forget a dead worker; the oldest of its calls is what it may have died of."""
        with self._cluster.changed:
            if ticket is not None and member.waiting[:1] == [ticket]:
                ticket.deaths += 1
                # What waited behind it is not to blame, even if it is noticed later.
                member.waiting.insert(0, Ticket())
            if member in self._members:
                self._members.remove(member)
                self._staff.remove_worker(self)
            self._cluster.changed.notify_all()
        self._cluster.dismiss(member.actor)

    def _check_versions(self, found: dict[str, str]) -> None:
        for package, version in list_versions().items():
            if found.get(package) != version:
                raise UserError(
                    "The workers have {package} {theirs} and this computer has {ours}: install the same"
                    " version on all, or the results would not be those of one version.",
                    package=package,
                    theirs=found.get(package) or "–",
                    ours=version or "–",
                )

    def _check_identity(self, opened: Opened) -> None:
        if opened.identity != self._identity:
            raise UserError(
                "The workers find another model under the name {name} than this computer does: give all"
                " the same files, for instance in a folder that they share.",
                name=self._opening.name,
            )

    def _explain_start(self, error: DeadWorkerError) -> UserError:
        name = self._opening.name
        if error.no_memory:
            return self._explain_no_memory(str(error))
        return UserError(
            "{count} workers died one after the other while they loaded {name} ({reason}), probably"
            " because memory ran out: use fewer workers on larger nodes, a smaller model, or"
            " --dtype bfloat16.",
            count=MOST_DEATHS,
            name=name,
            reason=str(error),
        )

    def _explain_no_memory(self, reason: str) -> UserError:
        return UserError(
            "{fact} in a worker ({reason}): use fewer workers, a smaller model or --dtype bfloat16.",
            fact=DOES_NOT_FIT(name=self._opening.name),
            reason=reason,
        )

    def _explain_deaths(self, error: DeadWorkerError, what: Sequence[Any]) -> UserError:
        return UserError(
            "{count} workers died of the same {size} requests to {name} ({requests}; {reason}): use"
            " smaller batches (--batch-tokens) or workers with more memory; what was answered is stored.",
            count=MOST_DEATHS,
            size=len(what),
            name=self._opening.name,
            requests=_quote(what),
            reason=str(error),
        )


def _quote(what: Sequence[Any]) -> tuple[str, ...]:
    """The first texts of a batch, shortened."""
    askers = [one.askers[0] if isinstance(one, AskedRow) else one for one in what]
    texts = list(dict.fromkeys(_show(getattr(one, "request", one)) for one in askers))
    shown = [text if len(text) <= _LONGEST_QUOTE else f"{text[:_LONGEST_QUOTE]}…" for text in texts]
    return tuple(
        [f'"{text}"' for text in shown[:_MOST_QUOTED]] + ["…"] * (len(shown) > _MOST_QUOTED)
    )


def _show(request: Any) -> str:
    match request:
        case Fill() | TopToken():
            return f"{request.left}_{request.right}"
        case Score() | Reconstruct() | Tag() | Resolve():
            return request.text
        case _:
            return str(request)
