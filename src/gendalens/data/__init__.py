"""The test sets: fetching, checking, and reading them into typed items."""
