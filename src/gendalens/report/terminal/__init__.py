"""Terminal output: results, comparisons and progress."""
