"""How the built-in data sets are made and checked."""
