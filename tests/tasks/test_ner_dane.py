from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import small_dane
import small_names
from scripted import Scripted

import gendalens
from gendalens.compat import detailed, simple
from gendalens.data.names import Group, Name, NameList, NamePool
from gendalens.data.registry import find_source
from gendalens.data.renaming import draw_plan, rename
from gendalens.errors import UserError
from gendalens.models.control import Control
from gendalens.models.requests import Tag, TagAnswer
from gendalens.results.model_info import ModelInfo
from gendalens.results.result import Extra, Measures, Record
from gendalens.results.run_folder import result_folder
from gendalens.tasks import get_task
from gendalens.tasks.ner_dane.messages import (
    NO_PERSON,
    NOTHING_FOUND,
    SPREAD_OVER_DRAWS,
    UNKNOWN_LABEL,
)
from gendalens.tasks.ner_dane.protocol2 import RECALL, NERDane
from gendalens.tasks.ner_dane.versions import Version, Versions
from gendalens.words import phrase

SHARED = Path(__file__).parents[2].parent / "shared"


@pytest.fixture
def data(tmp_path: Path) -> dict[str, Path]:
    register, minority = small_names.write(tmp_path / "lists")
    return {
        "dane": small_dane.write(tmp_path / "own.conllu"),
        "names": register,
        "minority-names": minority,
    }


@pytest.fixture
def task() -> NERDane:
    found = get_task("ner-dane", 2)
    assert isinstance(found, NERDane)
    return found


@pytest.fixture
def items(task: NERDane, data: dict[str, Path]) -> Versions:
    return read(task, data)


def read(task: NERDane, data: dict[str, Path]) -> Versions:
    return task.items({name: find_source(name, override=path) for name, path in data.items()})


def list_gold_spans(item: Version) -> list[tuple[int, int, str]]:
    return [(gold.span.start, gold.span.end, gold.label) for gold in item.renamed.gold]


def record_answers(task: NERDane, items: Sequence[Version], find: Any) -> list[Record]:
    """Records of a tagger that finds the entities for which ``find`` says so."""
    answers = {
        Tag(item.renamed.text): TagAnswer(
            tuple(span for span in list_gold_spans(item) if find(item, span)),
            len(item.renamed.text),
        )
        for item in items
    }
    return task.records(items, answers)  # type: ignore[arg-type]


def extras_by_id(measures: Measures) -> dict[str, Extra]:
    return {extra.id: extra for extra in measures.extra}


def test_a_sentence_without_a_person_is_asked_once(task: NERDane, items: Sequence[Version]) -> None:
    requests = task.requests(items)
    sentences = len({item.sentence.id for item in items})
    assert len(requests) == 20 * 4 * sentences
    alone = [item for item in items if item.group is None]
    assert len(alone) == 1
    assert requests.count(Tag(alone[0].renamed.text)) == 80


def test_versions_are_the_same_one_by_one_and_in_turn(items: Versions) -> None:
    in_turn = list(items)
    assert len(items) == len(in_turn)
    assert [items[i] for i in range(len(items))] == in_turn == items[:]
    assert items[-1] == in_turn[-1]
    with pytest.raises(IndexError):
        items[len(items)]


def test_every_group_has_the_same_slots(items: Sequence[Version]) -> None:
    shapes: dict[Any, set[Any]] = {}
    for item in items:
        shape = tuple((len(n.parts), bool(n.ending)) for n in item.renamed.names)
        shapes.setdefault((item.sentence.id, item.repeat), set()).add(shape)
    assert all(len(found) == 1 for found in shapes.values())


def test_a_tagger_that_finds_everything_has_no_gap(task: NERDane, items: Sequence[Version]) -> None:
    measures = task.measure(record_answers(task, items, lambda item, span: True), seed=0)
    assert measures.gender_effect_size.value == 0
    assert {cell.value for cell in (*measures.conditions, *measures.nuance)} == {1.0}


def test_f1_is_micro_over_three_labels_worked_by_hand(
    task: NERDane, items: Sequence[Version]
) -> None:
    """Women's names are missed, everything else is found."""
    records = record_answers(
        task,
        items,
        lambda item, span: (
            not (span[2] == "PER" and item.group is not None and item.group.gender == "female")
        ),
    )
    measures = task.measure(records, seed=0)
    persons = sum(len(i.renamed.names) for i in items if i.repeat == 0) / 4
    others = sum(
        g.label in ("LOC", "ORG")
        for sentence in {i.sentence.id: i for i in items}.values()
        for g in sentence.renamed.gold
    )
    women = 2 * others / (2 * others + persons)
    values = {cell.condition: cell.value for cell in measures.conditions}
    assert values == {"female": pytest.approx(women), "male": 1.0}
    assert measures.gender_effect_size.value == pytest.approx(-math.log2(women))
    extra = extras_by_id(measures)
    assert extra["person_recall_majority_female"].value == 0
    assert extra["person_recall_gap"].value == 1
    assert extra["loc_f1_majority_female"].value == 1
    assert measures.contrast.value == pytest.approx(0)


def test_a_bare_apostrophe_may_be_in_the_span_or_not(
    task: NERDane, items: Sequence[Version]
) -> None:
    sentence = next(i.sentence for i in items if i.sentence.id == "bog")  # Søren Bergs bog
    pool = NamePool(NameList(((Name("Bo", 1),),)), NameList(((Name("Krags", 1),),)))
    renamed = rename(sentence, draw_plan(sentence, 0, 0), pool)
    assert renamed.text.startswith("Bo Krags' bog")
    version = Version(sentence, renamed, Group("majority", "male"), 0)
    short = tuple(
        (begin, end - 1 if version.renamed.text[end - 1] == "'" else end, label)
        for begin, end, label in list_gold_spans(version)
    )
    answers = {Tag(version.renamed.text): TagAnswer(short)}
    (row,) = task.records([version], answers)  # type: ignore[arg-type]
    assert row["counts"]["PER"][1:] == [0, 0]
    assert all(name["found"] for name in row["names"])


def test_labels_are_mapped_and_unknown_ones_are_said(
    task: NERDane, items: Sequence[Version], data: dict[str, Path]
) -> None:
    class Tagger(Scripted):
        @property
        def labels(self) -> tuple[str, ...]:
            return ("PERSON", "GPE", "ORG", "DATE", "ZEBRA")

    fitted = task.configure({"labels": "ZEBRA=MISC"}).fit(Tagger())
    sources = {name: find_source(name, override=path) for name, path in data.items()}
    labels, pools = fitted.notes(sources)
    assert "PERSON → PER" in labels
    assert "majority female" in pools
    unfitted = task.fit(Tagger())
    answers = {
        Tag(i.renamed.text): TagAnswer(
            ((0, 1, "ZEBRA"), *((b, e, "PERSON") for b, e, _ in list_gold_spans(i)))
        )
        for i in items
    }
    measures = unfitted.measure(unfitted.records(items, answers), seed=0)  # type: ignore[arg-type]
    warning = measures.warnings[0]
    assert warning.code == "ner_dane.unknown_labels"
    assert warning.values["labels"] == (UNKNOWN_LABEL(label="ZEBRA", texts=len(items)),)
    assert "left out: ZEBRA (in 241 texts); map them" in str(warning)
    quiet = fitted.measure(fitted.records(items, answers), seed=0)  # type: ignore[arg-type]
    assert "ner_dane.unknown_labels" not in {one.code for one in quiet.warnings}


def test_a_model_that_finds_nothing_is_a_problem(task: NERDane, items: Sequence[Version]) -> None:
    measures = task.measure(record_answers(task, items, lambda item, span: False), seed=0)
    assert measures.problem == NOTHING_FOUND()
    assert measures.gender_effect_size.value is None


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"names": "rare"}, "choose top, matched, all or all-by-bearers"),
        ({"labels": "GPE"}, "is not a label mapping"),
        ({"labels": 5}, "is not a label mapping"),
        ({"repeats": 0}, "must be 1 or more"),
        ({"repeats": 100_001}, "must be 100,000 or less"),
        ({"repeats": 2.5}, "must be a whole number"),
        ({"unisex": "yes"}, "must be True or False"),
    ],
)
def test_a_bad_option_is_one_sentence(task: NERDane, options: dict[str, Any], reason: str) -> None:
    with pytest.raises(UserError, match=reason):
        task.configure(options)


def test_options_are_in_the_signature(data: dict[str, Path]) -> None:
    (result,) = gendalens.run("control:fair", data=data, tasks=["ner-dane"], repeats=3, unisex=True)
    assert "|repeats:3|names:top|extra:unisex|" in result.signature
    assert result.find_extra("f1_unisex").value is not None
    with pytest.raises(TypeError):
        gendalens.run("control:fair", data=data, repetitions=3)


def test_another_seed_draws_other_names(task: NERDane, data: dict[str, Path]) -> None:
    one, two = (read(task.configure({}, seed=seed), data) for seed in (0, 1))
    assert [i.renamed.text for i in one] != [i.renamed.text for i in two]


def test_a_sample_without_a_person_is_a_problem_and_no_crash(
    task: NERDane, items: Sequence[Version]
) -> None:
    alone = [item for item in items if item.group is None]
    assert task.requests(alone)
    measures = task.measure(record_answers(task, alone, lambda item, span: True), seed=0)
    assert measures.problem == NO_PERSON()
    assert measures.finding.headline == "not_measurable"


def test_labels_may_be_a_mapping(task: NERDane) -> None:
    assert task.configure({"labels": {"GPE": "LOC", "FAC": "-"}}).labels == "GPE=LOC,FAC=-"


def test_the_signature_names_the_options_in_a_fixed_order(task: NERDane) -> None:
    assert list(task.settings().items()) == [("repeats", "20"), ("names", "top")]
    # A bar separates the fields of a signature, so none may stand in one.
    chosen = NERDane(labels="GPE=LOC|X=-", unisex=True, names="matched", repeats=3)
    assert list(chosen.settings().items()) == [
        ("repeats", "3"),
        ("names", "matched"),
        ("extra", "unisex"),
        ("labels", "GPE=LOC_X=-"),
    ]
    classic = get_task("ner-dane", 1).configure({"repeats": 3, "labels": "GPE=LOC"})
    assert list(classic.settings().items()) == [("repeats", "3"), ("labels", "GPE=LOC")]


def test_protocol_one_has_one_way_to_draw_names() -> None:
    classic = get_task("ner-dane", 1)
    assert [option.name for option in classic.options] == ["repeats", "labels"]
    assert "names" not in classic.configure({"names": "top", "repeats": 3}).settings()
    for options in ({"names": "matched"}, {"unisex": True}):
        with pytest.raises(UserError, match=r"as GenDa Lens 0\.0\.3 does"):
            classic.configure(options)


def test_protocol_one_has_no_controls_and_no_clusters() -> None:
    classic = get_task("ner-dane", 1)
    assert not classic.has_controls
    assert classic.clusters([]) is None
    with pytest.raises(TypeError, match="has no answers for control models"):
        classic.plant([], Control("fair", 0.0))


def test_protocol_one_gives_the_spread_over_draws_as_a_number(data: dict[str, Path]) -> None:
    classic = get_task("ner-dane", 1).configure({"repeats": 3})
    sources = {name: find_source(name, override=path) for name, path in data.items()}
    items = classic.items(sources)
    answers = {
        Tag(item.renamed.text, averaged=True): TagAnswer(
            tuple(list_gold_spans(item)[item.repeat == 1 :])
        )
        for item in items
    }
    measures = classic.measure(classic.records(items, answers), seed=0)  # type: ignore[arg-type]
    for cell in measures.nuance:
        assert cell.sd is not None
        assert cell.sd > 0
        assert cell.reason == SPREAD_OVER_DRAWS(sd=cell.sd)
    assert str(measures.nuance[0].reason) == f"spread over name draws: SD {measures.nuance[0].sd}"


def test_a_pipeline_for_another_language_says_so_everywhere(data: dict[str, Path]) -> None:
    class Foreign(Scripted):
        @property
        def info(self) -> ModelInfo:
            kind = phrase("spaCy pipeline for “en”, not for Danish")
            return ModelInfo("en", kind, "1", "float32", for_danish=False)

        def _answer(self, request: Any) -> TagAnswer:
            return TagAnswer(((0, request.text.index(" "), "PER"),))

    (result,) = gendalens.run(
        Foreign(answers=frozenset({"tag"})), data=data, tasks="ner-dane", repeats=2, cache=False
    )
    assert "not for Danish" in str(result.warnings[0])
    assert "not for Danish" in result.title
    assert "not for Danish" in str(simple(result).columns.name)


def test_planted_gaps_of_recall_come_back(task: NERDane, items: Sequence[Version]) -> None:
    found = []
    for gap in (0.0, 0.02, 0.05, 0.10):
        many = task.configure({"repeats": 20})
        control = Control("male-default", gap, seed=1)
        records = many.records(items, many.plant(items, control))
        found.append(extras_by_id(many.measure(records, seed=0))["person_recall_gap"])
    values = [extra.value for extra in found]
    assert values == sorted(values, key=lambda value: value or 0.0)


@pytest.mark.parametrize(
    ("kind", "column", "favoured", "other"),
    [
        ("male-default", "gender", "male", "female"),
        ("stereotyped", "origin", "majority", "minority"),
    ],
)
def test_a_control_model_raises_one_groups_recall_and_lowers_the_others_by_as_much(
    task: NERDane, items: Sequence[Version], kind: str, column: str, favoured: str, other: str
) -> None:
    found: dict[str, list[bool]] = {favoured: [], other: []}
    for seed in range(10):
        records = task.records(items, task.plant(items, Control(kind, 0.3, seed=seed)))
        for row in records:
            if row[column] in found:
                found[row[column]] += [name["found"] for name in row["names"]]
    shares = {group: sum(some) / len(some) for group, some in found.items()}
    assert shares == {
        favoured: pytest.approx(min(RECALL + 0.15, 1.0), abs=0.04),
        other: pytest.approx(RECALL - 0.15, abs=0.04),
    }


@pytest.mark.shared
@pytest.mark.network
@pytest.mark.skipif(
    not SHARED.is_dir(), reason="golden outputs and DaNE are not beside the checkout"
)
@pytest.mark.slow
def test_protocol_one_gives_the_group_means_of_0_0_3(official_home: Path, tmp_path: Path) -> None:
    (result,) = gendalens.run(
        str(SHARED / "golden" / "models" / "ner-tiny"),
        data={"dane": SHARED / "data" / "dane" / "ddt.test.conllu"},
        tasks=["ner-dane"],
        protocol=1,
        repeats=10,
        out=tmp_path,
    )
    # golden/ner-dane.ner-tiny: means of 40 repetitions of other draws; ten are within 0.015 of them.
    golden = {
        ("majority names", "female"): 0.4632,
        ("majority names", "male"): 0.4734,
        ("minority names", "female"): 0.4416,
        ("minority names", "male"): 0.4229,
    }
    found = {(str(cell.group), cell.condition): cell.value for cell in result.nuance}
    assert found == {key: pytest.approx(value, abs=0.015) for key, value in golden.items()}
    assert list(detailed(result).index) == [
        "Gender Effect Size",
        "Name Augmentation",
        "Macro F1 (SD)",
        "Name Augmentation ",
        "Macro F1 (SD) ",
    ]
    assert (result_folder(tmp_path, result) / "records.jsonl").exists()


@pytest.mark.shared
@pytest.mark.network
@pytest.mark.skipif(not SHARED.is_dir(), reason="DaNE is not beside the checkout")
def test_twenty_draws_of_dane_ask_at_most_11600_texts(official_home: Path, task: NERDane) -> None:
    data = {name: find_source(name) for name in ("names", "minority-names")}
    data["dane"] = find_source("dane", override=SHARED / "data" / "dane" / "ddt.test.conllu")
    requests = task.requests(task.items(data))
    assert len(requests) == 45_200
    assert len(set(requests)) <= 11_600
