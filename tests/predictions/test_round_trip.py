"""Requests to a file, answered by a script without the package, scored: the figures of a direct run."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import small_dane
import small_names
import spacy
import tiny
import torch
from answering import EXAMPLES, asked, choice, close, example, figures, pretend, scored
from families import CAUSAL, MASKED
from small_data import small_data

import gendalens
from gendalens.engine.session import Job, run_jobs
from gendalens.predictions.answer_file import AnswerFile


@pytest.fixture
def data(tmp_path: Path) -> dict[str, Path]:
    return small_data(tmp_path / "data")


@pytest.fixture
def dane(tmp_path: Path) -> dict[str, Path]:
    register, minority = small_names.write(tmp_path / "lists")
    own = small_dane.write(tmp_path / "own.conllu")
    return {"dane": own, "names": register, "minority-names": minority}


class Rules:
    """A resolver of rules with danlp's interface: links the pronoun by the letters of the sentence."""

    name = "rules"
    PRONOUNS = frozenset({"han", "hun", "ham", "hende", "hans", "hendes", "sin", "sit", "sine"})

    def predict(self, document: list[list[str]]) -> dict[str, Any]:
        raise AssertionError("predict_clusters says what is needed")

    def predict_clusters(self, document: list[list[str]]) -> list[list[tuple[list[str], int, int]]]:
        (words,) = document
        at = next(i for i, word in enumerate(words) if word.lower() in self.PRONOUNS)
        occupations = [i for i in range(at) if words[i].lower().endswith(("en", "eren", "æren"))]
        if not occupations or len("".join(words)) % 7 == 0:
            return []
        chosen = occupations[len(words[at]) % len(occupations)]
        return [
            [(words[chosen : chosen + 1], chosen, chosen + 1), (words[at : at + 1], at, at + 1)]
        ]


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*_answers.py")), ids=lambda path: path.stem)
def test_no_script_that_answers_requests_imports_the_package(path: Path) -> None:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        assert not any(name.startswith("gendalens") for name in names)


@pytest.mark.parametrize(
    ("task", "protocol", "family", "kind"),
    [
        ("lm-dawinobias", 2, "wordpiece cased", "masked"),
        ("lm-dawinobias", 2, "unigram", "masked"),
        ("lm-dawinobias", 2, "gpt2", "causal"),
        ("lm-dawinobias", 1, "wordpiece cased", "masked"),
        ("lm-abc", 2, "wordpiece letters", "masked"),
        ("lm-abc", 2, "gpt2 without special tokens", "causal"),
        ("lm-abc", 2, "llama, tokenizer adds bos", "causal"),
        ("lm-abc", 1, "unigram", "masked"),
    ],
)
def test_language_models_answered_by_plain_transformers(
    task: str, protocol: int, family: str, kind: str, data: dict[str, Path], tmp_path: Path
) -> None:
    make_tokenizer, make_model = (MASKED | CAUSAL)[family]
    tokenizer = make_tokenizer()
    if (task, protocol) == ("lm-abc", 1):
        tokenizer.add_tokens(["sin", "sit", "sine"])  # which it wants in one piece
    # In double precision, so that the figures cannot differ by the batches they were computed in.
    folder = tiny.save(tmp_path / "model", make_model(tokenizer).double(), tokenizer)
    script = example("transformers_lm")
    script.DTYPE = torch.float64
    chosen = choice(task, data, protocol, sample=12)
    answers = tmp_path / "answers.jsonl"
    script.main(kind, folder, asked(chosen, tmp_path), answers)
    (direct,) = gendalens.run(
        folder, tasks=task, protocol=protocol, data=data, sample=12, dtype="auto", cache=False
    )
    assert close(figures(scored(chosen, answers)), figures(direct))


@pytest.mark.parametrize("protocol", [2, 1])
@pytest.mark.parametrize("task", ["coref-abc", "coref-dawinobias"])
def test_coreference_answered_by_danlps_script(
    task: str,
    protocol: int,
    data: dict[str, Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pretend(monkeypatch, "danlp")
    pretend(monkeypatch, "danlp.models", load_xlmr_coref_model=Rules)
    script = example("danlp_coref")
    script.version = lambda package: "0.1.2"
    chosen = choice(task, data, protocol)
    answers = tmp_path / "answers.jsonl"
    script.main(asked(chosen, tmp_path), answers)
    (direct,) = gendalens.run(Rules(), tasks=task, protocol=protocol, data=data)
    result = scored(chosen, answers)
    assert close(figures(result), figures(direct))
    assert result.gender_effect_size.value is not None
    assert "|danlp:0.1.2" in result.signature


def stanza_pipeline(text: str) -> Any:
    """A document of Stanza's form: words that count, tokens that have places, a dropped pronoun."""
    begins = [at for at in range(len(text)) if text[at] != " " and (at == 0 or text[at - 1] == " ")]
    words = [
        SimpleNamespace(parent=SimpleNamespace(start_char=at, end_char=(text + " ").index(" ", at)))
        for at in begins
    ]
    dropped = SimpleNamespace(sentence=0, start_word=(1, 1), end_word=(1, 1))
    mentions = [SimpleNamespace(sentence=0, start_word=0, end_word=1), dropped]
    mentions.append(SimpleNamespace(sentence=0, start_word=2, end_word=3))
    return SimpleNamespace(
        sentences=[SimpleNamespace(words=words)],
        coref=[SimpleNamespace(mentions=mentions), SimpleNamespace(mentions=[dropped])],
        ents=[SimpleNamespace(start_char=0, end_char=4, type="PER")],
    )


class StanzaPipeline:
    name = "pretended"
    processors: dict[str, object] = {"coref": object()}

    def __init__(self, *arguments: Any, **options: Any) -> None:
        self.arguments = arguments

    def __call__(self, text: str) -> Any:
        return stanza_pipeline(text)


def test_coreference_answered_by_stanzas_script(
    data: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pretend(monkeypatch, "stanza", Pipeline=StanzaPipeline, __version__="1.15.0")
    chosen = choice("coref-abc", data)
    answers = tmp_path / "answers.jsonl"
    example("stanza_answers").main(asked(chosen, tmp_path), answers)
    (direct,) = gendalens.run(StanzaPipeline(), tasks="coref-abc", data=data)
    result = scored(chosen, answers)
    assert close(figures(result), figures(direct))
    assert result.coverage != {}


def test_entities_answered_by_stanzas_script(
    dane: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pretend(monkeypatch, "stanza", Pipeline=StanzaPipeline, __version__="1.15.0")
    chosen = choice("ner-dane", dane, repeats=2)
    answers = tmp_path / "answers.jsonl"
    example("stanza_answers").main(asked(chosen, tmp_path), answers)
    lines = [json.loads(line) for line in answers.read_text(encoding="utf-8").splitlines()]
    assert lines[1]["entities"] == [[0, 4, "PER"]]
    assert scored(chosen, answers).task == "ner-dane"


@pytest.fixture
def pipeline(tmp_path: Path) -> Path:
    """A spaCy pipeline of rules that knows more labels than it finds here."""
    nlp = spacy.blank("da", meta={"name": "regler", "version": "1.2.3"})
    nlp.add_pipe("entity_ruler").add_patterns(
        [
            {"label": "PERSON", "pattern": [{"LOWER": {"IN": ["mette", "ole", "hassan", "sara"]}}]},
            {"label": "GPE", "pattern": "Odense"},
            {"label": "FAC", "pattern": "Ribe"},
            {"label": "DATE", "pattern": "i går"},
        ]
    )
    nlp.to_disk(tmp_path / "regler")
    return tmp_path / "regler"


@pytest.mark.parametrize("protocol", [2, 1])
@pytest.mark.parametrize("labels", ["", "FAC=LOC,DATE=-"])
def test_entities_answered_by_dacys_script_with_a_spacy_pipeline(
    protocol: int, labels: str, pipeline: Path, dane: dict[str, Path], tmp_path: Path
) -> None:
    chosen = choice("ner-dane", dane, protocol, repeats=3, labels=labels)
    answers = tmp_path / "answers.jsonl"
    example("dacy_answers").main(str(pipeline), asked(chosen, tmp_path), answers)
    (direct,) = gendalens.run(
        str(pipeline), data=dane, protocol=protocol, repeats=3, labels=labels, cache=False
    )
    result = scored(chosen, answers)
    assert close(figures(result), figures(direct))
    assert result.gender_effect_size == direct.gender_effect_size


def test_without_labels_in_the_header_those_that_were_found_count(
    pipeline: Path, dane: dict[str, Path], tmp_path: Path
) -> None:
    chosen = choice("ner-dane", dane, repeats=3)
    answers = tmp_path / "answers.jsonl"
    example("dacy_answers").main(str(pipeline), asked(chosen, tmp_path), answers)
    with_labels = scored(chosen, answers)
    _, *rest = answers.read_text(encoding="utf-8").splitlines(keepends=True)
    answers.write_text(
        '{"format": "gendalens-answers", "version": 1}\n' + "".join(rest), encoding="utf-8"
    )
    without = scored(chosen, answers)
    assert without.gap == with_labels.gap
    wrong = choice("ner-dane", dane, repeats=3, labels="DATE=-")
    file = AnswerFile(answers, wrong.requests, name="elsewhere")
    (failure,) = run_jobs([Job(file, [wrong.plan])], wrong.options).failures
    assert re.search(r"no label DATE .* FAC, GPE, PERSON", failure)


def test_clusters_of_a_spacy_pipeline_are_read_by_dacys_script(
    data: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def first_and_third(doc: Any) -> Any:
        doc.spans["coref_clusters_1"] = [doc[0:1], doc[2:3]]
        doc.spans["coref_head_clusters_1"] = [doc[0:1]]
        doc.spans["coref_clusters_2"] = []
        return doc

    spacy.Language.component("test_coref_round_trip", func=first_and_third)
    nlp = spacy.blank("da")
    nlp.add_pipe("test_coref_round_trip")
    script = example("dacy_answers")
    monkeypatch.setattr(script, "load", lambda name: nlp)
    chosen = choice("coref-abc", data)
    answers = tmp_path / "answers.jsonl"
    script.main("da_dacy_medium_trf-0.2.0", asked(chosen, tmp_path), answers)
    (direct,) = gendalens.run(nlp, tasks="coref-abc", data=data)
    assert close(figures(scored(chosen, answers)), figures(direct))
