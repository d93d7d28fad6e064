"""The models under test: one file per backend."""
