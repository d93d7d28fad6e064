"""What is said over several results: models side by side, and the gate."""
