"""A site of results: a leaderboard of many models on any static host, or opened from disk."""
