"""``gendalens power``: what a run could see, before it."""

from __future__ import annotations

import sys

from gendalens.comparison.power import compute_power
from gendalens.engine.applicability import check_named_tests
from gendalens.engine.run_options import RunOptions
from gendalens.report.escape import as_json as write_json
from gendalens.report.terminal import power as power_terminal
from gendalens.report.terminal.console import PlainConsole
from gendalens.tasks import get_task


def show_power(task: str, options: RunOptions, *, as_json: bool) -> None:
    """Print what a run of the test could see."""
    check_named_tests([task], options)
    plan = options.plan(get_task(task, options.protocol))
    rows = compute_power(plan.task, plan.items)
    if as_json:
        plain = {
            "task": plan.card.name,
            "protocol": plan.card.protocol,
            "data": plan.data,
            "sample": plan.sample,
            "figures": [row.to_dict() for row in rows],
        }
        sys.stdout.write(write_json(plain))
    else:
        power_terminal.show(PlainConsole(), plan.card, plan.data, plan.sample, rows)
