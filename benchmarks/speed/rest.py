"""All that is not the model, in the five tests: data, statistics, files and report, full data.

A control model answers in place of a real one. Prints one line of JSON.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import gendalens.engine.session as runner
from gendalens.engine.session import Options, choose_tasks, run_model
from gendalens.models.control import Control
from gendalens.report.html.after_run import write_report


def main() -> None:
    """Run the five tests on a control model and write the report."""
    data = {"dane": Path(sys.argv[1])}
    reading = 0.0
    asked = runner.questions

    def timed(*args: Any, **kwargs: Any) -> Any:
        nonlocal reading
        began = time.perf_counter()
        found = asked(*args, **kwargs)
        reading += time.perf_counter() - began
        return found

    runner.questions = timed  # type: ignore[attr-defined]
    model = Control("stereotyped", 0.3)
    with tempfile.TemporaryDirectory() as folder:
        options = Options(data=data, out=Path(folder))
        began = time.perf_counter()
        found = run_model(model, choose_tasks(model, None, 2, data), options)
        middle = time.perf_counter()
        folders = [outcome.folder for outcome in found.outcomes if outcome.folder]
        assert len(folders) == 5, found.failures
        write_report(Path(folder), folders)
        ended = time.perf_counter()
    out = {"seconds": ended - began, "data": reading, "report": ended - middle}
    sys.stdout.write(json.dumps(out) + "\n")


if __name__ == "__main__":
    main()
