"""How the demo models are made: text from a grammar, with or without a planted bias, and training."""
