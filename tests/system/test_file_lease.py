"""While weights are read, whoever wants to write to their file waits."""

from __future__ import annotations

import sys
import threading
import time
from pathlib import Path

import pytest

from gendalens.system.file_lease import hold_leases

linux = pytest.mark.skipif(sys.platform != "linux", reason="only Linux has leases")


@linux
def test_a_writer_waits_until_the_file_has_been_read(tmp_path: Path) -> None:
    import subprocess

    file = tmp_path / "model.safetensors"
    file.write_bytes(b"weights")
    with hold_leases([file]):
        cut = subprocess.Popen([sys.executable, "-c", f"open({str(file)!r}, 'wb')"])
        time.sleep(0.5)
        waited = cut.poll() is None
        size = file.stat().st_size
    assert cut.wait(timeout=30) == 0
    assert (waited, size, file.stat().st_size) == (True, 7, 0)


def test_what_cannot_be_held_is_read_all_the_same(tmp_path: Path) -> None:
    file = tmp_path / "model.safetensors"
    with file.open("wb") as writer:  # somebody writes already, so there is no lease
        writer.write(b"weights")
        writer.flush()
        with hold_leases([file, tmp_path / "absent", tmp_path]):
            assert file.read_bytes() == b"weights"


def test_other_threads_may_hold_files_too(tmp_path: Path) -> None:
    file = tmp_path / "model.safetensors"
    file.write_bytes(b"weights")

    def hold() -> None:
        with hold_leases([file]):
            pass

    with hold_leases([file]):
        thread = threading.Thread(target=hold)
        thread.start()
        thread.join(timeout=10)
        assert not thread.is_alive()
