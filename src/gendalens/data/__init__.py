"""The test sets: fetched, checked, read into typed items."""
