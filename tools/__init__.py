"""Developer tools: checks of the built-in data, message catalogues, comparison of two revisions."""
