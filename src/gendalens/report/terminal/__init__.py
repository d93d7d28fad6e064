"""A run as a person reads it in the terminal."""
