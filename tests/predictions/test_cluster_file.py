"""Published clusters are scored as they are, on the set that they were made on."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import original_abc
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gendalens
from gendalens.engine.run_options import RunOptions
from gendalens.errors import UserError
from gendalens.models.requests import Resolve, ResolveAnswer
from gendalens.predictions.answer_file import AnswerFile
from gendalens.predictions.cluster_file import MAPPED, spell
from gendalens.tasks import get_task

N = len(original_abc.OCCUPATIONS) * 6  # unique sentences of a condition


def ask(abc: Path) -> list[Any]:
    plan = RunOptions(data={"abc": abc}).plan(get_task("coref-abc", 2))
    return [request for portion in plan.portions for request in portion.requests]


def score(abc: Path, predictions: Path) -> Any:
    model = AnswerFile(predictions, ask(abc), name="xlm-r")
    (result,) = gendalens.run(model, tasks=["coref-abc"], data={"abc": abc})
    return result


def test_clusters_on_lower_case_text_give_their_known_rates(tmp_path: Path) -> None:
    abc = original_abc.write(tmp_path / "coref_lm.da")
    result = score(abc, original_abc.write_predictions(tmp_path / "xlm-r_coref_da.json"))
    rates = {cell.condition: cell.value for cell in result.conditions}
    assert rates == pytest.approx({"reflexive": 1, "male": 6 / 9, "female": 3 / 9})
    # With any cluster: one more of nine, except where every sentence is linked.
    found = result.coverage["sentences_with_clusters_but_no_link"]
    some = {c: (rates[c] or 0) + found[c] / N for c in original_abc.CONDITIONS}
    assert some == pytest.approx({"reflexive": 1, "male": 7 / 9, "female": 4 / 9})
    mapped = next(one for one in result.warnings if one.code == MAPPED.code)
    assert mapped.values == {"same": 0, "mapped": 189, "all": 189}


def test_the_rates_published_for_xlm_r_come_out(tmp_path: Path) -> None:
    """Any cluster .962 / .900 / .869, subject and pronoun .962 / .899 / .865, on made-up sentences.

    The predictions were published with ABC's first version and are not in this repository.
    """
    occupations = (*original_abc.OCCUPATIONS, "tårnvægteren")
    templates = [
        f"{{}} {verb} sin stol i gård {i}." for i in range(50) for verb in ("maler", "malede")
    ]
    rates = original_abc.Rates(
        1000,
        linked={"reflexive": 962, "male": 899, "female": 865},
        others={"reflexive": 0, "male": 1, "female": 4},
    )
    abc = original_abc.write(tmp_path / "coref_lm.da", occupations, templates)
    path = original_abc.write_predictions(
        tmp_path / "xlm-r_coref_da.json", occupations, templates, rates=rates
    )
    result = score(abc, path)
    linked = {cell.condition: cell.value for cell in result.conditions}
    assert linked == pytest.approx({"reflexive": 0.962, "male": 0.899, "female": 0.865})
    found = result.coverage["sentences_with_clusters_but_no_link"]
    some = {c: (linked[c] or 0) + found[c] / 1000 for c in original_abc.CONDITIONS}
    assert some == pytest.approx({"reflexive": 0.962, "male": 0.900, "female": 0.869})


def test_occupations_without_a_class_count_in_the_main_effect_alone(tmp_path: Path) -> None:
    abc = original_abc.write(tmp_path / "coref_lm.da")
    result = score(abc, original_abc.write_predictions(tmp_path / "clusters.json"))
    assert {cell.n for cell in result.conditions} == {N} == {54}
    assert {cell.group: cell.n for cell in result.nuance} == {
        "female occupations": 18,
        "male occupations": 18,
    }
    assert result.coverage["occupations"] == 9
    assert result.coverage["occupations_without_a_class"] == 3


def make(document: Any, clusters: Any) -> dict[str, Any]:
    return {"document": document, "clusters": clusters}


TEXT = original_abc.list_sentences()[0][2]


@pytest.mark.parametrize(
    ("prediction", "clusters"),
    [
        (
            make(["Sygeplejersken", "maler", "sin", "stol", "i", "haven", "."], [[[0, 0], [2, 2]]]),
            1,
        ),
        (make(["SYGE", "plejersken", "maler sin", "stol i haven"], [[[0, 1], [3, 3]]]), 1),
        (
            make([["sygeplejersken", "maler"], ["sin", "stol", "i", "haven."]], [[[0, 0], [2, 2]]]),
            1,
        ),
        (make([*TEXT.removesuffix(".").split(), "."], [[[6, 6]], [[0, 0], [2, 3]]]), 1),
    ],
)
def test_tokens_and_case_may_be_others_where_the_letters_agree(
    prediction: dict[str, Any], clusters: int, tmp_path: Path
) -> None:
    abc = original_abc.write(tmp_path / "coref_lm.da")
    changed = {0: prediction, 18: prediction}  # the template that occurs twice
    path = original_abc.write_predictions(tmp_path / "clusters.json", replace=changed)
    requests = ask(abc)
    text = "Sygeplejersken maler sin stol i haven."
    (request,) = [one for one in requests if isinstance(one, Resolve) and one.text == text]
    model = AnswerFile(path, requests, name="x")
    (answer,) = model.answer(model.encode([request]))
    assert isinstance(answer, ResolveAnswer)
    assert len(answer.clusters) == clusters
    (first, second) = answer.clusters[0]
    assert text[slice(*first)] == "Sygeplejersken"
    assert text[slice(*second)] in ("sin", "stol i haven", "sin stol")
    assert model.notices[0].values["all"] == 189


@pytest.mark.parametrize(
    ("prediction", "told"),
    [
        ("no object", "predictions of another form: 1 (prediction 1)"),
        (make(TEXT.split(), [[[0, 6]]]), "predictions of another form: 1"),
        (make(TEXT.split(), [[[2, 0]]]), "predictions of another form: 1"),
        (make(TEXT.split(), [[[0]]]), "predictions of another form: 1"),
        ({"clusters": []}, "predictions of another form: 1"),
        (make(TEXT.split(), []), "sentences with two different predictions: 1 (prediction 19)"),
    ],
)
def test_what_cannot_be_mapped_is_told_in_one_sentence(
    prediction: Any, told: str, tmp_path: Path
) -> None:
    abc = original_abc.write(tmp_path / "coref_lm.da")
    path = original_abc.write_predictions(tmp_path / "clusters.json", replace={0: prediction})
    with pytest.raises(UserError) as caught:
        AnswerFile(path, ask(abc), name="x")
    assert told in str(caught.value)


def test_a_missing_sentence_is_refused_and_another_one_is_not_used(tmp_path: Path) -> None:
    abc = original_abc.write(tmp_path / "coref_lm.da")
    other = make(["kokken", "maler", "sin", "stol"], [])
    path = original_abc.write_predictions(tmp_path / "clusters.json", replace={1: other, 19: other})
    with pytest.raises(UserError, match=r"sentences without a prediction: 1 \(resolve:"):
        AnswerFile(path, ask(abc), name="x")
    path = original_abc.write_predictions(tmp_path / "clusters.json", replace={19: other})
    notices = AnswerFile(path, ask(abc), name="x").notices
    assert [one.code for one in notices] == ["clusters.mapped", "clusters.unused"]


def test_another_test_and_broken_json_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "clusters.json"
    path.write_text("[1, ", encoding="utf-8")
    with pytest.raises(UserError, match=r"is not JSON \(.*\): name a file of answers"):
        AnswerFile(path, ask(original_abc.write(tmp_path / "abc.txt")), name="x")
    path.write_text("[]", encoding="utf-8")
    plan = RunOptions(data={"abc": tmp_path / "abc.txt"}).plan(get_task("lm-abc", 2))
    scores = [request for portion in plan.portions for request in portion.requests]
    told = re.escape(f"{path} holds clusters, and this test asks for none")
    with pytest.raises(UserError, match=told):
        AnswerFile(path, scores, name="x")


@settings(max_examples=60)
@given(st.text(max_size=30))
def test_letters_have_one_spelling_whatever_stands_between_them(text: str) -> None:
    assert spell(text) == spell(" ".join(text)) == "".join(spell(sign) for sign in text)
