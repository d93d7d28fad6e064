"""The bare model: plain batched forward passes over the same distinct, tokenised inputs.

Rows are sorted by length and padded, the batch size is the best of a few, and every position gets its
logits, as ``model(input_ids, attention_mask)`` gives them. This is the best that a run can reach,
unless it saves work that the plain pass does.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from typing import Any

import torch

from gendalens.api import load_model
from gendalens.engine.run_options import RunOptions
from gendalens.models.requests import Score
from gendalens.tasks import get_task

SIZES = (16, 32, 64, 128)


def main() -> None:
    """Time the forward passes that one test needs."""
    parser = argparse.ArgumentParser()
    parser.add_argument("model")
    parser.add_argument("--task")
    parser.add_argument("--protocol", type=int, default=2)
    parser.add_argument("--sample", type=int)
    parser.add_argument("--repeats", type=int, default=20)
    parser.add_argument("--dane", type=Path)
    parser.add_argument("--sentences", type=Path)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument(
        "--rows", type=int, default=2000, help="rows to time; the rest is extrapolated"
    )
    parser.add_argument("--size", type=int, help="the batch size, if known")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    backend: Any = load_model(options.model)
    if options.sentences:
        texts = json.loads(options.sentences.read_text(encoding="utf-8"))
        requests: list[Any] = [Score(text) for text in texts]
    else:
        settings = RunOptions(
            protocol=options.protocol,
            sample=options.sample,
            data={"dane": options.dane} if options.dane else {},
            task_options={"repeats": options.repeats},
        )
        plan = settings.plan(get_task(options.task, options.protocol))
        asked = (request for portion in plan.portions for request in portion.requests)
        requests = list(dict.fromkeys(asked))
    encoded = backend.encode(requests)
    rows = sorted({row for item in encoded for row in item.inputs}, key=len, reverse=True)
    tokens = sum(map(len, rows))
    # Every n-th row, so that the sample has the length distribution of all rows.
    part = rows[:: max(1, len(rows) // options.rows)]
    share = tokens / sum(map(len, part))
    model = backend.network._model if hasattr(type(backend), "network") else backend.model
    few = part[:: max(1, len(part) // 400)]
    size = options.size or min(SIZES, key=lambda size: forward(model, few, size))
    seconds = forward(model, part, size) * share
    out = {"seconds": seconds, "rows": len(rows), "tokens": tokens, "size": size, "share": share}
    sys.stdout.write(json.dumps(out) + "\n")


def forward(model: Any, rows: list[tuple[int, ...]], size: int) -> float:
    """The seconds that all rows take."""
    began = time.perf_counter()
    with torch.inference_mode():
        for start in range(0, len(rows), size):
            batch = rows[start : start + size]
            width = len(batch[0])
            ids = torch.tensor([row + (0,) * (width - len(row)) for row in batch])
            mask = torch.tensor([[1] * len(row) + [0] * (width - len(row)) for row in batch])
            model(input_ids=ids, attention_mask=mask)
    return time.perf_counter() - began


if __name__ == "__main__":
    main()
