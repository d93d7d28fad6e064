"""Memory that is limited from outside."""

from __future__ import annotations

import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

from gendalens.errors import UserError
from gendalens.report.charts import library as chart_library
from torture.place import Place, wait_for_end

resource = pytest.importorskip("resource")
MIB = 1024**2
SMALL = ["demo-lm", "--tasks", "lm-abc", "--data", "builtin", "--sample", "4", "--offline"]


def limited(name: str, size: int) -> partial[None]:
    return partial(resource.setrlimit, getattr(resource, name), (size * MIB,) * 2)


@pytest.mark.parametrize("name", ["RLIMIT_DATA", "RLIMIT_AS"])
def test_a_limit_under_which_numpy_would_end_the_process_is_reported_in_one_sentence(
    name: str, tmp_path: Path
) -> None:
    end = wait_for_end(Place(tmp_path, tmp_path).start(SMALL, preexec_fn=limited(name, 60)))
    assert end.code == 2
    assert len(end.errors.removeprefix("starting …\n").splitlines()) == len(end.sentences) == 1
    assert "60 MiB of memory, and NumPy alone takes more" in end.errors


def test_help_needs_no_such_memory() -> None:
    command = [sys.executable, "-m", "gendalens", "--help"]
    limit = limited("RLIMIT_DATA", 60)
    assert subprocess.run(command, preexec_fn=limit, capture_output=True).returncode == 0


@pytest.mark.slow
@pytest.mark.usefixtures("chart_library")
def test_a_run_fits_into_a_small_address_space(own_home: Path, tmp_path: Path) -> None:
    place = Place(tmp_path / "place", own_home / "pages")
    end = wait_for_end(place.start(SMALL, preexec_fn=limited("RLIMIT_AS", 1600)))
    assert (end.code, end.fault) == (0, None)


def test_a_chart_library_that_aborts_takes_nobody_along(worker: Path) -> None:
    said = r"\n#\n# Fatal process no memory.\n#\n\n    lib.so(+0x1) [0x2]\n"
    worker.write_text(f"import os; os.write(2, b'{said}'); os.abort()")
    with pytest.raises(UserError, match=r"failed \(Fatal process no memory\.\)"):
        chart_library.bundle_scripts("")
    with pytest.raises(UserError, match=r"failed \(Fatal process no memory\.\)"):
        chart_library.draw_pictures([], "png", "en")


def test_a_chart_library_that_hangs_is_given_up(
    worker: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    worker.write_text("import time; time.sleep(60)")
    monkeypatch.setattr(chart_library, "LONGEST", 0.5)
    with pytest.raises(UserError, match=r"failed .*timed out"):
        chart_library.bundle_scripts("")


@pytest.fixture
def worker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A script that is to do the chart library's work."""
    script = tmp_path / "worker.py"
    monkeypatch.setattr(chart_library, "WORKER", script)
    return script
