"""Conclusions from several results: comparisons of models, and the gate."""
