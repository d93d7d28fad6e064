"""Progress is shown where a person sees it."""

from __future__ import annotations

import sys

import pytest

from gendalens.report.progress import choose_watcher


@pytest.mark.parametrize(
    ("progress", "is_terminal", "shown"),
    [
        (None, True, True),
        (None, False, False),
        (True, False, True),
        (False, True, False),
    ],
)
def test_progress_is_shown_on_request_and_on_a_terminal(
    progress: bool | None, is_terminal: bool, shown: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: is_terminal, raising=False)
    assert (choose_watcher(progress) is not None) == shown
