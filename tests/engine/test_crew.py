"""Workers without Ray: who gets which batch, and what happens when they die or fail."""

from __future__ import annotations

import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import pytest
from scripted import Question, Scripted
from threads_for_ray import Death, ThreadCluster

import gendalens
from gendalens.engine.cluster import crew, worker
from gendalens.engine.cluster.ray_cluster import DeadWorkerError, RayCluster, count_room
from gendalens.engine.cluster.remote_backend import host_model
from gendalens.engine.cluster.staff import Staff
from gendalens.engine.executor import ask
from gendalens.engine.joint_run import run_together
from gendalens.engine.ray_options import RayOptions
from gendalens.engine.watcher import SessionReport, SilentWatcher, Watcher
from gendalens.errors import UserError
from gendalens.models.base import Backend, LoadOptions
from gendalens.models.control import Control
from gendalens.models.requests import Answer, Score
from gendalens.system.steps import tell_step

SENTENCES = [Score(f"{'ord ' * n}{i}.") for n in range(1, 8) for i in range(5)]


@dataclass
class Model(Scripted):
    """A model in a worker; what its answers do is told by the test."""

    act: Callable[[Sequence[Question]], None] = lambda batch: None
    workers: int = 2

    def answer(self, batch: Sequence[Question]) -> list[Answer]:
        self.act(batch)
        return super().answer(batch)


class Place:
    """A staff, and the models that its workers have loaded."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, stack: ExitStack) -> None:
        self.cluster = ThreadCluster()
        self.staff = Staff(self.cluster)  # type: ignore[arg-type]
        self.loaded: list[Model] = []
        self.act: Callable[[Sequence[Question]], None] = lambda batch: None
        self.while_loading: Callable[[], None] = lambda: None
        self.stack = stack
        monkeypatch.setattr(worker, "load_model", self.load)

    def load(self, name: str, options: LoadOptions) -> Model:
        self.while_loading()
        self.loaded.append(Model(name, act=lambda batch: self.act(batch)))
        return self.loaded[-1]

    def host(self, name: str = "scripted") -> Backend:
        manager = host_model(Scripted(name), name, LoadOptions(), self.staff)
        return self.stack.enter_context(manager)

    @property
    def asked(self) -> list[Any]:
        return [request for model in self.loaded for request in model.asked]


@pytest.fixture
def place(monkeypatch: pytest.MonkeyPatch) -> Iterator[Place]:
    monkeypatch.setenv("OMP_NUM_THREADS", "1")  # put back in the end: a worker sets it
    with ExitStack() as stack:
        place = Place(monkeypatch, stack)
        yield place
    place.cluster.wait_for_threads()


def test_workers_get_the_batches_that_are_run_at_home(place: Place) -> None:
    groups = []

    def note(batch: Sequence[Question]) -> None:
        groups.append(frozenset(one.request for one in batch))
        time.sleep(0.01)

    place.act = note
    answers = ask(place.host(), SENTENCES, batch_tokens=60)
    at_home = []
    home = Model(act=lambda batch: at_home.append(frozenset(one.request for one in batch)))
    assert answers == ask(home, SENTENCES, batch_tokens=60)
    assert set(groups) == set(at_home)
    assert sorted(map(str, place.asked)) == sorted(map(str, SENTENCES))
    assert len(place.loaded) == 2
    assert all(model.asked for model in place.loaded)


def test_without_requests_no_worker_is_hired(place: Place) -> None:
    backend = place.host()
    known = ask(Scripted(), SENTENCES)
    assert ask(backend, SENTENCES, known=known) == known
    assert backend.notices == ()
    assert backend.batch_tokens == Scripted().batch_tokens
    assert place.cluster.hired == []


def test_a_batch_whose_worker_dies_is_asked_again_elsewhere(place: Place) -> None:
    deaths: list[Sequence[Question]] = []

    def die_once(batch: Sequence[Question]) -> None:
        if SENTENCES[7] in [one.request for one in batch] and not deaths:
            deaths.append(batch)
            raise Death("killed")

    place.act = die_once
    assert ask(place.host(), SENTENCES, batch_tokens=60) == ask(Scripted(), SENTENCES)
    assert len(deaths) == 1
    assert len(place.cluster.hired) == 3
    assert len(place.asked) == len(SENTENCES)


def test_a_batch_that_kills_three_workers_is_named(place: Place) -> None:
    culprit = SENTENCES[7]

    def die(batch: Sequence[Question]) -> None:
        time.sleep(0.005)
        if culprit in [one.request for one in batch]:
            raise Death("killed by signal 9")

    place.act = die
    stored: list[int] = []
    with pytest.raises(
        UserError, match=r"3 workers died of the same .*killed by signal 9\)"
    ) as caught:
        ask(place.host(), SENTENCES, batch_tokens=60, on_answers=stored.append)
    assert culprit.text in str(caught.value)
    assert stored
    assert len(place.cluster.hired) <= 5


def test_a_worker_that_dies_while_loading_is_replaced_twice(place: Place) -> None:
    tries: list[None] = []

    def die_often() -> None:
        tries.append(None)
        if len(tries) <= most:
            raise Death("out of memory")

    place.while_loading = die_often
    place.cluster.room = 1
    most = 2
    assert ask(place.host(), SENTENCES) == ask(Scripted(), SENTENCES)
    place.stack.close()
    tries, most = [], 3
    with pytest.raises(UserError, match="3 workers died one after the other while they loaded"):
        ask(place.host(), SENTENCES)


def test_a_model_that_does_not_fit_into_a_worker_is_one_sentence(place: Place) -> None:
    def fill_up() -> None:
        raise MemoryError("cannot allocate 9 GB")

    place.while_loading = fill_up
    said = (
        r"scripted does not fit into memory in a worker \(cannot allocate 9 GB\): use fewer workers"
    )
    with pytest.raises(UserError, match=said):
        ask(place.host(), SENTENCES)


def test_what_a_worker_says_to_the_user_arrives(place: Place) -> None:
    def refuse() -> None:
        raise UserError("There is no weight in {file}.", file="model.safetensors")

    place.while_loading = refuse
    with pytest.raises(UserError, match=r"There is no weight in model\.safetensors") as caught:
        ask(place.host(), SENTENCES)
    assert caught.value.message.values == {"file": "model.safetensors"}


def test_a_defect_in_a_worker_shows_where(place: Place) -> None:
    def divide(batch: Sequence[Question]) -> None:
        _ = 1 / 0

    place.act = divide
    with pytest.raises(UserError, match=r"division by zero \(test_crew.py, line \d+\): report it"):
        ask(place.host(), SENTENCES)


def test_a_worker_whose_memory_runs_out_gets_half_a_batch(place: Place) -> None:
    def limit(batch: Sequence[Question]) -> None:
        if len(batch) > 2:
            raise RuntimeError("DefaultCPUAllocator: can't allocate memory")

    place.act = limit
    assert ask(place.host(), SENTENCES, batch_tokens=120) == ask(Scripted(), SENTENCES)
    assert max(size for model in place.loaded for size in model.batches) <= 2


@pytest.mark.parametrize("package", ["Python", "gendalens", "torch", "transformers"])
def test_other_versions_are_refused_before_the_model_is_loaded(
    place: Place, package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = worker.list_versions()
    monkeypatch.setattr(crew, "list_versions", lambda: here | {package: "0.9"})
    with pytest.raises(UserError, match=rf"workers have {package} .* this computer has 0\.9"):
        ask(place.host(), SENTENCES)
    assert place.loaded == []


def test_another_model_of_the_same_name_is_refused(place: Place) -> None:
    class Other(Scripted):
        def fingerprint(self) -> str:
            return "other weights"

    backend = place.stack.enter_context(host_model(Other(), "scripted", LoadOptions(), place.staff))
    with pytest.raises(UserError, match="another model under the name scripted"):
        ask(backend, SENTENCES)
    assert place.asked == []


def test_an_object_is_not_sent_and_a_control_model_stays(place: Place) -> None:
    with pytest.raises(UserError, match="in the memory of this process and cannot be sent"):
        place.stack.enter_context(host_model(Scripted(), Scripted(), LoadOptions(), place.staff))
    control = Control("fair", 0.0)
    with host_model(control, control, LoadOptions(), place.staff) as hosted:
        assert hosted is control


@pytest.mark.parametrize("executor", [None, "ray"])
def test_a_run_that_needs_no_worker_imports_no_ray(
    executor: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    monkeypatch.setattr("gendalens.engine.ray_options.is_installed", lambda: True)
    options: dict[str, Any] = {"tasks": "lm-abc", "data": "builtin", "sample": 12}
    assert gendalens.run("control:fair", executor=executor, **options)


def test_there_is_room_where_one_computer_has_what_a_worker_needs() -> None:
    nodes = [
        {"Alive": True, "Resources": {"CPU": 8.0, "GPU": 1.0}},
        {"Alive": True, "Resources": {"CPU": 2.0, "GPU": 4.0}},
        {"Alive": False, "Resources": {"CPU": 64.0, "GPU": 8.0}},
        {"Alive": True, "Resources": {"memory": 1.0}},
    ]
    found = [count_room(nodes, *wanted) for wanted in ((1, 0), (2, 0.5), (4, 2), (0, 1), (0, 0))]
    assert found == [10, 3, 0, 5, 3]


@pytest.mark.parametrize(
    ("address", "workers"), [(None, None), (None, 2), ("a:1", None), ("a:1", 2)]
)
def test_only_a_cluster_that_may_grow_is_waited_for(
    address: str | None, workers: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gendalens.engine.ray_options.is_installed", lambda: True)
    options = RayOptions(address=address, workers=workers, gpus_per_worker=1)
    with closing(RayCluster(options)) as cluster:
        node = {"Alive": True, "Resources": {"CPU": 8.0}}
        cluster._ray = SimpleNamespace(nodes=lambda: [node])
        if address and workers:
            assert cluster.connect(1) == workers
            return
        with pytest.raises(UserError, match=r"has room for a worker \(CPUs: 1, GPUs: 1\)"):
            cluster.connect(1)


def test_a_dead_worker_of_a_dead_cluster_is_not_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ray would end the process if it were asked for another one."""
    monkeypatch.setattr("gendalens.engine.ray_options.is_installed", lambda: True)
    names = ["GetTimeout", "OutOfMemory", "RayActor", "WorkerCrashed", "RayTask", "Ray"]
    failures = SimpleNamespace(**{f"{name}Error": type(name, (Exception,), {}) for name in names})

    def get(reference: Any, timeout: float) -> None:
        raise failures.RayActorError

    with (
        closing(RayCluster(RayOptions())) as cluster,
        socket.create_server(("127.0.0.1", 0)) as head,
    ):
        cluster._ray = SimpleNamespace(get=get, exceptions=failures)
        cluster._head = f"127.0.0.1:{head.getsockname()[1]}"
        # Another thread has just looked whether the cluster is alive.
        cluster._check_now_and_then()
        with pytest.raises(DeadWorkerError):
            cluster.wait_for(None, lambda: False)
        head.close()
        with pytest.raises(UserError, match="The Ray cluster was lost"):
            cluster.wait_for(None, lambda: False)


class TestSeveralModels:
    def run(
        self, place: Place, names: Sequence[str], watcher: Watcher | None = None
    ) -> SessionReport:
        def measure(job: Any, joint: Watcher) -> SessionReport:
            tell_step(str(job.name))  # type: ignore[arg-type]
            if job.name == "broken":
                raise UserError("There is no model broken.")
            with host_model(Scripted(job.name), job.name, LoadOptions(), place.staff) as hosted:
                ask(hosted, SENTENCES, batch_tokens=60)
            return SessionReport(outcomes=[job.name])

        return run_together(
            [Job(name) for name in names],
            measure,
            place.staff,
            watcher or SilentWatcher(),
            lambda name: f"stopped at {name}",
        )

    def test_they_run_at_once_and_are_reported_in_order(self, place: Place) -> None:
        together = threading.Barrier(2, timeout=20)
        first: set[str] = set()

        def meet(batch: Sequence[Question]) -> None:
            name = threading.current_thread().name
            if name not in first:
                first.add(name)
                if len(first) <= 2:
                    together.wait()

        place.act = meet
        report = self.run(place, ["one", "broken", "two", "three"])
        assert report.outcomes == ["one", "two", "three"]  # type: ignore[comparison-overlap]
        assert report.failures == ["There is no model broken."]
        assert sorted({model.name for model in place.loaded}) == ["one", "three", "two"]

    def test_the_last_model_gets_the_workers_of_those_that_are_done(self, place: Place) -> None:
        place.act = lambda batch: time.sleep(0.01 if len(place.loaded) < 2 else 0.03)
        self.run(place, ["one", "two", "three"])
        assert len(place.loaded) > 3 or len(place.cluster.hired) >= 3

    def test_each_has_a_worker_before_any_has_two(self, place: Place) -> None:
        place.cluster.room = 3
        staff = place.staff
        staff.expect(2)
        one, two = object(), object()
        staff.add_crew(one)
        staff.add_crew(two)
        assert staff.may_hire(one, 0, 3)
        staff.add_worker(one)
        assert staff.may_hire(one, 1, 3)
        staff.add_worker(one)
        assert not staff.may_hire(one, 2, 3)
        assert staff.may_hire(two, 0, 3)
        staff.add_worker(two)
        assert not staff.may_hire(two, 1, 3)
        staff.remove_crew(one)
        staff.expect(1)
        assert staff.may_hire(two, 1, 3)


@dataclass(frozen=True)
class Job:
    name: str
