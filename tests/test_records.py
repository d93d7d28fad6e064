from __future__ import annotations

from pathlib import Path

import pytest

import gendalens
from gendalens.engine import record_store as records
from gendalens.engine.record_store import RecordStore
from gendalens.errors import UserError
from gendalens.results import saved_results
from gendalens.results.saved_results import RecordFile
from gendalens.tasks.ner_dane import renamed_persons

ROWS = [{"number": i, "text": f"blåbær {i}", "share": i / 7} for i in range(10)]


def test_rows_that_went_to_a_file_are_the_rows_that_came(tmp_path: Path) -> None:
    with RecordStore(tmp_path) as kept:
        for start in range(0, 10, 2):
            kept.extend(ROWS[start : start + 2])
        assert list(kept) == ROWS == kept[:]
        assert [kept[i] for i in (7, 0, 9, -1, -10)] == [ROWS[i] for i in (7, 0, 9, -1, -10)]
        assert kept[1:9:3] == ROWS[1:9:3]
        assert len(kept) == 10
        with pytest.raises(IndexError):
            kept[10]
        (tmp_path / "lines").write_text("".join(kept.lines()), encoding="utf-8")
    assert list(RecordFile(tmp_path / "lines")) == ROWS


def test_the_file_has_no_name_that_a_killed_run_could_leave(tmp_path: Path) -> None:
    with RecordStore(tmp_path) as kept:
        kept.extend(ROWS)
        kept.extend(ROWS)
        assert not list(tmp_path.iterdir())


def test_a_disk_that_cannot_take_the_rows_is_told(tmp_path: Path) -> None:
    with RecordStore(tmp_path / "gone") as kept:
        kept.extend(ROWS)
        with pytest.raises(UserError, match=r"gone .* run again: the answers are stored"):
            kept.extend(ROWS)


def test_a_file_of_rows_is_read_by_place(tmp_path: Path) -> None:
    path = tmp_path / "records.jsonl"
    path.write_text("".join(map(records.as_line, ROWS)), encoding="utf-8")
    rows = RecordFile(path)
    assert [rows[i] for i in (9, 0, -2)] == [ROWS[i] for i in (9, 0, -2)]
    assert rows[2:5] == ROWS[2:5]
    path.unlink()
    with pytest.raises(UserError, match="cannot be used"):
        rows[0]


def test_a_run_in_portions_leaves_the_files_of_a_run_in_one_piece(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = {"tasks": "ner-dane", "data": "builtin", "sample": 30, "repeats": 3}
    gendalens.run("control:stereotyped", out=tmp_path / "whole", cache=False, **options)  # type: ignore[arg-type]
    monkeypatch.setattr(renamed_persons, "PORTION", 7)
    monkeypatch.setattr(saved_results, "MANY", 11)
    gendalens.run("control:stereotyped", out=tmp_path / "parts", cache=False, **options)  # type: ignore[arg-type]
    assert _files(tmp_path / "parts") == _files(tmp_path / "whole")


def _files(out: Path) -> dict[str, bytes]:
    """Everything in a run folder that does not say when it was made."""
    kept = ("result.json", "records.jsonl", "report.html")
    found = {str(path.relative_to(out)): path for path in out.rglob("*") if path.name in kept}
    assert len(found) == 3
    return {name: path.read_bytes() for name, path in found.items()}
