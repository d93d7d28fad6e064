"""From requests to answers and results: the run loop, batches, the cache."""
