"""What results and pages give away, and what they may fetch."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from families import opened
from small_data import small_data

import gendalens
from gendalens.data import hub
from gendalens.models.huggingface.libraries import import_transformers
from gendalens.report.html import comparison_page, run_page
from gendalens.results import saved_results


@pytest.mark.parametrize("library_first", [False, True])
def test_the_hub_library_sends_no_telemetry(library_first: bool, tmp_path: Path) -> None:
    """Whether it is imported before us or after."""
    first = "import huggingface_hub.constants" if library_first else ""
    code = f"""{first}
from gendalens.system.hub_access import disable_telemetry
disable_telemetry()
from huggingface_hub import constants
assert constants.HF_HUB_DISABLE_TELEMETRY
"""
    environment = {k: v for k, v in os.environ.items() if k != "HF_HUB_DISABLE_TELEMETRY"}
    subprocess.run([sys.executable, "-c", code], check=True, env=environment)


def test_telemetry_is_off_before_the_hub_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    class AskedError(BaseException):
        """Raised where telemetry is turned off, so that nothing follows."""

    def disable() -> None:
        raise AskedError

    monkeypatch.setattr("gendalens.system.hub_access.disable_telemetry", disable)
    monkeypatch.setattr("gendalens.system.hub_repository.disable_telemetry", disable)
    for ask in (import_transformers, lambda: hub.fetch("some/set", Path("nowhere"))):
        with pytest.raises(AskedError):
            ask()


def test_a_page_forbids_every_script_and_address_but_its_own(small_run: Path) -> None:
    found = saved_results.find_results([*small_run.glob("*/coref-abc@2-*")])
    for page in (run_page.html(found[:1]), comparison_page.html(gendalens.compare(*found))):
        policies = re.findall(r'http-equiv="Content-Security-Policy" content="(.*?)"', page)
        (policy,) = policies
        rules = dict(rule.strip().split(" ", 1) for rule in policy.replace("&#39;", "'").split(";"))
        assert rules["default-src"] == "'none'"
        assert "'unsafe-inline'" not in rules["script-src"]
        sources = rules["script-src"].split()
        allowed = re.compile(r"'(sha256-[\w+/=]+|unsafe-eval|wasm-unsafe-eval|none)'")
        assert all(allowed.fullmatch(source) for source in sources), sources
        for name, rule in rules.items():
            assert "http" not in rule, name
            assert "*" not in rule, name


def test_a_result_names_the_folder_of_a_local_model_and_not_its_path(tmp_path: Path) -> None:
    secret = tmp_path / "a-secret-place"
    folder = secret / "my-model"
    shutil.copytree(opened("wordpiece cased").folder, folder)
    data = {"abc": small_data(secret / "data")["abc"]}
    out = tmp_path / "run"
    (result,) = gendalens.run(str(folder), tasks="lm-abc", data=data, sample=8, out=out)
    assert result.model.name == "my-model"
    written = [path for path in out.rglob("*") if path.is_file()]
    names = {path.name for path in written}
    assert {"result.json", "records.jsonl", "run.json", "report.html"} <= names
    for path in written:
        text = path.read_text(encoding="utf-8")
        assert "a-secret-place" not in text, path.name
    (run,) = (path for path in written if path.name == "run.json")
    assert set(json.loads(run.read_text())["machine"]) == {"system", "python", "cores"}
