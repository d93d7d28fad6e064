"""One revision of GenDa Lens, which answers the same requests whenever it is told to.

Prints a line of JSON for each line that it reads. The requests and the weights are loaded beforehand, so
that only the answering is timed, on one thread.
"""

from __future__ import annotations

import json
import sys
import time
from dataclasses import fields
from pathlib import Path
from typing import Any

import torch

from gendalens.engine.executor import ask
from gendalens.models.detect import load_model

try:
    from gendalens.models import requests as kinds
except ImportError:  # an older revision
    from gendalens.models import base as kinds


def main() -> None:
    """Load both models and the requests, then time one job for each line of standard input."""
    torch.set_num_threads(1)
    jobs = {}
    for name, written in json.loads(Path(sys.argv[3]).read_text(encoding="utf-8")).items():
        model: Any = load_model(sys.argv[2] if name == "ner-dane" else sys.argv[1])
        requests = [read_request(*one) for one in written]
        ask(model, requests[:8])  # loads the weights, and tries them
        jobs[name] = model, requests
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    for line in sys.stdin:
        model, requests = jobs[line.strip()]
        wall, processor = time.perf_counter(), time.process_time()
        ask(model, requests)
        seconds = (time.process_time() - processor, time.perf_counter() - wall)
        sys.stdout.write(json.dumps(seconds) + "\n")
        sys.stdout.flush()


def read_request(name: str, content: dict[str, Any]) -> Any:
    """A request by its class and its fields; a revision may not know all of them."""
    kind: Any = getattr(kinds, name)
    known = {field.name for field in fields(kind)}
    return kind(
        **{
            key: tuple(value) if isinstance(value, list) else value
            for key, value in content.items()
            if key in known
        }
    )


if __name__ == "__main__":
    main()
