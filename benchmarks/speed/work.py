"""How many tokens or rows a complete test runs, and the least possible; nothing of it is computed.

Requests go the way of a run, through batches and trees or rows, and stop before the model. Prints one
line of JSON.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from gendalens.api import load_model
from gendalens.engine.executor import ask
from gendalens.engine.run_options import RunOptions
from gendalens.models.huggingface.trees import TreeNetwork
from gendalens.models.huggingface.trie import count_nodes
from gendalens.tasks import get_task


def main() -> None:
    """Count the work of one test on one model."""
    path, task = sys.argv[1:]
    model: Any = load_model(path)
    network = model.network
    plan = RunOptions().plan(get_task(task, 2))
    passes: list[int] = []

    def count_tokens(trees: Any, _wanted: Any, _sets: Any) -> None:
        passes.append(sum(map(len, trees)))

    def count_rows(wanted: Any, _sets: Any) -> None:
        passes.append(len(wanted))

    is_causal = isinstance(network, TreeNetwork)
    if is_causal:
        network._read_trees = count_tokens  # type: ignore[method-assign]
    else:
        network._run_pass = count_rows
    rows: set[tuple[int, ...]] = set()
    for portion in plan.fit(model).portions:
        ask(model, portion.requests)
        rows |= {row for item in model.encode(list(portion.requests)) for row in item.inputs}
    least = count_nodes(rows) if is_causal else len(rows)
    sys.stdout.write(json.dumps({"run": sum(passes), "least": least}) + "\n")


if __name__ == "__main__":
    main()
