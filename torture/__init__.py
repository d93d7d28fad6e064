"""The robustness suite: every disturbance must end in the same result or in one clear error message.

``make torture`` runs it and writes ``benchmarks/TORTURE.md``; ``tests/torture`` has a short version.
"""
