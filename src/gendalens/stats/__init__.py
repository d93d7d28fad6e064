"""Effect sizes and their uncertainty."""
