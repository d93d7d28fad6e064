"""What was kept of an endpoint, replaced by somebody: nothing of it is believed that cannot be."""

from __future__ import annotations

import json
import os
from dataclasses import asdict
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from gendalens.models.endpoint.findings import Findings, read_stored, store
from gendalens.models.endpoint.journal import Journal
from gendalens.models.endpoint.server import Server


def test_findings_are_stored_and_read_back(tmp_path: Path) -> None:
    path = tmp_path / "endpoints" / "x.json"
    found = Findings(served="m", chats=True, top_logprobs=5)
    store(path, found)
    assert read_stored(path) == found


@pytest.mark.timeout(20)
def test_stored_findings_of_other_types_are_found_out_again(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    for values in ({"chats": "yes"}, {"top_logprobs": 5.0}, {"top_logprobs": True}, {"served": 7}):
        path.write_text(json.dumps(asdict(Findings()) | values))
        assert read_stored(path) is None
    path.unlink()
    os.mkfifo(path)
    assert read_stored(path) is None


def test_a_kept_response_that_is_none_is_asked_for_again(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "responses.sqlite")
    texts: dict[bytes, Any] = {
        b"good": '{"choices": []}', b"list": "[]", b"error": '{"error": "no"}', b"half": '{"a',
        b"deep": "[" * 100_000, b"bytes": b"\x00", b"number": 7,
    }  # fmt: skip
    for key, text in texts.items():
        journal.keep(key, text)
    server = SimpleNamespace(_journal=journal, _done=[])
    assert Server._recall(server, list(texts)) == {b"good": {"choices": []}}  # type: ignore[arg-type]
    journal.close()
