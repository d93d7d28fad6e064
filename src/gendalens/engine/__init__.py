"""From requests to answers: de-duplication, cache, batches."""
