"""Exports of a run for papers, model cards and evaluation databases."""
