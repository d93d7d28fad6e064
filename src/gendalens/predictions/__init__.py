"""Prediction files: requests that any software can answer, and its answers."""
