"""Models on transformers: masked and causal language models, token classifiers."""
