"""Installs the wheel into empty environments, and tries in each what a new user would type.

    python -m tools.release.install [EXTRA ...]      (make install-check)

The wheel is built from a clean clone. One environment has no extra (``base``); the others have one each,
with the versions of constraints.txt. A command passes if it ends with the expected exit code, says what
it should and shows no traceback; where an extra is missing, it has to name the packages to install.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
import venv
from dataclasses import dataclass
from pathlib import Path

from tools.release.check import ROOT, build, read_releases

DATA = ("--data", "builtin", "--sample", "20")
#: Nothing listens here.
NOWHERE = "http://127.0.0.1:9"
ENDPOINT = ("run", "openai:model", "--endpoint", f"{NOWHERE}/v1", *DATA)
OFFICIAL_NER = ("run", "control:fair", "--tasks", "ner-dane", "--sample", "20")
PIPELINE = (
    "import spacy; nlp = spacy.blank('da'); "
    "nlp.add_pipe('entity_ruler').add_patterns([{'label': 'PER', 'pattern': [{'IS_TITLE': True}]}]); "
    "nlp.to_disk('pipeline')"
)


@dataclass(frozen=True, slots=True)
class Trial:
    """A command, how it has to end, and what it has to say."""

    words: tuple[str, ...]
    says: tuple[str, ...] = ()
    code: int = 0


#: What works in every environment.
EVERYWHERE = (
    Trial(("--version",), (read_releases()["src/gendalens/version.py"],)),
    Trial(("--help",), ("run", "report", "compare")),
    Trial(("tasks",), ("lm-abc", "ner-dane")),
    Trial(("tasks", "lm-abc"), ("log2(P_F / P_M)",)),
    Trial(("data", "list"), ("dawinobias",)),
    Trial(("run", "control:fair", *DATA, "--out", "runs/fair"), ("runs/fair/report.html",)),
    Trial(("run", "control:stereotyped", *DATA, "--out", "runs/other"), ("bias found",)),
    Trial(("report", "runs/fair"), ("report.html",)),
    Trial(("compare", "runs/fair", "runs/other"), ("control:stereotyped",)),
    Trial(("gate", "runs/other", "--limit", "lm-abc=0.1"), ("fail",), 1),
    Trial(("run", "no-such-model", *DATA), ("no-such-model",), 2),
)
#: What works with an extra, and what is said without it.
WITH: dict[str, tuple[Trial, ...]] = {
    "hf": (
        Trial(("demo", "--out", "runs/demo"), ("bias found",)),
        Trial(("demo", "--out", "runs/demo"), ("bias found",)),
        Trial(("run", "demo-lm", *DATA, "--out", "runs/lm"), ("runs/lm/report.html",)),
    ),
    "spacy": (Trial(("run", "./pipeline", *DATA, "--out", "runs/ner"), ("ner-dane@2",)),),
    "endpoint": (Trial(ENDPOINT, (NOWHERE,), 2),),
    "hub": (Trial(OFFICIAL_NER, ("dane",), 2),),
}
WITHOUT: dict[str, tuple[Trial, ...]] = {
    "hf": (
        Trial(("demo",), ("pip install", "torch", "transformers"), 2),
        Trial(("run", "demo-lm", *DATA), ("pip install", "torch", "transformers"), 2),
    ),
    "spacy": (Trial(("run", "./pipeline", *DATA), ("pip install", "spacy"), 2),),
    "endpoint": (Trial(ENDPOINT, ("pip install", "httpx2"), 2),),
    "hub": (Trial(OFFICIAL_NER, ("pip install", "pyarrow"), 2),),
}
ENVIRONMENTS = ("base", *WITH)


class Environment:
    """An empty environment with the wheel and one extra, and a working directory of its own."""

    def __init__(self, folder: Path, extra: str) -> None:
        self.folder, self.extra = folder / extra, extra
        self.work = self.folder / "work"
        self.faults: list[str] = []
        venv.create(self.folder / "env", with_pip=True)
        self.work.mkdir()
        self.variables = {
            **{key: text for key, text in os.environ.items() if not key.startswith("PYTHON")},
            "GENDALENS_HOME": str(self.folder / "home"),
            "HF_HOME": str(self.folder / "hub"),
            "HF_ENDPOINT": NOWHERE,
            "COLUMNS": "100",
        }

    def install(self, wheel: Path) -> None:
        """Install the wheel as the documentation says: torch first."""
        pip = [*self.command("python"), "-m", "pip", "install", "--quiet"]
        pip += ["--constraint", str(ROOT / "constraints.txt")]
        if self.extra == "hf":
            subprocess.run([*pip, "torch"], check=True)
        wanted = str(wheel) if self.extra == "base" else f"{wheel}[{self.extra}]"
        subprocess.run([*pip, wanted], check=True)

    def command(self, name: str) -> list[str]:
        """A program of the environment."""
        return [str(self.folder / "env" / "bin" / name)]

    def make_pipeline(self) -> None:
        """A small spaCy pipeline; without spaCy, a folder that looks like one."""
        if self.extra == "spacy":
            subprocess.run([*self.command("python"), "-c", PIPELINE], cwd=self.work, check=True)
            return
        folder = self.work / "pipeline"
        folder.mkdir()
        (folder / "meta.json").write_text('{"lang": "da", "name": "pipeline"}', encoding="utf-8")
        (folder / "config.cfg").write_text('[nlp]\nlang = "da"\n', encoding="utf-8")

    def run(self, trial: Trial) -> None:
        """Try a command, print how it ended, and keep what is wrong with it."""
        began = time.monotonic()
        done = subprocess.run(
            [*self.command("gendalens"), *trial.words],
            cwd=self.work,
            env=self.variables,
            capture_output=True,
            text=True,
        )
        seconds = time.monotonic() - began
        said = done.stdout + done.stderr
        line = f"{self.extra}: gendalens {' '.join(trial.words)}"
        wrong = [f"exit code {done.returncode}"] if done.returncode != trial.code else []
        wrong += [f"does not say {text!r}" for text in trial.says if text not in said]
        wrong += ["traceback"] if "Traceback" in said else []
        print(f"{seconds:6.1f} s  exit {done.returncode}  {line}", flush=True)
        if wrong or trial.code == 2:
            print("".join(f"          {text}\n" for text in said.strip().splitlines()), end="")
        if wrong:
            self.faults.append(f"{line}: {', '.join(wrong)}")


def main() -> int:
    """Try the environments that are named, or all of them."""
    chosen = [name for name in ENVIRONMENTS if name in (sys.argv[1:] or ENVIRONMENTS)]
    faults = []
    with tempfile.TemporaryDirectory() as folder:
        wheel = next(path for name, path in build(Path(folder)).items() if name.endswith(".whl"))
        for name in chosen:
            environment = Environment(Path(folder), name)
            began = time.monotonic()
            environment.install(wheel)
            print(f"{time.monotonic() - began:6.1f} s  {name}: installed", flush=True)
            environment.make_pipeline()
            own = WITH.get(name, ())
            missing = [
                trial for extra, trials in WITHOUT.items() if extra != name for trial in trials
            ]
            for trial in (*EVERYWHERE, *own, *(missing if name == "base" else ())):
                environment.run(trial)
            faults += environment.faults
    print("\n".join(faults) or "every command ended as it should")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
