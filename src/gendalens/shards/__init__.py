"""Runs in parts: each shard answers some of the requests, and the merged answers make the result."""
