"""One revision of GenDa Lens, which answers the same requests whenever it is told to.

Prints a line of JSON for each line that it reads. The requests and the weights are loaded beforehand, so
that only the answering is timed, on one thread.
"""

from __future__ import annotations

import json
import sys
import time
from typing import Any

import torch

from gendalens.data.choice import BUILTIN
from gendalens.engine.executor import ask
from gendalens.engine.run_options import RunOptions
from gendalens.engine.selection import choose_tests
from gendalens.models.detect import load_model

#: The test, its data and the size of the sample of each row of the table.
JOBS = {
    "lm-abc": ("abc", 12),
    "lm-dawinobias": ("dawinobias", 30),
    "ner-dane": ("dane", 12),
}


def main() -> None:
    """Load both models, then time one job for each line of standard input."""
    torch.set_num_threads(1)
    jobs = {}
    for task, (data, sample) in JOBS.items():
        model: Any = load_model(sys.argv[2] if task == "ner-dane" else sys.argv[1])
        settings = RunOptions(sample=sample, data={data: BUILTIN}, task_options={"repeats": 2})
        (plan,) = choose_tests(model, [task], settings)
        requests = [one for portion in plan.fit(model).portions for one in portion.requests]
        ask(model, requests)  # loads the weights, and tries them
        jobs[task] = model, requests
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    for line in sys.stdin:
        model, requests = jobs[line.strip()]
        wall, processor = time.perf_counter(), time.process_time()
        ask(model, requests)
        seconds = (time.process_time() - processor, time.perf_counter() - wall)
        sys.stdout.write(json.dumps(seconds) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
