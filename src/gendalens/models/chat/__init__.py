"""Chat models: the prompts that put requests into words, and the reading of their answers."""
