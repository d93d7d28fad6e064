"""The time outside the model in the five tests on full data: data, statistics, files and report.

A control model answers in place of a real one. Prints one line of JSON.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from gendalens.engine.request_plan import RequestPlan
from gendalens.engine.run_options import RunOptions
from gendalens.engine.session import Job, run_jobs
from gendalens.models.control import Control
from gendalens.report.html.after_run import write_report


def main() -> None:
    """Run the five tests on a control model and write the report."""
    data = {"dane": Path(sys.argv[1])}
    reading = 0.0
    read_items = RequestPlan.items.func  # type: ignore[attr-defined]

    def timed(plan: RequestPlan) -> Any:
        nonlocal reading
        began = time.perf_counter()
        found = read_items(plan)
        reading += time.perf_counter() - began
        return found

    RequestPlan.items.func = timed  # type: ignore[attr-defined]
    model = Control("stereotyped", 0.3)
    with tempfile.TemporaryDirectory() as folder:
        options = RunOptions(data=data, out=Path(folder))
        began = time.perf_counter()
        found = run_jobs([Job(model)], options)
        middle = time.perf_counter()
        folders = [outcome.folder for outcome in found.outcomes if outcome.folder]
        assert len(folders) == 5, found.failures
        write_report(Path(folder), folders)
        ended = time.perf_counter()
    out = {"seconds": ended - began, "data": reading, "report": ended - middle}
    sys.stdout.write(json.dumps(out) + "\n")


if __name__ == "__main__":
    main()
