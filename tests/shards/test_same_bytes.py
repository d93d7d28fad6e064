"""A run in shards, merged, gives the bytes of one run: for every kind of model."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import small_dane
import small_names
import torch
from endpoint_server import Script, serve
from families import opened
from planting import plant
from small_data import small_data
from taggers import opened_tagger
from test_chat_local import _MARKED
from test_chat_local import opened as opened_chat
from test_lm_coref import opened as opened_prompted
from whole import Machines, shard_files

from gendalens.models.chat.respondent import Rung

LANGUAGE = ["lm-abc", "lm-dawinobias"]
COREFERENCE = ["coref-abc", "coref-dawinobias"]


@pytest.fixture(autouse=True)
def _no_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gendalens.api.write_report", lambda out, folders: None)


@pytest.fixture
def data(tmp_path: Path) -> dict[str, Path]:
    register, minority = small_names.write(tmp_path / "lists")
    own = small_dane.write(tmp_path / "own.conllu")
    more = {"dane": own, "names": register, "minority-names": minority}
    return {**small_data(tmp_path / "data"), **more}


def make(kind: str) -> tuple[str, dict[str, Any]]:
    """A model of a kind, with batches so small that there are many."""
    match kind:
        case "masked":
            name, tests = str(opened("wordpiece letters").folder), LANGUAGE
        case "causal":
            name, tests = str(opened("llama").folder), LANGUAGE
        case "bfloat16":
            return str(opened("gpt2").folder), {
                "tasks": LANGUAGE,
                "batch_tokens": 96,
                "dtype": "bfloat16",
            }
        case "tagger":
            name, tests = str(opened_tagger("wordpiece, IOB").folder), ["ner-dane"]
        case "masked resolver":
            name, tests = f"lm-coref:{opened_prompted('masked').folder}", COREFERENCE
        case "causal resolver":
            name, tests = f"lm-coref:{opened_prompted('causal').folder}", COREFERENCE
        case "chat":
            return f"chat:{opened_chat(_MARKED).name}", {
                "tasks": ["lm-dawinobias"],
                "batch_tokens": 512,
            }
        case _:
            return "control:stereotyped?strength=0.5", {
                "tasks": [*LANGUAGE, *COREFERENCE, "ner-dane"]
            }
    return name, {"tasks": tests, "batch_tokens": 96}


def read_header(path: Path) -> dict[str, Any]:
    header: dict[str, Any] = json.loads(path.read_text().splitlines()[0])
    return header


KINDS = ["masked", "causal", "tagger", "masked resolver", "causal resolver", "control"]


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["masked", "causal", "tagger", "control"])
def test_three_shards_give_the_bytes_of_one_run(
    kind: str, data: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, options = make(kind)
    machines = Machines(tmp_path, monkeypatch, model, data=data, sample=12, **options)
    assert machines.run_in_shards(3) == machines.run_whole()


@pytest.mark.slow
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("kind", [*KINDS, "bfloat16", "chat"])
def test_any_number_of_shards_gives_the_bytes_of_one_run(
    kind: str,
    threads: int,
    data: dict[str, Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    model, options = make(kind)
    machines = Machines(tmp_path, monkeypatch, model, data=data, **options)
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        whole = machines.run_whole()
        for count in (1, 3, 7):
            assert machines.run_in_shards(count) == whole, count
    finally:
        torch.set_num_threads(before)


def test_what_was_asked_in_an_earlier_portion_is_in_no_shard_of_a_later_one(
    data: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gendalens.tasks.ner_dane.renamed_persons.PORTION", 7)
    model, options = make("tagger")
    machines = Machines(tmp_path, monkeypatch, model, data=data, repeats=3, **options)
    assert machines.run_in_shards(2) == machines.run_whole()
    headers = [read_header(path) for path in shard_files(tmp_path)]
    counts = [header["answers"] for header in headers]
    assert len(counts[0]) == len(counts[1]) > 3
    ids = [
        json.loads(line)["id"]
        for path in shard_files(tmp_path)
        for line in path.read_text().splitlines()[1:]
    ]
    assert len(ids) == len(set(ids)) == sum(map(sum, counts)) == headers[0]["test"]["requests"]


@pytest.mark.slow
def test_shards_of_a_model_behind_an_endpoint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its questions are divided one by one, since no batch changes an answer."""
    monkeypatch.setattr("gendalens.models.endpoint.client.FIRST_WAIT", 0.01)
    script = Script(top_logprobs=20)
    plant(script, "lm-dawinobias", "control:fair", Rung.OPTIONS, 6)
    with serve(script) as url:
        machines = Machines(
            tmp_path,
            monkeypatch,
            "openai:m",
            endpoint=url,
            tasks="lm-dawinobias",
            data="builtin",
            sample=6,
        )
        assert machines.run_in_shards(3) == machines.run_whole()
    headers = [read_header(path) for path in shard_files(tmp_path)]
    assert all(header["answers"] == [4] for header in headers)
