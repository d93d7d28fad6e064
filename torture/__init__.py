"""The robustness suite: every disturbance ends in the same result or in one clear sentence.

``make torture`` runs it and writes ``benchmarks/TORTURE.md``; ``tests/torture`` has a short version.
"""
