"""The Python interface: the same runs as the command line's, with results as objects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from gendalens.data.choice import choices
from gendalens.data.home import home
from gendalens.engine.cache import Cache
from gendalens.engine.session import TASK_OPTIONS, Options, choose_tasks, run_model
from gendalens.errors import FailuresError, UserError
from gendalens.models import demo
from gendalens.models.base import Backend
from gendalens.models.control import PREFIX, Control
from gendalens.models.lm_coref import resolver as lm_coref
from gendalens.report.html.after_run import write_report
from gendalens.results.result import Result
from gendalens.results.run_folder import check_writable


def run(
    models: Any,
    *,
    tasks: str | Sequence[str] | None = None,
    protocol: int = 2,
    data: Mapping[str, str | Path] | str | None = None,
    out: str | Path | None = None,
    seed: int = 0,
    sample: int | None = None,
    revision: str | None = None,
    device: str | None = None,
    dtype: str = "float32",
    batch_tokens: int | None = None,
    offline: bool = False,
    trust_remote_code: bool = False,
    allow_pickle: bool = False,
    cache: bool = True,
    **task_options: Any,
) -> list[Result]:
    """Test one or more models; a result per model and test.

    A model is a hub name, a local folder, a ``.gguf`` file, ``lm-coref:`` before one of these (a
    language model as coreference resolver), a control model's name, an object that answers
    requests (see ``gendalens.models.base.Backend``), or a coreference system that you have loaded
    (see ``gendalens.models.objects``). ``data`` puts files of your own or built-in sets in the
    place of official ones: ``{"abc": "builtin", "dane": "own.conllu"}``, or ``"builtin"`` for all.
    With ``out`` the run folder is written as well, and its report. A
    result that could not be measured says so in ``problem``; a test that failed raises
    ``UserError`` once all others are done and their answers stored. ``task_options`` are the
    options of single tests: ``repeats``, ``names``, ``unisex`` and ``labels`` of ``ner-dane``.
    """
    several = models if isinstance(models, Sequence) and not isinstance(models, str) else [models]
    if out is not None:
        _tell_apart([model for model in several if not isinstance(model, str | Path)])
    names = [tasks] if isinstance(tasks, str) else tasks
    options = Options(
        protocol=protocol,
        seed=seed,
        sample=sample,
        offline=offline,
        data=choices(data),
        batch_tokens=batch_tokens,
        out=Path(out) if out is not None else None,
        task_options=task_options,
    )
    if unknown := sorted(set(task_options) - TASK_OPTIONS):
        raise TypeError(f"run() has no option {unknown[0]!r}")
    if options.out:
        check_writable(options.out)
    results: list[Result] = []
    folders: list[Path | None] = []
    failures: list[str] = []
    with ExitStack() as stack:
        store = stack.enter_context(Cache(home() / "cache.sqlite")) if cache else None
        for model in several:
            try:
                if isinstance(model, str | Path):
                    backend = load_model(
                        str(model),
                        revision=revision,
                        device=device,
                        dtype=dtype,
                        offline=offline,
                        trust_remote_code=trust_remote_code,
                        allow_pickle=allow_pickle,
                    )
                else:
                    backend = as_backend(model)
                chosen = choose_tasks(backend, names, protocol, options.data)
                report = run_model(backend, chosen, options, cache=store)
            except UserError as error:
                failures.append(str(error))
                continue
            results += [outcome.result for outcome in report.outcomes]
            folders += [outcome.folder for outcome in report.outcomes]
            failures += report.failures
    if options.out:
        try:
            write_report(options.out, folders)
        except UserError as error:
            failures.append(str(error))
    if failures:
        raise FailuresError(failures)
    return results


def as_backend(model: Any) -> Backend | Control:
    """A backend as it is, anything else as a coreference system."""
    needed = ("info", "answers", "max_positions", "fingerprint", "encode", "answer")
    if isinstance(model, Control) or all(hasattr(model, name) for name in needed):
        backend: Backend | Control = model
        return backend
    from gendalens.models.objects import Resolver

    return Resolver(model)


def _tell_apart(objects: Sequence[Any]) -> None:
    """Refuse systems of one name, which would write to the same folder and overwrite each other."""
    seen: dict[str, Any] = {}
    for system in objects:
        try:
            backend = as_backend(system)
        except UserError:  # no model at all: said when its turn comes
            continue
        name = backend.info.name
        if getattr(backend, "cacheable", True):  # its revision tells it from others
            continue
        if seen.setdefault(name, system) is not system:
            raise UserError(
                f"Two of the systems are called {name} and would write to the same folder: give each "
                "an attribute `name` of its own, or run them into different folders."
            )


def load_model(
    name: str,
    *,
    revision: str | None = None,
    device: str | None = None,
    dtype: str = "float32",
    trust_remote_code: bool = False,
    offline: bool = False,
    allow_pickle: bool = False,
) -> Backend | Control:
    """The model behind a name; its weights are loaded with the first question."""
    if name.startswith(PREFIX):
        return Control.parse(name)
    if name.startswith(lm_coref.PREFIX):
        inner, wording = lm_coref.parse(name)
        model = load_model(
            inner,
            revision=revision,
            device=device,
            dtype=dtype,
            trust_remote_code=trust_remote_code,
            offline=offline,
            allow_pickle=allow_pickle,
        )
        return lm_coref.resolver(model, wording)
    if not name.strip():
        raise UserError("The model's name is empty; give a hub name, a folder or a .gguf file.")
    from gendalens.models import detect

    return detect.load_model(
        str(demo.folder(name) or name),
        revision=revision,
        device=device,
        dtype=dtype,
        trust_remote_code=trust_remote_code,
        offline=offline,
        allow_pickle=allow_pickle,
    )
