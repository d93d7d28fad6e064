"""Which tests reach which lines: a pytest plug-in that records it, and the record.

Lines that run while a fixture is made count for every test that uses the fixture; lines outside of
functions, which run on import, count for every test that reaches anything in their file.
"""

from __future__ import annotations

import ast
import json
import os
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from coverage import Coverage, CoverageData

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / ".mutants"
DATA, TESTS = "reach.coverage", "reach.tests.json"
_IMPORT = "import"


class Recorder:
    """The plug-in: each test, and each fixture that several tests share, is a context of its own."""

    def __init__(self) -> None:
        self.coverage = Coverage(
            data_file=str(FOLDER / DATA), data_suffix=True, source_pkgs=["gendalens"], branch=False
        )
        self.coverage.start()
        self.coverage.switch_context(_IMPORT)
        self.tests: dict[str, dict[str, Any]] = {}
        self._current = _IMPORT

    @pytest.hookimpl(hookwrapper=True)
    def pytest_fixture_setup(self, fixturedef: Any) -> Iterator[None]:
        """Attribute a shared fixture's lines to the fixture."""
        if fixturedef.scope == "function":
            yield
            return
        self.coverage.switch_context(f"fixture:{fixturedef.argname}")
        yield
        self.coverage.switch_context(self._current)

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        """Attribute everything else to the test."""
        self._current = f"test:{item.nodeid}"
        self.coverage.switch_context(self._current)
        self.tests[item.nodeid] = {
            "fixtures": list(getattr(item, "fixturenames", ())),
            "seconds": 0.0,
        }
        yield
        self._current = _IMPORT

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keep the time that a test takes without its set-up."""
        if report.when == "call" and report.nodeid in self.tests:
            self.tests[report.nodeid] |= {"seconds": report.duration, "passed": report.passed}

    def pytest_sessionfinish(self) -> None:
        """Write what this process has recorded."""
        self.coverage.stop()
        self.coverage.save()
        path = FOLDER / f"{TESTS}.{os.getpid()}"
        path.write_text(json.dumps(self.tests), encoding="utf-8")


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> None:
    """Start before anything of the package is imported."""
    early_config.pluginmanager.register(Recorder(), "recorder")


def pytest_configure(config: pytest.Config) -> None:
    """Record in every process that runs tests; under pytest-xdist the first process runs none."""
    if config.getoption("numprocesses", None) and not hasattr(config, "workerinput"):
        recorder = config.pluginmanager.unregister(name="recorder")
        assert isinstance(recorder, Recorder)
        recorder.coverage.stop()


def combine() -> None:
    """Join the records of all processes into one."""
    data = CoverageData(str(FOLDER / DATA))
    for part in sorted(FOLDER.glob(f"{DATA}.*")):
        other = CoverageData(str(part))
        other.read()
        data.update(other)
        part.unlink()
    data.write()
    tests: dict[str, Any] = {}
    for part in sorted(FOLDER.glob(f"{TESTS}.*")):
        tests |= json.loads(part.read_text(encoding="utf-8"))
        part.unlink()
    (FOLDER / TESTS).write_text(json.dumps(tests), encoding="utf-8")


@cache
def _list_bodies(file: str) -> list[range]:
    """The lines of every function of a file."""
    path = ROOT / "src" / "gendalens" / file
    if path.suffix != ".py":
        return []
    functions = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
    found = [one for one in ast.walk(ast.parse(path.read_bytes())) if isinstance(one, functions)]
    return [_find_body(one) for one in found]


def _find_body(function: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> range:
    body = function.body if isinstance(function, ast.Lambda) else function.body[0]
    return range(body.lineno, (function.end_lineno or body.lineno) + 1)


def _is_in_a_function(file: str, line: int) -> bool:
    return any(line in body for body in _list_bodies(file))


class Reach:
    """The record of a run: the tests that reach a line, quickest first."""

    def __init__(self) -> None:
        self._data = CoverageData(str(FOLDER / DATA))
        self._data.read()
        tests = json.loads((FOLDER / TESTS).read_text(encoding="utf-8"))
        self._tests = {name: one for name, one in tests.items() if one.get("passed")}
        self._users: dict[str, list[str]] = defaultdict(list)
        for name, one in self._tests.items():
            for fixture in one["fixtures"]:
                self._users[fixture].append(name)
        self._files = {
            Path(file).as_posix().partition("/src/gendalens/")[2]: file
            for file in self._data.measured_files()
        }

    def seconds(self, test: str) -> float:
        """How long a test took."""
        return float(self._tests[test]["seconds"])

    def find_tests(self, file: str, first: int, last: int) -> list[str]:
        """The tests that reach one of these lines."""
        if file not in self._files:
            return []
        lines = self._data.contexts_by_lineno(self._files[file])
        contexts = {one for line in range(first, last + 1) for one in lines.get(line, ())}
        found = self._expand(contexts)
        # A module that a test is the first to import has run its lines for all other tests too.
        if not found or not _is_in_a_function(file, first):
            found |= self._expand({one for some in lines.values() for one in some})
        return sorted(found, key=self.seconds)

    def _expand(self, contexts: set[str]) -> set[str]:
        found: set[str] = set()
        for context in contexts:
            kind, _, name = context.partition(":")
            if kind == "test" and name in self._tests:
                found.add(name)
            elif kind == "fixture":
                found.update(self._users.get(name, ()))
        return found
