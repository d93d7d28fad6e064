from __future__ import annotations

import shutil
from pathlib import Path

import pytest
import tiny

from gendalens.api import load_model
from gendalens.errors import UserError
from gendalens.models.requests import Answer, Score
from torture import weights


def answers(model: object) -> list[Answer]:
    requests = [Score(sentence) for sentence in tiny.SENTENCES]
    found: list[Answer] = model.answer(model.encode(requests))  # type: ignore[attr-defined]
    return found


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    tokenizer = tiny.wordpiece()
    tiny.save(tmp_path / "model", tiny.bert_model(tokenizer), tokenizer)
    other = tmp_path / "other" / weights.FILE
    other.parent.mkdir()
    content = bytearray((tmp_path / "model" / weights.FILE).read_bytes())
    content[-20_000:-10_000] = content[-10_000:]
    other.write_bytes(content)
    return tmp_path / "model"


@pytest.mark.parametrize("way", weights.WAYS)
def test_weights_replaced_before_they_are_loaded_are_refused(
    folder: Path, way: weights.Way
) -> None:
    model = load_model(str(folder))
    model.fingerprint()
    way(folder.parent / "other" / weights.FILE, folder / weights.FILE)
    with pytest.raises(UserError, match=r"changed while they were read.*run again"):
        answers(model)
    assert answers(load_model(str(folder)))


@pytest.mark.parametrize("way", weights.WAYS)
def test_weights_replaced_after_they_were_loaded_change_nothing(
    folder: Path, way: weights.Way
) -> None:
    model = load_model(str(folder))
    before = answers(model)
    way(folder.parent / "other" / weights.FILE, folder / weights.FILE)
    assert answers(model) == before
    assert answers(load_model(str(folder))) != before


def test_a_tokenizer_replaced_before_the_weights_are_loaded_is_refused(folder: Path) -> None:
    model = load_model(str(folder))
    shutil.copy(folder / "tokenizer.json", folder / "new.json")
    (folder / "new.json").replace(folder / "tokenizer.json")
    with pytest.raises(UserError, match="changed while they were read"):
        answers(model)
