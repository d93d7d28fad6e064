"""The example plug-in, as a wheel, through every command: nothing outside it is edited."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
import zipfile
from pathlib import Path
from xml.etree import ElementTree

import pytest

pytestmark = pytest.mark.slow  # each test starts the command line

ROOT = Path(__file__).parents[2]
CORPUS = (
    "han er her . han er der . hun er her . han går ; hendes hus og hans hus og hans bil . sin " * 3
)


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The plug-in's wheel, built and unpacked: a folder that Python finds it in."""
    folder = tmp_path_factory.mktemp("plugin")
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation"]
    subprocess.run(
        [*command, "--wheel-dir", str(folder), str(ROOT / "examples" / "plugin")], check=True
    )
    (wheel,) = folder.glob("*.whl")
    site = folder / "site"
    zipfile.ZipFile(wheel).extractall(site)
    return site


def gendalens(
    site: Path, *arguments: str | Path, code: int = 0, cwd: Path
) -> subprocess.CompletedProcess[str]:
    """The command line with the plug-in installed."""
    environment = {**os.environ, "PYTHONPATH": str(site), "GENDALENS_HOME": str(cwd / "home")}
    environment |= {"GENDALENS_PLUGINS": "on", "COLUMNS": "100"}
    done = subprocess.run(
        [sys.executable, "-m", "gendalens", *map(str, arguments)],
        capture_output=True,
        text=True,
        encoding="utf-8",
        env=environment,
        cwd=cwd,
    )
    assert done.returncode == code, done.stderr + done.stdout
    assert "Traceback" not in done.stderr
    return done


@pytest.fixture(scope="session")
def work(site: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a corpus, and a run of the plug-in's model and of two control models."""
    folder = tmp_path_factory.mktemp("plugin-run")
    (folder / "corpus.txt").write_text(CORPUS, encoding="utf-8")
    models = ("counts:corpus.txt", "control:stereotyped?strength=0.9", "control:fair")
    done = gendalens(site, "run", *models, "--tasks", "job-ads", "-o", "run", cwd=folder)
    assert "The model expects a man" not in done.stderr
    assert "job-ads@2" in done.stdout
    return folder


def results(folder: Path) -> list[dict[str, object]]:
    return [json.loads(path.read_text("utf-8")) for path in sorted(folder.rglob("result.json"))]


def test_the_results_are_those_of_the_plug_in(work: Path) -> None:
    found = {str(one["model"]["name"]): one for one in results(work / "run")}  # type: ignore[index]
    counts = found["counts:corpus.txt"]
    assert counts["gap"]["value"] == pytest.approx(math.log2((9 + 1) / (3 + 1)))  # type: ignore[index]
    assert counts["gap"]["name"]["code"] == "job-ads.preference"  # type: ignore[index]
    assert counts["model"]["kind"]["code"] == "word-counts.kind"  # type: ignore[index]
    stereotyped = found["control:stereotyped?strength=0.9"]
    assert stereotyped["contrast"]["low"] > 0  # type: ignore[index]


def test_an_option_of_its_own_is_read_and_signed(site: Path, work: Path) -> None:
    arguments = ("counts:corpus.txt", "--tasks", "job-ads", "--tone", "caring", "-o", "caring")
    gendalens(site, "run", *arguments, cwd=work)
    (result,) = results(work / "caring")
    assert "|tone:caring|" in str(result["signature"])
    assert result["coverage"] == {"ads": 6}
    assert "--tone" in gendalens(site, "run", "--help", cwd=work).stdout
    wrong = gendalens(
        site, "run", "counts:corpus.txt", "--tasks", "job-ads", "--tone", "x", code=2, cwd=work
    )
    assert "--tone x: choose both, caring or competitive" in wrong.stderr


def test_its_model_takes_the_other_tests_too(site: Path, work: Path) -> None:
    arguments = (
        *("counts:corpus.txt", "--data", "builtin", "--sample", "20", "-o", "all"),
        "--details",
    )
    done = gendalens(site, "run", *arguments, cwd=work)
    taken = {one["task"] for one in results(work / "all")}
    assert {"job-ads", "lm-abc", "lm-dawinobias"} <= taken
    assert not {"ner-dane", "coref-abc", "coref-dawinobias"} & taken
    assert "the model has no first choice of its own" in done.stdout
    gone = gendalens(site, "run", "counts:nothing.txt", code=2, cwd=work)
    assert "nothing.txt cannot be read" in gone.stderr


def test_control_models_take_it_without_being_asked(site: Path, work: Path) -> None:
    done = gendalens(
        site, "run", "control:fair", "--data", "builtin", "--sample", "12", "-o", "c", cwd=work
    )
    assert "job-ads@2" in done.stdout


@pytest.mark.parametrize(
    "form", ["json", "csv", "markdown", "latex", "model-card", "hub-yaml", "every-eval-ever", None]
)
def test_it_is_shown_in_every_format(site: Path, work: Path, form: str | None) -> None:
    (folder,) = (work / "run").glob("counts*")
    done = gendalens(site, "show", folder, *([f"--{form}"] if form else []), cwd=work)
    assert "job-ads" in done.stdout


def test_it_speaks_danish(site: Path, work: Path) -> None:
    shown = gendalens(site, "show", "run", "--details", "--language", "da", cwd=work).stdout
    assert "Hvem er den nye kollega?" in shown
    assert "præference for »han« frem for »hun«" in shown
    described = gendalens(site, "tasks", "job-ads", "--language", "da", cwd=work).stdout
    assert "Hver sætning beskriver en ny kollega" in described
    gone = gendalens(site, "run", "counts:x.txt", "--language", "da", code=2, cwd=work)
    assert "kan ikke læses" in gone.stderr
    table = gendalens(site, "show", "run", "--markdown", "--language", "da", cwd=work).stdout
    assert "konkurrenceprægede opslag" in table
    assert "tabel over ordfrekvenser" in shown
    page = (work / "run" / "report.html").read_text(encoding="utf-8")
    assert "Modellen forventer" in page
    assert "omsorgsprægede opslag" in page
    assert "tabel over ordfrekvenser" in page


def test_page_plot_comparison_and_gate(site: Path, work: Path) -> None:
    gendalens(site, "report", "run", "-o", "again.html", cwd=work)
    assert "job-ads@2" in (work / "again.html").read_text(encoding="utf-8")
    gendalens(site, "plot", "run", "--format", "svg", "-o", "charts", "--language", "da", cwd=work)
    assert len(list((work / "charts").glob("*.svg"))) >= 4
    compared = gendalens(site, "compare", "run", "-o", "compare.html", cwd=work).stdout
    assert "differences, the same items for both models" in " ".join(compared.split())
    gate = gendalens(
        site, "gate", "run", "--max-effect", "9", "--junit", "gate.xml", code=1, cwd=work
    )
    assert "job-ads@2" in gate.stdout
    assert ElementTree.parse(work / "gate.xml").getroot().get("tests") == "6"


def test_its_bands_can_be_set_and_its_power_is_known_before_a_run(site: Path, work: Path) -> None:
    own = ("--negligible", "job-ads=3")
    shown = json.loads(gendalens(site, "power", "job-ads", "--json", *own, cwd=work).stdout)
    assert [(one["part"], one["band"]) for one in shown["figures"][::2]] == [
        ("main", 3.0),
        ("groups", 6.0),
    ]
    gendalens(site, "run", "control:fair", "--tasks", "job-ads", "-o", "wide", *own, cwd=work)
    (result,) = results(work / "wide")
    assert result["finding"]["headline"] == "negligible"  # type: ignore[index]
    assert "|negligible:3_bits|" in str(result["signature"])


def test_requests_and_answers_go_through_files(site: Path, work: Path) -> None:
    gendalens(site, "requests", "job-ads", "-o", "requests.jsonl", cwd=work)
    head, *requests = (work / "requests.jsonl").read_text(encoding="utf-8").splitlines()
    assert json.loads(head)["task"] == "job-ads"
    assert len(requests) == 12
    lines = [json.dumps({"format": "gendalens-answers", "version": 1})]
    for place, line in enumerate(requests):
        answer = {"log_probs": [-2.0, -1.0 - place % 3], "pieces": [1, 1]}
        lines.append(json.dumps({"id": json.loads(line)["id"], **answer}))
    (work / "answers.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    arguments = ("job-ads", "answers.jsonl", "--model-name", "mine", "-o", "scored")
    gendalens(site, "score", *arguments, cwd=work)
    (result,) = results(work / "scored")
    assert result["gap"]["value"] == pytest.approx(0, abs=1e-9)  # type: ignore[index]
