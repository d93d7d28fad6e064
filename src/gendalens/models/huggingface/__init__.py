"""Models that run on transformers: masked and causal language models, token classifiers."""
