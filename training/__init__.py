"""Training of the demo models, on text from a grammar, with or without a planted bias."""
