"""Fuzzing of every reader: each mangled input must be refused with a user error or read correctly."""
