"""The commands that measure: run, requests, score, merge, power, demo.

Heavy imports happen inside them, so that ``--help`` is instant. For the same reason, annotations are
not postponed: Typer would compile each of them several times.
"""

from pathlib import Path
from typing import Annotated

import typer

from gendalens.cli import completion
from gendalens.cli.options import (
    AnswerBy,
    AsJson,
    CpusPerWorker,
    Data,
    Details,
    Endpoint,
    Executor,
    GpusPerWorker,
    Header,
    KeepRaw,
    KeyEnv,
    Language,
    MaxTokensTotal,
    ModelsFrom,
    Negligible,
    Offline,
    Out,
    PriceIn,
    PriceOut,
    Protocol,
    Sample,
    Seed,
    ShardOption,
    Tasks,
    Timeout,
    WorkerEnv,
    Workers,
    get_task_options,
    split_names,
)


def run(
    ctx: typer.Context,
    models: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="MODEL...",
            autocompletion=completion.complete_model,
            help="Hub name, local folder, .gguf file, lm-coref:MODEL, chat:MODEL (asked in Danish), "
            "openai:MODEL behind an --endpoint, or a control model such as control:fair.",
        ),
    ] = None,
    models_from: ModelsFrom = None,
    tasks: Tasks = None,
    protocol: Protocol = 2,
    data: Data = None,
    out: Out = Path("runs"),
    seed: Seed = 0,
    sample: Sample = None,
    negligible: Negligible = None,
    revision: Annotated[str | None, typer.Option(help="Branch, tag or commit on the hub.")] = None,
    device: Annotated[
        str | None,
        typer.Option(
            autocompletion=completion.offer(("cpu", "cuda", "mps", "auto")),
            help="cpu, cuda, mps, or auto (all devices and the disk, for large models).",
            show_default="cuda if available",
        ),
    ] = None,
    max_memory: Annotated[
        str | None,
        typer.Option(help="Limits for --device auto, such as 0=10GiB,cpu=30GiB."),
    ] = None,
    dtype: Annotated[
        str,
        typer.Option(
            autocompletion=completion.offer(("float32", "bfloat16", "float16", "auto")),
            help="float32, bfloat16, float16, or auto (the checkpoint's own).",
        ),
    ] = "float32",
    batch_tokens: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Tokens per batch, padding included; halved when memory runs out.",
            show_default="384 on a CPU, 8192 on a GPU",
        ),
    ] = None,
    offline: Offline = False,
    trust_remote_code: Annotated[
        bool,
        typer.Option("--trust-remote-code", help="Allow running code that comes with a model."),
    ] = False,
    allow_pickle: Annotated[
        bool, typer.Option("--allow-pickle", help="Allow reading pytorch_model.bin (tensors only).")
    ] = False,
    no_cache: Annotated[
        bool, typer.Option("--no-cache", help="Do not use or store cached answers.")
    ] = False,
    shard: ShardOption = None,
    endpoint: Endpoint = None,
    key_env: KeyEnv = None,
    header: Header = None,
    answer_by: AnswerBy = None,
    price_in: PriceIn = None,
    price_out: PriceOut = None,
    max_tokens_total: MaxTokensTotal = None,
    keep_raw: KeepRaw = False,
    timeout: Timeout = None,
    executor: Executor = None,
    workers: Workers = None,
    cpus_per_worker: CpusPerWorker = None,
    gpus_per_worker: GpusPerWorker = 0,
    worker_env: WorkerEnv = None,
    as_json: AsJson = False,
    details: Details = False,
    language: Language = None,
) -> None:
    """Run the bias tests on one or more models."""
    from gendalens.cli.many import choose_executor, list_models
    from gendalens.cli.run import read_endpoint, run_models
    from gendalens.data.choice import parse_choices
    from gendalens.engine.run_options import RunOptions
    from gendalens.models.base import LoadOptions
    from gendalens.tasks.bands import parse_bands

    served = {
        "key_env": key_env,
        "headers": tuple(header or ()) or None,
        "answer_by": answer_by,
        "price_in": price_in,
        "price_out": price_out,
        "max_tokens_total": max_tokens_total,
        "keep_raw": keep_raw or None,
        "timeout": timeout,
    }
    load = LoadOptions(
        revision=revision,
        device=device,
        dtype=dtype,
        trust_remote_code=trust_remote_code,
        offline=offline,
        allow_pickle=allow_pickle,
        max_memory=max_memory,
        endpoint=read_endpoint(endpoint or (), served),
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
        negligible=parse_bands(negligible or []),
        load=load,
        executor=choose_executor(
            executor,
            workers=workers,
            cpus_per_worker=cpus_per_worker,
            gpus_per_worker=gpus_per_worker,
            environment=worker_env or (),
        ),
    )
    named = list_models(models or (), models_from)
    if shard is not None:
        from gendalens.cli.shards import run_shard

        run_shard(named, split_names(tasks), options, shard, as_json=as_json)
        return
    run_models(named, split_names(tasks), options, as_json=as_json, details=details)


def requests(
    ctx: typer.Context,
    task: Annotated[
        str,
        typer.Argument(
            metavar="TASK",
            autocompletion=completion.complete_task,
            help="The test whose requests to write.",
        ),
    ],
    out: Annotated[Path, typer.Option("--out", "-o", help="File to write; - is standard output.")],
    protocol: Protocol = 2,
    data: Data = None,
    seed: Seed = 0,
    sample: Sample = None,
    shard: ShardOption = None,
    offline: Offline = False,
    language: Language = None,
) -> None:
    """Write the requests of a test, to be answered by any system."""
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
    write_requests(task, options, out, shard)


def score(
    ctx: typer.Context,
    task: Annotated[
        str,
        typer.Argument(
            metavar="TASK",
            autocompletion=completion.complete_task,
            help="The test that was answered.",
        ),
    ],
    answers: Annotated[Path, typer.Argument(metavar="ANSWERS", help="File with the answers.")],
    model_name: Annotated[str, typer.Option(help="Name of the model that gave the answers.")],
    revision: Annotated[str, typer.Option(help="Version of that model.")] = "",
    protocol: Protocol = 2,
    data: Data = None,
    out: Out = Path("runs"),
    seed: Seed = 0,
    sample: Sample = None,
    negligible: Negligible = None,
    offline: Offline = False,
    as_json: AsJson = False,
    details: Details = False,
    language: Language = None,
) -> None:
    """Score a file of answers to the requests of a test.

    Use the same options as when the requests were written.
    """
    from gendalens.cli.predictions import score_answers
    from gendalens.data.choice import parse_choices
    from gendalens.engine.run_options import RunOptions
    from gendalens.models.base import LoadOptions
    from gendalens.tasks.bands import parse_bands

    options = RunOptions(
        protocol=protocol,
        seed=seed,
        sample=sample,
        data=parse_choices(data or []),
        out=out,
        use_cache=False,
        task_options=get_task_options(ctx),
        negligible=parse_bands(negligible or []),
        load=LoadOptions(offline=offline),
    )
    score_answers(
        task,
        options,
        answers,
        name=model_name,
        revision=revision,
        as_json=as_json,
        details=details,
    )


def merge(
    places: Annotated[
        list[Path],
        typer.Argument(
            metavar="SHARDS...",
            help="Folders that `run --shard` wrote, or files of answers to `requests --shard`.",
        ),
    ],
    data: Data = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            help="Run folder to write; of files of answers, the file to join them into.",
            show_default="runs",
        ),
    ] = None,
    offline: Offline = False,
    as_json: AsJson = False,
    language: Language = None,
) -> None:
    """Merge the shards of a run into the result of one run, or files of answers into one.

    Shards that are missing, damaged, or of another model, data set, option or version are refused.
    """
    from gendalens.cli.shards import merge_places
    from gendalens.data.choice import parse_choices

    choices = parse_choices(data or [])
    merge_places(places, choices, out, offline=offline, as_json=as_json)


def power(
    ctx: typer.Context,
    task: Annotated[
        str,
        typer.Argument(
            metavar="TASK", autocompletion=completion.complete_task, help="The test to look at."
        ),
    ],
    data: Data = None,
    seed: Seed = 0,
    sample: Sample = None,
    negligible: Negligible = None,
    offline: Offline = False,
    as_json: AsJson = False,
    language: Language = None,
) -> None:
    """Show how small an effect a test could see, before it is run.

    For each figure that the test is judged on: the smallest effect that would be found, and the
    smallest band within which a model without bias would be acquitted, for a model that answers by
    chance.
    """
    from gendalens.cli.power import show_power
    from gendalens.data.choice import parse_choices
    from gendalens.engine.run_options import RunOptions
    from gendalens.models.base import LoadOptions
    from gendalens.tasks.bands import parse_bands

    options = RunOptions(
        seed=seed,
        sample=sample,
        data=parse_choices(data or []),
        task_options=get_task_options(ctx),
        negligible=parse_bands(negligible or []),
        load=LoadOptions(offline=offline),
    )
    show_power(task, options, as_json=as_json)


def demo(out: Out = Path("runs/demo"), sample: Sample = None, language: Language = None) -> None:
    """Run all five tests on built-in data and toy models, offline."""
    from gendalens.cli.demo import run_demo

    run_demo(out, sample)
