"""What developers run: checks of the built-in data, catalogues, comparisons of two revisions."""
