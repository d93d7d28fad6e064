"""Mangled files, many of them, for every reader: each must be refused in one sentence or read rightly."""
