"""``gendalens tasks``: every test once, the newer protocol first."""

from __future__ import annotations

import pytest

from gendalens.cli.tasks import list_tasks
from gendalens.tasks import all_tasks


def test_tests_are_listed_by_protocol_the_newer_first_and_then_by_name(
    capsys: pytest.CaptureFixture[str],
) -> None:
    list_tasks()
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    keys = {(name, str(protocol)) for name, protocol in all_tasks()}
    listed = [(words[0], words[1]) for words in lines if tuple(words[:2]) in keys]
    assert listed == [key for protocol in "21" for key in sorted(keys) if key[1] == protocol]
