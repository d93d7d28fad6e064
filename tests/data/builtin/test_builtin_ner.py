"""The built-in NER sentences with the built-in names."""

from __future__ import annotations

import pytest

from gendalens.data import dane
from gendalens.data.builtin import names
from gendalens.data.builtin.catalogue import SETS
from gendalens.data.gendered_titles import COURTESY, find_title
from gendalens.data.names import GROUPS, How
from gendalens.data.renaming import draw_plan, list_bare_names, rename, tells_gender
from gendalens.models.control import Control
from gendalens.tasks.ner_dane.protocol2 import NERDane
from gendalens.tasks.ner_dane.versions import Versions

SENTENCES = dane.read(SETS["dane"].files[0], errata=False)


@pytest.mark.parametrize("how", ["top", "matched"])
def test_a_planted_bias_is_found_with_the_built_in_sentences_and_names(how: How) -> None:
    task = NERDane(repeats=2, names=how)
    items = Versions(SENTENCES, {g: names.read_pools(how)[g] for g in GROUPS}, 2, seed=0)
    control = Control("male-default", 0.3, seed=1)
    measures = task.measure(task.records(items, task.plant(items, control)), seed=0, resamples=200)
    assert measures.finding.headline == "bias"
    assert measures.gap.value is not None
    assert measures.gap.value > 0.05


@pytest.mark.parametrize("how", ["top", "matched"])
def test_every_sentence_can_be_renamed(how: How) -> None:
    pools = names.read_pools(how)
    for sentence in SENTENCES:
        drawn = draw_plan(sentence, 0, 0)
        for group, pool in pools.items():
            renamed = rename(sentence, drawn, pool)
            for given in renamed.names:
                span = renamed.gold[given.entity].span
                assert renamed.text[span.start : span.end] == given.text, (sentence.id, group)
            assert len(renamed.gold) == len(sentence.entities)


def test_nobody_is_addressed_by_a_title_and_a_first_name() -> None:
    surnames = names.find_surnames(list_bare_names(SENTENCES))
    pools = names.read_pools("top")
    titled = [
        (sentence, place)
        for sentence in SENTENCES
        for place, entity in enumerate(sentence.entities)
        if entity.label == "PER" and find_title(sentence, entity) in COURTESY
    ]
    assert len(titled) == 5
    for sentence, place in titled:
        drawn = draw_plan(sentence, 0, 0, surnames=surnames)
        texts = {group: rename(sentence, drawn, pools[group]).text for group in GROUPS}
        assert len(set(texts.values())) == 2  # one for each origin
        (slot,) = [slot for slot in drawn.slots if slot.entity == place]
        assert slot.pattern == ("last",)
    assert {"Krogh", "Abildgaard", "Kromann"} <= surnames
    faster = [s for s in SENTENCES if s.text.startswith(("Faster", "Tante"))]
    assert [tells_gender(sentence) for sentence in faster] == [True, True]
