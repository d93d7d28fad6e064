"""The way to the hub and back, through its own client: a sound hub, and every fault of one."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import hub_server
import pytest
import small_dane
from families import opened
from hub_server import HubServer

from gendalens.data import registry
from gendalens.data.home import find_home
from gendalens.errors import UserError
from gendalens.models.base import LoadOptions
from gendalens.models.detect import load_model
from gendalens.models.requests import Score

TOKEN = "hf_secret"
DANE = "alexandrainst/dane"


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[HubServer]:
    import huggingface_hub
    from huggingface_hub import constants

    folder = shutil.copytree(opened("wordpiece cased").folder, tmp_path / "served")
    small_dane.write(folder / "ddt.test.conllu")
    wait = time.sleep
    with hub_server.serve(folder) as server:
        monkeypatch.setattr(constants, "ENDPOINT", server.url)
        template = server.url + "/{repo_id}/resolve/{revision}/{filename}"
        monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", template)
        monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
        monkeypatch.setattr(constants, "HF_HUB_DISABLE_XET", True)
        monkeypatch.setattr(constants, "HF_HUB_DOWNLOAD_TIMEOUT", 1)
        api = huggingface_hub.HfApi
        monkeypatch.setattr(huggingface_hub, "HfApi", lambda: api(endpoint=server.url))
        monkeypatch.setattr(
            time, "sleep", lambda seconds: wait(min(seconds, 2) if seconds == 1.5 else 0)
        )
        yield server


def ask(**options: Any) -> Any:
    backend = load_model("org/model", LoadOptions(**options))
    return backend.answer(backend.encode([Score("Hun sejler.")]))


def left_over(folder: Path) -> list[Path]:
    """Files outside the hub's cache and what was there before."""
    known = ("served", "cache", "gendalens-home")
    return [p for p in folder.iterdir() if p.name not in known]


def test_a_model_of_the_hub_answers_as_its_folder_does(hub: HubServer) -> None:
    local = opened("wordpiece cased").backend
    assert ask() == local.answer(local.encode([Score("Hun sejler.")]))
    hub.fault = 503
    assert ask(revision=hub_server.COMMIT)  # from the cache


def test_dane_is_fetched_through_the_hubs_client(hub: HubServer) -> None:
    source = registry.find_source("dane")
    assert source.files[0].read_bytes() == (hub.folder / "ddt.test.conllu").read_bytes()


FAULTS = {
    "401": (401, "", {}, r"refuses your access token \(401\)"),
    "403 gated": (403, "", {"X-Error-Code": "GatedRepo"}, "is gated"),
    "403": (403, "", {}, r"forbids access \(403\)"),
    "404": (404, "", {"X-Error-Code": "RepoNotFound"}, "nor a public model"),
    "429": (429, "", {}, r"too many requests \(429\); try again in a few minutes"),
    "429 with a time": (429, "", {"Retry-After": "7"}, r"\(429\); try again in 7 seconds"),
    "500": (500, "", {}, r"error of its own \(500\)"),
    "503": (503, "", {}, r"error of its own \(503\)"),
    "disabled": (
        403,
        "",
        {"X-Error-Message": "Access to this resource is disabled."},
        "has disabled this repository",
    ),
    "portal": ("portal", "", {}, "does not come from a hub"),
    "503 for the weights": (503, "safetensors", {}, r"error of its own \(503\)"),
    "503 for a tokenizer": (503, "tokenizer_config", {}, r"error of its own \(503\)"),
    "portal for the weights": ("portal", "safetensors", {}, "does not come from a hub"),
    "flipped weights": ("flipped", "model.safetensors", {}, "its checksum differs"),
    "flipped configuration": ("flipped", "config.json", {}, "its checksum differs"),
    "truncated": ("truncated", "model.safetensors", {}, "broke off or has the wrong size"),
    "wrong size": ("wrong size", "model.safetensors", {}, "broke off or has the wrong size"),
    "slow": ("slow", "model.safetensors", {}, "does not answer in time"),
    "hostile commit": ("none", "", {"X-Repo-Commit": "../../../x"}, "cannot be believed"),
    "hostile etag": ("none", "", {"ETag": '"../../../x"'}, "cannot be believed"),
}


QUICK = (
    "503",
    "portal",
    "503 for the weights",
    "flipped weights",
    "hostile commit",
    "hostile etag",
)
CASES = [
    pytest.param(case, pickle, marks=() if pickle and case in QUICK else pytest.mark.slow)
    for case in FAULTS
    for pickle in (False, True)
]


@pytest.mark.parametrize(("case", "allow_pickle"), CASES)
def test_a_fault_is_one_sentence_and_the_next_run_goes_on(
    case: str, allow_pickle: bool, hub: HubServer, tmp_path: Path
) -> None:
    hub.fault, hub.only, hub.headers, words = FAULTS[case]
    (hub.folder / "pytorch_model.bin").write_bytes(b"another model")
    with pytest.raises(UserError, match=words) as caught:
        ask(allow_pickle=allow_pickle)
    assert "\n" not in str(caught.value)
    assert "pickled" not in str(caught.value)
    assert not left_over(tmp_path)
    hub.fault, hub.headers = None, {}
    assert ask(allow_pickle=allow_pickle)
    assert not any("pytorch_model.bin" in path for path in hub.asked)


@pytest.mark.parametrize("file", ["model.safetensors", "config.json"])
def test_a_download_that_breaks_off_once_is_taken_up_again(file: str, hub: HubServer) -> None:
    hub.fault, hub.only = "truncated once", file
    assert ask() == ask(revision=hub_server.COMMIT)
    assert len([line for line in hub.asked if line.startswith("GET") and file in line]) > 1


@pytest.mark.timeout(60)
@pytest.mark.parametrize("setting", ["num_hidden_layers", "num_labels", "max_position_embeddings"])
def test_a_configuration_on_the_hub_is_checked_as_one_in_a_folder(
    setting: str, hub: HubServer
) -> None:
    config = json.loads((hub.folder / "config.json").read_text())
    (hub.folder / "config.json").write_text(json.dumps(config | {setting: 10**9}))
    with pytest.raises(UserError, match="asks for 1,000,000,000 where no model has more"):
        ask()


def test_a_tokenizer_on_the_hub_reads_no_file_of_this_machine(hub: HubServer) -> None:
    outside = hub.folder.parent / "cache" / "outside.txt"
    outside.parent.mkdir()
    outside.write_text("[UNK]\nhan\nhun\n")
    (hub.folder / "tokenizer.json").unlink()
    config = json.loads((hub.folder / "tokenizer_config.json").read_text())
    (hub.folder / "tokenizer_config.json").write_text(json.dumps(config | {"vocab": str(outside)}))
    with pytest.raises(UserError, match="is read from a file outside its folder"):
        ask()


def test_a_file_that_the_hubs_cache_only_points_to_is_not_deleted(
    hub: HubServer, tmp_path: Path
) -> None:
    ask()
    letter = tmp_path / "cache" / "letter.txt"
    letter.write_text("kære Ida")
    (named,) = (tmp_path / "cache").rglob("snapshots/*/config.json")
    named.unlink()
    named.symlink_to(letter)
    assert ask()  # the second kind of model that looks for it fetches it anew
    assert letter.read_text() == "kære Ida"
    assert named.read_bytes() == (hub.folder / "config.json").read_bytes()


def test_pickled_weights_of_a_commit_are_another_version_than_its_safetensors(
    hub: HubServer,
) -> None:
    import torch
    from safetensors.torch import load_file

    torch.save(load_file(hub.folder / "model.safetensors"), hub.folder / "pytorch_model.bin")
    both = load_model("org/model", LoadOptions(allow_pickle=True))
    (hub.folder / "model.safetensors").unlink()
    pickled = load_model("org/model", LoadOptions(allow_pickle=True))
    assert both.info.revision == hub_server.COMMIT
    assert pickled.info.revision == f"{hub_server.COMMIT}+pickled"
    assert both.fingerprint() != pickled.fingerprint()


@pytest.mark.parametrize("sha", ["../../../../x", "/x", "main", "a" * 39, "A" * 41, "", None, 7])
def test_a_commit_is_forty_hexadecimal_digits(sha: Any, hub: HubServer, tmp_path: Path) -> None:
    hub.commit = sha
    with pytest.raises(UserError, match="cannot be believed"):
        ask()
    with pytest.raises(UserError, match="cannot be believed"):
        registry.find_source("dane")
    assert not left_over(tmp_path)
    assert not (tmp_path / "cache").exists()


def test_a_hub_that_refuses_the_connection_is_named(hub: HubServer) -> None:
    hub.shutdown()
    hub.server_close()
    with pytest.raises(UserError, match="the hub does not answer; check the connection"):
        ask()


# DaNE

DANE_FAULTS = {
    "401": (401, "", {}, r"refuses your access token \(401\)"),
    "403": (403, "", {}, r"forbids access \(403\)"),
    "404": (404, "", {"X-Error-Code": "RepoNotFound"}, r"refuses the request \(404\)"),
    "429": (429, "", {"Retry-After": "7"}, r"\(429\); try again in 7 seconds"),
    "500": (500, "", {}, r"error of its own \(500\)"),
    "503": (503, "", {}, r"error of its own \(503\)"),
    "disabled": (
        403,
        "",
        {"X-Error-Message": "Access to this resource is disabled."},
        "has disabled this repository",
    ),
    "wrong size": ("wrong size", "conllu", {}, "broke off or has the wrong size"),
    "portal": ("portal", "", {}, "does not come from a hub"),
    "503 for the file": (503, "conllu", {}, r"error of its own \(503\)"),
    "portal for the file": ("portal", "conllu", {}, "does not come from a hub"),
    "truncated": ("truncated", "conllu", {}, "broke off or has the wrong size"),
    "flipped": ("flipped", "conllu", {}, "its checksum differs"),
    "hostile commit": ("none", "", {"X-Repo-Commit": "../../../x"}, "cannot be believed"),
    "hostile etag": ("none", "", {"ETag": '"../../../x"'}, "cannot be believed"),
}


@pytest.mark.parametrize("case", DANE_FAULTS)
def test_a_fault_in_fetching_dane_leaves_nothing_behind(
    case: str, hub: HubServer, tmp_path: Path
) -> None:
    hub.fault, hub.only, hub.headers, words = DANE_FAULTS[case]
    with pytest.raises(UserError, match=words) as caught:
        registry.pull("dane")
    assert "\n" not in str(caught.value)
    assert not list((find_home() / "data").iterdir())
    assert not left_over(tmp_path)
    hub.fault, hub.headers = None, {}
    assert (registry.pull("dane") / "ddt.test.conllu").is_file()


# Names and redirects

HOSTILE = (
    "../../../../x.json",
    "/x.json",
    "a/../../x.json",
    "..\\x.json",
    "C:x.json",
    "x\x1b[2J.json",
    "x\n.json",
    "n" * 300 + ".json",
    "\ud800.json",
    "",
)


def test_files_with_hostile_names_are_never_asked_for(hub: HubServer, tmp_path: Path) -> None:
    hub.extra = [*HOSTILE, "../../test.conllu", "/test.conllu", "..\\test.conllu"]
    assert ask()
    registry.pull("dane")
    asked = [unquote(line).partition("/resolve/")[2].partition("/")[2] for line in hub.asked]
    assert "config.json" in asked
    assert not set(asked) & set(hub.extra) - {""}
    assert not any(".." in line or "\\" in unquote(line) for line in hub.asked)
    assert not left_over(tmp_path)


def test_a_repository_with_another_name_is_found(hub: HubServer) -> None:
    kinds = ("/api/models/{}", "/api/datasets/{}", "/{}", "/datasets/{}")
    for old in ("org/model", DANE):
        hub.moved |= {kind.format(old): kind.format("new/name") for kind in kinds}
    assert ask()
    assert (registry.pull("dane") / "ddt.test.conllu").is_file()
    assert any("/new/name/resolve/" in line for line in hub.asked)


def test_an_access_token_stays_with_the_hub(
    hub: HubServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_TOKEN", TOKEN)
    with hub_server.serve(hub.folder) as other:
        elsewhere = other.url.replace("127.0.0.1", "localhost")
        for lead in ("/org/model/resolve", f"/datasets/{DANE}/resolve"):
            hub.moved[lead] = elsewhere + lead
        assert ask()
        assert (registry.pull("dane") / "ddt.test.conllu").is_file()
        assert f"Bearer {TOKEN}" in hub.tokens
        assert len(other.tokens) > 1
        assert set(other.tokens) == {None}


def test_an_access_token_stays_with_the_hub_if_the_description_is_elsewhere(
    hub: HubServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_TOKEN", TOKEN)
    with hub_server.serve(hub.folder) as other:
        hub.moved["/api/"] = other.url.replace("127.0.0.1", "localhost") + "/api/"
        assert ask()
        assert set(other.tokens) == {None}


def test_what_a_redirect_leads_to_is_checked_as_well(hub: HubServer, tmp_path: Path) -> None:
    with hub_server.serve(hub.folder) as other:
        other.fault = "flipped"
        hub.moved["/org/model/resolve"] = (
            other.url.replace("127.0.0.1", "localhost") + "/org/model/resolve"
        )
        with pytest.raises(UserError, match="its checksum differs"):
            ask()
        other.fault, other.headers = None, {"X-Repo-Commit": "../../../x"}
        with pytest.raises(UserError, match="cannot be believed"):
            ask()
    assert not left_over(tmp_path)


# The command line, in a process of its own


def gendalens(hub: HubServer, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a command whose hub is this one."""
    settings = {
        "HF_ENDPOINT": hub.url,
        "HF_HOME": str(folder / "cache"),
        "HF_HUB_DISABLE_XET": "1",
        "NO_PROXY": "127.0.0.1",
    }
    return subprocess.run(
        [sys.executable, "-P", "-m", "gendalens", *arguments],
        env=os.environ | settings,
        cwd=folder,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=240,
    )


def fails(done: subprocess.CompletedProcess[str], words: str) -> None:
    """One sentence on standard error, and exit code 2."""
    assert done.returncode == 2, done.stderr
    assert "Traceback" not in done.stderr
    (sentence,) = [line for line in done.stderr.splitlines() if line.startswith("gendalens: ")]
    assert re.search(words, sentence), sentence


def test_the_command_line_pulls_dane_from_the_hub(hub: HubServer, tmp_path: Path) -> None:
    hub.commit = "../../../../x"
    fails(gendalens(hub, tmp_path, "data", "pull", "dane"), "cannot be believed")
    assert not list((find_home() / "data").iterdir())
    hub.commit = hub_server.COMMIT
    done = gendalens(hub, tmp_path, "data", "pull", "dane")
    assert done.returncode == 0, done.stderr
    stored = find_home() / "data" / "dane" / "ddt.test.conllu"
    assert stored.read_bytes() == (hub.folder / "ddt.test.conllu").read_bytes()
    assert not left_over(tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("case", ["503 for the file", "truncated", "flipped"])
def test_the_command_line_names_a_fault_in_fetching_dane(
    case: str, hub: HubServer, tmp_path: Path
) -> None:
    hub.fault, hub.only, hub.headers, words = DANE_FAULTS[case]
    fails(gendalens(hub, tmp_path, "data", "pull", "dane"), words)
    assert not list((find_home() / "data").iterdir())


@pytest.mark.slow
@pytest.mark.parametrize(
    "case", ["404", "429 with a time", "503 for the weights", "flipped weights", "hostile etag"]
)
def test_the_command_line_tests_a_model_of_the_hub_once_its_fault_is_over(
    case: str, hub: HubServer, tmp_path: Path
) -> None:
    out = tmp_path / "cache" / "run"
    command = ["run", "org/model", "--data", "builtin", "--tasks", "lm-abc", "--sample", "4"]
    command += ["--out", str(out)]
    hub.fault, hub.only, hub.headers, words = FAULTS[case]
    fails(gendalens(hub, tmp_path, *command), words)
    assert not list(out.rglob("result*.json"))
    hub.fault, hub.headers = None, {}
    done = gendalens(hub, tmp_path, *command)
    assert done.returncode == 0, done.stderr
    assert list(out.rglob("result*.json"))
    assert not left_over(tmp_path)
