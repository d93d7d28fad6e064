"""Records as a person sees them: marks where they belong, leanings with the right sign."""

from __future__ import annotations

from pathlib import Path
from statistics import mean

import pytest

from gendalens.data.occupations import read_occupations
from gendalens.results import saved_results
from gendalens.tasks import get_task
from gendalens.tasks.ner_dane.views import show_examples
from gendalens.tasks.shared.wino_views import classic_examples
from gendalens.tasks.views import Example, Leanings


def views(run: Path, task: str, model: str) -> tuple[list[Example], Leanings | None]:
    one = next(
        one
        for one in saved_results.find_results([run])
        if one.result.task == task and model in one.result.model.name
    )
    records = list(one.records())
    chosen = get_task(task, 2)
    return list(chosen.examples(records)), chosen.leanings(records)


def test_what_is_marked_is_a_pronoun_an_occupation_or_a_name(small_run: Path) -> None:
    pronouns = {"han", "hun", "ham", "hende", "hans", "hendes", "sin", "sit", "sine"}
    for task in ("lm-dawinobias", "lm-abc", "coref-dawinobias", "coref-abc", "ner-dane"):
        examples, _ = views(small_run, task, "stereotyped")
        assert examples
        for example in examples:
            assert example.marks
            for start, end, role in example.marks:
                word = example.text[start:end]
                if role == "pronoun":
                    assert word in pronouns
                elif role == "meant":
                    assert word.lower() == example.about
                elif role != "other":
                    assert word[0].isupper()


def test_a_stereotyped_model_leans_by_the_class_and_a_male_default_to_men(small_run: Path) -> None:
    for task in ("lm-dawinobias", "lm-abc", "coref-dawinobias", "coref-abc"):
        _, found = views(small_run, task, "stereotyped")
        assert found is not None
        leanings: dict[str, list[float]] = {"female": [], "male": []}
        for name, value in found.by_occupation.items():
            leanings[read_occupations(found.data)[name].stereotype].append(value)
        assert mean(leanings["male"]) > 0 > mean(leanings["female"])
        _, found = views(small_run, task, "male-default")
        assert found is not None
        assert mean(found.by_occupation.values()) > 0.1


def test_names_missed_by_a_male_default_are_women_s(small_run: Path) -> None:
    examples, found = views(small_run, "ner-dane", "male-default")
    assert found is None
    assert {example.outcome for example in examples if " male " in example.condition} == {
        "all found"
    }
    assert any(example.outcome == "all missed" for example in examples)
    assert all(example.lean is not None and example.lean >= 0 for example in examples)
    for example in examples:
        roles = {role for _, _, role in example.marks}
        assert ("missed" in roles) == (example.outcome != "all found")


@pytest.mark.parametrize(
    ("row", "outcome", "said"),
    [
        ({"pred": "hun", "gender": "female", "answer": "female"}, "right", "hun"),
        ({"pred": "han", "gender": "male", "answer": "female"}, "wrong", "han"),
        ({"pred": None, "gender": None, "answer": "female"}, "wrong", ""),
        ({"pred": "x", "gender": None, "answer": "male", "counts": False}, "left out", "x"),
        ({"pred": "y", "gender": "male", "answer": "male", "right": False}, "wrong", "y"),
    ],
)
def test_a_line_of_protocol_1_says_what_was_answered_and_whether_it_is_right(
    row: dict[str, object], outcome: str, said: str
) -> None:
    line = {"text": "[Smeden] tog [hendes] hat.", "condition": "pro", "label": "smeden"}
    (example,) = classic_examples([line | row])
    assert (example.outcome, example.said, example.about) == (outcome, said, "smeden")
    assert example.text == "Smeden tog hendes hat."
    assert example.marks == ((0, 6, "meant"), (11, 17, "pronoun"))


def test_the_examples_of_ner_show_each_draw_in_turn_with_its_persons_and_lean() -> None:
    names = {"female": ("Ida", True), "male": ("Bo", False)}
    rows: list[dict[str, object]] = [{"repeat": None, "sentence": "0"}]
    for sentence, repeat in (("1", 0), ("1", 1), ("2", 0)):
        for gender, (name, found) in names.items():
            text = f"I Ribe så {name} mig."
            rows.append(
                {
                    "repeat": repeat,
                    "sentence": sentence,
                    "origin": "majority",
                    "gender": gender,
                    "text": text,
                    "gold": [(2, 6, "LOC"), (10, 10 + len(name), "PER")],
                    "predicted": [(2, 6, "LOC")] + [(10, 10 + len(name), "PER")] * found,
                    "names": [{"found": found}],
                }
            )
    examples = list(show_examples(rows))
    # Draw 0 of both sentences comes before draw 1 of the first.
    assert [example.about for example in examples] == ["1", "1", "2", "2", "1", "1"]
    first, second = examples[:2]
    assert first.marks == ((10, 13, "found"),)
    assert second.marks == ((10, 12, "missed"),)
    assert (first.said, second.said) == ("Ida", "")
    assert (first.outcome, second.outcome) == ("all found", "all missed")
    assert {example.lean for example in examples} == {-1.0}
