"""The run loop, from requests to answers to results, and the cache."""
