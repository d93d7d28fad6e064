"""Results, comparisons and progress in notebooks."""
