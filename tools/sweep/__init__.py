"""A trial of every architecture of the installed transformers: `make sweep` writes docs/models.md."""
