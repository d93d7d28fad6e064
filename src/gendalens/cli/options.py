"""Options shared by several commands, and those declared by the tests."""

from __future__ import annotations

from inspect import Parameter, Signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
import typer.main
from typer.core import TyperCommand, TyperGroup

from gendalens.cli import completion
from gendalens.errors import UserError
from gendalens.words import languages, use_language

if TYPE_CHECKING:
    from gendalens.tasks.options import Option

_TASK_OPTIONS = "gendalens.task_options"


def set_language(language: str | None) -> None:
    """Set the output language of the command; None keeps that of the environment."""
    if language is None:
        return
    if language not in languages():
        raise UserError(
            "There is no language {language}; choose {known:or}.",
            language=repr(language),
            known=tuple(languages()),
        )
    use_language(language)


Language = Annotated[
    str | None,
    typer.Option(
        "--language",
        callback=set_language,
        is_eager=True,
        autocompletion=completion.complete_languages,
        help="Output language: en or da.",
        show_default="from the environment (LANG)",
    ),
]
Protocol = Annotated[
    int,
    typer.Option(
        autocompletion=completion.complete_protocols,
        help="2: the sound measurement. 1: as computed by GenDa Lens 0.0.3.",
    ),
]
Data = Annotated[
    list[str] | None,
    typer.Option(
        metavar="builtin|NAME=PATH",
        autocompletion=completion.complete_data,
        help="Replace official data sets: `builtin` for all, or NAME=builtin, NAME=FOLDER or "
        "dane=FILE for one. May be repeated.",
    ),
]
Out = Annotated[Path, typer.Option("--out", "-o", help="Run folder to write.")]
Seed = Annotated[int, typer.Option(min=0, help="Seed for resampling and for drawing samples.")]
Sample = Annotated[
    int | None,
    typer.Option(min=1, help="Use only this many schemas, triples or sentences, for a quick look."),
]
Negligible = Annotated[
    list[str] | None,
    typer.Option(
        metavar="TEST=VALUE",
        autocompletion=completion.complete_bands,
        help="Largest effect that is too small to matter, in the unit of the test's gap; "
        "TEST:UNIT=VALUE for another unit. May be repeated. Default: the band on the test's card.",
    ),
]
Endpoint = Annotated[
    list[str] | None,
    typer.Option(
        metavar="URL",
        help="Address of the server of openai:MODEL, such as http://localhost:8000/v1. May be "
        "repeated for several servers of one model.",
    ),
]
KeyEnv = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="Environment variable with the endpoint's key. Default: no key is sent.",
    ),
]
Header = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME:VALUE",
        help="Header for the endpoint; env:NAME as value takes it from the environment. May be "
        "repeated.",
    ),
]
AnswerBy = Annotated[
    str | None,
    typer.Option(
        metavar="RUNG",
        autocompletion=completion.complete_rungs,
        help="How an endpoint answers: likelihoods, options, constrained or text. Default: the best "
        "that the server really offers.",
    ),
]
PriceIn = Annotated[
    float | None, typer.Option(min=0, help="Price of a million tokens sent to the endpoint.")
]
PriceOut = Annotated[
    float | None, typer.Option(min=0, help="Price of a million tokens that the endpoint writes.")
]
MaxTokensTotal = Annotated[
    int | None,
    typer.Option(min=1, help="Stop when the endpoint has used this many tokens; resume later."),
]
KeepRaw = Annotated[
    bool, typer.Option("--keep-raw", help="Keep the endpoint's responses in the run folder.")
]
Timeout = Annotated[
    float | None,
    typer.Option(min=1, help="Seconds to wait for an answer of the endpoint.", show_default="120"),
]
ShardOption = Annotated[
    str | None,
    typer.Option(
        "--shard",
        metavar="NUMBER/COUNT",
        help="Only this part of the requests, such as 2/7; `gendalens merge` joins the parts.",
    ),
]
Executor = Annotated[
    str | None,
    typer.Option(
        metavar="ray[:ADDRESS]",
        help="Answer on a Ray cluster: the one at an address, or one started on this computer.",
    ),
]
Workers = Annotated[
    int | None,
    typer.Option(
        min=1,
        help="Number of Ray workers, each with a model of its own.",
        show_default="as many as the cluster has room for",
    ),
]
CpusPerWorker = Annotated[
    float | None,
    typer.Option(
        min=0,
        help="CPUs of a Ray worker, or a fraction of one.",
        show_default="as many as a batch has without Ray",
    ),
]
GpusPerWorker = Annotated[
    float, typer.Option(min=0, help="GPUs of a Ray worker, or a fraction of one.")
]
WorkerEnv = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME",
        help="Environment variable that Ray workers get, such as HF_TOKEN. May be repeated. Default: "
        "no keys.",
    ),
]
ModelsFrom = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE", help="File with further models, one per line; # begins a comment."
    ),
]
Offline = Annotated[bool, typer.Option("--offline", help="Use local files only.")]
Details = Annotated[
    bool,
    typer.Option(
        "--details",
        help="Show every figure, coverage, harms and signatures, not one screen a model.",
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]
AsCsv = Annotated[bool, typer.Option("--csv", help="Print every figure, unrounded, as CSV.")]
AsMarkdown = Annotated[bool, typer.Option("--markdown", help="Print Markdown tables.")]
AsLatex = Annotated[bool, typer.Option("--latex", help="Print LaTeX tables (booktabs).")]
Runs = Annotated[
    list[Path],
    typer.Argument(
        metavar="RUN...", help="Run folders, or folders of single models or results in them."
    ),
]
Tasks = Annotated[
    list[str] | None,
    typer.Option(
        autocompletion=completion.complete_tasks,
        help="Comma-separated tests to run. Default: every test the model can take.",
    ),
]


def tell_that_it_runs(arguments: list[str]) -> None:
    """Show at once that a run has begun, if that is what these arguments of the program ask for."""
    command, *rest = arguments or [""]
    is_help = {"--help", "--version"} & set(rest)
    is_begun = (command == "run" and rest) or command == "demo"
    if is_begun and not is_help and not completion.is_completing():
        from gendalens.cli.first_sign import show_first_sign

        show_first_sign()


class Commands(TyperGroup):
    """All commands; reading the arguments of any of them takes Typer longer than its own import."""

    def make_context(self, info_name: str | None, args: list[str], *more: Any, **extra: Any) -> Any:
        """The parsed arguments; those who wait for a run see before that it has begun."""
        tell_that_it_runs(args)
        return super().make_context(info_name, args, *more, **extra)


class TestCommand(TyperCommand):
    """A command that also takes the options declared by the tests, looked up when it is called."""

    def make_context(self, info_name: str | None, args: list[str], *more: Any, **extra: Any) -> Any:
        """The parsed arguments; a run that is asked for in a language is told of in that language."""
        tell_that_it_runs([str(self.name), *args])
        return super().make_context(info_name, args, *more, **extra)

    def get_params(self, ctx: Any) -> list[Any]:
        """The command's own parameters, those of the tests, and ``--help`` last."""
        *own, help_option = super().get_params(ctx)
        return [*own, *_task_parameters(), help_option]

    def invoke(self, ctx: Any) -> Any:
        """Run the command, with the tests' options moved to the context."""
        from gendalens.tasks import all_options

        given = {name: ctx.params.pop(name) for name in all_options()}
        ctx.meta[_TASK_OPTIONS] = {
            name: value for name, value in given.items() if value is not None
        }
        return super().invoke(ctx)


def get_task_options(ctx: typer.Context) -> dict[str, Any]:
    """The test options given by the user, by name."""
    options: dict[str, Any] = ctx.meta[_TASK_OPTIONS]
    return options


def _task_parameters() -> list[Any]:
    """The options of all tests as Typer parameters, which Typer derives from a function signature."""
    from gendalens.tasks import all_options, all_tasks

    tests: dict[str, list[str]] = {}
    for task in all_tasks().values():
        for option in task.options:
            if task.card.name not in tests.setdefault(option.name, []):
                tests[option.name].append(task.card.name)

    def take_options(**options: Any) -> None:
        """Do nothing: only the signature is used."""

    annotations = {
        option.name: _annotate(option, tests[option.name]) for option in all_options().values()
    }
    take_options.__annotations__ = annotations
    take_options.__signature__ = Signature(  # type: ignore[attr-defined]
        [
            # None instead of the default, because the test knows its default itself.
            Parameter(name, Parameter.KEYWORD_ONLY, default=None, annotation=annotation)
            for name, annotation in annotations.items()
        ]
    )
    parser = typer.Typer(add_completion=False)
    parser.command()(take_options)
    return list(typer.main.get_command(parser).params)


def _annotate(option: Option, tests: list[str]) -> Any:
    """A test's option as an annotation for Typer."""
    default = f"  [default: {option.default}]" if option.default else ""
    described = typer.Option(
        option.flag,
        metavar="|".join(option.choices) or None,
        autocompletion=_complete_option(option),
        # None stands for the default here, so Typer cannot show it.
        help=f"{', '.join(tests)}: {option.help}{default}",
        show_default=False,
    )
    return Annotated[type(option.default) | None, described]


def _complete_option(option: Option) -> completion.Complete | None:
    if option.choices:
        return completion.offer(option.choices)
    return completion.offer_targets(option.targets) if option.targets else None


def split_names(parts: list[str] | None) -> list[str] | None:
    """Test names from repeated or comma-separated options; None if the option was omitted."""
    if parts is None:
        return None
    names = [name.strip() for part in parts for name in part.split(",") if name.strip()]
    if not names:
        raise UserError("--tasks names no test; leave it out to run all that fit.")
    return names
