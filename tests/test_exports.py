"""A run as tables, model card, hub metadata and Every Eval Ever: whole, and harmless for each format."""

from __future__ import annotations

import csv
import io
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from small_runs import HOSTILE, renamed, resaved, three_runs
from typer.testing import CliRunner

from gendalens.cli.app import app
from gendalens.comparison.comparison import compare
from gendalens.errors import UserError
from gendalens.report import escape
from gendalens.report.exports import comparison_tables
from gendalens.report.exports import hub_metadata as hub_metadata_module
from gendalens.report.exports.every_eval_ever import every_eval_ever
from gendalens.report.exports.hub_metadata import _find_type, hub_metadata
from gendalens.report.exports.latex_tables import to_latex
from gendalens.report.exports.model_card import model_card
from gendalens.report.exports.result_tables import long_table, short_tables
from gendalens.report.exports.tables import to_csv, to_markdown
from gendalens.report.html import comparison_page, run_page
from gendalens.results import saved_results
from gendalens.results.saved_results import SavedResult
from gendalens.tasks import all_tasks, get_task

#: The tests of the package on the small sets; there may be others beside them.
FOUR = {"coref-abc", "coref-dawinobias", "lm-abc", "lm-dawinobias"}
TEXT = {"type": "string"}
#: What eval.schema.json 0.3.0 of evaleval/every_eval_ever asks of such a record, in our words.
EVERY_EVAL_EVER: dict[str, Any] = {
    "required": [
        "schema_version",
        "evaluation_id",
        "retrieved_timestamp",
        "source_metadata",
        "model_info",
        "eval_library",
        "evaluation_results",
    ],
    "additionalProperties": False,
    "properties": {
        "schema_version": {"const": "0.3.0"},
        "evaluation_id": TEXT,
        "evaluation_timestamp": {"type": "string", "pattern": r"^\d+$"},
        "retrieved_timestamp": {"type": "string", "pattern": r"^\d+$"},
        "source_metadata": {
            "required": ["source_type", "source_organization_name", "evaluator_relationship"],
            "properties": {
                "source_type": {"enum": ["documentation", "evaluation_run"]},
                "evaluator_relationship": {
                    "enum": ["first_party", "third_party", "collaborative", "other"]
                },
            },
        },
        "eval_library": {"required": ["name", "version"], "additionalProperties": TEXT},
        "model_info": {
            "required": ["name", "id", "additional_details"],
            "properties": {
                "additional_details": {
                    "required": ["deployment_type", "model_availability"],
                    "properties": {
                        "deployment_type": {
                            "enum": ["self_deployed", "externally_managed", "unknown"]
                        },
                        "model_availability": {
                            "enum": ["open_weights", "closed_weights", "unknown"]
                        },
                    },
                    "additionalProperties": TEXT,
                }
            },
        },
        "evaluation_results": {
            "minItems": 1,
            "items": {
                "required": ["evaluation_name", "source_data", "metric_config", "score_details"],
                "properties": {
                    "source_data": {
                        "required": ["dataset_name", "source_type"],
                        "properties": {"source_type": {"enum": ["hf_dataset", "other"]}},
                        "if": {"properties": {"source_type": {"const": "hf_dataset"}}},
                        "then": {"required": ["hf_repo"]},
                    },
                    "metric_config": {
                        "required": ["lower_is_better"],
                        "properties": {"additional_details": {"additionalProperties": TEXT}},
                        # A continuous score would need bounds, and an effect has none.
                        "not": {"required": ["score_type"]},
                    },
                    "score_details": {
                        "required": ["score"],
                        "properties": {
                            "score": {"type": "number", "minimum": 0},
                            "details": {"additionalProperties": TEXT},
                            "uncertainty": {
                                "properties": {
                                    "confidence_interval": {"required": ["lower", "upper"]}
                                }
                            },
                        },
                    },
                },
            },
        },
    },
}


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("exports")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GENDALENS_HOME", str(folder / "home"))
        return three_runs(folder)


@pytest.fixture(params=HOSTILE, ids=["html", "signs", "marks", "formula", "long"])
def hostile(request: pytest.FixtureRequest, out: Path, tmp_path: Path) -> list[SavedResult]:
    return [
        renamed(run, tmp_path, request.param)
        for run in saved_results.find_results([out / "control_fair"])
    ]


def test_csv_holds_every_figure_of_every_result_unrounded(out: Path) -> None:
    runs = saved_results.find_results([out])
    rows = list(csv.DictReader(io.StringIO(to_csv(long_table([run.result for run in runs])))))
    for run in runs:
        mine = [row for row in rows if row["signature"] == run.result.signature]
        figures = [
            run.result.gender_effect_size,
            run.result.gap,
            run.result.contrast,
            *run.result.finding.main.evidence,
            *run.result.finding.groups.evidence,
            *run.result.conditions,
            *run.result.nuance,
            *run.result.extra,
        ]
        for name in ("value", "low", "high"):
            assert [row[name] for row in mine] == [
                "" if getattr(figure, name) is None else repr(getattr(figure, name))
                for figure in figures
            ]


def test_a_hostile_name_breaks_no_csv_and_is_no_formula(hostile: list[SavedResult]) -> None:
    text = to_csv(long_table([run.result for run in hostile]))
    rows = list(csv.DictReader(io.StringIO(text)))
    assert {row["test"] for row in rows} == {run.result.task for run in hostile}
    assert not any(row["model"].startswith(("=", "+", "-", "@")) for row in rows)


def test_a_hostile_name_stays_in_its_markdown_cell(hostile: list[SavedResult]) -> None:
    text = to_markdown(short_tables([run.result for run in hostile]))
    card = model_card([run.result for run in hostile])
    prose = card.split("### How to repeat it")[0]  # a signature stands in a code block, as it is
    columns = 0
    for line in [*text.splitlines(), *prose.splitlines()]:
        if line.startswith("|"):
            cells = len(re.findall(r"(?<!\\)\|", line))
            columns = columns or cells  # those of the headings, which hold no name
            assert cells == columns > 2
        else:
            columns = 0
        assert "<" not in line
        assert "](" not in line.replace("\\](", "")
        assert "\u202e" not in line


def test_a_hostile_name_is_plain_text_in_latex(hostile: list[SavedResult]) -> None:
    text = to_latex(short_tables([run.result for run in hostile]))
    columns = 0
    for line in text.splitlines():
        if begun := re.fullmatch(r"\\begin{tabular}{(.*)}", line):
            columns = begun[1].count("p{") or begun[1].count("l")
        if line.endswith(r"\\"):
            assert len(re.findall(r"(?<!\\)&", line)) == columns - 1 > 0
    body = "\n".join(text.splitlines()[1:])
    known = (
        r"\\(?:begin|end|centering|caption|toprule|midrule|bottomrule|par|smallskip|footnotesize|scriptsize"
        r"|allowbreak|text\w+|ldots|setlength|tabcolsep|raggedright|arraybackslash|dimexpr|linewidth"
        r"|relax|mbox|addlinespace|[{}&%$#_]|\\)"
    )
    assert "\\" not in re.sub(known, "", body)
    assert not re.search(r"(?<!\\)[%#_^~]", re.sub(r"\$-\$", "", body))


def test_a_latex_caption_is_one_sentence_and_the_signature_stands_below(out: Path) -> None:
    one = saved_results.find_results([out])[0].result
    data = {
        name: {**origin, "from": "by others.", "whose": "own"} for name, origin in one.data.items()
    }
    text = to_latex(short_tables([replace(one, data=data)]))
    captions = re.findall(r"\\caption{(.*)}", text)
    assert len(captions) == 2
    assert all(caption.endswith(".") for caption in captions)
    assert not any(one.task in caption and "Signature" in caption for caption in captions)
    assert ".." not in text.replace("others.; a", "")
    notes = text.replace(r"\allowbreak{}", "").replace(r"\textbar{}", "|").replace(r"\_", "_")
    assert one.signature in notes


@pytest.mark.parametrize("name", ["[9em]x", " [9em]x", "*x"])
def test_no_cell_of_latex_begins_as_an_option_of_the_row_before(name: str, out: Path) -> None:
    one = saved_results.find_results([out])[0].result
    text = to_latex(short_tables([replace(one, model=replace(one.model, name=name))]))
    assert name.strip()[1:] in text
    assert not re.search(r"(?:\\\\|rule)\s*[\[*]", text)


def test_the_model_card_tells_verdict_interval_limits_and_signature(out: Path) -> None:
    runs = saved_results.find_results([out / "control_fair"])
    card = model_card([run.result for run in runs])
    for run in runs:
        assert str(run.result.finding) in card
        assert run.result.signature in card
    assert "Gender is taken as binary" in card
    with pytest.raises(UserError, match="describes one model and the run holds 3"):
        model_card([run.result for run in saved_results.find_results([out])])


def test_the_hub_s_library_loads_the_same_figures_from_the_exported_card(
    hostile: list[SavedResult], tmp_path: Path
) -> None:
    hub = pytest.importorskip("huggingface_hub")
    results = [run.result for run in hostile]
    path = tmp_path / "README.md"
    text = f"---\n{hub_metadata(results)}---\n\n{model_card(results)}"
    path.write_text(text, encoding="utf-8")
    card = hub.ModelCard.load(path)
    assert card.data.model_name == escape.one_line(results[0].model.name, None)
    assert model_card(results).strip() in card.text
    expected = [
        (f"{one.task}@{one.protocol}", kind, figure.value, figure.low, figure.high)
        for one in results
        for kind, figure in (("gender_effect_size", one.gender_effect_size), ("gap", one.gap))
        if figure.value is not None
    ]
    found = card.data.eval_results
    assert [
        (
            one.metric_args["test"],
            one.metric_type,
            one.metric_value,
            one.metric_args.get("low"),
            one.metric_args.get("high"),
        )
        for one in found
    ] == expected
    assert [one.dataset_config for one in found] == [test for test, *_ in expected]
    types = {one.dataset_type for one in found}
    tasks = [get_task(result.task, result.protocol) for result in results]
    without_data = {f"gendalens-{task.card.name}" for task in tasks if not task.card.data}
    assert types - without_data == {"gendalens-own-abc", "gendalens-own-dawinobias"}


def test_each_test_has_an_entry_of_its_own_in_the_hub_s_metadata(out: Path) -> None:
    yaml = pytest.importorskip("yaml")
    (run, *_) = saved_results.find_results([out / "control_fair"])
    other = replace(run.result, task="chat-abc" if run.result.task == "lm-abc" else "lm-abc")
    info = replace(run.result.model, hub_task="text-generation")
    both = [replace(one, model=info) for one in (run.result, other)]
    (model,) = yaml.safe_load(hub_metadata(both))["model-index"]
    assert [one["task"]["name"] for one in model["results"]] == [
        get_task(one.task, one.protocol).card.title for one in both
    ]


def test_without_the_hub_s_library_its_metadata_are_refused_in_a_sentence(
    out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hub_metadata_module, "find_spec", lambda name: None)
    wanted = ["show", str(out / "control_fair"), "--hub-yaml"]
    wrong = CliRunner().invoke(app, wanted)
    assert isinstance(wrong.exception, UserError)
    assert 'run `pip install "' in str(wrong.exception)


def test_what_is_undefined_is_left_out_of_the_hub_s_metadata(out: Path) -> None:
    yaml = pytest.importorskip("yaml")
    runs = saved_results.find_results([out / "control_always-han"])
    results = [run.result for run in runs if run.result.task in FOUR]
    (model,) = yaml.safe_load(hub_metadata(results))["model-index"]
    assert len(model["results"]) == len(results)
    undefined = [one for one in results if one.gender_effect_size.value is None]
    assert undefined
    kinds = [[metric["type"] for metric in one["metrics"]] for one in model["results"]]
    assert kinds.count(["gap"]) == len(undefined)


def test_every_eval_ever_follows_its_schema(hostile: list[SavedResult], out: Path) -> None:
    for runs in (hostile, saved_results.find_results([out / "control_always-han"])):
        plain = json.loads(every_eval_ever(runs, now=1_700_000_000.5))
        jsonschema.validate(plain, EVERY_EVAL_EVER)
        assert plain["retrieved_timestamp"] == "1700000000"
        assert plain["model_info"]["name"] == runs[0].result.model.name


def test_it_is_not_claimed_who_runs_a_server_or_that_weights_are_open(
    out: Path, tmp_path: Path
) -> None:
    (run, *_) = saved_results.find_results([out / "control_fair"])
    for name, deployment in (("org/model", "self_deployed"), ("openai:org/model", "unknown")):
        plain = json.loads(every_eval_ever([renamed(run, tmp_path / deployment, name)]))
        details = plain["model_info"]["additional_details"]
        assert details["deployment_type"] == deployment
        assert details["model_availability"] == "unknown"


def test_the_score_is_the_distance_from_zero_and_the_signed_figure_stands_beside(out: Path) -> None:
    runs = saved_results.find_results([out / "control_fair"])
    plain = json.loads(every_eval_ever(runs))
    scores = {
        one["evaluation_name"]: one["score_details"]
        for one in plain["evaluation_results"]
        if one["metric_config"]["metric_id"] == "gendalens.absolute_gender_effect_size"
    }
    for run in runs:
        ges = run.result.gender_effect_size
        if ges.value is None:
            assert run.result.task not in FOUR
            assert f"{run.result.task}@2" not in scores
            continue
        score = scores[f"{run.result.task}@2"]
        assert score["score"] == abs(ges.value)
        assert score["details"]["signed"] == repr(ges.value)
        if ges.low is None or ges.high is None:
            assert run.result.task not in FOUR
            assert "uncertainty" not in score
            continue
        bounds = score["uncertainty"]["confidence_interval"]
        assert bounds["lower"] <= score["score"] <= bounds["upper"]
        assert bounds["lower"] == (
            0 if ges.low <= 0 <= ges.high else min(abs(ges.low), abs(ges.high))
        )


@pytest.fixture
def own_test(out: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SavedResult:
    """A result of a test that brings its own sentences, as another package may, and has no data set."""
    known = type(get_task("lm-abc", 2))
    card = replace(known.card, name="own-test", data=())
    monkeypatch.setitem(all_tasks(), ("own-test", 2), type("OwnTest", (known,), {"card": card})())
    runs = saved_results.find_results([out / "control_fair"])
    run = next(run for run in runs if run.result.task == "lm-abc")
    data = {"own-test": {"from": "the test itself", "sha256": "7" * 64, "whose": "test"}}
    result = replace(run.result, task="own-test", data=data)
    return resaved(run, tmp_path, result)


def test_a_test_without_a_data_set_stands_under_its_own_name(own_test: SavedResult) -> None:
    yaml = pytest.importorskip("yaml")
    (model,) = yaml.safe_load(hub_metadata([own_test.result]))["model-index"]
    sentences = {"own-test": f"the test itself, sha256:{'7' * 64}"}
    assert model["results"][0]["dataset"] == {
        "name": "own-test@2",
        "type": "gendalens-own-test",
        "config": "own-test@2",
        "args": sentences,
    }
    plain = json.loads(every_eval_ever([own_test]))
    jsonschema.validate(plain, EVERY_EVAL_EVER)
    source = plain["evaluation_results"][0]["source_data"]
    assert source == {
        "dataset_name": "own-test@2",
        "source_type": "other",
        "additional_details": sentences,
    }


def test_a_test_without_a_data_set_has_every_page_and_table(own_test: SavedResult) -> None:
    assert "Data: own-test: the test's own." in model_card([own_test.result])
    assert "Data: own-test: the test's own." in to_markdown(short_tables([own_test.result]))
    compared = compare(own_test)
    # A row for GES, one for the main effect and one for the groups.
    assert to_csv(comparison_tables.long_table(compared)).count("the test's own") == 3
    for page in (run_page.html([own_test]), comparison_page.html(compared)):
        assert 'data-task="own-test@2"' in page
        assert "7" * 64 in page.partition('<script type="application/json"')[0]


@pytest.mark.parametrize(
    ("kind", "needs", "expected"),
    [
        ("fill-mask", {"fill"}, "fill-mask"),
        ("", {"fill"}, "text-generation"),
        ("", {"tag"}, "token-classification"),
        ("", {"resolve"}, "coreference-resolution"),
    ],
)
def test_the_hub_s_word_for_a_model_is_its_own_or_follows_from_the_test(
    out: Path, kind: str, needs: set[str], expected: str
) -> None:
    one = saved_results.find_results([out])[0].result
    result = replace(one, model=replace(one.model, hub_task=kind))
    assert _find_type(result, frozenset(needs)) == expected


def test_csv_has_the_code_of_a_finding_beside_its_english(out: Path) -> None:
    results = [run.result for run in saved_results.find_results([out])]
    rows = list(csv.DictReader(io.StringIO(to_csv(long_table(results)))))
    said = {result.signature: result.finding for result in results}
    for row in rows:
        finding = said[row["signature"]]
        assert (row["finding"], row["verdict"]) == (finding.headline, str(finding))


@pytest.mark.parametrize("hostile", HOSTILE[2:5:2], ids=["marks", "long"], indirect=True)
def test_the_terminal_fits_80_columns(out: Path, hostile: list[SavedResult]) -> None:
    for command in (["show"], ["compare"]):
        for path in (out, hostile[0].folder.parent):
            shown = CliRunner().invoke(app, [*command, str(path)], env={"COLUMNS": "80"})
            assert shown.exit_code == 0, shown.output
            for line in shown.output.splitlines():
                # Three lines are meant to be copied whole.
                if not line.startswith(("signature", "folder", "  gendalens show ")):
                    assert len(line) <= 80, line


def test_two_formats_at_once_are_a_mistake(out: Path) -> None:
    wrong = CliRunner().invoke(app, ["show", str(out), "--csv", "--latex"])
    assert isinstance(wrong.exception, UserError)
    assert "Choose one of --csv and --latex" in str(wrong.exception)


@pytest.mark.parametrize("form", ["json", "csv", "markdown", "latex"])
def test_both_commands_write_all_table_formats(out: Path, form: str) -> None:
    for command in ("show", "compare"):
        shown = CliRunner().invoke(app, [command, str(out), f"--{form}"])
        assert shown.exit_code == 0, shown.output
        assert "control:stereotyped" in shown.output.replace(r"\allowbreak{}", "")
        if form == "json":
            json.loads(shown.output)
