"""The rows of causal models: against lm-evaluation-harness, minicons, the bare model and a trie."""

from __future__ import annotations

import sys

from speed.bench_runs import Bench
from speed.parts import Part

#: The script and the environment of each program that scores sentences by a causal model.
HARNESS = ("lm_eval_scores.py", "lm-eval")
MINICONS = ("minicons_causal.py", "minicons")


def against_harness(bench: Bench) -> list[str]:
    """Likelihoods of whole sentences by a causal model, against lm-evaluation-harness at its best."""
    rows = []
    for task, part, wanted in list_causal_cases(bench):
        peer, size = bench.best_peer(*HARNESS, bench.gemma, part.file)
        ours, theirs = bench.in_turn(bench.ours_on(part), peer)
        rows.append(
            _compare_causal(task, part, "lm-evaluation-harness 0.4.13", size, ours, theirs)
            + f"| at least {wanted:g}× | {ours['peak_mb']:,.0f} / {theirs['peak_mb']:,.0f} MB: "
            f"**{ours['peak_mb'] / theirs['peak_mb']:.2f}**, target at most 0.65 |"
        )
        rows.append(
            f"| {task}, {part.whole:,} sentences, tokens run | a trie of all sentences "
            f"| {ours['least']:,.0f} | {ours['tokens']:,.0f} "
            f"| **{ours['tokens'] / ours['least']:.2f}×** | at most 1.15× | – |"
        )
    return rows


def against_other_causal(bench: Bench) -> list[str]:
    """The same against minicons and against the plain model, in one round."""
    rows = []
    for task, part, _ in list_causal_cases(bench):
        peer, size = bench.best_peer(*MINICONS, bench.gemma, part.file)
        arguments = (bench.gemma, "--sentences", part.file, "--threads", bench.threads)
        runs = (bench.ours_on(part), peer, bench.script("bare.py", *arguments))
        ours, theirs, bare = bench.in_turn(*runs, rounds=1)
        rows.append(
            _compare_causal(task, part, "minicons 0.3.39", size, ours, theirs)
            + f"| – | {ours['peak_mb']:,.0f} / {theirs['peak_mb']:,.0f} MB |"
        )
        rows.append(
            _compare_causal(task, part, "bare model", int(bare["size"]), ours, bare)
            + f"| – | {ours['tokens']:,.0f} / {bare['tokens']:,.0f} tokens run |"
        )
    return rows


def count_work(bench: Bench) -> list[str]:
    """What complete tests run, against the least possible."""
    rows = []
    for task, what, model, wanted in (
        ("lm-abc", "Gemma, tokens", bench.gemma, "at most 1.15×"),
        ("lm-dawinobias", "Gemma, tokens", bench.gemma, "at most 1.15×"),
        ("lm-abc", "BERT-base, pseudo-log-likelihood, rows", bench.models["lm"], "1×"),
    ):
        if bench.test in (None, task):
            (found,) = bench.in_turn(bench.script("work.py", model, task), rounds=1)
            rows.append(
                f"| {task}, {what} | {found['run']:,.0f} | {found['least']:,.0f} "
                f"| **{found['run'] / found['least']:.2f}×** | {wanted} |"
            )
    return rows


def list_causal_cases(bench: Bench) -> list[tuple[str, Part, float]]:
    """The tests, their sentences, and how much faster than the harness they should be."""
    cases = [
        ("lm-abc", bench.parts.abc_texts, 1.8),
        ("lm-dawinobias", bench.parts.dawinobias_texts, 1.6),
    ]
    return [case for case in cases if bench.test in (None, case[0])]


def _compare_causal(
    task: str, part: Part, name: str, size: int, ours: dict[str, float], theirs: dict[str, float]
) -> str:
    """The beginning of a row; both totals must agree."""
    if abs(ours["total"] / theirs.get("total", ours["total"]) - 1) > 1e-4:
        sys.exit(f"the scores differ: {ours['total']} and {theirs['total']}")
    return (
        f"| {task}, {part.whole:,} sentences | {name}, batches of {size} "
        f"| {theirs['seconds']:,.1f} s | {ours['seconds']:,.1f} s "
        f"| **{theirs['seconds'] / ours['seconds']:.2f}×** "
    )
