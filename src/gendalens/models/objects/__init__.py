"""Models that the user has loaded: one file for each kind of object, and one that chooses."""
