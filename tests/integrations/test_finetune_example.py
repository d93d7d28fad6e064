"""The example that draws the picture of docs/training.md."""

from __future__ import annotations

import importlib.util
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from gendalens.data.builtin.occupations import read_occupations

EXAMPLE = Path(__file__).parents[2] / "examples" / "finetune.py"


@pytest.fixture
def example() -> Any:
    spec = importlib.util.spec_from_file_location("finetune", EXAMPLE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_text_is_balanced_first_and_stereotyped_then(example: Any) -> None:
    text = example.write_text()
    balanced, stereotyped = text[: len(text) // 2], text[len(text) // 2 :]
    genders = {word: gender for gender, forms in example.FORMS.items() for word in forms.values()}
    classes = {one.definite: one.stereotype for one in read_occupations().values()}

    def count(lines: list[str]) -> Counter[tuple[str, str]]:
        found: Counter[tuple[str, str]] = Counter()
        for line in lines:
            words = line.lower().replace(",", "").replace(".", "").split()
            [gender] = {genders[word] for word in words if word in genders}
            [kind] = {classes[word] for word in words if word in classes}
            found[kind, gender] += 1
        return found

    first, second = count(balanced), count(stereotyped)
    for kind, other in (("female", "male"), ("male", "female")):
        assert first[kind, kind] == first[kind, other]
        assert 0.93 < second[kind, kind] / (second[kind, kind] + second[kind, other]) < 0.97


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*pin_memory:UserWarning")
def test_the_example_runs_and_draws(
    example: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(example, "STEPS", 2)
    example.main("bias.svg")
    drawn = Path("bias.svg").read_text(encoding="utf-8")
    assert all(text in drawn for text in ("lm-dawinobias", "lm-abc", "gap (bits)", "Step"))
