"""Results of tests: their type, their signature, and the folders they are written to."""
