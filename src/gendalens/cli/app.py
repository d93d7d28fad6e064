"""The commands and their arguments.

Heavy imports are deferred and annotations are not, so that ``--help`` is instant: Typer would compile
each postponed annotation several times.
"""

import sys
from typing import Annotated, Any

import typer

from gendalens.cli import completion, describing, exits, measuring, publishing, reporting
from gendalens.cli.options import Commands, Language, TestCommand
from gendalens.errors import UserError
from gendalens.version import __version__
from gendalens.words import language_from_environment, use_language

app = typer.Typer(
    cls=Commands,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    help="Measure gender bias in Danish language technology.",
)
data_app = typer.Typer(
    no_args_is_help=True,
    help="The data sets, official and built in, and their errata.",
)
app.add_typer(data_app, name="data")
names_app = typer.Typer(no_args_is_help=True, help="The names that ner-dane gives to persons.")
app.add_typer(names_app, name="names")
cache_app = typer.Typer(help="What is stored on this machine: answers, weights, data, pages.")
app.add_typer(cache_app, name="cache")


def main() -> None:
    """Run the command line; a user error prints one sentence and exits with code 2."""
    use_language(language_from_environment())
    with completion.cope_with_bash():
        exits.run(_run_command)


def _run_command() -> None:
    try:
        code = app(standalone_mode=False)
    except Exception as error:
        wrong: Any = error
        if getattr(wrong, "ctx", None) is None:  # Typer's usage errors have no public base class
            raise
        raise _explain_usage(wrong) from None
    finally:
        _remove_first_sign()
        _report_plugins()
    sys.exit(code)


def _explain_usage(wrong: Any) -> UserError:
    """A usage error as one sentence; the help text is printed if no command was given."""
    text = wrong.format_message()
    if "\n" in text:
        sys.stderr.write(f"{text}\n")
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
        "{problem}; see `{command} --help`.", problem=text.rstrip("."), command=command
    )


def _remove_first_sign() -> None:
    """Remove the line that shows what a command is doing."""
    if module := sys.modules.get("gendalens.cli.first_sign"):
        module.remove_first_sign()


def _report_plugins() -> None:
    """Report the plug-ins that could not be loaded, if any have been looked for."""
    if completion.is_completing():
        return
    for name in ("gendalens.tasks", "gendalens.models.detect"):
        if module := sys.modules.get(name):
            for problem in module.plugin_problems():
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
    """Measure gender bias in Danish language technology."""
    from gendalens.system import memory_limits

    memory_limits.prepare_numpy()


@names_app.callback()
def names_root() -> None:
    """The names that ner-dane gives to persons."""


for name in ("run", "requests", "score", "power"):
    app.command(cls=TestCommand)(getattr(measuring, name))
for name in ("merge", "demo"):
    app.command()(getattr(measuring, name))
for name in ("report", "plot", "show", "compare", "gate"):
    app.command()(getattr(reporting, name))
for name in ("site", "submit_check"):
    app.command()(getattr(publishing, name))
app.command()(describing.tasks)
data_app.command("list")(describing.data_list)
data_app.command("pull")(describing.data_pull)
data_app.command("errata")(describing.data_errata)
names_app.command("preview")(describing.names_preview)
cache_app.callback(invoke_without_command=True)(describing.cache_list)
cache_app.command("clean")(describing.cache_clean)
