"""Code of others that runs for too long is stopped; other code is not watched."""

from __future__ import annotations

import sys
import time

import pytest

from gendalens.system.time_limit import limit_time


def test_an_endless_loop_of_the_named_code_is_stopped() -> None:
    code = compile("while True:\n    pass\n", "<template>", "exec")
    start, before = time.monotonic(), sys.gettrace()
    with (
        pytest.raises(TimeoutError, match=r"longer than 0\.2 seconds"),
        limit_time(0.2, "<template>"),
    ):
        exec(code)
    assert time.monotonic() - start < 5
    assert sys.gettrace() is before


def test_other_code_takes_its_time() -> None:
    code = compile("for i in range(10): time.sleep(0.01)", "<other>", "exec")
    with limit_time(0.01, "<template>"):
        exec(code, {"time": time})
