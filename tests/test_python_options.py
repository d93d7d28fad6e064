"""Every keyword of ``gendalens.run``, ``merge`` and ``power`` does what it says: each has a row."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from scripted import Scripted
from small_data import small_data

import gendalens
from gendalens import api
from gendalens.data import registry
from gendalens.engine import ray_options
from gendalens.engine.ray_options import RayOptions
from gendalens.errors import UserError
from gendalens.models.base import LoadOptions
from gendalens.models.demo import find_folder
from gendalens.models.endpoint_options import EndpointOptions
from gendalens.results.result import Result
from gendalens.results.run_folder import result_folder
from gendalens.results.signature import parse_signature
from gendalens.tasks import all_options


@dataclass
class Desk:
    """What a row works with."""

    folder: Path
    patch: pytest.MonkeyPatch

    def spy_on_loading(self) -> tuple[Scripted, list[LoadOptions]]:
        """Have every name load one model, and keep the options that came with it."""
        model, loaded = Scripted(), list[LoadOptions]()

        def load(name: str, options: LoadOptions) -> Scripted:
            loaded.append(options)
            return model

        self.patch.setattr("gendalens.engine.session.load_model", load)
        return model, loaded


Row = Callable[[Desk], None]
ROWS: dict[str, Row] = {}


def row(*names: str) -> Callable[[Row], Row]:
    def keep(show: Row) -> Row:
        ROWS.update(dict.fromkeys(names, show))
        return show

    return keep


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Desk:
    monkeypatch.setattr("gendalens.api.write_report", lambda out, folders: None)
    return Desk(tmp_path, monkeypatch)


def keywords(function: Callable[..., Any]) -> list[str]:
    """The function's own keywords, and those that it takes for loading and for tests."""
    own = list(inspect.signature(function).parameters)
    if "options" not in own:
        return own
    own.remove("options")
    return [*own, *(field.name for field in fields(LoadOptions)), *all_options()]


def run(**options: Any) -> Result:
    """``lm-abc`` on a few sentences."""
    given = {"tasks": "lm-abc", "data": "builtin", "sample": 12, **options}
    (result,) = gendalens.run(given.pop("models", "control:stereotyped"), **given)
    return result


def tag(**options: Any) -> Result:
    """``ner-dane`` on a few sentences."""
    given = {"tasks": "ner-dane", "data": "builtin", "sample": 4, "repeats": 1, **options}
    (result,) = gendalens.run(given.pop("models", "control:stereotyped"), **given)
    return result


def signed(result: Result, name: str) -> str | None:
    return parse_signature(result.signature).get(name)


@row("run models", "run tasks")
def _(desk: Desk) -> None:
    models = ["control:fair", "control:always-han"]
    tests = ["coref-abc", "lm-abc"]
    found = gendalens.run(models, tasks=tests, data="builtin", sample=6)
    assert [(one.model.name, one.task) for one in found] == [(m, t) for m in models for t in tests]
    every = gendalens.run("control:fair", data="builtin", sample=4, repeats=1)
    assert len({one.task for one in every}) == 5


@row("run tokenizer")
def _(desk: Desk) -> None:
    import transformers

    folder = find_folder("demo-lm")
    model = transformers.AutoModelForMaskedLM.from_pretrained(folder, dtype="float32")
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    assert run(models=model, tokenizer=tokenizer).gap == run(models="demo-lm").gap
    with pytest.raises(UserError, match="tokenizer="):
        run(models=model)


@row("run progress")
def _(desk: Desk) -> None:
    said = StringIO()
    desk.patch.setattr("sys.stderr", said)
    for progress, shown in (False, 0), (None, 0), (True, 1):
        said.truncate(said.seek(0))
        run(progress=progress, cache=False)
        assert said.getvalue().count("lm-abc@2 · control:stereotyped") == shown


@row("run protocol")
def _(desk: Desk) -> None:
    data = {"abc": small_data(desk.folder)["abc"]}
    for protocol in (1, 2):
        result = run(models="demo-lm", data=data, sample=4, protocol=protocol)
        assert (result.protocol, signed(result, "test")) == (protocol, f"lm-abc@{protocol}")
    assert run().protocol == 2


@row("run data", "power data")
def _(desk: Desk) -> None:
    def pull(name: str) -> Path:
        raise UserError("the index was asked")

    desk.patch.setattr(registry, "pull", pull)
    folder = small_data(desk.folder)["abc"]
    assert run(data={"abc": "builtin"}).data["abc"]["whose"] == "builtin"
    assert run(data={"abc": folder}).data["abc"]["whose"] == "own"
    builtin, own = (
        gendalens.power("lm-abc", data={"abc": one}, sample=20) for one in ("builtin", folder)
    )
    assert builtin[0].seen != own[0].seen
    for function in (lambda: run(data=None), lambda: gendalens.power("lm-abc")):
        with pytest.raises(UserError, match="the index was asked"):
            function()


@row("run out")
def _(desk: Desk) -> None:
    desk.patch.chdir(desk.folder)
    run(cache=False)
    assert not list(desk.folder.iterdir())
    result = run(out="here")
    assert (result_folder(Path("here"), result) / "result.json").is_file()


@row("run seed")
def _(desk: Desk) -> None:
    data = {"abc": small_data(desk.folder)["abc"]}
    default, first, other = (
        run(data=data, sample=None, **seed) for seed in ({}, {"seed": 0}, {"seed": 7})
    )
    assert default == first
    assert (signed(first, "seed"), signed(other, "seed")) == ("0", "7")
    assert first.gap.value == other.gap.value
    assert first.gap.low != other.gap.low


@row("run sample")
def _(desk: Desk) -> None:
    data = {"abc": small_data(desk.folder)["abc"]}
    for sample, triples in (None, 64), (16, 16):
        assert {cell.n for cell in run(data=data, sample=sample).conditions} == {triples}


@row("run negligible")
def _(desk: Desk) -> None:
    for bands, band in (None, 0.25), ({"lm-abc": 0.75}, 0.75), ({"lm-abc:bits": 0.5}, 0.5):
        result = run(negligible=bands)
        assert [one.band for one in result.finding.evidence] == [band, 2 * band]


@row("run executor")
def _(desk: Desk) -> None:
    desk.patch.setattr(ray_options, "is_installed", lambda: True)
    taken: list[Any] = []

    def execute(jobs: Any, options: Any, watcher: Any) -> api.RunReport:
        taken.append(options)
        return api.RunReport((), (), None, interrupted=False)

    desk.patch.setattr(api, "execute", execute)
    for executor in (None, "ray", "ray:a:6379", RayOptions(workers=2)):
        gendalens.run("demo-lm", tasks="lm-abc", data="builtin", executor=executor)
    assert [options.executor for options in taken] == [
        *(None, RayOptions(), RayOptions(address="a:6379"), RayOptions(workers=2)),
    ]
    with pytest.raises(UserError, match="There is no executor"):
        gendalens.run("demo-lm", executor="dask")


def run_shard(shard: str, out: Path) -> Any:
    return gendalens.run(
        "control:fair", tasks="lm-abc", data="builtin", sample=6, shard=shard, out=out
    )


@row("run shard")
def _(desk: Desk) -> None:
    out = desk.folder / "shards"
    assert run_shard("2/3", out) == []
    (path,) = out.rglob("*.jsonl")
    assert path.name == "lm-abc@2.shard-2-of-3.jsonl"


@row("merge shards", "merge data", "merge out", "merge offline", "merge progress")
def _(desk: Desk) -> None:
    told: dict[str, Any] = {}

    @contextmanager
    def merge(places: Any, **options: Any) -> Iterator[Any]:
        told.update(options, places=places)
        raise UserError("enough")
        yield

    desk.patch.setattr(api, "merge_shards", merge)
    desk.patch.setattr(api, "choose_watcher", lambda progress: told.update(progress=progress))
    out = desk.folder / "merged"
    with pytest.raises(UserError, match="enough"):
        gendalens.merge("here", data={"abc": "there"}, out=out, offline=True, progress=False)
    assert told == {
        "places": [Path("here")],
        "data": {"abc": Path("there")},
        "out": out,
        "offline": True,
        "progress": False,
    }


@row("run batch_tokens", "run cache")
def _(desk: Desk) -> None:
    model, _ = desk.spy_on_loading()
    batches, asked = [], []
    for options in {"cache": False}, {"cache": False, "batch_tokens": 1}, {}, {}, {"cache": False}:
        model.batches.clear()
        model.asked.clear()
        run(**options)
        batches.append(max(model.batches, default=0))
        asked.append(len(model.asked))
    assert batches[0] > batches[1] == 1
    every = asked[0]
    assert asked == [every, every, every, 0, every]  # without the cache: neither stored nor used


@row(*(f"run {field.name}" for field in fields(LoadOptions)))
def _(desk: Desk) -> None:
    _, loaded = desk.spy_on_loading()
    run(cache=False)
    given = {"revision": "v2", "device": "mps", "dtype": "float16"}
    given |= {"trust_remote_code": True, "offline": True, "allow_pickle": True}  # type: ignore[dict-item]
    given |= {"max_memory": "cpu=1GiB"}
    given |= {"endpoint": EndpointOptions(urls=("http://x/v1",), use_cache=False)}  # type: ignore[dict-item]
    desk.patch.setattr("gendalens.engine.applicability.takes_endpoint", lambda name: True)
    for name, value in given.items():
        run(cache=False, **{name: value})
    expected = [LoadOptions(**{name: value}) for name, value in given.items()]  # type: ignore[arg-type]
    assert loaded == [LoadOptions(), *expected]
    assert given.keys() == {field.name for field in fields(LoadOptions)}
    assert LoadOptions() == LoadOptions(
        revision=None,
        device=None,
        dtype="float32",
        trust_remote_code=False,
        offline=False,
        allow_pickle=False,
        max_memory=None,
        endpoint=None,
    )
    with pytest.raises(UserError, match="may not be fetched offline"):
        run(data=None, offline=True)


@row("run repeats", "run names", "run unisex", "run labels")
def _(desk: Desk) -> None:
    options = {"repeats": 2, "names": "matched", "unisex": True}
    plain, other = tag(), tag(**options)
    names = ("repeats", "names", "extra")
    assert [signed(plain, name) for name in names] == ["1", "top", None]
    assert [signed(other, name) for name in names] == ["2", "matched", "unisex"]
    for result, has_unisex in (plain, False), (other, True):
        assert ("person_recall_unisex" in {extra.id for extra in result.extra}) == has_unisex
    assert [one.coverage["repeats"] for one in (plain, other)] == [1, 2]
    alone = {name: tag(**{name: value}) for name, value in options.items()}
    assert {name: one.signature != plain.signature for name, one in alone.items()} == dict.fromkeys(
        options, True
    )
    top, matched = (tag(models="demo-ner", sample=12, names=names) for names in ("top", "matched"))
    assert top.conditions != matched.conditions
    mapped = tag(models="demo-ner", labels={"LOC": "-"})
    assert signed(mapped, "labels") == "LOC=-"
    assert "LOC" not in mapped.coverage["labels"]
    assert "LOC" in tag(models="demo-ner").coverage["labels"]


@row("power task", "power seed", "power sample", "power negligible")
def _(desk: Desk) -> None:
    def see(task: str = "lm-abc", **options: Any) -> Any:
        return gendalens.power(task, **{"data": "builtin", "sample": 40, **options})[0]

    plain = see()
    assert plain == see(seed=0)
    assert see(seed=7).seen != plain.seen
    assert see(sample=20).seen != plain.seen
    assert (plain.band, see(negligible={"lm-abc": 0.75}).band) == (0.25, 0.75)
    assert (plain.unit, see("coref-abc").unit) == ("bits", "share")


@row(*(f"power {field.name}" for field in fields(LoadOptions)))
def _(desk: Desk) -> None:
    """Of these, only offline matters: there is no model."""
    with pytest.raises(UserError, match="may not be fetched offline"):
        gendalens.power("lm-abc", offline=True)


@row(*(f"power {name}" for name in all_options()))
def _(desk: Desk) -> None:
    planned = []

    def compute(task: Any, items: Any) -> list[Any]:
        planned.append(task)
        return []

    desk.patch.setattr(api, "compute_power", compute)
    given = {"repeats": 3, "names": "matched", "unisex": True, "labels": "GPE=LOC"}
    gendalens.power("ner-dane", data="builtin", sample=4, **given)  # type: ignore[arg-type]
    assert {name: getattr(planned[0], name) for name in given} == given
    assert given.keys() == all_options().keys()


@pytest.mark.parametrize("function", [gendalens.run, gendalens.power, gendalens.merge])
def test_every_keyword_has_a_row_and_every_row_a_keyword(function: Callable[..., Any]) -> None:
    rows = {key.split()[1] for key in ROWS if key.split()[0] == function.__name__}
    assert rows == set(keywords(function))


@pytest.mark.slow
@pytest.mark.parametrize(
    "show",
    dict.fromkeys(ROWS.values()),
    ids=[" ".join(k for k in ROWS if ROWS[k] is one) for one in dict.fromkeys(ROWS.values())],
)
def test_a_keyword_changes_what_its_row_says(desk: Desk, show: Row) -> None:
    show(desk)
